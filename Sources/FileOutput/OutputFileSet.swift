package import MediaBase
internal import SystemCalls
package import SystemPackage
internal import Threading

/// The outputs of a job, each of which gets its name when it is complete.
///
/// ```swift
/// let outputs = OutputFileSet(force: false, inputs: [identity])
/// let peaks = try outputs.begin("a.dat")
/// try peaks.write(contentsOf: bytes)
/// try outputs.commit()
/// ```
///
/// An output that is not committed is removed when the set and all owners of the file release it. Thread-safe.
package final class OutputFileSet: Sendable {
    /// True if ``put(_:at:)`` leaves files to ``commit()``, so that none is put in place before all are complete.
    package let isWhole: Bool
    private let rules: Rules
    private let allowance: OutputAllowance?
    private let attempt: Attempt?
    private let files = Mutex<[OutputFile]>([])

    /// Creates an empty set.
    ///
    /// - Parameters:
    ///   - force: Whether to replace existing files.
    ///   - inputs: The files read in this run, which no output may replace, even with `force`.
    ///   - toReplace: The instruction for replacing files, for the error if a file exists.
    ///   - pending: The list in which the outputs are registered until they are in place.
    package convenience init(
        force: Bool, inputs: [FileIdentity], toReplace: String = "use --force to replace it",
        pending: PendingOutputs = .shared
    ) {
        self.init(rules: Rules(force: force, inputs: inputs, toReplace: toReplace, pending: pending))
    }

    private init(
        rules: Rules, isWhole: Bool = false, allowance: OutputAllowance? = nil, attempt: Attempt? = nil
    ) {
        self.rules = rules
        self.isWhole = isWhole
        self.allowance = allowance
        self.attempt = attempt
    }

    /// Returns an empty set for another job of the same run; no two outputs of both sets may have the same name.
    ///
    /// - Parameter isWhole: Whether ``put(_:at:)`` leaves files to ``commit()``.
    package func setForAnotherJob(isWhole: Bool = false) -> OutputFileSet {
        OutputFileSet(rules: rules, isWhole: isWhole, allowance: allowance, attempt: attempt)
    }

    /// Returns an empty set of the same run for an attempt at a job that may fail and be done again.
    package func set(for attempt: Attempt) -> OutputFileSet {
        OutputFileSet(rules: rules, isWhole: isWhole, allowance: allowance, attempt: attempt)
    }

    /// Returns an empty set of the same run whose outputs, with those of all sets made from it, share an allowance.
    package func limited(to allowance: OutputAllowance?) -> OutputFileSet {
        OutputFileSet(rules: rules, isWhole: isWhole, allowance: allowance, attempt: attempt)
    }

    /// Prevents outputs of the run that begin from now on from replacing these files, which are also read.
    package func protect(_ identities: [FileIdentity]) {
        rules.addInputs(identities)
        try? OutputKeeping.current?.refuse(identities, as: nil)
    }

    /// Opens an output for writing; `-` is standard output (a file of that name is `./-`).
    ///
    /// Throws ``MediaError`` before anything is written: `alreadyExists` without `force`, `invalidArgument` if the
    /// output is an input (also through a link) or another output, `notFound` if its folder is missing, and the errors
    /// of the system. Opening a FIFO waits for its reader.
    ///
    /// - Parameters:
    ///   - goesBack: Whether the writer later changes content written before. An output that is not a regular file is
    ///     then written to a temporary file and copied at the commit.
    ///   - waits: False to throw `notReady` in place of waiting for the reader of a FIFO.
    ///   - isRewritten: True for a file that a run writes again and again, each time whole.
    package func begin(
        _ path: FilePath, goesBack: Bool = false, waits: Bool = true, isRewritten: Bool = false
    ) throws(MediaError) -> OutputFile {
        if let keeper = OutputKeeping.current {
            return try begin(OutputRequest(path, goesBack: goesBack, isRewritten: isRewritten), by: keeper)
        }
        let file: OutputFile
        switch try OutputPlace(of: path) {
        case .standardOutput:
            let identity = (try? FileDescriptor.standardOutput.stat()).flatMap {
                $0.type == .regular ? FileIdentity($0) : nil
            }
            try rules.refuseInput(identity, named: path)
            file = OutputFile(
                path: path, finalPath: path, descriptor: .standardOutput, temporaryPath: nil, rules: rules,
                allowance: allowance)
        case .direct(let target):
            try rules.refuseInput(target, named: path)
            let descriptor = try opening(path) {
                try FileDescriptor.open(
                    target, .writeOnly, options: waits ? [.closeOnExec] : [.closeOnExec, .nonBlocking])
            }
            if !waits { setWaits(true, for: descriptor) }
            var destination: OutputFile.Destination?
            var written = descriptor
            if goesBack {
                do throws(Errno) {
                    written = try makeTemporaryFile()
                } catch {
                    try? descriptor.close()
                    throw MediaError(error, "make a temporary file", path: path)
                }
                destination = .descriptor(descriptor)
            }
            file = OutputFile(
                path: path, finalPath: target, descriptor: written, temporaryPath: nil, destination: destination,
                rules: rules, allowance: allowance)
        case .beside(let target, let present):
            try rules.refuseInput(present.map(FileIdentity.init), named: path)
            let claim = isRewritten ? nil : try rules.claim(to: target, named: path)
            let isMade = claim.map { rules.isMade($0, before: attempt) } ?? true
            if present != nil, !rules.force, !isMade { throw rules.failure(.fileExists, named: path) }
            if let claim { try rules.take(claim, named: path, for: attempt) }
            let (temporaryPath, descriptor) = try opening(path) {
                try TemporaryName.create(beside: target, isFree: present == nil, in: rules.pending)
            }
            // Preserve the permissions of the replaced file if possible; a failure is not an error.
            if let present { try? setPermissions(present.permissions, of: descriptor) }
            file = OutputFile(
                path: path, finalPath: target, descriptor: descriptor, temporaryPath: temporaryPath, rules: rules,
                allowance: allowance, claim: attempt == nil ? nil : claim, replaces: isMade)
        }
        files.withLock { $0.append(file) }
        return file
    }

    private func begin(_ request: OutputRequest, by keeper: any OutputKeeper) throws(MediaError) -> OutputFile {
        let output = try keeper.begin(request)
        let file = OutputFile(
            path: request.path, finalPath: request.path, descriptor: output.descriptor,
            temporaryPath: output.kept?.temporaryPath,
            destination: output.destination.map { .descriptor($0) }, rules: rules, allowance: allowance,
            keeping: output.kept.map { (keeper, $0.id) })
        files.withLock { $0.append(file) }
        return file
    }

    /// Puts every output in place, in the order in which they were begun.
    ///
    /// If one output fails, the others are still put in place and the first error is thrown at the end. In a whole
    /// set, no output is put in place if a name has been taken meanwhile.
    package func commit() throws(MediaError) {
        if let first = OutputFile.commit(takeFiles(), together: isWhole).first { throw first.error }
    }

    /// Removes every output that is not in place yet.
    package func discard() {
        for file in takeFiles() { file.discard() }
    }

    /// Leaves the outputs to those who hold them.
    package func release() { _ = takeFiles() }

    private func takeFiles() -> [OutputFile] {
        files.withLock { files in
            defer { files.removeAll() }
            return files
        }
    }

    private func opening<Result>(_ path: FilePath, _ open: () throws -> Result) throws(MediaError) -> Result {
        do { return try open() } catch { throw MediaError(error as? Errno ?? .ioError, "write", path: path) }
    }
}

