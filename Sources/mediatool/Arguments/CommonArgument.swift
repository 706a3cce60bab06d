import ArgumentParser
import MediaBase
import MediaJobs
import Pictures

/// Readers of the arguments that several commands have, whose errors the parser shows as usage errors.
enum CommonArgument {
    /// A time: see `TimeExpression.forms`.
    static func time(_ text: String) throws -> TimeExpression {
        try usage { () throws(MediaError) in try TimeExpression(parsing: RawArguments.displayed(text)) }
    }

    /// A track: see `TrackSelector.forms`.
    static func track(_ text: String) throws -> TrackSelector {
        try usage { () throws(MediaError) in try TrackSelector(parsing: RawArguments.displayed(text)) }
    }

    /// A colour, by name or in hexadecimal digits.
    static func color(_ text: String) throws -> Color {
        try usage { () throws(MediaError) in try Color(RawArguments.displayed(text)) }
    }

    /// A limit on what a file may ask for: `NAME=NUMBER`.
    static func limit(_ text: String) throws -> LimitArgument {
        try usage { () throws(MediaError) in try LimitArgument(parsing: RawArguments.displayed(text)) }
    }

    /// The seconds that work may take.
    static func timeout(_ text: String) throws -> TimeoutArgument {
        try usage { () throws(MediaError) in try TimeoutArgument(parsing: RawArguments.displayed(text)) }
    }

    /// A path to one value of a result.
    static func selection(_ text: String) throws -> JSONSelection {
        try usage { () throws(MediaError) in try JSONSelection(RawArguments.displayed(text)) }
    }

    private static func usage<Value>(_ read: () throws(MediaError) -> Value) throws -> Value {
        do throws(MediaError) { return try read() } catch { throw ValidationError(error.message) }
    }
}
