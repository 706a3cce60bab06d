internal import MediaBase
internal import SystemCalls
internal import SystemPackage
internal import Threading

/// The files that are not in place yet, listed so that nothing of them remains after a signal.
///
/// A file is created, named, renamed or removed and its entry updated under one lock, so that no file ever exists without
/// being listed. Each is listed by a hidden name beside its final one. Where the system has unnamed files, the file gets
/// that name only if it needs it, so that nothing remains even if the process is killed.
package final class PendingOutputs: Sendable {
    /// The list of this process, which a signal clears.
    package static let shared = PendingOutputs()

    /// A file of the list.
    private enum Entry {
        /// The file has its hidden name.
        case named
        /// The file has no name. With `isHeld`, the descriptor belongs to the list.
        case unnamed(FileDescriptor, isHeld: Bool)
    }

    private struct State {
        var entries: [FilePath: Entry] = [:]
        /// The number of unnamed files whose descriptor belongs to the list.
        var held = 0
    }

    private let state = Mutex(State())
    private let usesUnnamed: Bool

    /// The maximum number of complete files that wait without a name, each of which takes a descriptor.
    private let maximumHeld: Int

    /// Creates an empty list.
    ///
    /// - Parameters:
    ///   - usesUnnamed: False to give every file its hidden name at once, as on a file system without unnamed files.
    ///   - maximumHeld: The maximum number of complete files that wait without a name.
    init(usesUnnamed: Bool = true, maximumHeld: Int = min(256, maximumOpenFiles() / 4)) {
        self.usesUnnamed = usesUnnamed
        self.maximumHeld = maximumHeld
    }

    /// Removes every pending file and then calls `end`; no thread can create another file before `end` is called.
    ///
    /// Call it on any thread, but not in a signal handler; let a thread wait for signals instead. If `end` ends the
    /// process, no output appears after the removal. If `end` returns, the owners find their files removed.
    package func removeAll(then end: () -> Void = {}) {
        state.withLock { state in
            for path in state.entries.keys { Self.remove(path, &state) }
            end()
        }
    }

    /// The number of pending files.
    package var count: Int { state.withLock(\.entries.count) }

    /// Creates a new file for a hidden name, open for reading and writing, and lists it.
    ///
    /// - Parameter isFree: True if no file has the final name, so that the new one can be unnamed.
    func create(_ path: FilePath, isFree: Bool) throws -> FileDescriptor {
        try state.withLock { state in
            if isFree, usesUnnamed, state.entries[path] == nil,
                let file = makeUnnamedFile(in: path.removingLastComponent())
            {
                state.entries[path] = .unnamed(file, isHeld: false)
                return file
            }
            let file = try FileDescriptor.open(
                path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec],
                permissions: FilePermissions(rawValue: 0o666))
            state.entries[path] = .named
            return file
        }
    }

    /// Returns the descriptor of a listed file without a name; `nil` if it has its hidden name.
    func unnamed(_ path: FilePath) -> FileDescriptor? {
        state.withLock { state in
            if case .unnamed(let file, _)? = state.entries[path] { file } else { nil }
        }
    }

    /// Keeps a file when its owner closes it, to which nothing more is written.
    ///
    /// The list takes a descriptor of its own. If it has many, or cannot have one, the file gets its hidden name.
    ///
    /// - Parameter isLast: True if the file is put in place at once.
    func hold(_ path: FilePath, isLast: Bool) throws {
        try state.withLock { state in
            guard case .unnamed(let file, false)? = state.entries[path] else { return }
            if isLast || state.held < maximumHeld, let held = try? duplicate(file) {
                state.entries[path] = .unnamed(held, isHeld: true)
                state.held += 1
            } else {
                try giveName(path, to: file)
                state.entries[path] = .named
            }
        }
    }

    /// Gives a listed file its final name, and removes its entry if that succeeds.
    ///
    /// - Parameters:
    ///   - replaces: Whether a file of the final name is replaced. Without, the call throws `fileExists`.
    ///   - check: A last look at the final name, under the lock.
    func settle(_ path: FilePath, at final: FilePath, replaces: Bool, check: () throws -> Void) throws {
        try state.withLock { state in
            guard let entry = state.entries[path] else {
                throw MediaError(.cancelled, "the output was given up before it was complete")
            }
            try check()
            if case .unnamed(let file, let isHeld) = entry {
                do throws(Errno) {
                    try giveName(final, to: file)
                    if isHeld { announceComplete(final) }
                    return Self.forget(path, &state)
                } catch {
                    guard error == .fileExists, replaces else { throw error }
                }
                // A link never replaces.
                try giveName(path, to: file)
                if isHeld { Self.forget(path, &state) }
                state.entries[path] = .named
            }
            if replaces {
                try renameReplacing(path, to: final)
            } else {
                try renameWithoutReplacing(path, to: final)
            }
            Self.forget(path, &state)
        }
    }

    /// Removes a file if it is still listed.
    func remove(_ path: FilePath) { state.withLock { Self.remove(path, &$0) } }

    private static func remove(_ path: FilePath, _ state: inout State) {
        if case .named? = state.entries[path] { try? removeFile(path) }
        forget(path, &state)
    }

    /// Removes an entry, and closes the descriptor that belongs to the list.
    private static func forget(_ path: FilePath, _ state: inout State) {
        guard case .unnamed(let file, true)? = state.entries.removeValue(forKey: path) else { return }
        state.held -= 1
        try? file.close()
    }
}

/// Renames a file without replacing another one, also where the system has no such call.
private func renameWithoutReplacing(_ old: FilePath, to new: FilePath) throws(Errno) {
    do throws(Errno) {
        try renameExclusively(old, to: new)
    } catch .invalidArgument, .noFunction {
        try renameByLinking(old, to: new)
    }
}

/// Renames without replacing if the file system does not support that (NFS, old kernels): link(2) never replaces.
func renameByLinking(_ old: FilePath, to new: FilePath) throws(Errno) {
    do throws(Errno) {
        try makeHardLink(to: old, at: new)
    } catch .notPermitted, .notSupported, .noFunction, .notSupportedOnSocket {
        // Without hard links (exFAT, some FUSE) claim the name with an empty file and replace that.
        let claim: FileDescriptor
        do {
            claim = try FileDescriptor.open(
                new, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec],
                permissions: FilePermissions(rawValue: 0o666))
        } catch {
            throw error as? Errno ?? .ioError
        }
        try? claim.close()
        return try renameReplacing(old, to: new)
    }
    try removeFile(old)
}
