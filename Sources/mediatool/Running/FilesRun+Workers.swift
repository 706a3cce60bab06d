import Isolation
import MediaBase
import MediaJobs
import Network
import SystemCalls
import SystemPackage
import Timelines

extension FilesRun {
    /// Works on the files in workers, which print nothing themselves.
    ///
    /// - Parameters:
    ///   - work: Works on a file, in a worker.
    ///   - deliver: Receives what is to be printed about each file, in order, or the error that ended its worker.
    func supervise(
        _ work: (Int) throws -> FileOutcome, deliver: (Int, Result<FileOutcome, MediaError>) throws -> Void
    ) throws {
        var pool = WorkerPool(outputs: outputs)
        pool.workers = min(running.jobs, files.count)
        pool.timeout = running.timeout?.duration
        pool.memoryBytes = { running.memoryPerFile }
        // Should the memory in RAM grow faster than it is looked at.
        pool.limits.dataBytes = physicalMemory()
        // Should a worker write more than it counts.
        pool.limits.fileBytes = running.limits.last { $0.name == .outputBytes }?.value
        // libavformat opens the files that a list names, and those that these name.
        if running.allowNested { pool.readable = ["/"] }
        if running.isolate { pool.jobsPerWorker = 1 }
        pool.isOrdered = !printsAsTheyCome
        pool.retries = running.batch.retries ?? 0
        if readsNetwork { pool.sources = try startSourceServer() }
        try pool.run(count: files.count, policy: policy) { index, link in
            Supervision.begin(link, progress)
            if readsNetwork { NetworkAccess.delegate { address, _ in link.source(named: address.secretText) } }
            do {
                return try work(index).message
            } catch {
                let error = MediaError(describing: error).at(path: files[index].displayName)
                return FileOutcome(FileInspection(isComplete: false, errors: [error])).message
            }
        } notice: { index, bytes in
            switch try Supervision.Notice(bytes) {
            case .output(let bytes):
                StatusLine.clear()
                try StandardOutput.write(bytes)
            case .message(let text): StandardError.write(text)
            case .progress(let fraction, let speed): progress.update(part: index, fraction: fraction, speed: speed)
            }
        } isAgain: { index, retry, result in
            isDoneAgain(index, retry: retry, after: result)
        } deliver: { index, result in
            let outcome = result.mapError(Self.advise).flatMap { bytes in
                do throws(MessageReader.Invalid) {
                    return .success(try FileOutcome(message: bytes))
                } catch {
                    return .failure(.nonsense)
                }
            }
            try deliver(index, outcome)
        }
    }

    /// Adds the option that sets the limit to the error of a worker that exceeded one.
    private static func advise(_ error: MediaError) -> MediaError {
        var error = error
        switch error.code {
        case .timedOut: error.message += " (--timeout)"
        case .memoryLimit: error.message += "; raise --limit memory="
        default: break
        }
        return error
    }

    /// Returns the files that the work on an input may use.
    private func policy(of index: Int) -> FilePolicy {
        let file = files[index]
        var policy = FilePolicy()
        policy.input = file.isStandardStream || file.isRemote ? nil : file.path
        policy.readable = Set(others.reading.map(\.path))
        policy.readable.formUnion((others.inputs + [file]).filter { !$0.isRemote }.map(\.path))
        policy.allowsSource = allowsSource(of: file)
        policy.outputPatterns = others.writing(file)
        policy.readsEverything = running.allowNested
        if let folder = others.outputFolder?(file) { policy.folders.insert(folder) }
        if let timelines = others.timelines, !file.isRemote,
            file.isStandardStream || TimelineFile.isLikely(at: file.path)
        {
            policy.readsEverything = policy.readsEverything || timelines.allowOutside
            policy.folders.formUnion(timelines.mediaFolder.map(\.path))
            policy.folders.insert(file.isStandardStream ? FilePath() : file.path.removingLastComponent())
        }
        return policy
    }
}
