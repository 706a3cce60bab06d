package import MediaBase

/// Numbers as a person reads them, the same in every command.
package enum QuantityText {
    /// A number of bytes with a unit of powers of 1000, to one place.
    package static func bytes(_ bytes: Int64) -> String {
        scaled(bytes, units: ["bytes", "kB", "MB", "GB", "TB"])
    }

    /// A number of bits a second with a unit, to one place.
    package static func bitRate(_ rate: Int64) -> String {
        scaled(rate, units: ["b/s", "kb/s", "Mb/s", "Gb/s"])
    }

    /// Seconds of media that are done in a second, in words; empty where that says nothing.
    package static func speed(_ seconds: Double, in time: Duration) -> String {
        let elapsed = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        let factor = seconds / elapsed
        guard factor.isFinite, factor > 0, factor < 1e9 else { return "" }
        return factor < 10 ? "\(Double(Int(factor * 10)) / 10)x" : "\(Int(factor))x"
    }

    private static func scaled(_ number: Int64, units: [String]) -> String {
        var tenths = number.multipliedReportingOverflow(by: 10).partialValue
        guard number >= 1000, number <= .max / 10 else { return "\(number) \(units.first ?? "")" }
        var unit = 0
        while tenths >= 10_000, unit < units.count - 1 {
            tenths = (tenths + 500) / 1000
            unit += 1
        }
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// A rational as a decimal number of at most `places` places, without zeros at its end.
    package static func decimal(_ number: Rational, places: Int = 3) -> String {
        let scale = (0..<places).reduce(Int64(1)) { product, _ in product * 10 }
        guard let scaled = number.multiplied(by: Rational(scale))?.rounded() else { return "\(number)" }
        let (whole, rest) = scaled.magnitude.quotientAndRemainder(dividingBy: scale.magnitude)
        var digits = padded(rest, to: places)
        while digits.last == "0" { digits.removeLast() }
        return (scaled < 0 ? "-" : "") + String(whole) + (digits.isEmpty ? "" : "." + digits)
    }
}
