import ArgumentParser
import AssetKit
import MediaBase
import MediaJobs
import SystemPackage

/// The option of commands that make one media file of each input, and where that goes.
struct MediaOutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file that is written, whose ending says of which type it is, or the folder that it goes to. {stem} stands "
                + "for the input's name without extension.", valueName: "file"))
    var output: PathArgument?

    /// Refuses outputs that are no files or would have the same name, before any file is opened.
    ///
    /// - Parameters:
    ///   - ending: What outputs in a folder end with.
    ///   - check: Refuses names of types that the command does not write.
    func check(_ files: [PathArgument], ending: String, _ check: (FilePath) throws(MediaError) -> Void) throws {
        guard let output else { throw ValidationError("Say where the output goes: '-o FILE'.") }
        if output.isStandardStream { throw ValidationError("Media cannot be written to standard output.") }
        var owners: [FilePath: PathArgument] = [:]
        for file in files {
            let path = path(for: file.path, ending: ending)
            try file.refuseLeadingAway { self.path(for: $0, ending: ending) }
            do throws(MediaError) {
                try check(path)
            } catch {
                throw ValidationError("'\(path.displayPath)': \(error.message).")
            }
            if let other = owners.updateValue(file, forKey: path) {
                throw ValidationError(
                    "'\(other.path.displayPath)' and '\(file.path.displayPath)' would both be written to "
                        + "'\(path.displayPath)'; put {stem} into the output's name.")
            }
        }
    }

    /// Whether the output is a folder or a template, so that its folder is made where there is none.
    var namesFolder: Bool {
        output.map { $0.endsWithSlash || $0.path != $0.path.replacing("{stem}", with: []) } ?? false
    }

    /// Where the output of an input goes.
    func path(for input: FilePath, ending: String) -> FilePath {
        guard let output else { return "" }
        let stem = input.inputStem
        guard output.endsWithSlash || isFolder(output.path) else { return output.path.replacing("{stem}", with: stem) }
        let name = FilePath("{stem}.\(ending)").replacing("{stem}", with: stem)
        return output.path.appending(name.components)
    }

    private func isFolder(_ path: FilePath) -> Bool {
        guard let status = try? path.stat() else { return false }
        return status.type == .directory
    }
}
