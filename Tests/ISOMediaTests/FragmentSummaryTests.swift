import ISOMedia
import MediaBase
import Testing

struct FragmentSummaryTests {
    private let extends = box("mvex", fullBox("mehd", u32(900)), fullBox("trex", u32(1, 1, 100, 0, 0)))

    private func fragments(_ moofs: Bytes, stts: Bytes = []) throws -> (fragments: [FragmentSummary], MovieHeader) {
        let header = try Movie.header(Movie.trak(tables: stts), extends, after: moofs)
        return (header.fragments, header)
    }

    @Test func durationsOfTheirOwn() throws {
        // Data offset and first flags before the samples; duration, size, flags and composition offset in each.
        let run = fullBox("trun", flags: 0xF05, u32(2, 0, 0), u32(30, 1, 2, 3), u32(40, 4, 5, 6))
        let traf = box("traf", fullBox("tfhd", u32(1)), fullBox("tfdt", version: 1, u64(1 << 40)), run)
        let (fragments, header) = try fragments(box("moof", traf))
        let summary = try #require(fragments.first)
        #expect(summary.sampleCount == 2)
        #expect(summary.duration == 70)
        #expect(summary.endDecodeTime == 1 << 40 + 70)
        let start: UInt64 = 1 << 40
        #expect(summary.outerSamples == [start: start + 30, start + 30: start + 70])
        #expect(summary.extent == 70)
        #expect(header.isFragmented)
        #expect(header.fragmentedDuration == 900)
        #expect(header.areFragmentsComplete)
        #expect(header.warnings.isEmpty)
    }

    @Test func defaultDurationsFollowEachOther() throws {
        let first = box("traf", fullBox("tfhd", u32(1)), fullBox("trun", flags: 0x200, u32(3, 1, 1, 1)))
        // The fragment's default (after data offset and description) replaces the track's.
        let second = box(
            "traf", fullBox("tfhd", flags: 0xB, u32(1), u64(0), u32(1, 50)), fullBox("trun", u32(2)),
            fullBox("trun", u32(1)))
        let stts = fullBox("stts", u32(1, 10, 60))
        let (fragments, header) = try fragments(box("moof", first) + box("mdat") + box("moof", second), stts: stts)
        let summary = try #require(fragments.first)
        #expect(summary.sampleCount == 6)
        #expect(summary.duration == 450)
        #expect(summary.endDecodeTime == 1050)
        #expect(summary.outerSamples == [600: 700, 800: 900, 900: 950, 1000: 1050])
        #expect(header.isMovieBeforeMedia == true)
    }

    @Test func holesAndEmptyFragmentsCountToTheEnd() throws {
        let run = fullBox("trun", u32(1))
        let first = box("traf", fullBox("tfhd", u32(1)), fullBox("tfdt", u32(0)), run)
        let second = box("traf", fullBox("tfhd", u32(1)), fullBox("tfdt", u32(1000)), run)
        let empty = box("traf", fullBox("tfhd", flags: 0x1_0008, u32(1, 25)))
        let other = box("traf", fullBox("tfhd", flags: 0x8, u32(7, 9)), run)
        let (fragments, _) = try fragments(box("moof", other, first) + box("moof", second) + box("moof", empty))
        #expect(fragments.map(\.trackID) == [1, 7])
        #expect(fragments.map(\.duration) == [200, 9])
        #expect(fragments.map(\.endDecodeTime) == [1125, 9])
        #expect(fragments.map(\.outerSamples) == [[0: 100, 1000: 1100], [0: 9]])
        #expect(fragments.map(\.extent) == [1125, 9])
        #expect(fragments.map(\.sampleCount) == [2, 1])
    }

    @Test func fragmentsThatOverlapLastFromTheFirstToTheLast() throws {
        let run = fullBox("trun", u32(3))
        // 1000 to 1300, 1200 to 1500, and one that is stored late: 900 to 1200.
        let moofs = [1000, 1200, 900].map { (start: UInt32) in
            box("moof", box("traf", fullBox("tfhd", u32(1)), fullBox("tfdt", u32(start)), run))
        }
        let (fragments, _) = try fragments(moofs.flatMap(\.self))
        let summary = try #require(fragments.first)
        #expect(summary.duration == 900)
        #expect(summary.startDecodeTime == 900)
        #expect(summary.endDecodeTime == 1500)
        #expect(summary.extent == 600)
    }

    @Test func hugeCountsDoNotOverflow() throws {
        let head = fullBox("tfhd", flags: 0x8, u32(1, .max)) + fullBox("tfdt", version: 1, u64(.max))
        let runs =
            fullBox("trun", u32(.max)) + fullBox("trun", u32(.max)) + fullBox("trun", flags: 0x100, u32(.max, 5))
            + fullBox("trun", flags: 0x200, u32(.max, 5))
        let (fragments, header) = try fragments(box("moof", box("traf", head, runs)))
        let summary = try #require(fragments.first)
        #expect(summary.sampleCount == 2 * 0xFFFF_FFFF + 2)
        #expect(summary.duration == .max)
        #expect(summary.endDecodeTime == .max)
        #expect(header.warnings.count == 1)
    }

    @Test func fragmentsWithoutExtensionAreNotRead() throws {
        let header = try Movie.header(after: box("moof", box("traf", fullBox("tfhd", u32(1)))))
        #expect(!header.isFragmented)
        #expect(header.fragments.isEmpty)
    }

    @Test func topLevelIsLimited() throws {
        let moof = box("moof", box("traf", fullBox("tfhd", u32(1)), fullBox("trun", u32(1))))
        let file = Movie.file(extends, after: (0..<10).flatMap { _ in moof })
        var limits = BoxLimits()
        limits.topLevelBoxes = 5
        let header = try MovieHeader(reading: ArrayByteSource(file), limits: limits)
        #expect(header.fragments.first?.sampleCount == 3)
        #expect(!header.areFragmentsComplete)
        #expect(header.warnings == ["more than 5 boxes on the top level: the rest was not read"])
    }
}
