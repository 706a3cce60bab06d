internal import MediaBase
internal import Synchronization
internal import SystemCalls
internal import SystemPackage

/// Temporary files that are not in place yet, listed so that a signal can take them all away.
///
/// A file is made and moved under one lock with being listed, so that there is no moment in which a file is there and
/// not known.
package final class PendingOutputs: Sendable {
    /// The list of this process, which a signal empties.
    package static let shared = PendingOutputs()

    private let paths = Mutex<Set<FilePath>>([])

    /// Removes every pending file and then calls `end`, before which no thread can make another one.
    ///
    /// Safe on any thread, but not in a signal handler: let a thread wait for signals. Where `end` ends the process, no
    /// output comes into being after the removal; where it returns, the owners find their files gone.
    package func removeAll(then end: () -> Void = {}) {
        paths.withLock { paths in
            for path in paths { try? removeFile(path) }
            paths.removeAll()
            end()
        }
    }

    /// How many files are pending.
    package var count: Int { paths.withLock(\.count) }

    /// Makes a file that nobody else has, open for reading and writing, and lists it.
    func create(_ path: FilePath) throws -> FileDescriptor {
        try paths.withLock { paths in
            let file = try FileDescriptor.open(
                path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec],
                permissions: FilePermissions(rawValue: 0o666))
            paths.insert(path)
            return file
        }
    }

    /// Moves a listed file to its final name with `move`, and strikes it off where that succeeds.
    func settle(_ path: FilePath, by move: () throws -> Void) throws {
        try paths.withLock { paths in
            guard paths.contains(path) else {
                throw MediaError(.cancelled, "the output was given up before it was complete")
            }
            try move()
            paths.remove(path)
        }
    }

    /// Removes a file, if it is still listed.
    func remove(_ path: FilePath) {
        paths.withLock { paths in
            if paths.remove(path) != nil { try? removeFile(path) }
        }
    }
}
