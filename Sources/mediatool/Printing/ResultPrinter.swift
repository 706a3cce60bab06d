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

    let path: FilePath
    let result: Result<Value, MediaError>

    private enum Key: String, CodingKey {
        case schemaVersion, path, pathBytes, error
    }

    /// Encodes one object: `schemaVersion`, `path`, `pathBytes` if the path is not UTF-8, and the members of the value.
    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(Self.schemaVersion, forKey: .schemaVersion)
        try object.encode(path.displayPath, forKey: .path)
        try object.encodeIfPresent(path.pathBytes, forKey: .pathBytes)
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

/// Standard output, which carries only data.
enum StandardOutput {
    /// Writes bytes.
    ///
    /// Throws ``MediaError`` with the path `-`: `brokenPipe` if the reader has closed the pipe, `inputOutput` if the
    /// disk is full.
    static func write(_ bytes: [UInt8]) throws {
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
            let path = PathArgument(argument: argument == "-" ? argument : String(value))
            return path?.identity == identity
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
    static func warn(_ message: String, path: FilePath?) {
        write(line(path: path?.displayPath, message: "warning: " + message))
    }

    /// Writes text of several lines without changes, such as a usage message.
    ///
    /// Errors are ignored, as there is no other place to report them.
    static func write(_ text: String) {
        StatusLine.clear()
        try? writeAll(Array(text.utf8).span, to: .standardError)
    }

    /// Returns a message as one line that ends with the only line break.
    static func line(path: String?, message: String) -> String {
        VisibleText.line(["mediatool", path, message].compactMap(\.self).joined(separator: ": ")) + "\n"
    }
}

/// Runs a command's work on each of its files, in parallel and with progress, and prints warnings and results in order.
struct FilesRun: Sendable {
    /// The inputs.
    let files: [PathArgument]
    /// The options that control the run.
    let running: RunOptions
    /// The form in which results are printed.
    let form: OutputFormatOptions.Form
    /// The set of the run's outputs, none of which may replace an input.
    let outputs: OutputFileSet
    /// The progress of the run, with one part per file.
    let progress: Progress

    /// - Parameter others: Additional files that are read, and which no output may replace.
    init(
        _ files: [PathArgument], _ result: OutputFormatOptions, _ running: RunOptions,
        reading others: [PathArgument] = []
    ) {
        self.files = files
        self.running = running
        form = result.form(fileCount: files.count)
        outputs = OutputFileSet(force: running.force, inputs: (files + others).compactMap(\.identity))
        progress = Progress(
            label: files.count == 1 ? files[0].path.displayPath : "\(files.count) files", mode: running.progress,
            isQuiet: running.quiet, parts: files.count)
    }

    /// Runs the work and prints the results.
    ///
    /// - Parameters:
    ///   - make: Makes the result of one input, with its number; called on any thread.
    ///   - warnings: Returns the warnings about a result.
    ///   - inspect: Receives each result before it is printed; returns false if a part of the request was not
    ///     delivered.
    ///   - lines: Returns a result as readable lines.
    /// - Returns: The exit code.
    func callAsFunction<Report: Encodable & Sendable>(
        _ make: @escaping @Sendable (Int, PathArgument) throws -> Report, warnings: (Report) -> [String],
        inspect: (Result<Report, MediaError>, FilePath) -> Bool = { _, _ in true },
        lines: (Report, FilePath) -> [String]
    ) throws -> ExitCode {
        var printer = ResultPrinter(form: form)
        try concurrentForEach(Array(files.enumerated()), workers: running.jobs) { number, file in
            Result { try make(number, file) }
        } deliver: { index, result in
            let path = files[index].path
            StatusLine.clear()
            if index == files.count - 1 { progress.finish() }
            let isComplete = inspect(result.mapError { MediaError(describing: $0) }, path)
            if case .success(let report) = result { warn(warnings(report), path) }
            try printer.print(result, of: path, isComplete: isComplete) { lines($0, path) }
        }
        return try printer.finish()
    }

    /// Reports warnings about an input, unless the run is quiet.
    func warn(_ warnings: [String], _ path: FilePath) {
        guard !running.quiet else { return }
        for warning in warnings { StandardError.warn(warning, path: path) }
    }

    /// Opens the timeline in an input, and reports its warnings; returns `nil` for media, of which nothing is consumed.
    func timeline(
        in file: PathArgument, _ timelines: TimelineOptions, opening: Asset.Options
    ) throws(MediaError) -> OpenTimeline? {
        guard let found = try TimelineOptions.file(file, requiresSchema: true, until: opening.limits.deadline) else {
            return nil
        }
        let timeline = try OpenTimeline(found, timelines.settings, opening: opening)
        warn(timeline.warnings, file.path)
        return timeline
    }

    /// Returns a closure that receives the progress of one file: the completed fraction, and the processed seconds.
    func report(part: Int) -> @Sendable (Double, Double) -> Void {
        let begun = ContinuousClock.now
        return { [progress] fraction, seconds in
            progress.update(
                part: part, fraction: fraction, speed: QuantityText.speed(seconds, in: ContinuousClock.now - begun))
        }
    }

    /// Runs a command that writes one media file per input; throws the exit code.
    ///
    /// - Parameters:
    ///   - output: The output option.
    ///   - ending: The extension of outputs in a folder.
    ///   - job: Returns the job for one input, on any thread.
    func transcode(
        to output: MediaOutputOptions, ending: String,
        _ job: @escaping @Sendable (PathArgument) throws -> TranscodeJob
    ) throws -> ExitCode {
        try callAsFunction { number, file in
            let report = report(part: number)
            return try job(file).run(
                to: output.path(for: file.path, ending: ending), outputs: outputs.setForAnotherJob(),
                makesFolder: output.namesFolder
            ) { report($0.fraction, $0.seconds) }
        } warnings: { report in
            (report.damage.isEmpty ? [] : [report.damage.text]) + report.warnings + (report.comparison?.changes ?? [])
        } lines: { report, _ in
            [Self.line(of: report)]
        }
    }

    /// Returns a line about a media file that was written.
    private static func line(of report: TranscodeReport) -> String {
        var parts: [String] = []
        if let timeline = report.timeline {
            parts.append("\(timeline.clips) clips of \(timeline.mediaFiles) files")
        }
        if let video = report.video { parts.append("\(video.codec) \(video.encodedSize)") }
        if !report.audio.isEmpty {
            parts.append(
                report.audio.map { "\($0.codec) \($0.channelLayout ?? "\($0.channels) channels")" }
                    .joined(separator: " + "))
        }
        if let video = report.video { parts.append("\(video.frameCount) frames") }
        if report.comparison == nil { parts.append("\(report.duration.seconds) s") }
        parts.append(QuantityText.bytes(report.sizeBytes))
        if report.copied == true { parts.append("copied") }
        if let timecode = report.startTimecode { parts.append("from \(timecode)") }
        if !report.leftOut.isEmpty {
            let tracks = report.leftOut.map { "\($0.trackIndex) (\($0.type))" }.joined(separator: ", ")
            parts.append("without track \(tracks)")
        }
        return report.output.displayPath + ": " + parts.joined(separator: ", ")
    }
}