extension OutputFileSet {
    /// Writes a complete file and puts it in place, immediately or together with all others of a whole set.
    ///
    /// `-` is standard output. Missing folders are created. With `isRewritten`, the run may write the file again. This is
    /// for commands that write many files, as a process cannot keep thousands of files open.
    /// - Throws: The errors of ``begin(_:)``, writing and ``OutputFile/commit()``, with the output's path.
    package func put(_ bytes: [UInt8], at path: FilePath, isRewritten: Bool = false) throws(MediaError) {
        do throws(MediaError) {
            if isWhole { return try beginInFolder(path).complete(with: bytes) }
            let outputs = setForAnotherJob()
            try outputs.beginInFolder(path, isRewritten: isRewritten).write(contentsOf: bytes)
            try outputs.commit()
        } catch {
            throw error.at(path: path.string)
        }
    }

    /// Opens a file whose content follows later, so that it is refused before the work for it starts.
    ///
    /// - Throws: The errors of ``put(_:at:)`` before it writes.
    package func open(_ path: FilePath) throws(MediaError) -> OpenedOutput {
        do throws(MediaError) {
            return OpenedOutput(path: path, file: try setForAnotherJob().beginInFolder(path))
        } catch {
            throw error.at(path: path.string)
        }
    }

    /// Opens an output as ``begin(_:goesBack:)`` does, in a folder that is made if it is missing.
    package func beginInFolder(
        _ path: FilePath, goesBack: Bool = false, waits: Bool = true, isRewritten: Bool = false
    ) throws(MediaError) -> OutputFile {
        if let keeper = OutputKeeping.current {
            let request = OutputRequest(path, goesBack: goesBack, makesFolder: true, isRewritten: isRewritten)
            return try begin(request, by: keeper)
        }
        let folder = path.removingLastComponent()
        if !folder.isEmpty { try createFolder(at: folder) }
        return try begin(path, goesBack: goesBack, waits: waits, isRewritten: isRewritten)
    }
}

/// An output that is open but has no content yet; nothing remains of it if it never receives any.
package struct OpenedOutput {
    fileprivate let path: FilePath
    fileprivate let file: OutputFile

    /// Writes the complete content; ``commit(_:)`` puts the file in place.
    ///
    /// - Throws: The errors of writing, with the output's path; nothing remains of the file then.
    package func fill(_ bytes: [UInt8]) throws(MediaError) {
        do throws(MediaError) {
            try file.write(contentsOf: bytes)
        } catch {
            file.discard()
            throw error.at(path: path.string)
        }
    }

    /// Puts several outputs in place in a turn of their own, and returns the errors that occurred.
    package static func commit(_ outputs: [OpenedOutput]) -> [MediaError] {
        OutputFile.commit(outputs.map(\.file)).map { $0.error.at(path: outputs[$0.index].path.string) }
    }
}

/// A run's turn to put its outputs in place, so that of two runs that write the same names one run wins all.
///
/// It is a lock on the outputs' folders (flock(2)), which all runs acquire in the same order. The lock is advisory:
/// outputs are put in place without it if a folder cannot be locked or another process holds the lock for seconds.
enum CommitTurn {
    /// The maximum time to wait for a turn; putting files in place takes milliseconds.
    private static let patience = Duration.seconds(10)

    /// Runs `body`, in a turn if several outputs are renamed into place.
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

    /// Returns the distinct folders of the outputs, in an order that does not depend on their names.
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
