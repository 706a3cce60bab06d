import FileOutput
import Glibc
import MediaBase
import SystemCalls
import SystemPackage

/// Opens files and makes outputs for one worker, as far as the policies of its jobs allow.
///
/// It runs in the supervisor, so no call may wait: a FIFO is opened only if its other end is there.
final class FileService {
    private let process: CInt
    private let sources: SourceServer?
    private var jobs: [Int: Job] = [:]
    private var beginnings = 0

    /// A job that has begun and not ended.
    private struct Job {
        let policy: FilePolicy
        let outputs: OutputFileSet
        /// The outputs that are not in place yet.
        var begun: [Int: OutputFile] = [:]
        /// The number of connections to byte sources.
        var connections = 0
        /// The number of inputs that no output may replace.
        var refusals = 0
        /// The folders that were opened, so that a folder that is replaced meanwhile does not matter.
        var folders: [FilePath: OpenFolder] = [:]
    }

    /// The maximum number of outputs that a job may have begun and not put in place, and of inputs that it may name.
    private static let maximumBegun = 100_000

    /// The maximum number of connections to byte sources that a job may ask for; each takes a thread.
    private static let maximumConnections = 1000

    /// Creates the service of a process.
    ///
    /// - Parameter sources: The server of byte sources; `nil` to refuse them.
    init(process: CInt, sources: SourceServer?) {
        self.process = process
        self.sources = sources
    }

    /// Begins a job, and returns its open input, so that the worker need not ask for it; `nil` if it is not a regular file.
    func begin(
        _ number: Int, _ policy: FilePolicy, outputs: OutputFileSet
    ) -> (path: FilePath, descriptor: FileDescriptor)? {
        jobs[number] = Job(policy: policy, outputs: outputs)
        // Closing a FIFO that the worker does not want would be the end for its writer.
        guard let path = policy.input, let status = try? Stat(path), status.type == .regular,
            let descriptor = try? openForReading(path)
        else { return nil }
        return (path, descriptor)
    }

    /// Ends a job, and removes its outputs that were not put in place.
    func end(_ number: Int) {
        for output in jobs.removeValue(forKey: number)?.begun.values.map(\.self) ?? [] { output.discard() }
    }

    /// Returns the answer to a call of a job, and the descriptors to send with it.
    func answer(_ call: FileCall, of number: Int) -> (FileAnswer, Sent) {
        guard var job = jobs[number] else { return (.system(.permissionDenied), Sent()) }
        defer { jobs[number] = job }
        do {
            switch call {
            case .read(let path): return (.done, Sent([try read(path, &job)], isOurs: true))
            case .readBeneath(let folder, let path):
                return (.done, Sent([try self.folder(folder, &job).open(path)], isOurs: true))
            case .contents(let folder, let path, let most):
                return (.done, Sent([try contents(of: path, beneath: folder, atMost: most, &job)], isOurs: true))
            case .temporaryFile: return (.done, Sent([try makeTemporaryFile()], isOurs: true))
            case .begin(let request): return try begin(request, &job)
            case .complete(let id): try job.begun[id]?.complete(with: [])
            case .commit(let ids, let together): return (.failures(commit(ids, together: together, &job)), Sent())
            case .discard(let id): job.begun.removeValue(forKey: id)?.discard()
            case .refuse(let inputs, let output):
                job.refusals += inputs.count
                guard job.refusals <= Self.maximumBegun else { throw Errno.noMemory }
                if let output { try job.begun[output]?.refuse(inputs) } else { job.outputs.protect(inputs) }
            case .source(let name):
                guard let sources, job.policy.allowsSource(name) else { throw Errno.permissionDenied }
                job.connections += 1
                guard job.connections <= Self.maximumConnections else { throw Errno.tooManyOpenFiles }
                return (.done, Sent([try sources.connect(to: name)], isOurs: true))
            }
            return (.done, Sent())
        } catch let error as MediaError {
            return (.error(error), Sent())
        } catch {
            return (.system(error as? Errno ?? .ioError), Sent())
        }
    }

    /// Descriptors to send, and whether to close them afterwards.
    struct Sent {
        let descriptors: [FileDescriptor]
        private let isOurs: Bool

        init(_ descriptors: [FileDescriptor] = [], isOurs: Bool = false) {
            self.descriptors = descriptors
            self.isOurs = isOurs
        }

