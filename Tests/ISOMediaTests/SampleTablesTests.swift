import ISOMedia
import Testing

struct SampleTablesTests {
    private func tables(_ bytes: Bytes) throws -> (tables: SampleTables?, warnings: [String]) {
        let header = try Movie.header(Movie.trak(tables: bytes))
        return (header.tracks.first?.tables, header.warnings)
    }

    @Test func durationsAddUp() throws {
        let stts = fullBox("stts", u32(3), u32(10, 1001), u32(0, 7), u32(2, 500))
        let summary = try #require(try tables(stts).tables?.timeToSample)
        #expect(summary.sampleCount == 12)
        #expect(summary.duration == 11010)
        #expect(summary.shortest == 500)
        #expect(summary.constantDeltaButLast == nil)
    }

    @Test func emptyEntriesDoNotMakeItVary() throws {
        let summary = try tables(fullBox("stts", u32(3), u32(10, 1001), u32(0, 7), u32(2, 1001))).tables?.timeToSample
        #expect(summary?.shortest == 1001)
        #expect(summary?.constantDeltaButLast == 1001)
        let none = try tables(fullBox("stts", u32(0))).tables?.timeToSample
        #expect(none?.sampleCount == 0)
        #expect(none?.constantDeltaButLast == nil)
    }

    @Test func theLastSampleMayDiffer() throws {
        func delta(_ entries: [UInt32]...) throws -> UInt32? {
            let list = entries.reduce(u32(UInt32(entries.count))) { $0 + u32($1[0], $1[1]) }
            return try tables(fullBox("stts", list)).tables?.timeToSample?.constantDeltaButLast
        }
        #expect(try delta([10, 1001]) == 1001)
        #expect(try delta([9, 1001], [1, 7]) == 1001)
        #expect(try delta([9, 1001], [2, 7]) == nil)
        #expect(try delta([1, 7], [9, 1001]) == nil)
        #expect(try delta([1, 7], [1, 1001]) == 7)
        #expect(try delta([1, 7]) == 7)
        #expect(try delta() == nil)
    }

    @Test func hugeNumbersDoNotOverflow() throws {
        let stts = fullBox("stts", u32(.max), u32(.max, .max), u32(.max, .max))
        let (tables, warnings) = try tables(stts)
        #expect(tables?.timeToSample?.sampleCount == UInt64(0x1_FFFF_FFFE))
        #expect(tables?.timeToSample?.duration == UInt64.max)
        #expect(warnings.count == 1)
    }

    @Test func countsAndFirstChunk() throws {
        let (plain, _) = try tables(
            fullBox("stsz", u32(0, 300)) + fullBox("stco", u32(2, 48, 96)))
        #expect(plain?.sampleCount == 300)
        #expect(plain?.firstChunkOffset == 48)
        let (large, _) = try tables(fullBox("stz2", u32(8, 5)) + fullBox("co64", u32(1), u64(1 << 33)))
        #expect(large?.sampleCount == 5)
        #expect(large?.firstChunkOffset == 1 << 33)
        let (none, warnings) = try tables(fullBox("stco", u32(0)))
        #expect(none?.firstChunkOffset == nil)
        #expect(none?.timeToSample == nil)
        #expect(warnings.isEmpty)
    }
}
