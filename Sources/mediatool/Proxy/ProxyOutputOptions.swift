import ArgumentParser
import AssetKit
import MediaBase
import MediaJobs
import SystemPackage

/// The options of `proxy` that say what is written where.
struct ProxyOutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The proxy, a .mov or .mp4 file, or the folder that it goes to. {stem} stands for the input's name without "
                + "extension.", valueName: "file"))
    var output: PathArgument?

    @Flag(help: "Print the presets and do nothing else.")
    var listPresets = false

    /// Refuses outputs that are no files or would have the same name, before any file is opened.
    func check(_ files: [PathArgument]) throws {
        guard let output else { throw ValidationError("Say where the proxy goes: '-o FILE'.") }
        if output.isStandardStream { throw ValidationError("A proxy cannot be written to standard output.") }
        var owners: [FilePath: PathArgument] = [:]
        for file in files {
            let path = path(for: file.path, preset: ProxyPreset.all[0])
            do throws(MediaError) {
                _ = try ProxyJob.fileType(of: path)
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

    /// Where the proxy of an input goes.
    func path(for input: FilePath, preset: ProxyPreset) -> FilePath {
        guard let output else { return "" }
        let stem = input.inputStem
        guard output.endsWithSlash || isFolder(output.path) else { return output.path.replacing("{stem}", with: stem) }
        let name = FilePath("{stem}.\(preset.fileType.rawValue)").replacing("{stem}", with: stem)
        return output.path.appending(name.components)
    }

    private func isFolder(_ path: FilePath) -> Bool {
        guard let status = try? path.stat() else { return false }
        return status.type == .directory
    }
}
