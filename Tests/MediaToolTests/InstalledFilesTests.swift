import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import mediatool

/// What is installed beside the program and made by it: manual pages and completions.
@Suite struct InstalledFilesTests {
    private static let commands = MediaTool.configuration.subcommands.compactMap { $0.configuration.commandName }

    @Test func eachCommandHasAManualPageWithAllItsOptions() throws {
        let folder = try TemporaryFolder()
        let made = try Program.run(Repository.path("scripts/make-man"), [Program.mediatool, folder.path])
        #expect(made.status == 0, "\(made.error)")
        #expect(try folder.names() == (["mediatool.1"] + Self.commands.map { "mediatool-\($0).1" }).sorted())
        for command in Self.commands {
            let page = String(decoding: try folder.bytes("mediatool-\(command).1"), as: UTF8.self)
            let help = try Program.run(Program.mediatool, [command, "--help"]).output
            let options = help.split { !($0.isLetter || $0 == "-") }.filter { $0.hasPrefix("--") && $0.count > 2 }
            #expect(options.count > 10)
            for option in Set(options) {
                let inRoff = option.split(separator: "-").joined(separator: "\\-")
                #expect(page.contains("\\-\\-" + inRoff), "\(command) \(option)")
            }
            for section in ["NAME", "SYNOPSIS", "OPTIONS", "EXAMPLES", "EXIT STATUS"] {
                #expect(page.contains("\n.SH \(section)\n"), "\(command) \(section)")
            }
            #expect(page.contains("mediatool \(mediatool.version)"))
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func completionsKnowAllCommands(shell: String) throws {
        let script = try Program.run(Program.mediatool, ["--generate-completion-script", shell])
        #expect(script.status == 0)
        for command in Self.commands { #expect(script.output.contains(command)) }
        for value in ["h264-intra-540p", "proRes422LPCM", "veryFast", "webp", "peaksjs", "keyframe"] {
            #expect(script.output.contains(value), "\(value)")
        }
        if shell == "bash" {
            #expect(try Program.run("bash", ["-n"], input: script.bytes).status == 0)
        }
    }
}
