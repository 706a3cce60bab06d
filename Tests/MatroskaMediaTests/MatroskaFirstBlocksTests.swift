import MatroskaMedia
import MediaBase
import Testing

@Suite struct MatroskaFirstBlocksTests {
    /// Two clusters; track 1 begins in a group, track 2 after it, track 3 in the second cluster with two frames in a block.
    private let clusters: [[UInt8]] = [
        EBML.element(
            0x1F43B675,
            EBML.number(0xE7, 1000) + EBML.element(0xA0, EBML.element(0xA1, [0x81, 0x00, 0x05, 0x00, 1, 2, 3, 4]))
                + EBML.element(0xA3, [0x82, 0xFF, 0xFE, 0x80, 9, 8])
                + EBML.element(0xA3, [0x81, 0x00, 0x09, 0x80, 7])),
        EBML.element(
            0x1F43B675, EBML.number(0xE7, 2000) + EBML.element(0xA3, [0x40, 0x03, 0x00, 0x01, 0x02, 1, 0, 5])),
    ]

    private func file(_ clusters: [[UInt8]]) -> ArrayByteSource {
        let parts = EBML.element(0xEC, [0, 0, 0]) + clusters.flatMap { $0 }
        return ArrayByteSource(EBML.head + EBML.element(0x18538067, parts))
    }

    @Test func eachTracksFirstBlockIsFound() throws {
        let found = try MatroskaFirstBlocks(of: [1, 2, 3, 4], byteCount: 3, in: file(clusters)).blocks
        #expect(found[1]?.ticks == 1005 && found[1]?.bytes == [1, 2, 3])
        #expect(found[2]?.ticks == 998 && found[2]?.bytes == [9, 8])
        #expect(found[3]?.ticks == 2001 && found[3]?.bytes == [])
        #expect(found[4] == nil)
    }

    @Test func clustersMayHaveNoLength() throws {
        let live = clusters.map { Array($0.prefix(4)) + [0x01] + Array(repeating: 0xFF, count: 7) + $0.dropFirst(12) }
        let found = try MatroskaFirstBlocks(of: [1, 2, 3], byteCount: 100, in: file(live)).blocks
        #expect(found[1]?.ticks == 1005 && found[1]?.bytes == [1, 2, 3, 4] && found[3]?.ticks == 2001)
    }

    @Test func whatIsCutOffIsNotThere() throws {
        let whole = EBML.head + EBML.element(0x18538067, clusters[0])
        for count in stride(from: 0, to: whole.count, by: 3) {
            _ = try MatroskaFirstBlocks(of: [1, 2], byteCount: 9, in: ArrayByteSource(Array(whole.prefix(count))))
        }
        #expect(try MatroskaFirstBlocks(of: [1], byteCount: 9, in: ArrayByteSource([1, 2, 3])).blocks.isEmpty)
    }
}
