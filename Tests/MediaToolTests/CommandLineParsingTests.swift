import ArgumentParser
import Foundation
import MediaBase
import TestSupport
import Testing

@testable import mediatool

/// Command lines put together by chance: each means something or is a usage error, and none ends the program.
@Suite struct CommandLineParsingTests {
    /// Steele, Lea and Flood's SplitMix64: the same numbers for the same seed.
    private struct Chance: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }

    @Test func commandsAreFoundByTheirNames() {
        #expect(MediaTool.commands.count == 7)
        for command in MediaTool.commands { #expect(command.type.configuration.commandName == command.name) }
    }

    /// The options of a command with whether they take a value, as the parser itself lists them.
    private static func options(of command: any ParsableCommand.Type) throws -> [(name: String, takesValue: Bool)] {
        struct Dump: Decodable {
            struct Command: Decodable {
                var arguments: [Argument]?
            }
            struct Argument: Decodable {
                var kind: String
                var preferredName: Name?
            }
            struct Name: Decodable {
                var kind, name: String
            }
            var command: Command
        }
        let text = command._dumpHelp()
        let dump = try JSONDecoder().decode(Dump.self, from: Data(text.utf8))
        return (dump.command.arguments ?? []).compactMap { argument in
            argument.preferredName.map {
                (($0.kind == "short" ? "-" : "--") + $0.name, argument.kind == "option")
            }
        }
    }

    private static let values = [
        "", "0", "1", "-1", "12.5", "1e308", "nan", "inf", "9223372036854775807", "9223372036854775808", "1/0", "0/1",
        "30000/1001", "50%", "1000%", "-5%", "end", "250f", "99999999999999999999f", "01:02:03:04", "01:02:03;04",
        "00:01:00;00", "99:99:99", "1:2:3:4:5", "a:0", "v:999999999999", "id:-1", "320x180", "0x0", "99999999999x1",
        "4x",
        "x", "C4x5", "#12345678", "#xyz", "red", "transparent", "s16le:44100:2", "s16le:0", "json", "png", "{stem}",
        "{stem", "{}", "{index}{index}", "pixels=1", "pixels=", "=", "exact", "keyframe", "1,2", ",", "1,,2", "-", "--",
        "/",
        "//", ".", "..", "a/", "\u{0}", "\u{10FE80}", "\u{10FEFF}é", "💥", "a\nb", " ", "'", "\\", "$(x)",
        String(repeating: "9", count: 5000),
    ]

    @Test(arguments: MediaTool.configuration.subcommands.map { $0.configuration.commandName ?? "" })
    func chance(command name: String) throws {
        let type = try #require(MediaTool.configuration.subcommands.first { $0.configuration.commandName == name })
        let options = try Self.options(of: type)
        #expect(options.count > 5)
        // More by hand: MEDIATOOL_PARSED=100000.
        let count = ProcessInfo.processInfo.environment["MEDIATOOL_PARSED"].flatMap { Int($0) } ?? 10
        var chance = Chance(state: UInt64(name.utf8.reduce(0) { $0 * 31 + Int($1) }))
        var (understood, refused) = (0, 0)
        for _ in 0..<count {
            var arguments = [name]
            for _ in 0..<Int.random(in: 0...6, using: &chance) {
                guard let option = options.randomElement(using: &chance) else { continue }
                let value = Self.values.randomElement(using: &chance) ?? ""
                let joins = option.takesValue && Bool.random(using: &chance)
                arguments.append(joins ? "\(option.name)=\(value)" : option.name)
                if !joins, option.takesValue { arguments.append(value) }
            }
            for _ in 0..<Int.random(in: 0...2, using: &chance) {
                arguments.append(Self.values.randomElement(using: &chance) ?? "")
            }
            do {
                _ = try CommandLineParsing.command(in: arguments)
                understood += 1
            } catch {
                let code = MediaTool.exitCode(for: error)
                #expect(error is MediaError || code == .validationFailure || code == .success, "\(arguments): \(error)")
                if code == .validationFailure, refused.isMultiple(of: 5) {
                    _ = CommandLineParsing.complaintOfUnknownOption(in: arguments)
                }
                refused += 1
            }
        }
        #expect(understood + refused == count && refused > 0)
    }
}
