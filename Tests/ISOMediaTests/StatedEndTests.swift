import ISOMedia
import MediaBase
import Testing

struct StatedEndTests {
    private func end(_ bytes: Bytes) throws -> UInt64? { try MovieHeader.declaredEnd(of: ArrayByteSource(bytes)) }

    private let start = box("ftyp", ascii("isom"), u32(0))

    @Test func isBehindTheLastBox() throws {
        let whole = start + box("mdat", zeros(100)) + box("moov", zeros(40))
        #expect(try end(whole) == UInt64(whole.count))
        #expect(try end(Bytes(whole.dropLast(30))) == UInt64(whole.count))
        #expect(try end(start + u32(1) + ascii("mdat") + u64(5_000_000_000)) == 5_000_000_000 + 16)
        #expect(try end(start + u32(1) + ascii("mdat") + u64(.max)) == .max)
    }

    @Test func whatIsNoBoxOfSuchAFileIsLeftOut() throws {
        for rest in [ascii("TAGtitle of a song"), zeros(64), ascii("moo"), u32(4) + ascii("moov")] {
            #expect(try end(start + rest) == 16)
        }
        #expect(try end([]) == nil)
        #expect(try end(ascii("no box at all, but a text")) == nil)
    }

    @Test func aBoxToTheFilesEndSaysNothing() throws {
        #expect(try end(start + u32(0) + ascii("mdat") + zeros(100)) == nil)
    }
}
