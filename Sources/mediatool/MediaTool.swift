import ArgumentParser
import MediaBase
import MediaJobs
import SystemCalls

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
