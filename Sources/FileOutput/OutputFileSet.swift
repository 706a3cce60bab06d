package import MediaBase
internal import SystemCalls
package import SystemPackage
internal import Threading

/// The outputs of one job: each is written beside its final name and put in place when it is complete.
///
/// ```swift
/// let outputs = OutputFileSet(force: false, inputs: [identity])
/// let peaks = try outputs.begin("a.dat")
/// try peaks.write(contentsOf: bytes)
/// try outputs.commit()
/// ```
///
/// What is not committed when the set and whoever has the file let it go is removed. Safe from any thread.
package final class OutputFileSet: Sendable {
    /// What all outputs of a run obey.
    final class Rules: Sendable {
        let force: Bool
        /// How whoever gets the error says that a file is to be replaced.
        let toReplace: String
        let pending: PendingOutputs
        private let inputs: Mutex<Set<FileIdentity>>
        /// The names given away so far: the folder's identity and the name in it.
        private let claimed = Mutex<Set<Claim>>([])

        private struct Claim: Hashable {
            let folder: FileIdentity
            let name: [UInt8]
        }

        init(force: Bool, inputs: [FileIdentity], toReplace: String, pending: PendingOutputs) {
            self.force = force
            self.toReplace = toReplace
            self.pending = pending
            self.inputs = Mutex(Set(inputs))
        }

        /// The error of an output that could not be written or put in place.
        func failure(_ errno: Errno, named path: FilePath) -> MediaError {
            guard errno == .fileExists else { return MediaError(errno, "write", path: path) }
            return MediaError(
                .alreadyExists, "cannot write: the file exists already; \(toReplace)", path: path.string,
                cause: errno.description)
        }

        func addInputs(_ identities: [FileIdentity]) { inputs.withLock { $0.formUnion(identities) } }

        func refuseInput(_ identity: FileIdentity?, named path: FilePath) throws {
            if let identity, inputs.withLock({ $0.contains(identity) }) {
                throw MediaError(
                    .invalidArgument, "the output is an input file; choose another name", path: path.string)
            }
        }

        /// Refuses an input; a character device may be both, as `/dev/null` often is.
        func refuseInput(_ finalPath: FilePath, named path: FilePath) throws {
            guard let status = try? Stat(finalPath), status.type != .characterSpecial else { return }
            try refuseInput(FileIdentity(status), named: path)
        }

        func claim(_ finalPath: FilePath, named path: FilePath) throws {
            let parent = finalPath.removingLastComponent()
            let folder: FileIdentity
            do throws(Errno) {
                folder = FileIdentity(try Stat(parent.isEmpty ? "." : parent))
            } catch {
                throw MediaError(error, "write", path: path)
            }
            let name = finalPath.lastComponent?.bytes ?? []
            guard claimed.withLock({ $0.insert(Claim(folder: folder, name: name)).inserted }) else {
                throw MediaError(
                    .invalidArgument, "two outputs have this name; give each its own", path: path.string)
            }
        }
    }

    /// Whether ``put(_:at:)`` leaves files to ``commit()``, so that none is in place before all are complete.
    package let isWhole: Bool
    private let rules: Rules
    private let allowance: OutputAllowance?
    private let files = Mutex<[OutputFile]>([])

    /// Makes an empty set.
    ///
    /// - Parameters:
    ///   - force: Whether files that exist are replaced.
    ///   - inputs: The files that are read in this run, none of which an output may be, forced or not.
    ///   - toReplace: How a person has files replaced, for the error where one exists.
    ///   - pending: Where the outputs are listed until they are in place.
    package convenience init(
        force: Bool, inputs: [FileIdentity], toReplace: String = "use --force to replace it",
        pending: PendingOutputs = .shared
    ) {
        self.init(rules: Rules(force: force, inputs: inputs, toReplace: toReplace, pending: pending))
    }

    private init(rules: Rules, isWhole: Bool = false, allowance: OutputAllowance? = nil) {
        self.rules = rules
        self.isWhole = isWhole
        self.allowance = allowance
    }

    /// An empty set for another job of the same run: no two outputs of both may have the same name.
    ///
    /// - Parameter isWhole: Whether ``put(_:at:)`` leaves files to ``commit()``.
    package func setForAnotherJob(isWhole: Bool = false) -> OutputFileSet {
        OutputFileSet(rules: rules, isWhole: isWhole, allowance: allowance)
    }

    /// An empty set of the same run, whose outputs and those of all sets made from it have no more bytes together.
    package func limited(to allowance: OutputAllowance?) -> OutputFileSet {
        OutputFileSet(rules: rules, isWhole: isWhole, allowance: allowance)
    }

    /// Lets no output of the run that is begun from now on be one of these files, which are read too.
    package func protect(_ identities: [FileIdentity]) { rules.addInputs(identities) }

    /// Opens an output for writing; `-` is standard output (a file of that name is `./-`).
    ///
    /// Throws ``MediaError`` before anything is written: `alreadyExists` without `force`, `invalidArgument` where the
    /// output is an input (also through a link) or another output, `notFound` where its folder is missing, and what
    /// else the system refuses. Opening a FIFO waits for its reader.
    ///
    /// - Parameter goesBack: Whether what is written first is changed later. What is no regular file then gets the content
    ///   at the commit, from a temporary file.
    package func begin(_ path: FilePath, goesBack: Bool = false) throws -> OutputFile {
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
                try FileDescriptor.open(target, .writeOnly, options: [.closeOnExec])
            }
            var destination: FileDescriptor?
            var written = descriptor
            if goesBack {
                do {
                    written = try makeTemporaryFile()
                } catch {
                    try? descriptor.close()
                    throw MediaError(error, "make a temporary file", path: path)
                }
                destination = descriptor
            }
            file = OutputFile(
                path: path, finalPath: target, descriptor: written, temporaryPath: nil, destination: destination,
                rules: rules, allowance: allowance)
        case .beside(let target, let present):
            try rules.refuseInput(present.map(FileIdentity.init), named: path)
            if present != nil, !rules.force { throw rules.failure(.fileExists, named: path) }
            try rules.claim(target, named: path)
            let (temporaryPath, descriptor) = try opening(path) {
                try TemporaryName.create(beside: target, in: rules.pending)
            }
            // The new file is to be as readable as the one it replaces; where that is not allowed, it is not an error.
            if let present { try? setPermissions(present.permissions, of: descriptor) }
            file = OutputFile(
                path: path, finalPath: target, descriptor: descriptor, temporaryPath: temporaryPath, rules: rules,
                allowance: allowance)
        }
        files.withLock { $0.append(file) }
        return file
    }

    /// Puts every output in place, in the order in which they were begun.
    ///
    /// Where one cannot be put in place the others still are, and the first error is thrown at the end; of a set that is
    /// whole none is where a name has been taken meanwhile.
    package func commit() throws {
        if let first = OutputFile.commit(takeFiles(), together: isWhole).first { throw first.error }
    }

    /// Removes every output that is not in place yet.
    package func discard() {
        for file in takeFiles() { file.discard() }
    }

    private func takeFiles() -> [OutputFile] {
        files.withLock { files in
            defer { files.removeAll() }
            return files
        }
    }

    private func opening<Result>(_ path: FilePath, _ open: () throws -> Result) throws -> Result {
        do {
            return try open()
        } catch let error as Errno {
            throw MediaError(error, "write", path: path)
        }
    }
}

