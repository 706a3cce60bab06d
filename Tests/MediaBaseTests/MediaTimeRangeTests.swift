import Foundation
import MediaBase
import TestSupport
import Testing

@Suite struct MediaTimeRangeTests {
    /// A range between two tenths of a second.
    private func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: time(start, 10), end: time(end, 10))
    }

    @Test func theEndIsOutside() {
        let range = MediaTimeRange(start: time(1, 2), duration: time(1, 3))
        #expect(range.end == time(5, 6))
        #expect(range.contains(time(1, 2)))
        #expect(range.contains(time(4, 6)))
        #expect(!range.contains(time(5, 6)))
        #expect(!range.contains(range.end))
        #expect(!range.contains(time(49, 100)))
        #expect(!range.contains(.indefinite))
        #expect(!range.contains(MediaTime.invalid))
    }

    @Test func rangesContainRanges() {
        let outer = range(10, 20)
        #expect(outer.contains(outer))
        #expect(outer.contains(range(10, 11)))
        #expect(outer.contains(range(19, 20)))
        #expect(!outer.contains(range(19, 21)))
        #expect(!outer.contains(range(9, 11)))
        #expect(outer.contains(range(20, 20)))
        #expect(!outer.contains(MediaTimeRange.invalid))
        #expect(!MediaTimeRange.invalid.contains(outer))
    }

    @Test func unionIsTheSmallestRangeWithBoth() {
        #expect(range(10, 20).union(range(15, 30)) == range(10, 30))
        #expect(range(10, 20).union(range(40, 50)) == range(10, 50))
        #expect(range(10, 40).union(range(20, 30)) == range(10, 40))
        #expect(MediaTimeRange.zero.union(range(10, 20)) == range(10, 20))
        #expect(range(10, 20).union(.zero) == range(10, 20))
        #expect(!range(10, 20).union(.invalid).isValid)
    }

    @Test func intersectionIsWhatBothHave() {
        #expect(range(10, 20).intersection(range(15, 30)) == range(15, 20))
        #expect(range(10, 40).intersection(range(20, 30)) == range(20, 30))
        #expect(range(10, 20).intersection(range(20, 30)) == .zero)
        #expect(range(10, 20).intersection(range(30, 40)).isEmpty)
        #expect(!MediaTimeRange.invalid.intersection(range(10, 20)).isValid)
    }

    @Test func membershipLaws() {
        var generator = SeededGenerator(state: 3)
        for _ in 0..<5000 {
            let ends = (0..<4).map { _ in Int64.random(in: 0..<12, using: &generator) }
            let a = range(min(ends[0], ends[1]), max(ends[0], ends[1]))
            let b = range(min(ends[2], ends[3]), max(ends[2], ends[3]))
            let moment = time(.random(in: -2..<28, using: &generator), 20)
            let (inA, inB) = (a.contains(moment), b.contains(moment))
            #expect(a.intersection(b).contains(moment) == (inA && inB), "\(a) \(b) \(moment)")
            if inA || inB { #expect(a.union(b).contains(moment), "\(a) \(b) \(moment)") }
            #expect(a.union(b).contains(a) || a.isEmpty, "\(a) \(b)")
        }
    }

    @Test func validityAndKinds() {
        #expect(MediaTimeRange.zero.isValid && MediaTimeRange.zero.isEmpty)
        #expect(!MediaTimeRange.invalid.isValid && !MediaTimeRange.invalid.isEmpty)
        #expect(!MediaTimeRange(start: .zero, duration: time(-1, 2)).isValid)
        #expect(!MediaTimeRange(start: time(2, 1), end: time(1, 1)).isValid)
        #expect(MediaTimeRange(start: .zero, duration: .indefinite).isIndefinite)
        #expect(!range(1, 2).isIndefinite)
        #expect(!MediaTimeRange(start: .negativeInfinity, end: .zero).isValid)
    }

    @Test func infiniteRanges() {
        let always = MediaTimeRange(start: .negativeInfinity, end: .positiveInfinity)
        #expect(always.isValid)
        #expect(always.end == .positiveInfinity)
        #expect(always.contains(time(-5, 1)))
        #expect(always.intersection(range(10, 20)) == range(10, 20))
        let open = MediaTimeRange(start: time(1, 1), duration: .positiveInfinity)
        #expect(open.contains(time(.max, 1)))
        #expect(!open.contains(MediaTime.zero))
        #expect(open.intersection(range(0, 20)) == range(10, 20))
    }

    @Test func clampingStaysWithin() {
        #expect(range(10, 20).clamping(time(0, 1)) == time(1, 1))
        #expect(range(10, 20).clamping(time(15, 10)) == time(3, 2))
        #expect(range(10, 20).clamping(time(9, 1)) == time(2, 1))
        #expect(!MediaTimeRange.zero.clamping(.zero).isValid)
    }

    @Test func equalAcrossTimescales() {
        let (a, b) = (range(10, 20), MediaTimeRange(start: time(1, 1), duration: time(600, 600)))
        #expect(a == b)
        #expect(a.hashValue == b.hashValue)
        #expect(a.description == "[10/10, 20/10)")
    }

    @Test func jsonReadsBack() throws {
        let range = range(5, 15)
        let text = try sortedJSON(range)
        #expect(
            text == #"{"duration":{"seconds":1,"timescale":10,"value":10},"#
                + #""start":{"seconds":0.5,"timescale":10,"value":5}}"#)
        #expect(try JSONDecoder().decode(MediaTimeRange.self, from: Data(text.utf8)) == range)
    }
}
