import ArgumentParser

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
