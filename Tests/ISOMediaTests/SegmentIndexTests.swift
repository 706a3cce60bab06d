import ISOMedia
import MediaBase
import Testing

/// Boxes as ISO/IEC 14496-12, 8.16.3 lays them out.
@Suite struct SegmentIndexTests {
    private func index(_ durations: [UInt32], stream: UInt32 = 1, start: UInt32 = 0) -> Bytes {
        fullBox(
            "sidx", u32(stream, 1000, start, 0), u16(0, UInt16(durations.count)),
            durations.flatMap { u32(500, $0, 0x9000_0000) })
    }

    private func read(_ boxes: Bytes...) throws -> MovieHeader {
        try Movie.header(box("mvex"), after: boxes.flatMap { $0 })
    }

    @Test func segmentsAddUpByStream() throws {
        let header = try read(
            index([2000, 2000, 1500], start: 100), index([700], stream: 2), index([300], start: 5600))
        #expect(header.segmentIndexes.map(\.streamID) == [1, 2])
        // 100 + 2000 + 2000 + 1500 = 5600, and 300 more.
        #expect(header.segmentIndexes.map(\.start) == [100, 0] && header.segmentIndexes.map(\.end) == [5900, 700])
        #expect(header.segmentIndexes.allSatisfy { $0.timescale == 1000 } && header.warnings.isEmpty)
    }

    @Test func longTimesAndHugeOnes() throws {
        let long = fullBox(
            "sidx", version: 1, u32(1, 90000), u64(.max - 1, 0), u16(0, 2), u32(1, .max, 0, 1, .max, 0))
        let header = try read(long)
        #expect(header.segmentIndexes.map(\.start) == [.max - 1] && header.segmentIndexes.map(\.end) == [.max])
    }

    @Test func damageIsSkipped() throws {
        let cut = fullBox("sidx", u32(1, 1000, 0, 0), u16(0, 0xFFFF), u32(1, 2, 3))
        let unknown = fullBox("sidx", version: 9, u32(1, 1000, 0, 0), u16(0, 0))
        let header = try read(cut, unknown, fullBox("sidx", u32(1, 0, 0, 0), u16(0, 0)))
        #expect(header.segmentIndexes.map(\.timescale) == [nil] && header.warnings.count == 3)
    }
}
