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

extension MediaTime: LosslessStringConvertible {
    /// The exact text `value/timescale`, as in `9009/30000`; else `+inf`, `-inf`, `indefinite` or `invalid`.
    ///
    /// Reads back as an equal time in the same timescale. Whether the time was rounded is not in the text.
    public var description: String {
        if isNumeric { return "\(value)/\(timescale)" }
        if isPositiveInfinity { return "+inf" }
        if isNegativeInfinity { return "-inf" }
        return isIndefinite ? "indefinite" : "invalid"
    }

    /// Reads what ``description`` writes; `nil` for anything else, a timescale that is not positive among it.
    public init?(_ description: String) {
        switch description {
        case "+inf": self = .positiveInfinity
        case "-inf": self = .negativeInfinity
        case "indefinite": self = .indefinite
        case "invalid": self = .invalid
        default:
            let parts = description.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let value = Int64(parts[0]), let timescale = Int32(parts[1]), timescale > 0
            else { return nil }
            self.init(value: value, timescale: timescale)
        }
    }
}

extension MediaTime {
    /// The time as on a clock, `HH:MM:SS.mmm`, with a minus sign before zero.
    ///
    /// Rounded half away from zero to `decimals` places (0 to 18), by whole numbers throughout; hours take as many
    /// digits as they need, two at least. Where nothing but zeros is left there is no sign. Times that are not numbers
    /// give their ``description``.
    public func clockText(decimals: Int = 3) -> String {
        guard isNumeric else { return description }
        let places = min(max(decimals, 0), 18)
        let unit = (0..<places).reduce(UInt128(1)) { product, _ in product * 10 }
        // 63 bits by 60: no product here reaches 128.
        let (quotient, remainder) = (UInt128(value.magnitude) * unit).quotientAndRemainder(
            dividingBy: UInt128(timescale.magnitude))
        let units = quotient + (remainder * 2 >= UInt128(timescale.magnitude) ? 1 : 0)
        let (seconds, fraction) = units.quotientAndRemainder(dividingBy: unit)
        let sign = value < 0 && units > 0 ? "-" : ""
        let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { padded($0, to: 2) }
        return sign + clock.joined(separator: ":") + (places > 0 ? "." + padded(fraction, to: places) : "")
    }
}

/// The digits of a number that is not negative, with zeros before them up to a width.
package func padded(_ number: some BinaryInteger, to width: Int, radix: Int = 10) -> String {
    let digits = String(number, radix: radix)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}

extension MediaTime.Flags {
    /// What JSON says under `flags`: the names of what makes a time more, or less, than a plain exact number.
    ///
    /// Empty for an exact number. A time that is not valid is just `invalid`; the bit ``valid`` itself has no name.
    public var names: [String] {
        guard contains(.valid) else { return ["invalid"] }
        return Self.named.filter { contains($0.flag) }.map(\.name)
    }

    private static let named: [(name: String, flag: MediaTime.Flags)] = [
        ("hasBeenRounded", .hasBeenRounded), ("positiveInfinity", .positiveInfinity),
        ("negativeInfinity", .negativeInfinity), ("indefinite", .indefinite),
    ]
}

/// `{"value":…,"timescale":…,"seconds":…}`, and `"flags"` where the time is not a plain exact number.
///
/// `flags` is a list of names, of `hasBeenRounded`, or one alone of `positiveInfinity`, `negativeInfinity`,
/// `indefinite` and `invalid`; in these four cases value and timescale are 0 and `seconds` is `null`. Reading looks at
/// `value`, `timescale` and `flags` only, as `seconds` is not exact.
extension MediaTime: Codable {
    private enum CodingKeys: String, CodingKey {
        case value, timescale, seconds, flags
    }

    /// Writes the keys in the order above.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(value, forKey: .value)
        try container.encode(timescale, forKey: .timescale)
        try container.encode(isNumeric ? seconds : nil, forKey: .seconds)
        let names = flags.names
        if !names.isEmpty { try container.encode(names, forKey: .flags) }
    }

    /// Reads what ``encode(to:)`` writes; throws DecodingError where the flags contradict themselves or the timescale.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let value = try container.decode(Int64.self, forKey: .value)
        let timescale = try container.decode(Int32.self, forKey: .timescale)
        switch try container.decodeIfPresent([String].self, forKey: .flags) ?? [] {
        case [] where timescale > 0: self.init(value: value, timescale: timescale)
        case ["hasBeenRounded"] where timescale > 0:
            self.init(value: value, timescale: timescale, hasBeenRounded: true)
        case ["positiveInfinity"]: self = .positiveInfinity
        case ["negativeInfinity"]: self = .negativeInfinity
        case ["indefinite"]: self = .indefinite
        case ["invalid"]: self = .invalid
        default:
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: "no time has this timescale with these flags"))
        }
    }
}
