import ArgumentParser
import MediaJobs
import SystemPackage

/// A file named on the command line, in the bytes in which it was named.
struct PathArgument: ExpressibleByArgument, Hashable {
    /// The path; names with `:` are files like any other.
    let path: FilePath

    /// Whether the name ends with a slash and so means a folder; `FilePath` drops it.
    let endsWithSlash: Bool

    /// Whether the name is `-`, standard input or standard output.
    var isStandardStream: Bool { path == "-" && !endsWithSlash }

    /// The file that it leads to, so that no output may be it; `nil` where there is none.
    var identity: FileIdentity? {
        isStandardStream ? FileIdentity(of: FileDescriptor.standardInput) : FileIdentity(of: path)
    }

    /// Refuses an input whose stem in an output's name would lead to another folder than the name says.
    func refuseLeadingAway(_ name: (FilePath) -> FilePath) throws {
        guard path.isLedAway(name) else { return }
        throw ValidationError(
            "'\(path.displayPath)' cannot stand for {stem}: what comes before its extension is a folder, not a name.")
    }

    /// Makes a path of an escaped argument; an empty one is none.
    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        path = FilePath(argument: argument)
        endsWithSlash = argument.unicodeScalars.last == "/"
    }

    static var defaultCompletionKind: CompletionKind { .file() }
}

extension Sequence<FilePath> {
    /// The first path that names the same file as one before it, by the paths alone; `nil` where all differ.
    ///
    /// Devices and pipes that are there already may take several outputs.
    var firstRepeated: FilePath? {
        var seen: Set<FilePath> = []
        return first { path in
            let steps = path.components.filter { $0.kind != .currentDirectory }
            guard !seen.insert(FilePath(root: path.root, steps)).inserted else { return false }
            return (try? path.stat()).map { $0.type == .regular } ?? true
        }
    }
}
