import ArgumentParser
import MediaBase
import MediaJobs

/// Readers of single arguments of `waveform`, whose errors the parser shows as usage errors.
enum WaveformArgument {
    /// Points a second: a decimal number as it is written, or a fraction.
    static func rate(_ text: String) throws -> Rational {
        if let rate = Rational(text), rate.isPositive { return rate }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let digits = parts.joined()
        let isNumber = (1...18).contains(digits.utf8.count) && digits.utf8.allSatisfy { (48...57).contains($0) }
        guard parts.count <= 2, isNumber, let value = Int64(digits) else { throw rateError(text) }
        var unit: Int64 = 1
        for _ in 0..<(parts.count == 2 ? parts[1].count : 0) { unit *= 10 }
        let rate = Rational(value, unit)
        guard rate.isPositive else { throw rateError(text) }
        return rate
    }

    private static func rateError(_ text: String) -> ValidationError {
        ValidationError("'\(text.prefix(40))' is no number of pixels a second: write 100, 33.3 or 30000/1001.")
    }

    /// Colours parted by commas, each by name or in hexadecimal digits.
    static func colors(_ text: String) throws -> WaveformPictureOptions.Colors {
        WaveformPictureOptions.Colors(
            values: try text.split(separator: ",", omittingEmptySubsequences: false).map {
                try CommonArgument.color(String($0))
            })
    }

    /// How raw sound is stored: see ``RawSound/forms``.
    static func raw(_ text: String) throws -> RawSound {
        do { return try RawSound(parsing: text) } catch { throw ValidationError(error.message) }
    }
}
