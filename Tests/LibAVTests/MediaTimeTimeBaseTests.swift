import LibAV
import MediaBase
import Testing

/// Conversions between ticks and time, computed by hand.
@Suite struct MediaTimeTimeBaseTests {
    private let base = Rational(1001, 30_000)

    @Test func ticksAreExact() {
        #expect(MediaTime(ticks: 9, timeBase: base) == MediaTime(value: 9009, timescale: 30_000))
        #expect(MediaTime(ticks: -3, timeBase: base) == MediaTime(value: -3003, timescale: 30_000))
        #expect(MediaTime(ticks: 0, timeBase: base) == .zero)
        #expect(MediaTime(ticks: 90_000, timeBase: Rational(1, 90_000)) == MediaTime(value: 1, timescale: 1))
        #expect(!MediaTime(ticks: 1 << 40, timeBase: base).hasBeenRounded)
    }

    @Test func noTimeStampIsIndefinite() {
        #expect(MediaTime(ticks: Int64.min, timeBase: base) == .indefinite)
        #expect(!MediaTime(ticks: 5, timeBase: Rational(1, Int64(Int32.max) + 1)).isNumeric)
    }

    @Test func extremesDoNotTrap() {
        for ticks in [Int64.max, Int64.min + 1] {
            _ = MediaTime(ticks: ticks, timeBase: base)
            _ = MediaTime(ticks: ticks, timeBase: Rational(Int64(Int32.max), 1))
        }
        #expect(MediaTime.positiveInfinity.ticks(in: base, rounding: .down) == nil)
        #expect(MediaTime.indefinite.ticks(in: base, rounding: .down) == nil)
        #expect(MediaTime(value: .max, timescale: 1).ticks(in: Rational(1, 90_000), rounding: .down) == nil)
    }

    @Test func timesBecomeTicks() {
        #expect(MediaTime(value: 9009, timescale: 30_000).ticks(in: base, rounding: .down) == 9)
        // One second is 29.97 ticks.
        let second = MediaTime(value: 1, timescale: 1)
        #expect(second.ticks(in: base, rounding: .down) == 29)
        #expect(second.ticks(in: base, rounding: .up) == 30)
        #expect(second.ticks(in: base, rounding: .halfAwayFromZero) == 30)
        #expect((-second).ticks(in: base, rounding: .halfAwayFromZero) == -30)
    }
}
