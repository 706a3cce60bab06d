/// An exact fraction in lowest terms, for frame rates, aspect ratios and apertures.
///
/// The denominator is positive, except in the one invalid value, where it is 0. A zero denominator in a file becomes
/// that value. Arithmetic is exact or returns `nil`; nothing rounds and nothing traps.
public struct Rational: Sendable, Hashable {
    /// The numerator, which carries the sign; 0 if the value is invalid.
    public let num: Int64

    /// The denominator: positive, or 0 if the value is invalid.
    public let den: Int64

    /// Creates `num/den` in lowest terms; ``invalid`` if `den` is 0 or lowest terms do not fit in 64 bits.
    ///
    /// The latter happens only with −2⁶³ over a negative number.
    public init(_ num: Int64, _ den: Int64 = 1) {
        self = Rational(wide: Int128(num), Int128(den)) ?? .invalid
    }

    private init(lowest num: Int64, _ den: Int64) {
        self.num = num
        self.den = den
    }

    /// Returns `nil` if the lowest terms exceed 64 bits or the denominator is 0.
    private init?(wide num: Int128, _ den: Int128) {
        guard den != 0 else { return nil }
        let divisor = greatestCommonDivisor(num.magnitude, den.magnitude)
        let isNegative = (num < 0) != (den < 0)
        guard let num = Int64(isNegative: isNegative, magnitude: num.magnitude / divisor),
            let den = Int64(isNegative: false, magnitude: den.magnitude / divisor)
        else { return nil }
        self.init(lowest: num, den)
    }

    /// The invalid value 0/0, which represents a zero denominator.
    public static let invalid = Rational(lowest: 0, 0)
    /// 0/1.
    public static let zero = Rational(lowest: 0, 1)
    /// 1/1, the aspect ratio of square pixels.
    public static let one = Rational(lowest: 1, 1)

    /// True if the denominator is positive.
    public var isValid: Bool { den > 0 }

    /// True for a valid number above zero, as every rate and aspect ratio must be.
    public var isPositive: Bool { num > 0 }

    /// The value as a Double; NaN if invalid.
    ///
    /// It is the nearest Double, except for an extra rounding of each part beyond 53 bits.
    public var doubleValue: Double { isValid ? Double(num) / Double(den) : .nan }

    /// Creates the number of seconds of an exact time; `nil` if the time is non-numeric.
    public init?(_ time: MediaTime) {
        guard time.isNumeric else { return nil }
        self.init(time.value, Int64(time.timescale))
    }
}

extension Rational {
    /// Returns the sum; `nil` if it does not fit or an operand is invalid.
    public func adding(_ other: Rational) -> Rational? {
        // The sum of two products of 63 bits each stays below 128 bits.
        Rational(
            wide: Int128(num) * Int128(other.den) + Int128(other.num) * Int128(den), Int128(den) * Int128(other.den))
    }

    /// Returns the difference; `nil` if it does not fit or an operand is invalid.
    public func subtracting(_ other: Rational) -> Rational? {
        Rational(
            wide: Int128(num) * Int128(other.den) - Int128(other.num) * Int128(den), Int128(den) * Int128(other.den))
    }

    /// Returns the product; `nil` if it does not fit or an operand is invalid.
    public func multiplied(by other: Rational) -> Rational? {
        Rational(wide: Int128(num) * Int128(other.num), Int128(den) * Int128(other.den))
    }

    /// Returns the quotient; `nil` if it does not fit, `other` is 0 or an operand is invalid.
    public func divided(by other: Rational) -> Rational? {
        guard isValid, other.isValid else { return nil }
        return Rational(wide: Int128(num) * Int128(other.den), Int128(den) * Int128(other.num))
    }

    /// The inverse `den/num`; `nil` if it does not fit, or the value is 0 or invalid.
    public var inverse: Rational? { Rational.one.divided(by: self) }

    /// Returns the value rounded to an integer by a rule; `nil` if invalid.
    public func rounded(_ rule: RoundingRule = .halfAwayFromZero) -> Int64? {
        guard isValid else { return nil }
        return WideFraction(Int128(num), over: UInt128(den.magnitude)).ticks(timescale: 1, rounding: rule)?.value
    }
}

extension Rational: Comparable {
    /// Returns true if `left` is less; an invalid value sorts after every number.
    public static func < (left: Rational, right: Rational) -> Bool {
        guard left.isValid, right.isValid else { return left.isValid && !right.isValid }
        return Int128(left.num) * Int128(right.den) < Int128(right.num) * Int128(left.den)
    }
}

extension Rational: LosslessStringConvertible {
    /// The text `num/den`, as in `30000/1001`; `0/0` if invalid.
    public var description: String { "\(num)/\(den)" }

    /// Parses `num/den`; `nil` for anything else and for a denominator that is not positive.
    public init?(_ description: String) {
        let parts = description.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let num = Int64(parts[0]), let den = Int64(parts[1]), den > 0 else { return nil }
        self.init(num, den)
    }
}

