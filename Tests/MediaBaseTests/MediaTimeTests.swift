import MediaBase
import TestSupport
import Testing

@Suite struct MediaTimeTests {
    @Test func equalTimesAreEqualAndHashAlikeAcrossTimescales() {
        #expect(time(200, 2) == time(400, 4))
        #expect(time(200, 2).hashValue == time(400, 4).hashValue)
        #expect(Set([time(200, 2), time(400, 4), time(100, 1), time(-100, 1)]).count == 2)
        #expect(time(0, 7) == .zero)
        #expect(time(0, 7).hashValue == MediaTime.zero.hashValue)
        #expect(time(.min, 2).hashValue == time(.min / 2, 1).hashValue)
        #expect(time(1, .max) != time(1, .max - 1))
    }

    @Test func comparisonIsExactWhereDoublesAreNot() {
        let (last, next) = (time(.max - 1, .max), time(.max, .max))
        #expect(last < next)
        #expect(last.seconds == next.seconds)
        #expect(time(1, .max) < time(1, .max - 1))
        #expect(time(-1, .max - 1) < time(-1, .max))
    }

    @Test func goldenOrder() throws {
        let rows = try goldenTable("order.tsv", columns: 2)
        let times = try rows.map { (rank: try #require(Int($0[0])), time: try #require(MediaTime($0[1]))) }
        for left in times {
            for right in times {
                #expect((left.time < right.time) == (left.rank < right.rank), "\(left.time) < \(right.time)")
                #expect((left.time == right.time) == (left.rank == right.rank), "\(left.time) == \(right.time)")
                if left.rank == right.rank { #expect(left.time.hashValue == right.time.hashValue) }
            }
        }
    }

    /// The order that CMTime.h gives at CMTimeCompare.
    @Test func specialTimesHaveTheirPlaceInTheOrder() {
        for (i, left) in timesInOrder.enumerated() {
            for (j, right) in timesInOrder.enumerated() {
                #expect((left < right) == (i < j), "\(left) < \(right)")
                #expect((left == right) == (i == j), "\(left) == \(right)")
            }
        }
        #expect([MediaTime.invalid, .zero, .indefinite].min() == .zero)
        #expect([MediaTime.positiveInfinity, .zero, .indefinite].max() == .positiveInfinity)
    }

    @Test func orderIsTotal() {
        var generator = SeededGenerator(state: 1)
        for _ in 0..<20000 {
            let (a, b, c) = (generator.time(), generator.time(), generator.time())
            let relations = [a < b, a == b, a > b].filter { $0 }.count
            #expect(relations == 1, "\(a) against \(b)")
            if a <= b, b <= c { #expect(a <= c, "\(a), \(b), \(c)") }
            if a == b, b == c { #expect(a == c, "\(a), \(b), \(c)") }
            if a == b { #expect(a.hashValue == b.hashValue, "\(a), \(b)") }
        }
    }

    @Test func predicatesTellTheKindsApart() {
        let kinds: [(MediaTime, valid: Bool, numeric: Bool, indefinite: Bool, positive: Bool, negative: Bool)] = [
            (.zero, true, true, false, false, false),
            (time(-5, 3), true, true, false, false, false),
            (.invalid, false, false, false, false, false),
            (.indefinite, true, false, true, false, false),
            (.positiveInfinity, true, false, false, true, false),
            (.negativeInfinity, true, false, false, false, true),
        ]
        for kind in kinds {
            #expect(kind.0.isValid == kind.valid, "\(kind.0)")
            #expect(kind.0.isNumeric == kind.numeric, "\(kind.0)")
            #expect(kind.0.isIndefinite == kind.indefinite, "\(kind.0)")
            #expect(kind.0.isPositiveInfinity == kind.positive, "\(kind.0)")
            #expect(kind.0.isNegativeInfinity == kind.negative, "\(kind.0)")
            #expect(!kind.0.hasBeenRounded, "\(kind.0)")
        }
    }

    @Test func timescalesThatAreNotPositiveAreInvalid() {
        for timescale in [0, -1, Int32.min] {
            #expect(!time(1, timescale).isValid)
            #expect(!MediaTime(seconds: 1, preferredTimescale: timescale).isValid)
            #expect(!time(1, 1).converted(toTimescale: timescale).isValid)
        }
    }

    /// The raw values of CMTimeFlags.
    @Test func flagsHaveTheirRawValues() {
        #expect(MediaTime.zero.flags.rawValue == 1)
        #expect(MediaTime.invalid.flags.rawValue == 0)
        #expect(MediaTime.positiveInfinity.flags.rawValue == 5)
        #expect(MediaTime.negativeInfinity.flags.rawValue == 9)
        #expect(MediaTime.indefinite.flags.rawValue == 17)
        #expect(time(1, 3).converted(toTimescale: 10).flags.rawValue == 3)
    }
}
