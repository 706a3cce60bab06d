/// How a value that falls between two ticks is brought to one of them.
///
/// CMTimeRoundingMethod's rules, but for QuickTime's, and with half to even, which sample conversion needs.
public enum RoundingRule: Sendable, Hashable, CaseIterable {
    /// To the nearest tick; the middle goes away from zero. The default (`roundHalfAwayFromZero`).
    case halfAwayFromZero
    /// To the tick nearer to zero (`roundTowardZero`).
    case towardZero
    /// To the tick farther from zero (`roundAwayFromZero`).
    case awayFromZero
    /// To the later tick (`roundTowardPositiveInfinity`).
    case up
    /// To the earlier tick (`roundTowardNegativeInfinity`).
    case down
    /// To the nearest tick; the middle goes to the even one (IEEE 754; CMTime has no such rule).
    case halfToEven
}

/// A fraction as a sign and two magnitudes of 128 bits, the form in which every exact result passes through.
///
/// The denominator is never zero. Products with a timescale are taken in 256 bits, so nothing here can overflow
/// unseen.
struct WideFraction {
    var isNegative: Bool
    var numerator: UInt128
    var denominator: UInt128

    init(isNegative: Bool, numerator: UInt128, denominator: UInt128) {
        self.isNegative = isNegative
        self.numerator = numerator
        self.denominator = max(denominator, 1)
    }

    init(_ numerator: Int128, over denominator: UInt128) {
        self.init(isNegative: numerator < 0, numerator: numerator.magnitude, denominator: denominator)
    }

    /// The same number in lowest terms.
    var reduced: WideFraction {
        let divisor = greatestCommonDivisor(numerator, denominator)
        return WideFraction(
            isNegative: isNegative, numerator: numerator / divisor, denominator: denominator / divisor)
    }

    /// The number of ticks of 1/`timescale` that this is, and whether that is exact; `nil` beyond 64 bits.
    func ticks(timescale: UInt128, rounding: RoundingRule) -> (value: Int64, isExact: Bool)? {
        let product = numerator.multipliedFullWidth(by: timescale)
        // At or above this the quotient has more than 128 bits, and dividing would trap.
        guard product.high < denominator else { return nil }
        let (quotient, remainder) = denominator.dividingFullWidth(product)
        let goesAway = remainder != 0 && roundsAway(quotient: quotient, remainder: remainder, rule: rounding)
        let (magnitude, overflow) = quotient.addingReportingOverflow(goesAway ? 1 : 0)
        guard !overflow, let value = Int64(isNegative: isNegative, magnitude: magnitude) else { return nil }
        return (value, remainder == 0)
    }

    private func roundsAway(quotient: UInt128, remainder: UInt128, rule: RoundingRule) -> Bool {
        let rest = denominator - remainder
        switch rule {
        case .halfAwayFromZero: return remainder >= rest
        case .halfToEven: return remainder > rest || (remainder == rest && !quotient.isMultiple(of: 2))
        case .towardZero: return false
        case .awayFromZero: return true
        case .up: return !isNegative
        case .down: return isNegative
        }
    }
}

extension Int64 {
    /// The number with this sign and magnitude; `nil` where it does not fit.
    init?(isNegative: Bool, magnitude: UInt128) {
        guard isNegative else {
            self.init(exactly: magnitude)
            return
        }
        guard magnitude <= UInt128(Int64.min.magnitude) else { return nil }
        self.init(truncatingIfNeeded: 0 &- magnitude)
    }
}

/// The greatest common divisor (Euclid); never zero, so that it can divide: 1 for two zeros.
func greatestCommonDivisor<Number: FixedWidthInteger & UnsignedInteger>(_ first: Number, _ second: Number) -> Number {
    var (larger, smaller) = (first, second)
    while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
    return max(larger, 1)
}
