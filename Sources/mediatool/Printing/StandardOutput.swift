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

    /// Writes the text as UTF-8; see ``write(_:)-([UInt8])``.
    static func write(_ text: String) throws { try write(Array(text.utf8)) }
}

/// Standard error, which carries messages: one line each, written with one call.
enum StandardError {
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
        singleLine(["mediatool", path, message].compactMap(\.self).joined(separator: ": ")) + "\n"
    }

    /// The text with its control characters and line breaks escaped as in C, so that it stays one line and a terminal
    /// obeys none of it.
    static func singleLine(_ text: String) -> String {
        var line = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": line += #"\n"#
            case "\r": line += #"\r"#
            case "\t": line += #"\t"#
            default:
                switch scalar.properties.generalCategory {
                case .control where scalar.value < 0x10: line += #"\x0"# + String(scalar.value, radix: 16)
                case .control: line += #"\x"# + String(scalar.value, radix: 16)
                case .lineSeparator, .paragraphSeparator: line += #"\u"# + String(scalar.value, radix: 16)
                default: line.unicodeScalars.append(scalar)
                }
            }
        }
        return line
    }
}
