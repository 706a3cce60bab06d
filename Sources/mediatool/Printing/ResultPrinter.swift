import ArgumentParser
import JSONText
import MediaBase
import MediaJobs
import SystemPackage

/// The JSON output for one file: the version and the path, followed by the members of the result or the error.
struct FileResult<Value: Encodable>: Encodable {
    /// The version of all result schemas.
    static var schemaVersion: Int { 1 }

    let path: FilePath
    let result: Result<Value, MediaError>

    private enum Key: String, CodingKey {
        case schemaVersion, path, pathBytes, error
        case code, message, failedChecks
    }

    /// Encodes one object: `schemaVersion`, `path`, `pathBytes` if the path is not UTF-8, and the members of the value.
    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(Self.schemaVersion, forKey: .schemaVersion)
        try object.encode(path.displayPath, forKey: .path)
        try object.encodeIfPresent(path.pathBytes, forKey: .pathBytes)
        switch result {
        case .success(let value): try value.encode(to: encoder)
        case .failure(let failure):
            var error = object.nestedContainer(keyedBy: Key.self, forKey: .error)
            try error.encode(failure.code.rawValue, forKey: .code)
            try error.encode(failure.message, forKey: .message)
            if !failure.failedChecks.isEmpty { try error.encode(failure.failedChecks, forKey: .failedChecks) }
        }
    }
}

/// Prints the results of a run, file by file, and determines the exit code.
///
/// ```swift
/// var printer = ResultPrinter(form: output.form(fileCount: files.count))
/// try printer.print(result, of: path) { report in [report.summary] }
/// throw try printer.finish()
/// ```
struct ResultPrinter {
    private let form: OutputFormatOptions.Form
    private let selection: JSONPath?
    private let write: (String) throws -> Void
    private let report: (MediaError) -> Void
    private var count = 0
    private var isComplete = true

    /// Makes a printer for one run.
    ///
    /// - Parameters:
    ///   - form: The form in which results are printed.
    ///   - selection: The path of the value to print for each result; `nil` for the whole result.
    ///   - write: Writes to standard output.
    ///   - report: Reports errors on standard error.
    init(
        form: OutputFormatOptions.Form, selection: JSONPath? = nil,
        write: @escaping (String) throws -> Void = StandardOutput.write,
        report: @escaping (MediaError) -> Void = StandardError.report
    ) {
        self.form = form
        self.selection = selection
        self.write = write
        self.report = report
    }

    /// Prints the result of one file; an error also goes to standard error.
    ///
    /// Throws if standard output cannot be written, even if that is the error of the result.
    ///
    /// - Parameters:
    ///   - result: The result of the work on the file.
    ///   - path: The file as named.
    ///   - isComplete: False if a part of the request was not delivered, so that the exit code becomes 2.
    ///   - lines: Returns the result as readable lines without line breaks; called only if they are printed. This
    ///     method escapes characters that must not be printed.
    mutating func print<Value: Encodable>(
        _ result: Result<Value, any Error>, of path: FilePath, isComplete: Bool = true, lines: (Value) -> [String]
    ) throws {
        let result = result.mapError { MediaError(describing: $0) }
        if case .failure(let error) = result {
            if error.isClosedStandardOutput { throw error }
            report(error.at(path: path.displayPath))
        }
        if !isComplete { self.isComplete = false }
        if case .failure = result { self.isComplete = false }
        if let selection { return try print(selection, of: path, result) }
        if form == .text {
            if case .success(let value) = result { try write(StandardOutput.text(of: lines(value))) }
        } else {
            try write(object: FileResult(path: path, result: result))
        }
    }

    /// Prints the selected value, or the error of a file that does not have it.
    ///
    /// As text, a file without the value has no line.
    private mutating func print<Value: Encodable>(
        _ selection: JSONPath, of path: FilePath, _ result: Result<Value, MediaError>
    ) throws {
        let value = FileResult(path: path, result: result)
        if case .success = result {
            let text = try selection.text(
                in: value, layout: layout, depth: form == .array ? 1 : 0, quotesStrings: form != .text)
            if let text { return try write(entry: form == .text ? VisibleText.line(text) : text) }
            let error = MediaError(.notFound, "has no \(selection.text)", path: path.displayPath)
            isComplete = false
            report(error)
            if form != .text { try write(object: FileResult<Value>(path: path, result: .failure(error))) }
        } else if form != .text {
            try write(object: value)
        }
    }

    /// Ends the output and returns the exit code, which is 2 if anything was not delivered and otherwise 0.
    mutating func finish() throws -> ExitCode {
        if form == .array { try write(count == 0 ? "[]\n" : "\n]\n") }
        return isComplete ? .success : .notDelivered
    }

    private var layout: OrderedJSONEncoder.Layout { form == .lines || form == .text ? .compact : .pretty }

    private mutating func write(object: some Encodable) throws {
        let encoder = OrderedJSONEncoder(layout: layout)
        try write(entry: String(decoding: try encoder.encode(object, depth: form == .array ? 1 : 0), as: UTF8.self))
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

    /// True if the error is that the reader of standard output has closed the pipe.
    var isClosedStandardOutput: Bool { code == .brokenPipe && path == "-" }
}