/// Coded as `{"num":…,"den":…}`, in lowest terms; the invalid value is `{"num":0,"den":0}`.
extension Rational: Codable {
    private enum CodingKeys: String, CodingKey {
        case num, den
    }

    /// Encodes the keys in the order above.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(num, forKey: .num)
        try container.encode(den, forKey: .den)
    }

    /// Decodes any numerator over a positive denominator, or the invalid value; throws DecodingError otherwise.
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

/// A rule that rounds a value between two ticks to one of them.
///
/// The rules are CMTimeRoundingMethod's, except QuickTime's, plus half to even, which sample conversion needs.
public enum RoundingRule: Sendable, Hashable, CaseIterable {
    /// Rounds to the nearest tick and ties away from zero, the default (`roundHalfAwayFromZero`).
    case halfAwayFromZero
    /// Rounds to the tick nearer to zero (`roundTowardZero`).
    case towardZero
    /// Rounds to the tick farther from zero (`roundAwayFromZero`).
    case awayFromZero
    /// Rounds to the later tick (`roundTowardPositiveInfinity`).
    case up
    /// Rounds to the earlier tick (`roundTowardNegativeInfinity`).
    case down
    /// Rounds to the nearest tick and ties to the even one (IEEE 754; not in CMTime).
    case halfToEven
}

/// A fraction as a sign and two 128-bit magnitudes, the intermediate form of every exact result.
///
/// The denominator is never zero. Products with a timescale are computed in 256 bits, so no overflow goes undetected.
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

    /// Returns the number of ticks of 1/`timescale`, and whether it is exact; `nil` beyond 64 bits.
    func ticks(timescale: UInt128, rounding: RoundingRule) -> (value: Int64, isExact: Bool)? {
        let product = numerator.multipliedFullWidth(by: timescale)
        // Otherwise the quotient has more than 128 bits, and the division would trap.
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

extension Rational {
    /// Creates the fraction for a floating-point number; `nil` if it is not a number or beyond 10¹².
    ///
    /// The result is the simplest fraction within the number's precision, else the nearest whose denominator is at most
    /// a million.
    package init?(nearest number: Double) {
        guard number.magnitude <= 1e12, let whole = Int64(exactly: number.rounded(.down)) else { return nil }
        let tolerance = max(number.magnitude, 1) * 1e-12
        // Compute the continued fraction of the fractional part.
        var rest = number - number.rounded(.down)
        var (before, last) = ((num: Int64(0), den: Int64(1)), (num: Int64(1), den: Int64(0)))
        let part = rest
        for _ in 0..<40 {
            guard let term = Int64(exactly: rest.rounded(.down)), term <= 1_000_000 else { break }
            let next = (num: term * last.num + before.num, den: term * last.den + before.den)
            guard next.den <= 1_000_000 else { break }
            (before, last) = (last, next)
            let found = Double(last.num) / Double(last.den)
            guard (found - part).magnitude > tolerance else { break }
            rest = 1 / (rest - rest.rounded(.down))
            guard rest.isFinite else { break }
        }
        guard let sum = Rational(last.num, last.den).adding(Rational(whole)) else { return nil }
        self = sum
    }

    /// Creates a frame rate; `nil` if the number is not a rate.
    ///
    /// A number that approximates n·1000/1001 (23.976, 23.98, 29.97, 59.94) becomes exactly that.
    package init?(rate number: Double) {
        guard number.isFinite, number > 0, number <= 1e9 else { return nil }
        let whole = (number * 1.001).rounded()
        if number != number.rounded(), whole >= 1, whole <= 1000, (number - whole * 1000 / 1001).magnitude < 0.0051,
            let count = Int64(exactly: whole)
        {
            self = Rational(count * 1000, 1001)
            return
        }
        guard let rate = Rational(nearest: number), rate.isPositive else { return nil }
        self = rate
    }
}

extension Int64 {
    /// Returns `nil` if the number does not fit.
    init?(isNegative: Bool, magnitude: UInt128) {
        guard isNegative else {
            self.init(exactly: magnitude)
            return
        }
        guard magnitude <= UInt128(Int64.min.magnitude) else { return nil }
        self.init(truncatingIfNeeded: 0 &- magnitude)
    }
}

/// Returns the greatest common divisor (Euclid); 1 for two zeros, so that the result can always divide.
func greatestCommonDivisor<Number: FixedWidthInteger & UnsignedInteger>(_ first: Number, _ second: Number) -> Number {
    var (larger, smaller) = (first, second)
    while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
    return max(larger, 1)
}

// Arithmetic on numbers from a file, which may have any value: a result out of range is clamped.

extension FixedWidthInteger {
    /// Returns the sum, clamped to the type's range.
    @inlinable package func addingClamped(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other > 0 ? .max : .min) : sum
    }

    /// Returns the difference, clamped to the type's range.
    @inlinable package func subtractingClamped(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other > 0 ? .min : .max) : difference
    }

    /// Returns the product, clamped to the type's range.
    @inlinable package func multipliedClamped(by other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}
