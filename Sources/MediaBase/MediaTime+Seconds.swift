extension MediaTime {
    /// Makes the time nearest to a floating-point number of seconds (CMTimeMakeWithSeconds).
    ///
    /// A Double that is what a whole number of ticks reads as stands for those ticks under every rule: 0.3 at 10 ticks
    /// a second is 3/10 also rounded down, though the Double is a little less. Otherwise its exact value is rounded
    /// and ``hasBeenRounded`` set, which is the case when ``seconds`` of the result is not the number given. Where the
    /// value has more than 64 bits the timescale is halved until it fits, and beyond whole seconds the time is ±∞.
    /// NaN and a timescale that is not positive give an invalid time.
    public init(seconds: Double, preferredTimescale: Int32, rounding: RoundingRule = .halfAwayFromZero) {
        guard preferredTimescale > 0, !seconds.isNaN else {
            self = .invalid
            return
        }
        let infinity = seconds < 0 ? MediaTime.negativeInfinity : .positiveInfinity
        // 2 to the 64th seconds do not fit even at timescale 1.
        guard seconds.magnitude < 0x1p64 else {
            self = infinity
            return
        }
        let binary = BinaryFraction(seconds.magnitude)
        let (numerator, power) = BinaryFraction.limited(
            UInt128(binary.significand), exponent: binary.exponent, to: 126)
        let exact = WideFraction(
            isNegative: seconds < 0, numerator: numerator, denominator: UInt128(1) << UInt128(power))
        var timescale = preferredTimescale
        while timescale > 0 {
            let scale = UInt128(timescale.magnitude)
            if let nearest = exact.ticks(timescale: scale, rounding: .halfAwayFromZero) {
                let time = MediaTime(value: nearest.value, timescale: timescale)
                if time.seconds == seconds {
                    self = time
                    return
                }
            }
            if let ticks = exact.ticks(timescale: scale, rounding: rounding) {
                self.init(value: ticks.value, timescale: timescale, hasBeenRounded: true)
                return
            }
            timescale /= 2
        }
        self = infinity
    }

    /// The seconds as the nearest Double; ±infinity for infinite times, NaN for indefinite and invalid ones.
    ///
    /// For text and for the edges only: a Double cannot hold most times. Stands for CMTimeGetSeconds, but rounds
    /// correctly also where the value has more than 53 bits.
    public var seconds: Double {
        guard isNumeric else {
            if isPositiveInfinity { return .infinity }
            return isNegativeInfinity ? -.infinity : .nan
        }
        if value.magnitude <= 1 << 53 { return Double(value) / Double(timescale) }
        // At least 86 bits of quotient: the last one can stand for all that was cut off.
        let (quotient, remainder) = (UInt128(value.magnitude) << 64).quotientAndRemainder(
            dividingBy: UInt128(timescale.magnitude))
        let magnitude = Double(quotient | (remainder == 0 ? 0 : 1)) * 0x1p-64
        return value < 0 ? -magnitude : magnitude
    }

    /// Makes the time of an exact rational number of seconds; invalid for an invalid one.
    ///
    /// Where the denominator has more than 32 bits, the time is rounded and says so.
    public init(_ seconds: Rational) {
        guard seconds.isValid else {
            self = .invalid
            return
        }
        let denominator = UInt128(seconds.den.magnitude)
        self.init(WideFraction(Int128(seconds.num), over: denominator), preferring: denominator)
    }
}

extension MediaTime {
    /// The same time in ticks of another timescale, rounded where it falls between two (CMTimeConvertScale).
    ///
    /// Rounding sets ``hasBeenRounded``. Beyond 64 bits the result is ±∞; the timescale asked for is kept otherwise.
    /// Times that are not numbers stay as they are, and a timescale that is not positive gives an invalid time.
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

    /// The number of the sample, at `rate` samples a second, that is sounding at this time.
    ///
    /// Rounded down by default, which also holds before zero. `nil` where the time is not a number, the rate is not
    /// positive or the number has more than 64 bits.
    public func sampleIndex(rate: Int32, rounding: RoundingRule = .down) -> Int64? {
        let time = converted(toTimescale: rate, rounding: rounding)
        return time.isNumeric ? time.value : nil
    }
}

/// A finite Double that is not negative, as a whole number times a power of two.
struct BinaryFraction {
    var significand: UInt64
    var exponent: Int

    init(_ number: Double) {
        let isSubnormal = number.exponentBitPattern == 0
        significand = number.significandBitPattern | (isSubnormal ? 0 : 1 << 52)
        exponent = (isSubnormal ? 1 : Int(number.exponentBitPattern)) - 1075
    }

    /// `number` times two to the `exponent`, as a numerator over two to a power of `most` at the most.
    ///
    /// Bits beyond are gathered in the last one, which decides no rounding wrongly while the ticks asked for are
    /// coarser than that bit. The caller has made sure that a positive exponent does not overflow.
    static func limited(_ number: UInt128, exponent: Int, to most: Int) -> (numerator: UInt128, power: Int) {
        guard exponent < 0 else { return (number << UInt128(exponent), 0) }
        // Common factors of two go first: most Doubles are short.
        let common = number == 0 ? -exponent : min(number.trailingZeroBitCount, -exponent)
        let (odd, power) = (number >> UInt128(common), -exponent - common)
        guard power > most else { return (odd, power) }
        let cut = UInt128(power - most)
        let kept = odd >> cut
        return (kept << cut == odd ? kept : kept | 1, most)
    }
}
