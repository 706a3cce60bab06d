import ArgumentParser
import MediaBase
import MediaJobs
import SystemCalls
import SystemPackage
import Threading

/// The version, here and nowhere else: `--version`, man pages and packages take it from the program.
let version = "0.1.0"

/// The program: reads the command line, runs one command, and turns what it throws into a message and an exit code.
@main
struct MediaTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mediatool",
        abstract: "Reads, analyses, edits and writes audio and video.",
        version: version,
        subcommands: [
            ProbeCommand.self, WaveformCommand.self, ThumbsCommand.self, ProxyCommand.self, ExportCommand.self,
            QCCommand.self,
        ])

    /// What a usage error starts with, like every other message.
    static var _errorLabel: String { "mediatool" }

    func run() throws {
        throw ValidationError("Missing command.")
    }

    static func main() {
        reserveStandardDescriptors()
        SignalHandling.install()
        let arguments = RawArguments.current()
        let code = StandardError.isFile(namedIn: arguments) ? refusedStandardError() : run(arguments: arguments)
        StatusLine.clear()
        PendingOutputs.shared.removeAll()
        exitOrderly(code.rawValue)
    }

    /// What is told where messages would go into a file that the command reads: only a terminal is left to take it.
    private static func refusedStandardError() -> ExitCode {
        StandardError.tellTerminal("Standard error leads into a file that the command names (--help shows the usage)")
        return .validationFailure
    }

    /// Runs the command that the arguments name and gives the exit code.
    private static func run(arguments: [String]) -> ExitCode {
        do {
            var command = try CommandLineParsing.command(in: arguments)
            try command.run()
            return .success
        } catch let code as ExitCode {
            return code
        } catch let error as MediaError {
            return failed(error)
        } catch {
            let code = exitCode(for: error)
            // The parser has words and a code for its own errors; any other would get EXIT_FAILURE, which is qc's here.
            guard code == .success || code == .validationFailure else { return failed(MediaError(describing: error)) }
            guard code == .success else {
                let complaint = CommandLineParsing.complaintOfUnknownOption(in: arguments) ?? message(for: error)
                let words = RawArguments.displayed(complaint)
                StandardError.report(MediaError(.invalidArgument, "\(words) (--help shows the usage)"))
                return code
            }
            let text = RawArguments.displayed(fullMessage(for: error)) + "\n"
            do {
                try StandardOutput.write(text)
                return code
            } catch {
                return failed(MediaError(describing: error))
            }
        }
    }

    private static func failed(_ error: MediaError) -> ExitCode {
        if error.isClosedStandardOutput { return .brokenPipe }
        StandardError.report(error)
        return .notDelivered
    }
}

extension ExitCode {
    /// `qc` found what fails.
    static let checkFailed = ExitCode(1)

    /// Something that was asked for was not delivered; all else was.
    static let notDelivered = ExitCode(2)

    /// The program that read standard output has ended, as a shell shows the end by SIGPIPE: 128 + 13.
    static let brokenPipe = ExitCode(141)

    /// The program was asked to stop: 128 + the signal's number, so 130 for ^C and 143 for `kill`.
    static func interrupted(by signal: Int32) -> ExitCode { ExitCode(128 + signal) }
}

/// From the arguments to the command that they mean, and to the complaint where they mean none.
enum CommandLineParsing {
    /// The command that runs, with its options.
    ///
    /// The command's own parser is asked first, because building the tree of all commands takes a good part of a short
    /// run's time. The whole tree answers what it does not understand: errors, help, completion scripts.
    ///
    /// Throws what ArgumentParser throws.
    static func command(in arguments: [String]) throws -> any ParsableCommand {
        if let command = commandType(named: arguments.first),
            let parsed = try? command.parseAsRoot(Array(arguments.dropFirst())), type(of: parsed) == command
        {
            return parsed
        }
        return try MediaTool.parseAsRoot(arguments)
    }

    /// The parser's message about the first option that the command does not have; `nil` where it has them all.
    ///
    /// The parser itself looks at values first, and who mistypes an option's name reads of something else. So each
    /// option is shown to it alone, together with `--schema`, which needs nothing else.
    static func complaintOfUnknownOption(in arguments: [String]) -> String? {
        guard let command = commandType(named: arguments.first) else { return nil }
        for argument in arguments.dropFirst().prefix(while: { $0 != "--" }) {
            // A negative number is a value.
            guard argument.hasPrefix("-"), let letter = argument.drop(while: { $0 == "-" }).first, letter.isLetter
            else { continue }
            let option = String(argument.prefix { $0 != "=" })
            do {
                _ = try command.parseAsRoot([option, "--schema"])
            } catch {
                let message = MediaTool.message(for: error)
                if message.hasPrefix("Unknown option"), !isKnownToTree(option) { return message }
            }
        }
        return nil
    }