extension OutputFileSet {
    /// Writes a file whole and puts it in place at once, or with all others of a set that is whole; `-` is standard output.
    ///
    /// Folders that it needs are made. For commands that write many files: thousands of open ones are more than a process may have.
    /// - Throws: what ``begin(_:)``, writing and ``OutputFile/commit()`` throw, with the output's path.
    package func put(_ bytes: [UInt8], at path: FilePath) throws(MediaError) {
        do {
            let folder = path.removingLastComponent()
            if !folder.isEmpty { try createFolder(at: folder) }
            if isWhole { return try begin(path).complete(with: bytes) }
            let outputs = setForAnotherJob()
            try outputs.begin(path).write(contentsOf: bytes)
            try outputs.commit()
        } catch {
            throw Self.failure(error).at(path: path.string)
        }
    }

    /// Opens a file whose content comes later, so that what refuses it is known before the work for it is done.
    ///
    /// - Throws: what ``put(_:at:)`` throws before it writes.
    package func open(_ path: FilePath) throws(MediaError) -> OpenedOutput {
        do {
            let folder = path.removingLastComponent()
            if !folder.isEmpty { try createFolder(at: folder) }
            let outputs = setForAnotherJob()
            return OpenedOutput(path: path, file: try outputs.begin(path))
        } catch {
            throw Self.failure(error).at(path: path.string)
        }
    }

    /// Puts every output in place as ``commit()`` does; nothing but ``MediaError`` is thrown.
    package func commitAll() throws(MediaError) {
        do { try commit() } catch { throw Self.failure(error) }
    }

    static func failure(_ error: any Error) -> MediaError {
        error as? MediaError ?? MediaError(.inputOutput, "cannot be written", cause: "\(error)")
    }
}

/// An output that was opened and has no content yet; nothing remains of it where it never gets any.
package struct OpenedOutput {
    fileprivate let path: FilePath
    fileprivate let file: OutputFile

    /// Writes the file whole; ``commit(_:)`` puts it in place.
    ///
    /// - Throws: what writing throws, with the output's path; nothing remains of the file then.
    package func fill(_ bytes: [UInt8]) throws(MediaError) {
        do {
            try file.write(contentsOf: bytes)
        } catch {
            file.discard()
            throw OutputFileSet.failure(error).at(path: path.string)
        }
    }

    /// Puts several outputs in place in a turn of their own, and gives what went wrong.
    package static func commit(_ outputs: [OpenedOutput]) -> [MediaError] {
        OutputFile.commit(outputs.map(\.file)).map { $0.error.at(path: outputs[$0.index].path.string) }
    }
}

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
