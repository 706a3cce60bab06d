import ArgumentParser
import Foundation
import MediaJobs
import SystemPackage
import TestSupport
import Testing

@testable import mediatool

@Suite struct CommonOptionsTests {
    private struct Command: ParsableCommand {
        @OptionGroup(title: "Output") var format: OutputFormatOptions
        @OptionGroup(title: "Run") var run: RunOptions
        @Option(name: .shortAndLong) var output: [PathArgument] = []
        @Argument var files: [InputArgument] = []
        func validate() throws { try format.checkFiles(files) }
    }

    @Test func defaults() throws {
        let command = try Command.parse(["a.mov"])
        #expect(command.format.form(fileCount: 1) == .text)
        #expect(!command.run.force && !command.run.quiet && !command.run.strict && !command.run.allowNested)
        #expect(command.run.progress == .auto)
        #expect(command.run.jobs == 1 && command.run.threadsPerFile >= 1)
    }

    @Test func all() throws {
        let command = try Command.parse([
            "--json", "-q", "--progress", "always", "--force", "--jobs", "4", "--threads", "2", "--strict",
            "--allow-nested", "-o", "-", "-o", "out.dat", "--", "-", "-odd.wav",
        ])
        #expect(command.format.isJSON && command.run.quiet && command.run.force && command.run.strict)
        #expect(command.run.progress == .always && command.run.jobs == 4 && command.run.threadsPerFile == 2)
        #expect(command.output.map(\.path) == ["-", "out.dat"])
        #expect(command.files.map(\.path) == ["-", "-odd.wav"])
        #expect(try Command.parse(["--schema"]).format.schema)
    }

    @Test(arguments: [
        (["--limit", "foo=1", "a"], "NAME=NUMBER"), (["--limit", "foo=1", "a"], "probe-bytes"),
        (["--limit", "pixels=0", "a"], "from 1 to 2147483647"), (["--timeout", "0.00001", "a"], "from 0.001"),
        (["--timeout", "soon", "a"], "such as 30 or 0.5"),
    ])
    func errorsNameTheForms(arguments: [String], form: String) {
        #expect {
            try Command.parse(arguments)
        } throws: { error in
            Command.exitCode(for: error).rawValue == 64 && Command.message(for: error).contains(form)
        }
    }

    @Test func errorsOfCommandsNameTheForms() {
        for (arguments, form) in [
            (["probe", "--select", "tracks[*].codec", "a"], "a number in the brackets"),
            (["waveform", "-o", "a.png", "--color", "#f008", "a"], "#rrggbbaa"),
        ] {
            #expect {
                try MediaTool.parseAsRoot(arguments)
            } throws: { MediaTool.message(for: $0).contains(form) }
        }
        let good = ["waveform", "-o", "a.png", "--color", "red,#00f", "a"]
        #expect(throws: Never.self) { try MediaTool.parseAsRoot(good) }
    }

    @Test(arguments: [
        [], ["--jsonl", "--array", "a"], ["--jobs", "0", "a"], ["--threads", "-1", "a"], ["--jobs", "1025", "a"],
        ["--progress", "sometimes", "a"], ["-", "-"], [""], ["--output", "", "a"],
    ])
    func usageErrors(arguments: [String]) {
        #expect { try Command.parse(arguments) } throws: { Command.exitCode(for: $0).rawValue == 64 }
    }

    @Test(arguments: ["export", "probe", "proxy", "qc", "thumbs", "waveform", "qc-policy"])
    func schemasAreTheDocuments(name: String) throws {
        let document = try String(contentsOfFile: Repository.path("docs/schema/\(name).json"), encoding: .utf8)
        let arguments = name == "qc-policy" ? ["qc", "--policy-schema"] : [name, "--schema"]
        let printed = try Program.run(Program.mediatool, arguments)
        #expect(printed.status == 0 && printed.output == document && printed.error == "")
    }
}
