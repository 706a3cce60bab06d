import ArgumentParser
import MediaBase
import MediaJobs
import Pictures

/// Readers of single arguments of `waveform`, whose errors the parser shows as usage errors.
enum WaveformArgument {
    /// A track: see ``TrackSelector/forms``.
    static func track(_ text: String) throws -> TrackSelector {
        do { return try TrackSelector(parsing: text) } catch { throw ValidationError(error.message) }
    }

    /// A time: see ``TimeExpression/forms``.
    static func time(_ text: String) throws -> TimeExpression {
        do { return try TimeExpression(parsing: text) } catch { throw ValidationError(error.message) }
    }

    /// A colour, by name or in hexadecimal digits.
    static func color(_ text: String) throws -> Color {
        do { return try Color(text) } catch { throw ValidationError(error.message) }
    }

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

    /// How raw sound is stored: see ``RawSound/forms``.
    static func raw(_ text: String) throws -> RawSound {
        do { return try RawSound(parsing: text) } catch { throw ValidationError(error.message) }
    }
}
