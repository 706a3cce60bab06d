package import MediaBase
internal import SystemCalls
package import SystemPackage
internal import Threading

/// One output that is being written, and that comes into being whole or not at all.
///
/// A regular file is written beside its final name as `.<name>.<random>.partial` and renamed by ``commit()``; standard
/// output, a FIFO and a device are written as they are. An output that is let go without a commit is discarded.
/// Data are not forced onto the disk (no fsync): what is promised is that the name never shows half a file while the
/// system runs, not that a fresh file outlives a power cut. Every call may come from any thread; writing from two at
/// once mixes the bytes.
package final class OutputFile: Sendable {
    /// The file as the user named it.
    package let path: FilePath

    /// The open file, for those who write by themselves (a muxer); also readable where ``isReplaced`` is true.
    ///
    /// It belongs to this object, which closes it.
    package let descriptor: FileDescriptor

    /// The file that is written until the commit; `nil` where the output is written directly.
    package let temporaryPath: FilePath?

    /// Where the content goes in the end that is written to a temporary file first, because its writer goes back in it;
    /// `nil` where the output is written directly or renamed.
    private let destination: FileDescriptor?

    /// The name that ``commit()`` gives the file, which is not ``path`` where that is a symbolic link.
    let finalPath: FilePath
    private let rules: OutputFileSet.Rules
    /// How many bytes this and the other outputs of the job may have; `nil` for any number.
    package let allowance: OutputAllowance?
    private let state = Mutex(State.open)

    /// What may still be done with an output.
    private enum State {
        case open
        /// All is written, but for bytes that go where they cannot be taken back.
        case complete(waiting: [UInt8])
        case ended
    }

    /// Whether the output is a regular file put in place at the end.
    package var isReplaced: Bool { temporaryPath != nil }

    /// A path by which this process can read what was written so far; `nil` where it cannot.
    package var readablePath: FilePath? {
        temporaryPath ?? (destination == nil ? nil : FilePath("/proc/self/fd/\(descriptor.rawValue)"))
    }

    init(
        path: FilePath, finalPath: FilePath, descriptor: FileDescriptor, temporaryPath: FilePath?,
        destination: FileDescriptor? = nil, rules: OutputFileSet.Rules, allowance: OutputAllowance?
    ) {
        self.path = path
        self.finalPath = finalPath
        self.descriptor = descriptor
        self.temporaryPath = temporaryPath
        self.destination = destination
        self.rules = rules
        self.allowance = allowance
    }

    deinit { discard() }

    /// Writes all of the bytes at the file's position.
    ///
    /// Throws ``MediaError`` `inputOutput` where the disk is full or the reader of a FIFO is gone, `outputLimit` where the
    /// job's outputs would have more bytes than they may, and `invalidArgument` after the commit. It stands for write(2).
    package func write(contentsOf bytes: [UInt8]) throws {
        try write(bytes.span)
    }

    /// Writes all of the bytes at the file's position; see ``write(contentsOf:)-([UInt8])``.
    package func write(contentsOf bytes: ArraySlice<UInt8>) throws {
        try write(bytes.span)
    }

    /// Writes the text as UTF-8; see ``write(contentsOf:)-([UInt8])``.
    package func write(_ text: String) throws {
        try write(contentsOf: Array(text.utf8))
    }

    /// Writes all of the bytes at the file's position; see ``write(contentsOf:)-([UInt8])``.
    package func write(_ bytes: Span<UInt8>) throws {
        guard state.withLock({ if case .open = $0 { true } else { false } }) else {
            throw MediaError(.invalidArgument, "the output is closed and cannot be written any more", path: path.string)
        }
        if let allowance, !allowance.take(bytes.count) { throw allowance.error.at(path: path.string) }
        do throws(Errno) {
            try writeAll(bytes, to: descriptor)
        } catch {
            throw MediaError(error, "write", path: path)
        }
    }

    /// Writes all of the bytes as the last ones and closes the file, so that only ``commit()`` is left to do.
    ///
    /// For thousands of outputs that are put in place together. What is written directly waits in memory until then.
    package func complete(with bytes: [UInt8]) throws {
        guard isReplaced else {
            if let allowance, !allowance.take(bytes.count) { throw allowance.error.at(path: path.string) }
            return state.withLock { $0 = .complete(waiting: bytes) }
        }
        try write(contentsOf: bytes)
        do {
            state.withLock { $0 = .complete(waiting: []) }
            try descriptor.close()
        } catch {
            discard()
            throw MediaError(error as? Errno ?? .ioError, "write", path: path)
        }
    }

    /// Throws `invalidArgument` where the output would take the place of one of the files, and lets it take none of them
    /// later.
    package func refuse(_ inputs: [FileIdentity]) throws {
        rules.addInputs(inputs)
        try rules.refuseInput(finalPath, named: path)
    }

    /// Closes the output and puts it in place; does nothing the second time.
    ///
    /// Without `force`, a file that has come to stand at the name meanwhile is left alone, in one step with looking:
    /// then `alreadyExists` is thrown. Where anything is thrown, nothing remains of the output.
    package func commit() throws {
        let last = takeState()
        if case .ended = last { return }
        defer { if let temporaryPath { rules.pending.remove(temporaryPath) } }
        do {
            // A network or quota file system may say only now that it had no space.
            try close(after: last)
            guard let temporaryPath else { return }
            try rules.pending.settle(temporaryPath) {
                try rules.refuseInput(finalPath, named: path)
                if rules.force {
                    try renameReplacing(temporaryPath, to: finalPath)
                } else {
                    try Self.renameWithoutReplacing(temporaryPath, to: finalPath)
                }
            }
        } catch let error as Errno {
            throw rules.failure(error, named: path)
        } catch let error as MediaError {
            throw error.at(path: path.string)
        }
    }

    /// Puts several outputs in place, as ``commit()`` does, in a turn of their own: of runs that write the same names at
    /// once, one has them all.
    ///
    /// - Parameter together: Whether none is put in place where the name of one has been taken meanwhile.
    /// - Returns: What went wrong with which of them.
    package static func commit(_ files: [OutputFile], together: Bool = false) -> [(index: Int, error: MediaError)] {
        var failures: [(index: Int, error: MediaError)] = []
        CommitTurn.during(files) {
            if together, let taken = files.firstIndex(where: \.isNameTaken) {
                for file in files { file.discard() }
                failures = [(taken, files[taken].rules.failure(.fileExists, named: files[taken].path))]
                return
            }
            for (index, file) in files.enumerated() {
                do { try file.commit() } catch { failures.append((index, OutputFileSet.failure(error))) }
            }
        }
        return failures
    }

    /// Whether something stands at the final name that may not be replaced.
    private var isNameTaken: Bool {
        isReplaced && !rules.force && (try? Stat(finalPath, followTargetSymlink: false)) != nil
    }

    /// Closes the output and removes what there is of it; does nothing after a commit.
    ///
    /// What was written directly, to standard output or a FIFO, cannot be taken back.
    package func discard() {
        switch takeState() {
        case .ended: return
        case .complete where isReplaced: break
        case .open, .complete:
            if let destination { try? destination.close() }
            if descriptor != .standardOutput { try? descriptor.close() }
        }
        if let temporaryPath { rules.pending.remove(temporaryPath) }
    }

    private func takeState() -> State {
        state.withLock { state in
            defer { state = .ended }
            return state
        }
    }

    private func close(after state: State) throws {
        if case .complete(let waiting) = state {
            if isReplaced { return }
            // The descriptor is closed also where its reader is gone.
            defer { if descriptor != .standardOutput { try? descriptor.close() } }
            return try writeAll(waiting.span, to: descriptor)
        }
        if let destination {
            defer {
                try? destination.close()
                try? descriptor.close()
            }
            return try copyContents(to: destination)
        }
        if descriptor != .standardOutput { try descriptor.close() }
    }

    private func copyContents(to destination: FileDescriptor) throws(Errno) {
        var place: Int64 = 0
        while case let bytes = try read(from: descriptor, at: place, atMost: 1 << 20), !bytes.isEmpty {
            try writeAll(bytes.span, to: destination)
            place += Int64(bytes.count)
        }
    }

    private static func renameWithoutReplacing(_ old: FilePath, to new: FilePath) throws(Errno) {
        do throws(Errno) {
            try renameExclusively(old, to: new)
        } catch .invalidArgument, .noFunction {
            try renameByLinking(old, to: new)
        }
    }

    /// Renames without replacing where the file system has no such rename (NFS, old kernels): link(2) never replaces.
    static func renameByLinking(_ old: FilePath, to new: FilePath) throws(Errno) {
        do throws(Errno) {
            try makeHardLink(to: old, at: new)
        } catch .notPermitted, .notSupported, .noFunction, .notSupportedOnSocket {
            // Nor links (exFAT, some FUSE): claim the name, then replace one's own empty file.
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
}

/// The names of files that are not complete yet.
enum TemporaryName {
    /// What Linux allows a name: NAME_MAX of limits.h, in bytes.
    static let longestName = 255

    /// Makes a new file beside `path`, named `.<name>.<random>.partial`, and lists it as pending.
    ///
    /// Throws `Errno`; `fileNameTooLong` only where `path` itself is too long for the file system.
    static func create(beside path: FilePath, in pending: PendingOutputs) throws -> (FilePath, FileDescriptor) {
        let name = path.lastComponent?.bytes ?? []
        let folder = path.removingLastComponent()
        var attempts = 100
        while true {
            do {
                return try create(self.name(for: name), in: folder, pending)
            } catch Errno.fileNameTooLong {
                // Some file systems hold shorter names (eCryptfs: 143); then the final name must fit by itself.
                if isTooLong(path) { throw Errno.fileNameTooLong }
                return try create(self.name(for: []), in: folder, pending)
            } catch Errno.fileExists where attempts > 0 {
                attempts -= 1
            }
        }
    }

    /// The name for a file that is to be called `name`, cut so that it is no longer than a name may be.
    static func name(for name: [UInt8]) -> [UInt8] {
        let random = String(UInt64.random(in: .min ... .max), radix: 36)
        let ending = Array(".\(random).partial".utf8)
        var kept = name.prefix(longestName - 1 - ending.count)
        // Not in the middle of a character of UTF-8, which some file systems refuse.
        if kept.count < name.count {
            while let last = kept.last, last & 0xC0 == 0x80 { kept.removeLast() }
            if let last = kept.last, last & 0xC0 == 0xC0 { kept.removeLast() }
        }
        return [UInt8(ascii: ".")] + kept + ending
    }

    private static func create(
        _ name: [UInt8], in folder: FilePath, _ pending: PendingOutputs
    ) throws -> (FilePath, FileDescriptor) {
        let path = folder.pushing(FilePath(bytes: name))
        return (path, try pending.create(path))
    }

    private static func isTooLong(_ path: FilePath) -> Bool {
        do throws(Errno) {
            _ = try Stat(path)
            return false
        } catch {
            return error == .fileNameTooLong
        }
    }
}
