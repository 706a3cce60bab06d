/// A point in time or a duration as an exact rational: a 64-bit count of ticks of 1/timescale second.
///
/// ```swift
/// let frame = MediaTime(value: 1001, timescale: 30000)
/// let ninth = frame.multiplied(by: 9)     // 9009/30000
/// ninth == MediaTime(value: 3003, timescale: 10000)   // true, and both hash alike
/// ```
///
/// Non-numeric times have a value and timescale of 0, and ``flags`` identifies their kind. Two times are equal if they
/// denote the same moment, whatever their timescales and whether or not either of them ``hasBeenRounded``. All invalid
/// times are equal. The order is −∞ < numbers < indefinite < +∞ < invalid.
///
/// Corresponds to CMTime, without its epoch.
public struct MediaTime: Sendable {
    /// The number of ticks; 0 if the time is non-numeric.
    public let value: Int64

    /// The number of ticks per second; positive, or 0 if the time is non-numeric.
    public let timescale: Int32

    /// The kind of time this is, and whether it was rounded.
    public let flags: Flags

    /// Creates the exact time of `value` ticks of 1/`timescale` second.
    ///
    /// A timescale that is not positive yields ``invalid``. Corresponds to CMTimeMake.
    public init(value: Int64, timescale: Int32) {
        self.init(value: value, timescale: timescale, hasBeenRounded: false)
    }

    init(value: Int64, timescale: Int32, hasBeenRounded: Bool) {
        guard timescale > 0 else {
            self = .invalid
            return
        }
        self.value = value
        self.timescale = timescale
        self.flags = hasBeenRounded ? [.valid, .hasBeenRounded] : .valid
    }

    private init(special flags: Flags) {
        self.value = 0
        self.timescale = 0
        self.flags = flags
    }
}

extension MediaTime {
    /// The kind of a ``MediaTime``; CMTimeFlags with the same raw values.
    public struct Flags: OptionSet, Sendable, Hashable {
        /// The bits, as in CMTimeFlags.
        public let rawValue: UInt32

        /// Creates flags from their bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The time is valid; without this flag it is invalid, whatever the other flags.
        public static let valid = Flags(rawValue: 1)
        /// The value is not exact: it was rounded, or was computed from a rounded value.
        public static let hasBeenRounded = Flags(rawValue: 2)
        /// The time is later than every number.
        public static let positiveInfinity = Flags(rawValue: 4)
        /// The time is earlier than every number.
        public static let negativeInfinity = Flags(rawValue: 8)
        /// The time is unknown, such as the duration of a live stream.
        public static let indefinite = Flags(rawValue: 16)
    }

    /// Zero seconds, with a timescale of 1 (kCMTimeZero).
    public static let zero = MediaTime(value: 0, timescale: 1)
    /// An invalid time, such as the result of a meaningless computation (kCMTimeInvalid).
    public static let invalid = MediaTime(special: [])
    /// An unknown time (kCMTimeIndefinite).
    public static let indefinite = MediaTime(special: [.valid, .indefinite])
    /// A time later than every number (kCMTimePositiveInfinity).
    public static let positiveInfinity = MediaTime(special: [.valid, .positiveInfinity])
    /// A time earlier than every number (kCMTimeNegativeInfinity).
    public static let negativeInfinity = MediaTime(special: [.valid, .negativeInfinity])

    /// True unless this is ``invalid``; infinite and indefinite times are valid.
    public var isValid: Bool { flags.contains(.valid) }
    /// True for a number: valid, and neither infinite nor indefinite.
    public var isNumeric: Bool { timescale > 0 }
    /// True for an unknown time.
    public var isIndefinite: Bool { flags.contains(.indefinite) }
    /// True for +∞.
    public var isPositiveInfinity: Bool { flags.contains(.positiveInfinity) }
    /// True for −∞.
    public var isNegativeInfinity: Bool { flags.contains(.negativeInfinity) }
    /// True if the value was rounded or was computed from a rounded value.
    public var hasBeenRounded: Bool { flags.contains(.hasBeenRounded) }
}

extension MediaTime: Comparable {
    /// Returns true for the same moment in any timescales, and for two non-numeric times of the same kind.
    public static func == (left: MediaTime, right: MediaTime) -> Bool {
        guard left.isNumeric, right.isNumeric else { return left.rank == right.rank }
        return left.crossed(with: right) == right.crossed(with: left)
    }

