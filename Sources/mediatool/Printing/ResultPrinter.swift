import ArgumentParser
import AssetKit
import JSONText
import MediaBase
import MediaJobs
import SystemCalls
import SystemPackage
import Threading
import Timelines

/// The JSON output for one file: the version and the path, followed by the members of the result or the error.
struct FileResult<Value: Encodable>: Encodable {
    /// The version of all result schemas.
    static var schemaVersion: Int { 1 }

    let input: InputArgument
    let result: Result<Value, MediaError>

    private enum Key: String, CodingKey {
        case schemaVersion, path, pathBytes, error
    }

    /// Encodes one object: `schemaVersion`, `path`, `pathBytes` if the path is not UTF-8, and the members of the value.
    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(Self.schemaVersion, forKey: .schemaVersion)
        try object.encode(input.displayName, forKey: .path)
        try object.encodeIfPresent(input.nameBytes, forKey: .pathBytes)
        switch result {
        case .success(let value): try value.encode(to: encoder)
        case .failure(let error): try object.encode(ErrorReport(error), forKey: .error)
        }
    }
}

/// Prints the results of a run, file by file, and determines the exit code.
///
/// ```swift
/// var printer = ResultPrinter(form: output.form(fileCount: files.count))
/// try printer.print(result, of: file) { report in [report.summary] }
/// throw try printer.finish()
/// ```
struct ResultPrinter {
    private let form: OutputFormatOptions.Form
    private let selection: JSONPath?
    private let separatesFiles: Bool
    private let write: (String) throws -> Void
    private let report: (MediaError) -> Void
    private var count = 0
    private var isComplete = true

    /// Makes a printer for one run.
    ///
    /// - Parameters:
    ///   - form: The form in which results are printed.
    ///   - selection: The path of the value to print for each result; `nil` for the whole result.
    ///   - separatesFiles: True for an empty line between the readable lines of files.
    ///   - write: Writes to standard output.
    ///   - report: Reports errors on standard error.
    init(
        form: OutputFormatOptions.Form, selection: JSONPath? = nil, separatesFiles: Bool = false,
        write: @escaping (String) throws -> Void = StandardOutput.write,
        report: @escaping (MediaError) -> Void = StandardError.report
    ) {
        self.form = form
        self.selection = selection
        self.separatesFiles = separatesFiles
        self.write = write
        self.report = report
    }

    /// Prints the result of one file; an error also goes to standard error.
    ///
    /// Throws if standard output cannot be written, even if that is the error of the result.
    ///
    /// - Parameters:
    ///   - result: The result of the work on the file.
    ///   - input: The file as named.
    ///   - isComplete: False if a part of the request was not delivered, so that the exit code becomes 2.
    ///   - lines: Returns the result as readable lines without line breaks; called only if they are printed. This
    ///     method escapes characters that must not be printed.
    mutating func print<Value: Encodable>(
        _ result: Result<Value, any Error>, of input: InputArgument, isComplete: Bool = true, lines: (Value) -> [String]
    ) throws {
        let inspection = FileInspection(isComplete: isComplete)
        try print(try outcome(result.mapError { MediaError(describing: $0) }, of: input, inspection, lines: lines))
    }

    /// Returns what is to be printed about one file; see ``print(_:of:isComplete:lines:)``.
    func outcome<Value: Encodable>(
        _ result: Result<Value, MediaError>, of input: InputArgument, _ inspection: FileInspection,
        lines: (Value) -> [String]
    ) throws -> FileOutcome {
        var outcome = FileOutcome(inspection)
        if case .failure(let error) = result {
            outcome.isOutputClosed = error.isClosedStandardOutput
            outcome.errors.append(error.at(path: input.displayName))
            outcome.isComplete = false
        }
        if let selection {
            try select(selection, of: input, result, &outcome)
        } else if form != .text {
            outcome.entry = try text(of: FileResult(input: input, result: result))
        } else if case .success(let value) = result {
            outcome.entry = StandardOutput.text(of: lines(value))
        }
        return outcome
    }

    /// Adds the selected value to what is printed, or the error of a file that does not have it.
    ///
    /// As text, a file without the value has no line.
    private func select<Value: Encodable>(
        _ selection: JSONPath, of input: InputArgument, _ result: Result<Value, MediaError>,
        _ outcome: inout FileOutcome
    ) throws {
        let value = FileResult(input: input, result: result)
        if case .success = result {
            let text = try selection.text(
                in: value, layout: layout, depth: form == .array ? 1 : 0, quotesStrings: form != .text)
            if let text { return outcome.entry = form == .text ? VisibleText.line(text) + "\n" : text }
            let error = MediaError(.notFound, "has no \(selection.text)", path: input.displayName)
            outcome.isComplete = false
            outcome.errors.append(error)
            if form != .text {
                outcome.entry = try self.text(of: FileResult<Value>(input: input, result: .failure(error)))
            }
        } else if form != .text {
            outcome.entry = try text(of: value)
        }
    }

