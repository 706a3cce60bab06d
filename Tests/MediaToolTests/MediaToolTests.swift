import Foundation
import Testing

@testable import mediatool

/// Runs the program that was built beside the tests.
@Suite struct MediaToolTests {
    private struct Outcome {
        var status: Int32
        var output: String
        var errors: String
    }

    private func run(_ command: String) throws -> Outcome {
        // The tests' own program stands in the folder of products.
        let products = URL(filePath: ProcessInfo.processInfo.arguments[0]).deletingLastPathComponent()
        let tool = products.appending(path: "mediatool").path()
        try #require(FileManager.default.isExecutableFile(atPath: tool))
        let process = Process()
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["-c", "mediatool() { '\(tool)' \"$@\"; }; \(command)"]
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let outputData = output.fileHandleForReading.readDataToEndOfFile()
        let errorData = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus, output: String(decoding: outputData, as: UTF8.self),
            errors: String(decoding: errorData, as: UTF8.self))
    }

    @Test func versionAndHelpGoToStandardOutput() throws {
        let version = try run("mediatool --version")
        #expect(version.status == 0 && version.output == mediatool.version + "\n" && version.errors == "")
        let help = try run("mediatool --help")
        #expect(help.status == 0 && help.output.contains("USAGE: mediatool") && help.errors == "")
    }

    @Test func usageErrorsAre64OnStandardError() throws {
        for command in ["mediatool", "mediatool --nonsense", "mediatool $'--caf\\xe9'"] {
            let outcome = try run(command)
            #expect(outcome.status == 64 && outcome.output == "", "\(command)")
            #expect(outcome.errors.hasPrefix("mediatool: "))
        }
        #expect(try run("mediatool $'--caf\\xe9'").errors.contains("--caf\u{FFFD}'"))
    }

    @Test(arguments: [
        "probe --bogus", "probe --format=xml --bogus a.mov", "probe --bogus --format text --json a.mov",
        "probe --jobs 0 --bogus a.mov", "probe --bogus --worse", "waveform --bogus", "waveform --width x --bogus a.wav",
        "thumbs --bogus a.mov", "thumbs --at nonsense a.mov --bogus", "thumbs --bogus --count",
    ])
    func anUnknownOptionIsNamedBeforeAnythingElse(arguments: String) throws {
        let outcome = try run("mediatool \(arguments)")
        #expect(outcome.status == 64 && outcome.output == "")
        #expect(outcome.errors.hasPrefix("mediatool: Unknown option '--bogus'"), "\(outcome.errors)")
    }

    @Test func valuesAndOtherOptionsAreNotTakenForUnknownOnes() throws {
        #expect(try run("mediatool probe").errors.hasPrefix("mediatool: Missing expected argument"))
        #expect(try run("mediatool probe -- --bogus").errors.contains("--bogus: "))
        #expect(try run("mediatool thumbs --at nonsense a.mov").errors.contains("nonsense"))
        #expect(try run("mediatool probe --jobs -3 a.mov").errors.contains("--jobs"))
        #expect(try run("mediatool probe --version").output == mediatool.version + "\n")
        #expect(try run("mediatool probe --help").output.contains("USAGE: mediatool probe"))
        #expect(try run("mediatool help probe").output.contains("USAGE: mediatool probe"))
        #expect(try run("mediatool --generate-completion-script bash").output.contains("probe"))
    }

    @Test func whatCannotBePrintedIsAnError() throws {
        let full = try run("mediatool --help >/dev/full")
        #expect(full.status == 2)
        #expect(full.errors.contains("disk is full") && full.errors.filter { $0 == "\n" }.count == 1)
        #expect(try run("mediatool --help >&-").status == 2)
        let pipe = try run("(sleep 0.3; mediatool --help; echo $? >&2) | true")
        #expect(pipe.errors == "141\n")
    }
}