    /// Returns true if `left` is earlier, in the order −∞ < numbers < indefinite < +∞ < invalid (CMTimeCompare).
    public static func < (left: MediaTime, right: MediaTime) -> Bool {
        guard left.isNumeric, right.isNumeric else { return left.rank < right.rank }
        return left.crossed(with: right) < right.crossed(with: left)
    }

    private func crossed(with other: MediaTime) -> Int128 { Int128(value) * Int128(other.timescale) }

    /// The position of this kind of time in the order.
    private var rank: Int {
        if isNumeric { return 1 }
        if isNegativeInfinity { return 0 }
        if isIndefinite { return 2 }
        return isPositiveInfinity ? 3 : 4
    }
}

extension MediaTime: Hashable {
    /// Hashes the time in lowest terms, so that equal times have equal hashes.
    public func hash(into hasher: inout Hasher) {
        guard isNumeric else {
            hasher.combine(rank)
            return
        }
        let divisor = Int64(greatestCommonDivisor(value.magnitude, UInt64(timescale.magnitude)))
        hasher.combine(value / divisor)
        hasher.combine(Int64(timescale) / divisor)
    }
}

extension MediaTime {
    /// Creates the time of an exact rational number of seconds; an invalid rational yields an invalid time.
    ///
    /// If the denominator exceeds 32 bits, the time is rounded and ``hasBeenRounded`` is set.
    public init(_ seconds: Rational) {
        guard seconds.isValid else {
            self = .invalid
            return
        }
        let denominator = UInt128(seconds.den.magnitude)
        self.init(WideFraction(Int128(seconds.num), over: denominator), preferring: denominator)
    }

    /// Returns the time in another timescale, rounded if it falls between two ticks (CMTimeConvertScale).
    ///
    /// Rounding sets ``hasBeenRounded``. A result beyond 64 bits is ±∞; otherwise it has the requested timescale.
    /// Non-numeric times are returned unchanged, and a timescale that is not positive yields an invalid time.
    public func converted(toTimescale newTimescale: Int32, rounding: RoundingRule = .halfAwayFromZero) -> MediaTime {
        guard newTimescale > 0 else { return .invalid }
        guard isNumeric, newTimescale != timescale else { return self }
        let exact = WideFraction(Int128(value), over: UInt128(timescale.magnitude))
        guard let ticks = exact.ticks(timescale: UInt128(newTimescale.magnitude), rounding: rounding) else {
            return value < 0 ? .negativeInfinity : .positiveInfinity
        }
        return MediaTime(
            value: ticks.value, timescale: newTimescale, hasBeenRounded: hasBeenRounded || !ticks.isExact)
    }

    /// Returns the time in units of `timeBase` seconds; `nil` if it is not numeric or does not fit.
    package func ticks(in timeBase: Rational, rounding: RoundingRule) -> Int64? {
        guard isNumeric, timeBase.num > 0, let timescale = Int32(exactly: timeBase.den) else { return nil }
        // Division by the numerator first leaves one rounding, at the end.
        let scaled = multiplied(by: 1, dividedBy: timeBase.num).converted(toTimescale: timescale, rounding: rounding)
        return scaled.isNumeric ? scaled.value : nil
    }

    /// Returns the index of the audio sample that is playing at this time, at `rate` samples per second.
    ///
    /// Rounds down by default, also for negative times. Returns `nil` if the time is non-numeric, the rate is not
    /// positive or the index exceeds 64 bits.
    public func sampleIndex(rate: Int32, rounding: RoundingRule = .down) -> Int64? {
        let time = converted(toTimescale: rate, rounding: rounding)
        return time.isNumeric ? time.value : nil
    }
}

/// Sums, differences and products, exact if a 64-bit value and a 32-bit timescale can hold the result.
///
/// All of them follow CMTime's rule. The result uses the least timescale that is a multiple of the operands'
/// timescales and represents it exactly. If that timescale exceeds 32 bits or the value exceeds 64, lowest terms are
/// tried. If those do not fit either, the result is rounded (half away from zero) at timescale 2147483647, halved
/// until the value fits, and ``hasBeenRounded`` is set. A result that exceeds 64 bits of whole seconds is ±∞. Results
/// inherit the flag from their operands.
extension MediaTime {
    /// Returns the sum (CMTimeAdd).
    ///
    /// An infinite operand wins over numeric and indefinite ones; the sum of +∞ and −∞ is invalid.
    public static func + (left: MediaTime, right: MediaTime) -> MediaTime {
        left.adding(right, sign: 1)
    }

