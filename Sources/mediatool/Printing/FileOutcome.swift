import Isolation
import MediaBase

/// The consequences of a result for the run, in addition to what is printed of it.
struct FileInspection {
    /// False if a part of the request was not delivered, so that the exit code becomes 2.
    var isComplete = true
    /// The errors of parts of the request.
    var errors: [MediaError] = []
    /// The characters that no installed font has, of which the run warns once.
    var missingCharacters: Set<Unicode.Scalar> = []
    /// The part of the result that the command keeps until all files are done.
    var attachment: [UInt8] = []
    /// The length of the media that was worked on; `nil` if it is not known.
    var duration: MediaTime?
}

/// Everything that is printed about one file, which may have been worked on in another process.
struct FileOutcome {
    /// The warnings.
    var warnings: [String] = []
    /// The errors, each with its path.
    var errors: [MediaError]
    /// The text for standard output; `nil` for none.
    var entry: String?
    /// False if a part of the request was not delivered.
    var isComplete: Bool
    /// True if the reader of standard output is gone.
    var isOutputClosed = false
    /// See ``FileInspection/missingCharacters``.
    var missingCharacters: Set<Unicode.Scalar>
    /// See ``FileInspection/attachment``.
    var attachment: [UInt8]
    /// The length of the media in milliseconds.
    var milliseconds: Int

    /// Creates an outcome of which nothing is printed but the errors of an inspection.
    init(_ inspection: FileInspection) {
        errors = inspection.errors
        isComplete = inspection.isComplete
        missingCharacters = inspection.missingCharacters
        attachment = inspection.attachment
        milliseconds = Int(clamping: inspection.duration?.sampleIndex(rate: 1000) ?? 0)
    }

    /// The outcome as the message of a worker.
    var message: [UInt8] {
        var writer = MessageWriter()
        writer.write(warnings) { $0.write($1) }
        writer.write(errors) { $0.write($1) }
        writer.write(entry) { $0.write($1) }
        writer.write(isComplete)
        writer.write(isOutputClosed)
        writer.write(String(String.UnicodeScalarView(missingCharacters)))
        writer.write(attachment)
        writer.write(milliseconds)
        return writer.bytes
    }

    /// Reads the message of a worker.
    init(message: [UInt8]) throws(MessageReader.Invalid) {
        typealias Invalid = MessageReader.Invalid
        var reader = MessageReader(message)
        warnings = try reader.list { reader throws(Invalid) in try reader.text() }
        errors = try reader.list { reader throws(Invalid) in try reader.error() }
        entry = try reader.optional { reader throws(Invalid) in try reader.text() }
        isComplete = try reader.condition()
        isOutputClosed = try reader.condition()
        missingCharacters = Set(try reader.text().unicodeScalars)
        attachment = try reader.bytes()
        milliseconds = try reader.number()
    }
}