        /// Closes what was opened only to be sent.
        func close() {
            if isOurs { for descriptor in descriptors { try? descriptor.close() } }
        }
    }

    // MARK: Reading

    private func read(_ path: FilePath, _ job: inout Job) throws -> FileDescriptor {
        if let number = Self.numberOfOwnDescriptor(path) { return try reopen(number) }
        // An output has a hidden name for the worker, but perhaps none in its folder.
        if let output = job.begun.values.first(where: { $0.temporaryPath == path }), let path = output.readablePath {
            return try openForReading(path)
        }
        if job.policy.readsEverything || job.policy.readable.contains(path) { return try openForReading(path) }
        for folder in job.policy.folders {
            var relative = path
            // A path that leads out again by `..` or a link is refused by the open folder.
            guard relative.removePrefix(folder), !relative.isEmpty, relative.isRelative else { continue }
            do {
                return try self.folder(folder, &job).open(relative)
            } catch Errno.improperLink {
                throw Errno.permissionDenied
            }
        }
        throw Errno.permissionDenied
    }

    /// Returns N if a path is `/proc/self/fd/N`, which means another file here than in the worker.
    private static func numberOfOwnDescriptor(_ path: FilePath) -> CInt? {
        guard path.removingLastComponent() == "/proc/self/fd" else { return nil }
        return path.lastComponent.flatMap { CInt($0.string) }
    }

    /// Opens a file again that the worker has open: an unnamed one, as it may read any other only under its name.
    private func reopen(_ number: CInt) throws -> FileDescriptor {
        let file = try openForReading(FilePath("/proc/\(process)/fd/\(number)"))
        guard let status = try? file.stat(), status.type == .regular, status.linkCount == 0 else {
            try? file.close()
            throw Errno.permissionDenied
        }
        return file
    }

    private func folder(_ path: FilePath, _ job: inout Job) throws -> OpenFolder {
        if let folder = job.folders[path] { return folder }
        guard job.policy.readsEverything || job.policy.folders.contains(path) else { throw Errno.permissionDenied }
        let folder = try OpenFolder(path)
        job.folders[path] = folder
        return folder
    }

    /// Returns a file with the contents of a folder, which may be longer than a message.
    private func contents(
        of relative: FilePath, beneath folder: FilePath, atMost most: Int, _ job: inout Job
    ) throws -> FileDescriptor {
        let entries = try self.folder(folder, &job).contents(of: relative, atMost: min(max(0, most), 1 << 20))
        var writer = MessageWriter()
        writer.write(entries) { writer, entry in
            writer.write(entry.name)
            writer.write(entry.isFolder)
        }
        return try makeTemporaryFile(with: writer.bytes)
    }

    // MARK: Outputs

    private func begin(_ request: OutputRequest, _ job: inout Job) throws(MediaError) -> (FileAnswer, Sent) {
        let path = request.path
        guard job.policy.allowsOutput(path), job.begun.count < Self.maximumBegun else {
            throw MediaError(.permissionDenied, "is not an output of this job", path: path.string)
        }
        let set = job.outputs.setForAnotherJob()
        let output =
            request.makesFolder
            ? try set.beginInFolder(
                path, goesBack: request.goesBack, waits: false, isRewritten: request.isRewritten)
            : try set.begin(path, goesBack: request.goesBack, waits: false, isRewritten: request.isRewritten)
        set.release()
        guard let temporaryPath = output.temporaryPath else {
            // Written directly, by the worker alone; standard output is the worker's own.
            guard output.descriptor != .standardOutput else { return (.output(kept: nil), Sent()) }
            return (.output(kept: nil), Sent(output.detach(), isOurs: true))
        }
        beginnings += 1
        job.begun[beginnings] = output
        return (.output(kept: (beginnings, temporaryPath)), Sent([output.descriptor]))
    }

    private func commit(
        _ ids: [Int], together: Bool, _ job: inout Job
    ) -> [(index: Int, error: MediaError)] {
        var files: [(index: Int, file: OutputFile)] = []
        for (index, id) in ids.enumerated() {
            if let file = job.begun.removeValue(forKey: id) { files.append((index, file)) }
        }
        return OutputFile.commit(files.map(\.file), together: together).map { (files[$0.index].index, $0.error) }
    }
}