    private static func commandType(named name: String?) -> (any ParsableCommand.Type)? {
        MediaTool.configuration.subcommands.first { $0.configuration.commandName == name }
    }

    /// Whether the program has an option, whatever the command: those that the parser adds, and `--version`.
    private static func isKnownToTree(_ option: String) -> Bool {
        do {
            _ = try MediaTool.parseAsRoot([option])
            return true
        } catch {
            return !MediaTool.message(for: error).hasPrefix("Unknown option")
        }
    }
}

/// The command line as bytes, in a form of text that ArgumentParser can carry and that loses nothing.
///
/// Linux passes bytes, and a file name need not be UTF-8; Swift's `CommandLine.arguments` repairs it, and the file is
/// then not found. Here each byte that is not part of valid UTF-8 becomes the private-use scalar U+10FE00 + byte, and a
/// scalar of that block that really stands in an argument is escaped byte by byte likewise. So every sequence of bytes
/// has one text, and ``bytes(of:)`` gives the bytes back.
enum RawArguments {
    /// Stands for the bytes 80 to FF; plane 16 is private use, and nobody is known to use its end.
    private static let block: ClosedRange<UInt32> = 0x10FE80...0x10FEFF
    private static let blockBase: UInt32 = 0x10FE00

    /// The arguments of this process as escaped text, without the program's name.
    ///
    /// Read from proc(5) `/proc/self/cmdline`; where there is no `/proc`, what Swift has made of them.
    static func current() -> [String] {
        guard let bytes = try? readAll("/proc/self/cmdline"), !bytes.isEmpty else {
            return Array(CommandLine.arguments.dropFirst())
        }
        return split(bytes).dropFirst().map { escaped(bytes: $0) }
    }

    /// The arguments in the text of `/proc/self/cmdline`, in which each ends with NUL.
    static func split(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        let closed = bytes.last == 0 ? bytes.dropLast() : bytes[...]
        return closed.split(separator: 0, omittingEmptySubsequences: false)
    }

    /// Text that stands for the bytes.
    static func escaped(bytes: some Collection<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        var rest = bytes[...]
        var iterator = bytes.makeIterator()
        var parser = Unicode.UTF8.ForwardParser()
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid(let encoded):
                let scalar = Unicode.UTF8.decode(encoded)
                if block.contains(scalar.value) {
                    text.append(contentsOf: rest.prefix(encoded.count).compactMap(escape))
                } else {
                    text.append(scalar)
                }
                rest = rest.dropFirst(encoded.count)
            case .error(let length):
                text.append(contentsOf: rest.prefix(length).compactMap(escape))
                rest = rest.dropFirst(length)
            case .emptyInput: return String(text)
            }
        }
    }

    /// The bytes that a text stands for.
    static func bytes(of text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            if block.contains(scalar.value) {
                bytes.append(UInt8(scalar.value - blockBase))
            } else {
                bytes += String(scalar).utf8
            }
        }
        return bytes
    }

    /// The text for a person to read: what is no UTF-8 becomes U+FFFD.
    static func displayed(_ text: String) -> String {
        String(decoding: bytes(of: text), as: UTF8.self)
    }

    private static func escape(_ byte: UInt8) -> Unicode.Scalar? {
        Unicode.Scalar(blockBase + UInt32(byte))
    }

    private static func readAll(_ path: FilePath) throws -> [UInt8] {
        let file = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
        return try file.closeAfter {
            var bytes: [UInt8] = []
            while true {
                let chunk = try readSome(from: file, atMost: 65_536)
                if chunk.isEmpty { return bytes }
                bytes += chunk
            }
        }
    }
}

/// How the program ends when it is asked to: with no half-written file left, and with 128 + the signal's number.
///
/// The signals are blocked and one thread waits for them, because hardly anything may be done inside a handler. A signal
/// that the caller has set to be ignored (nohup) stays ignored.
enum SignalHandling {
    /// Sets it up; to be called first of all in `main`, as threads inherit what is blocked.
    static func install() {
        ignoreWriteSignals()
        let signals = SignalSet(notIgnoredOf: stopSignals)
        signals.block()
        do throws(WorkerThread.CannotStart) {
            let thread = try WorkerThread {
                guard let signal = signals.wait() else { return }
                StatusLine.clear()
                PendingOutputs.shared.removeAll { exitImmediately(ExitCode.interrupted(by: signal).rawValue) }
            }
            thread.detach()
        } catch {
            // Without the thread the signals must end the program by themselves.
            signals.unblock()
        }
    }
}
