/// An exact fraction in lowest terms, for frame rates, aspect ratios and apertures.
///
/// The denominator is positive, but 0 in the one invalid value, which is what a file's zero denominator becomes.
/// Arithmetic is exact or `nil`; nothing rounds and nothing traps.
public struct Rational: Sendable, Hashable {
    /// The numerator, which carries the sign; 0 where the value is invalid.
    public let num: Int64

    /// The denominator: positive, or 0 where the value is invalid.
    public let den: Int64

    /// Makes `num/den` in lowest terms; ``invalid`` where `den` is 0 or lowest terms do not fit in 64 bits.
    ///
    /// The latter happens only with −2⁶³ over a negative number.
    public init(_ num: Int64, _ den: Int64 = 1) {
        self = Rational(wide: Int128(num), Int128(den)) ?? .invalid
    }

    private init(lowest num: Int64, _ den: Int64) {
        self.num = num
        self.den = den
    }

    /// The fraction in lowest terms; `nil` where they have more than 64 bits or the denominator is 0.
    private init?(wide num: Int128, _ den: Int128) {
        guard den != 0 else { return nil }
        let divisor = greatestCommonDivisor(num.magnitude, den.magnitude)
        let isNegative = (num < 0) != (den < 0)
        guard let num = Int64(isNegative: isNegative, magnitude: num.magnitude / divisor),
            let den = Int64(isNegative: false, magnitude: den.magnitude / divisor)
        else { return nil }
        self.init(lowest: num, den)
    }

    /// No number: what a zero denominator stands for; 0/0.
    public static let invalid = Rational(lowest: 0, 0)
    /// 0/1.
    public static let zero = Rational(lowest: 0, 1)
    /// 1/1, the aspect ratio of square pixels.
    public static let one = Rational(lowest: 1, 1)

    /// True where the denominator is positive.
    public var isValid: Bool { den > 0 }

    /// True for a valid number above zero, which every rate and aspect ratio has to be.
    public var isPositive: Bool { num > 0 }

    /// The nearest Double but for one rounding of each part beyond 53 bits; NaN where invalid.
    public var doubleValue: Double { isValid ? Double(num) / Double(den) : .nan }

    /// Makes the seconds of an exact time; `nil` where the time is not a number.
    public init?(_ time: MediaTime) {
        guard time.isNumeric else { return nil }
        self.init(time.value, Int64(time.timescale))
    }
}

extension Rational {
    /// The sum; `nil` where it does not fit or an operand is invalid.
    public func adding(_ other: Rational) -> Rational? {
        // Two products of 63 bits each: the sum stays below 128.
        Rational(
            wide: Int128(num) * Int128(other.den) + Int128(other.num) * Int128(den), Int128(den) * Int128(other.den))
    }

    /// The difference; `nil` where it does not fit or an operand is invalid.
    public func subtracting(_ other: Rational) -> Rational? {
        Rational(
            wide: Int128(num) * Int128(other.den) - Int128(other.num) * Int128(den), Int128(den) * Int128(other.den))
    }

    /// The product; `nil` where it does not fit or an operand is invalid.
    public func multiplied(by other: Rational) -> Rational? {
        Rational(wide: Int128(num) * Int128(other.num), Int128(den) * Int128(other.den))
    }

    /// The quotient; `nil` where it does not fit, `other` is 0 or an operand is invalid.
    public func divided(by other: Rational) -> Rational? {
        guard isValid, other.isValid else { return nil }
        return Rational(wide: Int128(num) * Int128(other.den), Int128(den) * Int128(other.num))
    }

    /// `den/num`; `nil` for 0, for an invalid value and where it does not fit.
    public var inverse: Rational? { Rational.one.divided(by: self) }

    /// The nearest whole number by a rule; `nil` where invalid.
    public func rounded(_ rule: RoundingRule = .halfAwayFromZero) -> Int64? {
        guard isValid else { return nil }
        return WideFraction(Int128(num), over: UInt128(den.magnitude)).ticks(timescale: 1, rounding: rule)?.value
    }
}

extension Rational: Comparable {
    /// True where `left` is less; an invalid value comes after every number.
    public static func < (left: Rational, right: Rational) -> Bool {
        guard left.isValid, right.isValid else { return left.isValid && !right.isValid }
        return Int128(left.num) * Int128(right.den) < Int128(right.num) * Int128(left.den)
    }
}

extension Rational: LosslessStringConvertible {
    /// `num/den`, as in `30000/1001`; `0/0` where invalid.
    public var description: String { "\(num)/\(den)" }

    /// Reads `num/den`; `nil` for anything else and for a denominator that is not positive.
    public init?(_ description: String) {
        let parts = description.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let num = Int64(parts[0]), let den = Int64(parts[1]), den > 0 else { return nil }
        self.init(num, den)
    }
}

/// `{"num":…,"den":…}`, in lowest terms; the invalid value is `{"num":0,"den":0}`.
extension Rational: Codable {
    private enum CodingKeys: String, CodingKey {
        case num, den
    }

    /// Writes the keys in the order above.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(num, forKey: .num)
        try container.encode(den, forKey: .den)
    }

    /// Reads any numerator over a positive denominator, or the invalid value; throws DecodingError otherwise.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let num = try container.decode(Int64.self, forKey: .num)
        let den = try container.decode(Int64.self, forKey: .den)
        guard den > 0 || (num, den) == (0, 0) else {
            throw DecodingError.dataCorruptedError(
                forKey: .den, in: container, debugDescription: "the denominator is not positive")
        }
        self.init(num, den)
    }
}

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

// Sums and products of numbers from a file, which may be anything: where the result is out of range, it is the nearest
// number that there is.

extension FixedWidthInteger {
    /// Adds two numbers; a sum out of range is the highest or lowest number.
    @inlinable package func addingClamped(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other > 0 ? .max : .min) : sum
    }

    /// Subtracts a number; a difference out of range is the highest or lowest number.
    @inlinable package func subtractingClamped(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other > 0 ? .min : .max) : difference
    }

    /// Multiplies two numbers; a product out of range is the highest or lowest number.
    @inlinable package func multipliedClamped(by other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}
