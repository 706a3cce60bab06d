import ArgumentParser
import AssetKit
import MediaBase
import MediaJobs
import SystemCalls
import SystemPackage
import Threading

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

/// Runs a command that makes one media file per input, in parallel, with progress, and prints warnings and results in
/// order.
struct MediaFilesRun: Sendable {
    /// The inputs.
    let files: [PathArgument]
    /// The output option.
    let output: MediaOutputOptions
    /// The extension of outputs in a folder.
    let ending: String
    /// The options that control the run.
    let running: RunOptions
    /// The form in which results are printed.
    let form: OutputFormatOptions.Form

    /// The context for the work on one file.
    struct Part: Sendable {
        /// The input.
        let file: PathArgument
        /// The output path.
        let path: FilePath
        /// The set to which the output belongs.
        let outputs: OutputFileSet
        /// True if the output's folder is made if it does not exist.
        let makesFolder: Bool
        /// Receives the progress.
        let progress: @Sendable (JobProgress) -> Void

        /// Returns the input as an asset.
        func asset(_ options: Asset.Options) -> Asset {
            file.isStandardStream ? Asset.standardInput(options: options) : Asset(path: file.path, options: options)
        }
    }

    /// Runs the command and prints the results; finishes by throwing the exit code.
    ///
    /// - Parameters:
    ///   - others: Additional files that are read, and which no output may replace.
    ///   - make: Makes the output of one input, on any thread.
    ///   - warnings: Returns the warnings about a result.
    ///   - line: Returns a result as a readable line.
    func callAsFunction<Report: Encodable & Sendable>(
        reading others: [PathArgument] = [], _ make: @escaping @Sendable (Part) throws -> Report,
        warnings: (Report) -> [String], line: (Report) -> String
    ) throws {
        let outputs = OutputFileSet(force: running.force, inputs: (files + others).compactMap(\.identity))
        let progress = Progress(
            label: files.count == 1 ? files[0].path.displayPath : "\(files.count) files", mode: running.progress,
            isQuiet: running.quiet, parts: files.count)
        var printer = ResultPrinter(form: form)
        try concurrentForEach(Array(files.enumerated()), workers: running.jobs) { number, file in
            let begun = ContinuousClock.now
            let part = Part(
                file: file, path: output.path(for: file.path, ending: ending), outputs: outputs.setForAnotherJob(),
                makesFolder: output.namesFolder
            ) { done in
                progress.update(
                    part: number, fraction: done.fraction,
                    speed: QuantityText.speed(done.seconds, in: ContinuousClock.now - begun))
            }
            return Result { try make(part) }
        } deliver: { index, result in
            let path = files[index].path
            if index == files.count - 1 { progress.finish() }
            if let report = try? result.get(), !running.quiet {
                for warning in warnings(report) { StandardError.warn(warning, path: path) }
            }
            try printer.print(result, of: path) { [line($0)] }
        }
        throw try printer.finish()
    }
}
