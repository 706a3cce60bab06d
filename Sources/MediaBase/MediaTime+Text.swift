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
