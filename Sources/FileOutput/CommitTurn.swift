internal import SystemCalls
internal import SystemPackage

/// The turn of one run to put its outputs in place, so that of two runs which write the same names one has them all.
///
/// It is a lock on the outputs' folders (flock(2)), which all runs take in the same order. It is advice: where a folder
/// cannot be locked, and where another process keeps the lock for seconds, outputs are put in place without it.
enum CommitTurn {
    /// How long a turn is waited for; putting files in place takes milliseconds.
    private static let patience = Duration.seconds(10)

    /// Runs `body` in a turn where there are several outputs with names.
    static func during(_ files: [OutputFile], _ body: () -> Void) {
        let named = files.filter(\.isReplaced)
        var locks: [FileDescriptor] = []
        defer { for lock in locks { try? lock.close() } }
        if named.count > 1 {
            let deadline = ContinuousClock.now + patience
            for folder in folders(of: named) {
                if let lock = lockFolder(folder, until: deadline) { locks.append(lock) }
            }
        }
        body()
    }

    /// The folders of outputs, each once, in an order that does not depend on their names.
    private static func folders(of files: [OutputFile]) -> [FilePath] {
        var found: [(place: (UInt64, UInt64), path: FilePath)] = []
        for file in files {
            let parent = file.finalPath.removingLastComponent()
            let path: FilePath = parent.isEmpty ? "." : parent
            guard let status = try? Stat(path) else { continue }
            let place = (UInt64(status.deviceID.rawValue), UInt64(status.inode.rawValue))
            if !found.contains(where: { $0.place == place }) { found.append((place, path)) }
        }
        return found.sorted { $0.place < $1.place }.map(\.path)
    }
}
