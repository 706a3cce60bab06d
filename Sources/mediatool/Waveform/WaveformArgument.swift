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
}
