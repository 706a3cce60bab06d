import TestSupport
import Testing

@testable import MediaBase

@Suite struct RationalArithmeticTests {
    /// The numerator is built from quotient and remainder, so that what has to come out is known without dividing.
    @Test func wideQuotients() throws {
        var generator = SeededGenerator(state: 4)
        for _ in 0..<5000 {
            let denominator = UInt128.random(in: 2...(UInt128.max >> 64), using: &generator)
            let quotient = UInt128.random(in: 0..<(1 << 63), using: &generator)
            let remainder = UInt128.random(in: 0..<denominator, using: &generator)
            let fraction = WideFraction(
                isNegative: false, numerator: quotient * denominator + remainder, denominator: denominator)
            let down = try #require(fraction.ticks(timescale: 1, rounding: .down))
            #expect(UInt128(down.value) == quotient && down.isExact == (remainder == 0))
            let nearest = fraction.ticks(timescale: 1, rounding: .halfAwayFromZero)
            let isUp = remainder >= denominator - remainder
            #expect(nearest?.value == Int64(exactly: quotient + (isUp ? 1 : 0)))
        }
    }

    @Test func beyondEveryWidthIsNilAndNoTrap() {
        let large = WideFraction(isNegative: false, numerator: .max, denominator: 1)
        #expect(large.ticks(timescale: .max, rounding: .up) == nil)
        #expect(large.ticks(timescale: 1, rounding: .up) == nil)
        let one = WideFraction(isNegative: true, numerator: .max, denominator: .max)
        #expect(one.ticks(timescale: 1, rounding: .up)?.value == -1)
        let half = WideFraction(isNegative: false, numerator: .max, denominator: 2)
        #expect(half.ticks(timescale: 2, rounding: .awayFromZero) == nil)
        #expect(WideFraction(Int128.min, over: 0).denominator == 1)
    }

    @Test func signsAndMagnitudes() {
        #expect(Int64(isNegative: true, magnitude: 1 << 63) == .min)
        #expect(Int64(isNegative: true, magnitude: (1 << 63) + 1) == nil)
        #expect(Int64(isNegative: false, magnitude: 1 << 63) == nil)
        #expect(Int64(isNegative: true, magnitude: 0) == 0)
        #expect(Int64(isNegative: true, magnitude: 5) == -5)
        #expect(Int64(isNegative: false, magnitude: 5) == 5)
    }

    @Test func greatestCommonDivisors() {
        #expect(greatestCommonDivisor(UInt64(48), 36) == 12)
        #expect(greatestCommonDivisor(UInt64(0), 7) == 7)
        #expect(greatestCommonDivisor(UInt64(0), 0) == 1)
        #expect(greatestCommonDivisor(UInt128.max, UInt128.max) == .max)
    }
}
