import MediaBase
import MediaJobs
import SystemCalls
import SystemPackage

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
