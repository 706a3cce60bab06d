package import MediaBase
internal import SystemCalls
package import SystemPackage
internal import Threading

/// An output being written, which appears under its final name either complete or not at all.
///
/// A regular file has no name until ``commit()`` gives it one, so that nothing of it remains even if the process is killed.
/// If it replaces another file, or the file system has no unnamed files, it is written beside its final name as
/// `.<name>.<random>.partial` and renamed. Standard output, a FIFO and a device are written directly. An output that is
/// released without a commit is discarded. Data is not forced to disk (no fsync): the name never shows a partial file
/// while the system runs, but a new file may not survive a power failure. All methods are thread-safe, but two threads
/// that write at the same time interleave their bytes.
package final class OutputFile: Sendable {
    /// The file as the user named it.
    package let path: FilePath

    /// The open file, for writers that do not use ``write(contentsOf:)-([UInt8])`` (a muxer).
    ///
    /// It is also readable if ``isReplaced`` is true. This object owns the descriptor and closes it.
    package let descriptor: FileDescriptor

    /// The hidden name of the file that is written until the commit; `nil` if the output is written directly.
    ///
    /// The file may have no name instead. This one then stands for it between a sandboxed process and its supervisor.
    package let temporaryPath: FilePath?

    /// The final destination of content that is first written to a temporary file because its writer seeks back.
    ///
    /// `nil` if the output is written directly or renamed.
    private let destination: Destination?

    /// The path at which ``commit()`` puts the file; differs from ``path`` if that is a symbolic link.
    let finalPath: FilePath
    private let rules: OutputFileSet.Rules
    /// The name, if another attempt at the same job may want it.
    private let claim: OutputFileSet.Rules.Claim?
    /// True if a file of the final name is replaced.
    private let mayReplace: Bool
    /// The process that puts the output in place, and its name for it; `nil` if this process does.
    private let keeping: (keeper: any OutputKeeper, id: Int)?
    /// The byte allowance shared by all outputs of the job; `nil` for no limit.
    package let allowance: OutputAllowance?
    private let state = Mutex(State.open)

    /// A destination that receives a complete content.
    enum Destination: Sendable {
        /// A FIFO or a device, which this object closes.
        case descriptor(FileDescriptor)
        /// A sink of the library's user.
        case sink(any ByteSink)
    }

    /// The state of an output, which decides the operations that it still allows.
    private enum State {
        case open
        /// The output has its final name already and is still being written.
        case published
        /// Everything is written, except the bytes of a direct output, which could not be taken back.
        case complete(waiting: [UInt8])
        case ended

        var isWritable: Bool {
            switch self {
            case .open, .published: true
            case .complete, .ended: false
            }
        }
    }

    /// True if the output is a regular file that is put in place by the commit.
    package var isReplaced: Bool { temporaryPath != nil }

    /// A path at which this process can read the content written so far; `nil` if that is impossible.
    package var readablePath: FilePath? {
        if case .published = state.withLock(\.self) { return finalPath }
        guard let temporaryPath else { return destination == nil ? nil : descriptor.pathInProc }
        return rules.pending.unnamed(temporaryPath)?.pathInProc ?? temporaryPath
    }

    init(
        path: FilePath, finalPath: FilePath, descriptor: FileDescriptor, temporaryPath: FilePath?,
        destination: Destination? = nil, rules: OutputFileSet.Rules, allowance: OutputAllowance?,
        keeping: (keeper: any OutputKeeper, id: Int)? = nil, claim: OutputFileSet.Rules.Claim? = nil,
        replaces: Bool = false
    ) {
        self.keeping = keeping
        self.claim = claim
        mayReplace = rules.force || replaces
        self.path = path
        self.finalPath = finalPath
        self.descriptor = descriptor
        self.temporaryPath = temporaryPath
        self.destination = destination
        self.rules = rules
        self.allowance = allowance
    }

    deinit { discard() }

    /// Creates an output whose complete content a sink receives at the commit; until then it is an unnamed file.
    ///
    /// - Parameters:
    ///   - sink: The sink, which is told to discard the output if that is not committed.
    ///   - name: The name of the output for error messages.
    package convenience init(for sink: any ByteSink, named name: String) throws(MediaError) {
        let path = FilePath(name)
        let file = try failing("make a temporary file", path) { () throws(Errno) in try makeTemporaryFile() }
        self.init(
            path: path, finalPath: path, descriptor: file, temporaryPath: nil, destination: .sink(sink),
            rules: .init(force: true, inputs: [], toReplace: "", pending: .shared), allowance: nil)
    }

    /// Writes all of the bytes at the current file position: write(2).
    ///
    /// Throws ``MediaError`` `inputOutput` if the disk is full or the reader of a FIFO is gone, `outputLimit` if the
    /// job's outputs would exceed their allowance, and `invalidArgument` after the commit.
    package func write(contentsOf bytes: [UInt8]) throws(MediaError) {
        try write(bytes.span)
    }

    /// Writes all of the bytes at the current file position; see ``write(contentsOf:)-([UInt8])``.
    package func write(contentsOf bytes: ArraySlice<UInt8>) throws(MediaError) {
        try write(bytes.span)
    }

    /// Writes the text as UTF-8; see ``write(contentsOf:)-([UInt8])``.
    package func write(_ text: String) throws(MediaError) {
        try write(contentsOf: Array(text.utf8))
    }

    /// Writes all of the bytes at the current file position; see ``write(contentsOf:)-([UInt8])``.
    package func write(_ bytes: Span<UInt8>) throws(MediaError) {
        guard state.withLock(\.isWritable) else {
            throw MediaError(.invalidArgument, "the output is closed and cannot be written any more", path: path.string)
        }
        if let allowance, !allowance.take(bytes.count) { throw allowance.error.at(path: path.string) }
        do throws(Errno) { try writeAll(bytes, to: descriptor) } catch { throw MediaError(error, "write", path: path) }
    }

    /// Writes the last bytes and closes the file, so that only ``commit()`` remains to be called.
    ///
    /// This is for thousands of outputs that are committed together. The bytes of a direct output wait in memory until
    /// then.
    package func complete(with bytes: [UInt8]) throws(MediaError) {
        guard isReplaced else {
            if let allowance, !allowance.take(bytes.count) { throw allowance.error.at(path: path.string) }
            return state.withLock { $0 = .complete(waiting: bytes) }
        }
        try write(contentsOf: bytes)
        do {
            state.withLock { $0 = .complete(waiting: []) }
            try close(keeping: temporaryPath, isLast: false)
            if let keeping { keeping.keeper.complete(keeping.id) }
        } catch {
            discard()
            throw MediaError(error as? Errno ?? .ioError, "write", path: path)
        }
    }

    /// Refuses input files as the target of this and later outputs of the run.
    ///
    /// Throws `invalidArgument` if this output would replace one of the files.
    package func refuse(_ inputs: [FileIdentity]) throws(MediaError) {
        if let keeping { return try keeping.keeper.refuse(inputs, as: keeping.id) }
        rules.addInputs(inputs)
        try rules.refuseInput(finalPath, named: path)
    }

    /// Closes the output and puts it in place; does nothing the second time.
    ///
    /// Without `force`, a file created at the final name meanwhile is left alone, which is checked atomically; the
    /// commit then throws `alreadyExists`. If it throws any error, nothing remains of the output.
    package func commit() throws(MediaError) {
        if keeping != nil {
            if let failure = Self.commit([self]).first { throw failure.error }
            return
        }
        let last = takeState()
        if case .ended = last { return }
        defer { if let temporaryPath { rules.pending.remove(temporaryPath) } }
        do {
            // A network file system, or one with quotas, may report only now that it had no space.
            try close(after: last)
        } catch let error as MediaError {
            throw error.at(path: path.string)
        } catch {
            throw rules.failure(error as? Errno ?? .ioError, named: path)
        }
        if case .published = last { return announceComplete(finalPath) }
        if let temporaryPath { try putInPlace(temporaryPath) }
    }

    /// Gives the file its final name.
    private func putInPlace(_ temporaryPath: FilePath) throws(MediaError) {
        do {
            try rules.pending.settle(temporaryPath, at: finalPath, replaces: mayReplace) {
                try rules.refuseInput(finalPath, named: path)
            }
        } catch let error as MediaError {
            throw error.at(path: path.string)
        } catch {
            throw rules.failure(error as? Errno ?? .ioError, named: path)
        }
        if let claim { rules.noteMade(claim) }
    }

    /// Gives the output its final name now, so that others can read it while it is being written.
    ///
    /// Writing continues, ``commit()`` closes the file, and ``discard()`` removes it if the name still leads to it. Does
    /// nothing the second time, for an output that is written directly, and for one that another process keeps, which
    /// gets its name at the commit.
    ///
    /// Throws as ``commit()`` does.
    package func publish() throws(MediaError) {
        guard let temporaryPath, keeping == nil, case .open = state.withLock(\.self) else { return }
        let identity = FileIdentity(of: descriptor)
        try putInPlace(temporaryPath)
        let isPublished = state.withLock { state in
            guard case .open = state else { return false }
            state = .published
            return true
        }
        // The output was discarded meanwhile, when it did not have its name yet.
        if !isPublished { removePublished(identity) }
    }

    /// Removes the file from its final name, unless that leads to another file by now.
    private func removePublished(_ identity: FileIdentity?) {
        guard let identity, identity == FileIdentity(of: finalPath) else { return }
        try? removeFile(finalPath)
    }

    /// Commits several outputs in a turn of their own, so that of concurrent runs with the same names one run wins
    /// all.
    ///
    /// - Parameter together: Whether to put no output in place if the name of one has been taken meanwhile.
    /// - Returns: The index and error of each output that failed.
    package static func commit(_ files: [OutputFile], together: Bool = false) -> [(index: Int, error: MediaError)] {
        var failures: [(index: Int, error: MediaError)] = []
        if let keeper = files.lazy.compactMap(\.keeping).first?.keeper {
            return commit(files, together: together, by: keeper)
        }
        CommitTurn.during(files) {
            if together, let taken = files.firstIndex(where: \.isNameTaken) {
                for file in files { file.discard() }
                failures = [(taken, files[taken].rules.failure(.fileExists, named: files[taken].path))]
                return
            }
            for (index, file) in files.enumerated() {
                do throws(MediaError) { try file.commit() } catch { failures.append((index, error)) }
            }
        }
        return failures
    }

    /// Closes the files, and lets the keeper put those in place that it keeps.
    private static func commit(
        _ files: [OutputFile], together: Bool, by keeper: any OutputKeeper
    ) -> [(index: Int, error: MediaError)] {
        var failures: [(index: Int, error: MediaError)] = []
        var kept: [(index: Int, id: Int)] = []
        for (index, file) in files.enumerated() {
            guard let keeping = file.keeping else {
                do throws(MediaError) { try file.commit() } catch { failures.append((index, error)) }
                continue
            }
            let last = file.takeState()
            if case .ended = last { continue }
            do {
                try file.close(after: last)
                kept.append((index, keeping.id))
            } catch {
                keeping.keeper.discard(keeping.id)
                failures.append((index, MediaError(error as? Errno ?? .ioError, "write", path: file.path)))
            }
        }
        guard !kept.isEmpty else { return failures }
        failures += keeper.commit(kept.map(\.id), together: together).compactMap { failure in
            kept.indices.contains(failure.index) ? (kept[failure.index].index, failure.error) : nil
        }
        return failures.sorted { $0.index < $1.index }
    }

    /// True if the final name exists and may not be replaced.
    private var isNameTaken: Bool {
        isReplaced && !mayReplace && (try? Stat(finalPath, followTargetSymlink: false)) != nil
    }

    /// Closes the output and removes what has been written; does nothing after a commit.
    ///
    /// Content written directly, to standard output or a FIFO, cannot be undone.
    package func discard() {
        switch takeState() {
        case .ended: return
        case .complete where isReplaced: break
        case .published:
            removePublished(FileIdentity(of: descriptor))
            try? descriptor.close()
            return
        case .open, .complete:
            switch destination {
            case .descriptor(let destination)?: try? destination.close()
            case .sink(let sink)?: sink.discard()
            case nil: break
            }
            if descriptor != .standardOutput { try? descriptor.close() }
        }
        if let keeping { return keeping.keeper.discard(keeping.id) }
        if let temporaryPath { rules.pending.remove(temporaryPath) }
    }

    /// Ends this object's part in an output that is written directly, and returns the file and, if it has one, the
    /// destination; the caller owns both.
    package func detach() -> [FileDescriptor] {
        _ = takeState()
        guard case .descriptor(let destination)? = destination else { return [descriptor] }
        return [descriptor, destination]
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
            // The descriptor must be closed even if its reader is gone.
            defer { if descriptor != .standardOutput { try? descriptor.close() } }
            return try writeAll(waiting.span, to: descriptor)
        }
        switch destination {
        case .descriptor(let destination)?:
            defer {
                try? destination.close()
                try? descriptor.close()
            }
            return try copyContents { bytes in try writeAll(bytes.span, to: destination) }
        case .sink(let sink)?:
            defer { try? descriptor.close() }
            do {
                try copyContents { bytes in try sink.write(bytes) }
                return try sink.finish()
            } catch {
                sink.discard()
                throw error
            }
        case nil: break
        }
        if descriptor != .standardOutput { try close(keeping: temporaryPath, isLast: true) }
    }

    /// Closes the descriptor; a file without a name, which would disappear, is kept for the commit.
    private func close(keeping temporaryPath: FilePath?, isLast: Bool) throws {
        do {
            if let temporaryPath { try rules.pending.hold(temporaryPath, isLast: isLast) }
        } catch {
            try? descriptor.close()
            throw error
        }
        try descriptor.close()
    }

    private func copyContents(_ write: ([UInt8]) throws -> Void) throws {
        var place: Int64 = 0
        while case let bytes = try read(from: descriptor, at: place, atMost: 1 << 20), !bytes.isEmpty {
            try write(bytes)
            place += Int64(bytes.count)
        }
    }
}
