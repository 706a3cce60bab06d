import ISOMedia
import Testing

struct EditListEntryTests {
    private func edits(_ elst: Bytes) throws -> (edits: [EditListEntry]?, warnings: [String]) {
        let header = try Movie.header(Movie.trak(parts: box("edts", elst)))
        return (header.tracks.first?.edits, header.warnings)
    }

    @Test func shortEntries() throws {
        let elst = fullBox("elst", u32(2), u32(600), i32(-1), u16(1, 0), u32(1200), i32(1001), u16(0, 0x8000))
        let (edits, warnings) = try edits(elst)
        #expect(
            edits == [
                EditListEntry(segmentDuration: 600, mediaTime: -1),
                EditListEntry(segmentDuration: 1200, mediaTime: 1001, rateInteger: 0, rateFraction: Int16.min),
            ])
        #expect(edits?.map(\.isEmpty) == [true, false])
        #expect(warnings.isEmpty)
    }

    @Test func longEntries() throws {
        let elst = fullBox("elst", version: 1, u32(2), u64(1 << 40, .max), u16(0xFFFF, 0), u64(5, 1 << 33), u16(1, 0))
        let (edits, warnings) = try edits(elst)
        #expect(
            edits == [
                EditListEntry(segmentDuration: 1 << 40, mediaTime: -1, rateInteger: -1),
                EditListEntry(segmentDuration: 5, mediaTime: 1 << 33),
            ])
        #expect(warnings.isEmpty)
    }

    @Test func onlyWhatThePayloadHoldsIsRead() throws {
        let (edits, warnings) = try edits(fullBox("elst", u32(.max), u32(7), i32(0), u16(1, 0), zeros(11)))
        #expect(edits == [EditListEntry(segmentDuration: 7, mediaTime: 0)])
        #expect(warnings.count == 1)
        #expect(warnings.first?.hasSuffix("claims 4294967295 entries and holds 1") == true)
        let long = fullBox("elst", version: 1, u32(3), u64(7, 0), u16(1, 0), u64(8, 0), u16(1, 0), zeros(19))
        #expect(try self.edits(long).edits?.map(\.segmentDuration) == [7, 8])
    }

    @Test func unknownVersionIsSkipped() throws {
        let (edits, warnings) = try edits(fullBox("elst", version: 2, u32(0)))
        #expect(edits == nil)
        #expect(warnings.first?.hasSuffix("has the unknown version 2 and was skipped") == true)
    }

    @Test func emptyListIsNotNoList() throws {
        #expect(try edits(fullBox("elst", u32(0))).edits == [])
        #expect(try Movie.header(Movie.trak()).tracks.first?.edits == nil)
    }
}
