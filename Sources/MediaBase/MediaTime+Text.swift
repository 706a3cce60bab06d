extension MediaTime {
    /// Creates the time nearest to a floating-point number of seconds (CMTimeMakeWithSeconds).
    ///
    /// If a whole number of ticks converts to exactly this Double, the result is that number of ticks under every
    /// rounding rule: 0.3 at 10 ticks per second is 3/10 even when rounding down, although the Double is slightly
    /// less. Otherwise the Double's exact value is rounded and ``hasBeenRounded`` is set; ``seconds`` of the result
    /// then differs from the argument. If the value exceeds 64 bits, the timescale is halved until it fits; a time
    /// that does not even fit in whole seconds is ±∞. NaN and a timescale that is not positive yield an invalid time.
    public init(seconds: Double, preferredTimescale: Int32, rounding: RoundingRule = .halfAwayFromZero) {
        guard preferredTimescale > 0, !seconds.isNaN else {
            self = .invalid
            return
        }
        let infinity = seconds < 0 ? MediaTime.negativeInfinity : .positiveInfinity
        // 2 to the power of 64 seconds do not fit even at timescale 1.
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

    /// The time in seconds as the nearest Double; ±infinity for infinite times, NaN for indefinite and invalid ones.
    ///
    /// Use it only for text and at API boundaries, as a Double cannot represent most times. Corresponds to
    /// CMTimeGetSeconds, but also rounds correctly if the value exceeds 53 bits.
    public var seconds: Double {
        guard isNumeric else {
            if isPositiveInfinity { return .infinity }
            return isNegativeInfinity ? -.infinity : .nan
        }
        if value.magnitude <= 1 << 53 { return Double(value) / Double(timescale) }
        // The quotient has at least 86 bits, so its last bit can represent everything that was cut off.
        let (quotient, remainder) = (UInt128(value.magnitude) << 64).quotientAndRemainder(
            dividingBy: UInt128(timescale.magnitude))
        let magnitude = Double(quotient | (remainder == 0 ? 0 : 1)) * 0x1p-64
        return value < 0 ? -magnitude : magnitude
    }
}

/// A finite, non-negative Double as an integer multiplied by a power of two.
struct BinaryFraction {
    var significand: UInt64
    var exponent: Int

    init(_ number: Double) {
        let isSubnormal = number.exponentBitPattern == 0
        significand = number.significandBitPattern | (isSubnormal ? 0 : 1 << 52)
        exponent = (isSubnormal ? 1 : Int(number.exponentBitPattern)) - 1075
    }

    /// Returns `number` times two to the power of `exponent` as a fraction whose denominator is at most two to the
    /// power of `most`.
    ///
    /// Bits below that are merged into the last bit, which affects no rounding as long as the requested ticks are
    /// coarser than that bit. The caller ensures that a positive exponent does not overflow.
    static func limited(_ number: UInt128, exponent: Int, to most: Int) -> (numerator: UInt128, power: Int) {
        guard exponent < 0 else { return (number << UInt128(exponent), 0) }
        // Cancel common factors of two first: most Doubles have few significant bits.
        let common = number == 0 ? -exponent : min(number.trailingZeroBitCount, -exponent)
        let (odd, power) = (number >> UInt128(common), -exponent - common)
        guard power > most else { return (odd, power) }
        let cut = UInt128(power - most)
        let kept = odd >> cut
        return (kept << cut == odd ? kept : kept | 1, most)
    }
}

extension MediaTime: LosslessStringConvertible {
    /// The exact text `value/timescale`, as in `9009/30000`, or `+inf`, `-inf`, `indefinite` or `invalid`.
    ///
    /// Parsing this text yields an equal time in the same timescale. It does not record whether the time was rounded.
    public var description: String {
        if isNumeric { return "\(value)/\(timescale)" }
        if isPositiveInfinity { return "+inf" }
        if isNegativeInfinity { return "-inf" }
        return isIndefinite ? "indefinite" : "invalid"
    }

    /// Parses the text produced by ``description``; `nil` for anything else, including a timescale that is not
    /// positive.
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
    /// Returns the time in clock format, `HH:MM:SS.mmm`, with a minus sign if it is negative.
    ///
    /// The time is rounded half away from zero to `decimals` places (0 to 18), in integer arithmetic throughout. Hours
    /// have at least two digits. A time that rounds to zero has no sign. Non-numeric times return their
    /// ``description``.
    public func clockText(decimals: Int = 3) -> String {
        guard isNumeric else { return description }
        let places = min(max(decimals, 0), 18)
        let unit = (0..<places).reduce(UInt128(1)) { product, _ in product * 10 }
        // 63 bits by 60 bits: no product here reaches 128.
        let (quotient, remainder) = (UInt128(value.magnitude) * unit).quotientAndRemainder(
            dividingBy: UInt128(timescale.magnitude))
        let units = quotient + (remainder * 2 >= UInt128(timescale.magnitude) ? 1 : 0)
        let (seconds, fraction) = units.quotientAndRemainder(dividingBy: unit)
        let sign = value < 0 && units > 0 ? "-" : ""
        let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { padded($0, to: 2) }
        return sign + clock.joined(separator: ":") + (places > 0 ? "." + padded(fraction, to: places) : "")
    }
}

/// Returns the digits of a non-negative number, padded with leading zeros to a width.
package func padded(_ number: some BinaryInteger, to width: Int, radix: Int = 10) -> String {
    let digits = String(number, radix: radix)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}

extension MediaTime.Flags {
    /// The names listed under `flags` in JSON, which distinguish the time from a plain exact number.
    ///
    /// Empty for an exact number. An invalid time has only `invalid`; the flag ``valid`` itself has no name.
    public var names: [String] {
        guard contains(.valid) else { return ["invalid"] }
        return Self.named.filter { contains($0.flag) }.map(\.name)
    }

    private static let named: [(name: String, flag: MediaTime.Flags)] = [
        ("hasBeenRounded", .hasBeenRounded), ("positiveInfinity", .positiveInfinity),
        ("negativeInfinity", .negativeInfinity), ("indefinite", .indefinite),
    ]
}

/// Coded as `{"value":…,"timescale":…,"seconds":…}`, with `"flags"` if the time is not a plain exact number.
///
/// `flags` is a list that holds one of `hasBeenRounded`, `positiveInfinity`, `negativeInfinity`, `indefinite` and
/// `invalid`. With any of the last four, value and timescale are 0 and `seconds` is `null`. Decoding uses only
/// `value`, `timescale` and `flags`, as `seconds` is not exact.
extension MediaTime: Codable {
    private enum CodingKeys: String, CodingKey {
        case value, timescale, seconds, flags
    }

    /// Encodes the keys in the order above.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(value, forKey: .value)
        try container.encode(timescale, forKey: .timescale)
        try container.encode(isNumeric ? seconds : nil, forKey: .seconds)
        let names = flags.names
        if !names.isEmpty { try container.encode(names, forKey: .flags) }
    }

    /// Decodes the output of ``encode(to:)``; throws DecodingError if the flags contradict each other or the
    /// timescale.
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
