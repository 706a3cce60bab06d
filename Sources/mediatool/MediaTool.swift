import ArgumentParser
import AssetKit
import Isolation
import JSONText
import MediaBase
import MediaJobs
import SystemCalls
import SystemPackage
import Threading

/// The only definition of the version; `--version`, man pages and packages take it from the program.
let version = "0.1.0"

/// The program, which runs the command on the command line and turns errors into a message and an exit code.
@main
struct MediaTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mediatool",
        abstract: "Reads, analyses, edits and writes audio and video.",
        version: version,
        subcommands: commands.map(\.type))

    /// The commands by name, so that looking one up does not build the help texts of the others.
    static let commands: [(name: String, type: any ParsableCommand.Type)] = [
        ("probe", ProbeCommand.self), ("waveform", WaveformCommand.self), ("thumbs", ThumbsCommand.self),
        ("proxy", ProxyCommand.self), ("export", ExportCommand.self), ("qc", QCCommand.self),
        ("ingest", IngestCommand.self),
    ]

    /// The prefix of usage errors, as of every other message.
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

    /// Refuses to run if standard error is a file named by the arguments, which leaves only the terminal for the
    /// message.
    private static func refusedStandardError() -> ExitCode {
        StandardError.tellTerminal("Standard error leads into a file that the command names (--help shows the usage)")
        return .validationFailure
    }

    /// Runs the command named by the arguments, and returns the exit code.
    private static func run(arguments: [String]) -> ExitCode {
        do {
            if Set(arguments) == ["--version", "--json"] {
                try StandardOutput.write(VersionReport().json)
                return .success
            }
            var command = try CommandLineParsing.command(in: arguments)
            // Only then, because looking for a conformance takes time.
            if arguments.contains(where: { $0.hasPrefix("--files-from") }), var listing = command as? any FilesCommand {
                try listing.addListedFiles()
                command = listing
            }
            try command.run()
            return .success
        } catch let code as ExitCode {
            return code
        } catch let error as MediaError {
            return failed(error)
        } catch {
            let code = exitCode(for: error)
            // The parser has messages and a code for its own errors. Others would get EXIT_FAILURE, which `qc` uses.
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

/// The JSON of `--version --json`: the versions of the program and of FFmpeg's libraries, and what holds a worker.
private struct VersionReport: Encodable {
    let version = mediatool.version
    let libraries = Dictionary(uniqueKeysWithValues: LinkedLibraries.versions)
    let sandbox = SandboxReport()

    struct SandboxReport: Encodable {
        private let available = Sandbox.available

        private enum Key: String, CodingKey {
            case landlock, seccomp, noNewPrivs
        }

        /// Encodes the version of Landlock's interface, or `null`, and whether the kernel has the others.
        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: Key.self)
            try object.encode(available.landlock, forKey: .landlock)
            try object.encode(available.filtersCalls, forKey: .seccomp)
            try object.encode(available.hasNoPrivileges, forKey: .noNewPrivs)
        }
    }

    var json: String {
        get throws { String(decoding: try OrderedJSONEncoder(layout: .pretty).encode(self), as: UTF8.self) + "\n" }
    }
}

extension ExitCode {
    /// The exit code of `qc` for files that fail.
    static let checkFailed = ExitCode(1)

    /// The exit code if a part of the request was not delivered.
    static let notDelivered = ExitCode(2)

    /// The exit code if the reader of standard output has closed the pipe: 128 + 13, as a shell reports SIGPIPE.
    static let brokenPipe = ExitCode(141)

    /// Returns the exit code after a signal: 128 + its number, that is 130 for ^C and 143 for `kill`.
    static func interrupted(by signal: Int32) -> ExitCode { ExitCode(128 + signal) }
}

/// Parses the command line, and explains errors in it.
enum CommandLineParsing {
    /// Returns the command with its options.
    ///
    /// The command's own parser is tried first, because building the tree of all commands takes a considerable part of
    /// a short run's time. The whole tree handles everything else: errors, help, completion scripts.
    ///
    /// Throws the errors of ArgumentParser.
    static func command(in arguments: [String]) throws -> any ParsableCommand {
        if arguments.first == "ingest", let name = arguments.dropFirst().first,
            let command = IngestCommand.libraryCommands[name]
        {
            return try command.parseAsRoot(Array(arguments.dropFirst(2)))
        }
        if let command = commandType(named: arguments.first),
            let parsed = try? command.parseAsRoot(Array(arguments.dropFirst())), type(of: parsed) == command
        {
            return parsed
        }
        return try MediaTool.parseAsRoot(arguments)
    }

    /// Returns the parser's message about the first option that the command does not have, or `nil` if it has all.
    ///
    /// The parser checks values first, so its message for a mistyped option is misleading. Therefore each option is
    /// parsed separately, together with `--schema`, which needs nothing else.
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
        MediaTool.commands.first { $0.name == name }?.type
    }

    /// Returns whether the program has an option, in any command; this includes `--version` and options that the parser
    /// adds.
    private static func isKnownToTree(_ option: String) -> Bool {
        do {
            _ = try MediaTool.parseAsRoot([option])
            return true
        } catch {
            return !MediaTool.message(for: error).hasPrefix("Unknown option")
        }
    }
}

/// Handles signals that stop the program: removes half-written files and exits with 128 + the signal's number.
///
/// The signals are blocked and a thread waits for them, because a signal handler may do very little. A signal that the
/// caller has set to be ignored (nohup) remains ignored.
enum SignalHandling {
    /// Installs the handling; call this first in `main`, as threads inherit the blocked signals.
    static func install() {
        ignoreWriteSignals()
        let signals = SignalSet(notIgnoredOf: stopSignals)
        signals.block()
        do throws(WorkerThread.CannotStart) {
            // Workers are forked while this thread waits, and not while it starts, when it may hold a lock.
            let waits = Monitor(false)
            let thread = try WorkerThread {
                waits.update { $0 = true }
                guard let signal = signals.wait() else { return }
                StatusLine.clear()
                PendingOutputs.shared.removeAll { exitImmediately(ExitCode.interrupted(by: signal).rawValue) }
            }
            thread.detach()
            waits.wait { $0 ? () : nil }
        } catch {
            // Without the thread, the signals must end the program themselves.
            signals.unblock()
        }
    }
}
