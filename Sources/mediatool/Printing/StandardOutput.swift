import ArgumentParser
import AssetKit
import MediaBase
import MediaJobs
import SystemCalls
import SystemPackage
import Threading

/// Standard output, which carries data only.
enum StandardOutput {
    /// Writes all of the bytes.
    ///
    /// Throws ``MediaError`` with path `-`: `brokenPipe` where nobody reads any more, `inputOutput` where the disk is
    /// full.
    static func write(_ bytes: [UInt8]) throws {
        do throws(Errno) {
            try writeAll(bytes.span, to: .standardOutput)
        } catch {
            throw MediaError(error, "write standard output", path: "-")
        }
    }

    /// Writes the text as UTF-8, just as it is; see ``write(_:)-([UInt8])``.
    ///
    /// For JSON and the program's own words. What may hold words of others goes through ``text(of:)``.
    static func write(_ text: String) throws { try write(Array(text.utf8)) }

    /// Makes text of lines for a person, in which nothing that a file or a name holds can pass for another line.
    static func text(of lines: [String]) -> String { lines.map { VisibleText.line($0) + "\n" }.joined() }
}

/// Standard error, which carries messages: one line each, written with one call.
enum StandardError {
    /// Whether it is a regular file that the arguments name, into which no message may go.
    static func isFile(namedIn arguments: [String]) -> Bool {
        guard let status = try? FileDescriptor.standardError.stat(), status.type == .regular else { return false }
        let identity = FileIdentity(status)
        return arguments.contains { argument in
            // An option may have its value behind an equals sign.
            let value = argument.hasPrefix("-") ? argument.drop { $0 != "=" }.dropFirst() : argument[...]
            let path = PathArgument(argument: argument == "-" ? argument : String(value))
            return path?.identity == identity
        }
    }

    /// Writes a line to the terminal that the process belongs to, where there is one.
    static func tellTerminal(_ message: String) {
        guard let terminal = try? FileDescriptor.open(FilePath("/dev/tty"), .writeOnly, options: [.closeOnExec]) else {
            return
        }
        try? writeAll(Array(line(path: nil, message: message).utf8).span, to: terminal)
        try? terminal.close()
    }

    /// Writes what failed: `mediatool: <path>: <message>`.
    static func report(_ error: MediaError) { write(line(path: error.path, message: error.message)) }

    /// Writes a warning: `mediatool: <path>: warning: <message>`.
    static func warn(_ message: String, path: FilePath?) {
        write(line(path: path?.displayPath, message: "warning: " + message))
    }

    /// Writes text of several lines as it is, such as a usage message.
    ///
    /// Where standard error itself cannot be written there is nobody left to tell.
    static func write(_ text: String) {
        StatusLine.clear()
        try? writeAll(Array(text.utf8).span, to: .standardError)
    }

    /// One line for a message, with a line break at its end only.
    static func line(path: String?, message: String) -> String {
        VisibleText.line(["mediatool", path, message].compactMap(\.self).joined(separator: ": ")) + "\n"
    }
}

/// The run of a command that makes one media file of each input: side by side, with progress, warnings and results in order.
struct MediaFilesRun: Sendable {
    /// The inputs.
    let files: [PathArgument]
    /// Where their outputs go.
    let output: MediaOutputOptions
    /// What outputs in a folder end with.
    let ending: String
    /// What else is asked of the run.
    let running: RunOptions
    /// The form in which results are printed.
    let form: OutputFormatOptions.Form

    /// What is known to the work on one file.
    struct Part: Sendable {
        /// The input.
        let file: PathArgument
        /// Where its output goes.
        let path: FilePath
        /// What the output is a part of.
        let outputs: OutputFileSet
        /// Whether the output's folder is made where there is none.
        let makesFolder: Bool
        /// Takes word of how far the work has come.
        let progress: @Sendable (JobProgress) -> Void

        /// The input as media, opened with options.
        func asset(_ options: Asset.Options) -> Asset {
            file.isStandardStream ? Asset.standardInput(options: options) : Asset(path: file.path, options: options)
        }
    }

    /// Does the work and prints what came of it; ends by throwing the exit code.
    ///
    /// - Parameters:
    ///   - others: Files that are read besides, over which no output may be written.
    ///   - make: Makes the output of one input, on whatever thread.
    ///   - warnings: What a person should know of a result.
    ///   - line: A result for a person.
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
