import MediaBase
import Testing

/// Tests mappings by the rules of CMTimeRange.h, with numbers worked out by hand.
@Suite struct MediaTimeMappingTests {
    private func range(_ start: Int64, _ duration: Int64, _ scale: Int32 = 1) -> MediaTimeRange {
        MediaTimeRange(
            start: MediaTime(value: start, timescale: scale), duration: MediaTime(value: duration, timescale: scale))
    }

    private func time(_ value: Int64, _ scale: Int32 = 1) -> MediaTime { MediaTime(value: value, timescale: scale) }

    @Test func timesAreMovedAndScaled() {
        let (ten, five) = (range(5, 10), range(0, 5))
        #expect(time(5).mapped(from: ten, to: five) == .zero)
        #expect(time(15).mapped(from: ten, to: five) == time(5))
        #expect(time(7).mapped(from: ten, to: five) == time(1))
        // Outside, the line goes on.
        #expect(time(25).mapped(from: ten, to: five) == time(10))
        #expect(time(3).mapped(from: ten, to: five) == time(-1))
        // A third of a second has no decimal form, but is exact.
        #expect(time(1).mapped(from: range(0, 3), to: range(0, 1)) == time(1, 3))
        #expect(time(1, 30000).mapped(from: range(0, 1001, 30000), to: range(0, 1, 30)) == time(1, 30030))
        #expect(time(4).durationMapped(from: ten, to: five) == time(2))
    }

    @Test func whatHasNoAnswerIsInvalid() {
        let empty = range(3, 0)
        #expect(!time(1).mapped(from: empty, to: range(0, 1)).isValid)
        #expect(!time(1).mapped(from: range(0, 1), to: empty).isValid)
        #expect(!time(1).mapped(from: .invalid, to: range(0, 1)).isValid)
        #expect(!MediaTime.invalid.mapped(from: range(0, 1), to: range(0, 1)).isValid)
        #expect(!time(1).folded(into: empty).isValid)
        #expect(!MediaTime.positiveInfinity.folded(into: range(0, 1)).isValid)
    }

    @Test func infiniteRangesOnlyMove() {
        let (from, to) = (
            MediaTimeRange(start: time(2), duration: .positiveInfinity),
            MediaTimeRange(start: time(10), duration: .positiveInfinity)
        )
        #expect(time(5).mapped(from: from, to: to) == time(13))
        #expect(!time(5).mapped(from: from, to: range(0, 1)).isValid)
    }

    @Test(arguments: [(23, 3), (0, 0), (10, 0), (-1, 9), (-10, 0), (-23, 7), (9, 9)])
    func timesAreFolded(_ seconds: Int64, _ folded: Int64) {
        #expect(time(seconds).folded(into: range(0, 10)) == time(folded))
        #expect(time(seconds + 5).folded(into: range(5, 10)) == time(folded + 5))
    }

    /// An empty edit of 1 s, 4 s of media from 2 s on at twice the speed, a still of 3 s, and the rest.
    @Test func segmentsFollowEachOther() {
        let segments = [
            TrackSegment(duration: time(1), mediaStart: nil, rate: .one),
            TrackSegment(duration: time(2), mediaStart: time(2), rate: Rational(2)),
            TrackSegment(duration: time(3), mediaStart: time(7), rate: Rational(0)),
            TrackSegment(duration: .zero, mediaStart: time(8), rate: .one),
        ]
        let mappings = TrackSegment.mappings(of: segments, mediaDuration: time(10))
        #expect(mappings.map(\.target) == [range(0, 1), range(1, 2), range(3, 3), range(6, 2)])
        #expect(mappings.map(\.isEmpty) == [true, false, false, false])
        #expect(mappings[1].source == range(2, 4))
        #expect(mappings[1].sourceTime(of: time(5, 2)) == time(5))
        #expect(mappings[1].targetTime(of: time(5)) == time(5, 2))
        #expect(mappings[2].sourceTime(of: time(5)) == time(7))
        #expect(mappings[3].source == range(8, 2))
        let open = TrackSegment.mappings(of: segments, mediaDuration: nil)
        #expect(open[3].target.duration.isPositiveInfinity)
    }
}