    /// Prints what is to be printed about a file; its warnings come first.
    ///
    /// Throws if standard output cannot be written or its reader is gone.
    mutating func print(_ outcome: FileOutcome) throws {
        if outcome.isOutputClosed { throw MediaError.closedStandardOutput }
        for error in outcome.errors { report(error) }
        if !outcome.isComplete { isComplete = false }
        guard let entry = outcome.entry else { return }
        if form == .text {
            if selection == nil, separatesFiles, count > 0 { try write("\n") }
            count += 1
            try write(entry)
        } else {
            try write(entry: entry)
        }
    }

    /// Ends the output and returns the exit code, which is 2 if anything was not delivered and otherwise 0.
    mutating func finish() throws -> ExitCode {
        if form == .array { try write(count == 0 ? "[]\n" : "\n]\n") }
        return isComplete ? .success : .notDelivered
    }

    /// Returns a result as the JSON object that is printed of a single file, without a line break at the end.
    static func text(of value: some Encodable, about input: InputArgument) throws -> String {
        let encoder = OrderedJSONEncoder(layout: .pretty)
        return String(decoding: try encoder.encode(FileResult(input: input, result: .success(value))), as: UTF8.self)
    }

    private var layout: OrderedJSONEncoder.Layout { form == .lines || form == .text ? .compact : .pretty }

    private func text(of object: some Encodable) throws -> String {
        let encoder = OrderedJSONEncoder(layout: layout)
        return String(decoding: try encoder.encode(object, depth: form == .array ? 1 : 0), as: UTF8.self)
    }

    /// Writes the entry of one file, which is a line or an element of the array.
    private mutating func write(entry: String) throws {
        try write(form == .array ? (count == 0 ? "[\n  " : ",\n  ") + entry : entry + "\n")
        count += 1
    }
}

extension MediaError {
    /// Makes the error to print from any error.
    init(describing error: any Error) {
        switch error {
        case let error as MediaError: self = error
        case let error as Errno: self.init(error, "go on", path: nil)
        case is CancellationError: self.init(.cancelled, "the work was cancelled")
        default: self.init(.libraryFailure, String(describing: error))
        }
    }

    /// The error of a run whose reader has closed the pipe.
    static var closedStandardOutput: MediaError { MediaError(Errno.brokenPipe, "write", path: "-") }

    /// True if the error is that the reader of standard output has closed the pipe.
    var isClosedStandardOutput: Bool { code == .brokenPipe && path == "-" }
}

/// Standard output, which carries only data.
enum StandardOutput {
    /// Writes bytes.
    ///
    /// Throws ``MediaError`` with the path `-`: `brokenPipe` if the reader has closed the pipe, `inputOutput` if the
    /// disk is full.
    static func write(_ bytes: [UInt8]) throws {
        if let supervision = Supervision.current { return supervision.send(.output(bytes)) }
        do throws(Errno) {
            try writeAll(bytes.span, to: .standardOutput)
        } catch {
            throw MediaError(error, "write standard output", path: "-")
        }
    }

    /// Writes text as UTF-8 without changes; see ``write(_:)-([UInt8])``.
    ///
    /// Use this for JSON and the program's own text. Text that may contain foreign strings must go through
    /// ``text(of:)``.
    static func write(_ text: String) throws { try write(Array(text.utf8)) }

    /// Joins readable lines, escaping content of files and names so that it cannot look like another line.
    static func text(of lines: [String]) -> String { lines.map { VisibleText.line($0) + "\n" }.joined() }
}

/// Standard error, which carries messages, each on one line and written with one call.
enum StandardError {
    /// Returns whether standard error is a regular file named by the arguments, which messages must not overwrite.
    static func isFile(namedIn arguments: [String]) -> Bool {
        guard let status = try? FileDescriptor.standardError.stat(), status.type == .regular else { return false }
        let identity = FileIdentity(status)
        return arguments.contains { argument in
            // An option's value may follow an equals sign.
            let value = argument.hasPrefix("-") ? argument.drop { $0 != "=" }.dropFirst() : argument[...]
            let file = InputArgument(argument: argument == "-" ? argument : String(value))
            return file?.identity == identity
        }
    }

    /// Writes a line to the controlling terminal of the process, if there is one.
    static func tellTerminal(_ message: String) {
        guard let terminal = try? FileDescriptor.open(FilePath("/dev/tty"), .writeOnly, options: [.closeOnExec]) else {
            return
        }
        try? writeAll(Array(line(path: nil, message: message).utf8).span, to: terminal)
        try? terminal.close()
    }

    /// Writes an error as `mediatool: <path>: <message>`.
    static func report(_ error: MediaError) { write(line(path: error.path, message: error.message)) }

    /// Writes a warning: `mediatool: <path>: warning: <message>`.
    static func warn(_ message: String, path: String?) {
        write(line(path: path, message: "warning: " + message))
    }

    /// Writes text of several lines without changes, such as a usage message.
    ///
    /// Errors are ignored, as there is no other place to report them.
    static func write(_ text: String) {
        if let supervision = Supervision.current { return supervision.send(.message(text)) }
        StatusLine.clear()
        try? writeAll(Array(text.utf8).span, to: .standardError)
    }

    /// Returns a message as one line that ends with the only line break.
    static func line(path: String?, message: String) -> String {
        VisibleText.line(["mediatool", path, message].compactMap(\.self).joined(separator: ": ")) + "\n"
    }
}