    /// Returns the difference (CMTimeSubtract).
    ///
    /// An infinite operand wins over numeric and indefinite ones; subtracting ∞ from the same ∞ is invalid.
    public static func - (left: MediaTime, right: MediaTime) -> MediaTime {
        left.adding(right, sign: -1)
    }

    /// Returns the negated time; invalid and indefinite times are returned unchanged.
    public static prefix func - (time: MediaTime) -> MediaTime { time.multiplied(by: Int64(-1)) }

    /// Adds a time in place.
    public static func += (left: inout MediaTime, right: MediaTime) { left = left + right }

    /// Subtracts a time in place.
    public static func -= (left: inout MediaTime, right: MediaTime) { left = left - right }

    /// Returns the time multiplied by an integer; see ``multiplied(by:)-(Int64)``.
    public static func * (time: MediaTime, multiplier: Int) -> MediaTime { time.multiplied(by: Int64(multiplier)) }

    /// Returns the time multiplied by a floating-point number; see ``multiplied(by:)-(Double)``.
    public static func * (time: MediaTime, multiplier: Double) -> MediaTime { time.multiplied(by: multiplier) }

    /// The absolute value (CMTimeAbsoluteValue); −∞ becomes +∞.
    public var absoluteValue: MediaTime { self < .zero ? -self : self }

    private func adding(_ other: MediaTime, sign: Int64) -> MediaTime {
        guard isNumeric, other.isNumeric else { return addingSpecial(sign < 0 ? -other : other) }
        let rounded = hasBeenRounded || other.hasBeenRounded
        let (left, right) = (Int64(timescale), Int64(other.timescale))
        let divisor = Int64(greatestCommonDivisor(timescale.magnitude, other.timescale.magnitude))
        let common = left / divisor * right
        let sum = Int128(value) * Int128(common / left) + Int128(other.value) * Int128(common / right) * Int128(sign)
        if let value = Int64(exactly: sum), let timescale = Int32(exactly: common) {
            return MediaTime(value: value, timescale: timescale, hasBeenRounded: rounded)
        }
        let denominator = UInt128(common.magnitude)
        return MediaTime(
            WideFraction(sum, over: denominator), preferring: denominator, hasBeenRounded: rounded)
    }

    private func addingSpecial(_ other: MediaTime) -> MediaTime {
        guard isValid, other.isValid else { return .invalid }
        switch (isInfinite, other.isInfinite) {
        case (true, true): return self == other ? self : .invalid
        case (true, false): return self
        case (false, true): return other
        case (false, false): return .indefinite
        }
    }
}

extension MediaTime {
    /// Returns the time multiplied by an integer (CMTimeMultiply).
    ///
    /// The result keeps the timescale. A negative multiplier changes the sign of an infinite time; ∞ times 0 is
    /// invalid.
    public func multiplied(by multiplier: Int64) -> MediaTime {
        guard isNumeric else { return multipliedSpecial(bySign: multiplier.signum()) }
        let product = Int128(value) * Int128(multiplier)
        if let value = Int64(exactly: product) {
            return MediaTime(value: value, timescale: timescale, hasBeenRounded: hasBeenRounded)
        }
        let denominator = UInt128(timescale.magnitude)
        return MediaTime(
            WideFraction(product, over: denominator), preferring: denominator, hasBeenRounded: hasBeenRounded)
    }

    /// Returns the time multiplied by `multiplier` and divided by `divisor`, rounded at most once
    /// (CMTimeMultiplyByRatio).
    ///
    /// Division by zero returns ±∞ with the sign of the product, or an invalid time if the time or the multiplier is
    /// zero too.
    public func multiplied(by multiplier: Int64, dividedBy divisor: Int64) -> MediaTime {
        let sign = divisor < 0 ? -multiplier.signum() : multiplier.signum()
        guard isNumeric else { return multipliedSpecial(bySign: sign) }
        let product = Int128(value) * Int128(multiplier)
        guard divisor != 0 else {
            return product == 0 ? .invalid : (product > 0 ? .positiveInfinity : .negativeInfinity)
        }
        let scale = UInt128(timescale.magnitude)
        let magnitude = UInt128(divisor.magnitude)
        // The timescale must absorb the part of the divisor that does not cancel against the product.
        let missing = magnitude / greatestCommonDivisor(product.magnitude, magnitude)
        let exact = WideFraction(
            isNegative: (product < 0) != (divisor < 0), numerator: product.magnitude, denominator: scale * magnitude)
        return MediaTime(exact, preferring: scale * missing, hasBeenRounded: hasBeenRounded)
    }

    /// Returns the time multiplied by an exact rational; an invalid rational yields an invalid time.
    public func multiplied(by ratio: Rational) -> MediaTime {
        ratio.isValid ? multiplied(by: ratio.num, dividedBy: ratio.den) : .invalid
    }

    /// Returns the time multiplied by the exact value of a floating-point number (CMTimeMultiplyByFloat64).
    ///
    /// If the exact product does not fit a 32-bit timescale, it is rounded at this time's own timescale, doubled until
    /// it is at least 65536. NaN yields an invalid time, infinity ±∞, and zero times infinity an invalid time.
    public func multiplied(by multiplier: Double) -> MediaTime {
        guard !multiplier.isNaN else { return .invalid }
        let sign: Int64 = multiplier == 0 ? 0 : (multiplier < 0 ? -1 : 1)
        guard isNumeric else { return multipliedSpecial(bySign: sign) }
        guard multiplier.isFinite else {
            let infinity = value < 0 ? MediaTime.negativeInfinity : .positiveInfinity
            return infinity.multipliedSpecial(bySign: value == 0 ? 0 : sign)
        }
        let isNegative = (value < 0) != (multiplier < 0)
        let factor = BinaryFraction(multiplier.magnitude)
        let product = UInt128(value.magnitude) * UInt128(factor.significand)
        // 2 to the power of 119 over a 31-bit timescale exceeds 64 bits.
        guard product == 0 || factor.exponent + 128 - product.leadingZeroBitCount <= 119 else {
            return isNegative ? .negativeInfinity : .positiveInfinity
        }
        let scale = UInt128(timescale.magnitude)
        let (numerator, power) = BinaryFraction.limited(product, exponent: factor.exponent, to: 90)
        let exact = WideFraction(
            isNegative: isNegative, numerator: numerator, denominator: scale << UInt128(power))
        let missing = UInt128(1) << UInt128(max(0, power - numerator.trailingZeroBitCount))
        var fallback = timescale
        while fallback < 65536 { fallback *= 2 }
        return MediaTime(
            exact, preferring: numerator == 0 ? scale : scale * missing, otherwise: fallback,
            hasBeenRounded: hasBeenRounded)
    }

    private var isInfinite: Bool { isPositiveInfinity || isNegativeInfinity }

    private func multipliedSpecial(bySign sign: Int64) -> MediaTime {
        guard isInfinite else { return self }
        guard sign != 0 else { return .invalid }
        return isPositiveInfinity == (sign > 0) ? .positiveInfinity : .negativeInfinity
    }
}

extension MediaTime {
    /// Creates the time of an exact fraction of a second, following the rule of the arithmetic operators.
    ///
    /// - Parameters:
    ///   - exact: The time in seconds.
    ///   - preferred: A timescale of any size in which the time is a whole number of ticks.
    ///   - otherwise: The timescale to round at if no exact representation fits.
    ///   - hasBeenRounded: Whether an operand was already rounded.
    init(
        _ exact: WideFraction, preferring preferred: UInt128, otherwise: Int32 = .max, hasBeenRounded: Bool = false
    ) {
        if let timescale = Int32(exactly: preferred),
            let ticks = exact.ticks(timescale: preferred, rounding: .halfAwayFromZero), ticks.isExact
        {
            self.init(value: ticks.value, timescale: timescale, hasBeenRounded: hasBeenRounded)
            return
        }
        let least = exact.reduced
        if let timescale = Int32(exactly: least.denominator),
            let value = Int64(isNegative: least.isNegative, magnitude: least.numerator)
        {
            self.init(value: value, timescale: timescale, hasBeenRounded: hasBeenRounded)
            return
        }
        var timescale = Int32(exactly: preferred) ?? otherwise
        while timescale > 0 {
            if let ticks = least.ticks(timescale: UInt128(timescale.magnitude), rounding: .halfAwayFromZero) {
                self.init(value: ticks.value, timescale: timescale, hasBeenRounded: hasBeenRounded || !ticks.isExact)
                return
            }
            timescale /= 2
        }
        self = exact.isNegative ? .negativeInfinity : .positiveInfinity
    }
}
