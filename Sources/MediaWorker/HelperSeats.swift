import FileOutput
import Isolation
import MediaBase
import SystemCalls
import SystemPackage
import Threading

/// The helpers of a pool and the jobs that they do or that wait for one; used by the pool's thread alone.
struct HelperSeats {
    private let helper: FilePath
    private let options: MediaJobPool.Options
    private let memoryBytes: Int?
    private var seats: [Seat] = []
    private var waiting = FIFO<PoolSupervisor.Waiting>()
    private var running: [Int: PoolSupervisor.Waiting] = [:]
    private var numbers = 0
    /// The error of the last start, until a helper has greeted again.
    private var startError: MediaError?
    /// The time before which none is started again.
    private var nextStart = ContinuousClock.now
    private var lastLook = ContinuousClock.now

    /// A helper, which can be given jobs once it has greeted.
    private final class Seat {
        let worker: WorkerSeat
        /// The names of the jobs that it knows; `nil` until it has greeted.
        var jobs: Set<String>?
        /// The time at which a helper that has not greeted is given up.
        let startDeadline = ContinuousClock.now + .seconds(10)

        init(_ worker: WorkerSeat) { self.worker = worker }

        var isFree: Bool { jobs != nil && worker.isIdle }
    }

    /// The time between two looks at the memory of the helpers.
    private static let lookInterval = Duration.milliseconds(50)

    init(helper: FilePath, options: MediaJobPool.Options) {
        self.helper = helper
        self.options = options
        memoryBytes = options.memoryBytes ?? availableMemory().map { $0 / 2 / max(1, options.helperCount) }
    }

    /// Takes over new jobs, and gives up those that were cancelled.
    mutating func take(_ requests: PoolSupervisor.Requests) {
        for order in requests.added { waiting.append(order) }
        guard requests.hasCancelled || requests.added.contains(where: \.order.isCancelled) else { return }
        let error = MediaError(.cancelled, "the job was cancelled")
        var kept = FIFO<PoolSupervisor.Waiting>()
        while let next = waiting.popFirst() {
            if next.order.isCancelled { next.answer(.failure(error)) } else { kept.append(next) }
        }
        waiting = kept
        for seat in seats {
            if let job = seat.worker.job, running[job]?.order.isCancelled == true { seat.worker.stop(error) }
        }
        finish()
    }

    /// Starts the helpers that are missing, and gives free ones the jobs that wait.
    mutating func handOut() {
        if let startError, ContinuousClock.now < nextStart { refuse(startError, until: nextStart) }
        while seats.count < max(1, options.helperCount),
            startError == nil || !waiting.isEmpty && ContinuousClock.now >= nextStart
        {
            do throws(MediaError) {
                seats.append(try start())
            } catch {
                refuse(error)
                break
            }
        }
        while !waiting.isEmpty, let seat = seats.first(where: \.isFree), let next = waiting.popFirst() {
            guard seat.jobs?.contains(next.order.name) == true else {
                next.answer(
                    .failure(
                        MediaError(.invalidArgument, "the helper has no job \(next.order.name)", path: helper.string)))
                continue
            }
            let files = next.order.files
            let outputs = OutputFileSet(
                force: files.replacesOutputs,
                inputs: files.inputs.compactMap { (try? Stat($0)).map(FileIdentity.init) },
                toReplace: "replacesOutputs of MediaJobFiles allows it")
            numbers += 1
            do throws(Errno) {
                let isBegun = try seat.worker.begin(
                    numbers, request: next.order.message, FilePolicy(files), outputs: outputs,
                    limit: next.order.timeout ?? options.timeout)
                if isBegun {
                    running[numbers] = next
                } else {
                    // It died while it had nothing to do; the job has not begun.
                    waiting.prepend(next)
                    seats.removeAll(where: \.worker.isOver)
                }
            } catch {
                next.answer(
                    .failure(MediaError(.outOfResources, "cannot be sent to a helper", cause: error.description)))
            }
        }
    }

    private func start() throws(MediaError) -> Seat {
        // Should the memory in RAM grow faster than it is looked at.
        let limits = ResourceLimits(fileBytes: options.outputBytes, dataBytes: physicalMemory())
        do throws(Errno) {
            return Seat(
                try WorkerSeat(
                    try WorkerProcess.spawn(
                        helper, environment: options.environment, limits: limits, memoryBytes: memoryBytes,
                        keepsStandardError: options.sharesStandardError)))
        } catch {
            throw MediaError(
                .outOfResources, "the helper cannot be started", path: helper.string, cause: error.description)
        }
    }

    /// Lets the jobs that wait fail because no helper can be started, unless one is there.
    private mutating func refuse(_ error: MediaError, until next: ContinuousClock.Instant = .now + .seconds(1)) {
        startError = error
        nextStart = next
        guard !seats.contains(where: { $0.jobs != nil }) else { return }
        while let order = waiting.popFirst() { order.answer(.failure(error)) }
    }

    /// Waits until a helper sends something, the descriptor can be read, or it is time to look at the helpers.
    func wait(orFor descriptor: FileDescriptor) {
        let isBusy = memoryBytes != nil && !running.isEmpty
        var pause = isBusy ? Self.lookInterval : Duration.seconds(1)
        for seat in seats where seat.jobs == nil { pause = min(pause, seat.startDeadline - .now) }
        WorkerSeat.wait(for: seats.map(\.worker), or: [descriptor], atMost: pause)
    }

    /// Serves what the helpers have sent, and passes results on.
    mutating func serve() {
        let looks = ContinuousClock.now - lastLook >= Self.lookInterval
        if looks { lastLook = .now }
        for seat in seats {
            do {
                try seat.worker.receive(atMost: options.resultBytes) { greeting in
                    guard seat.jobs == nil else { throw MessageReader.Invalid() }
                    seat.jobs = try JobCoding.names(in: greeting)
                }
            } catch {
                seat.worker.stop(.nonsense)
            }
            if seat.jobs != nil {
                startError = nil
                seat.worker.check(memoryBytes: looks ? memoryBytes : nil)
            } else if ContinuousClock.now >= seat.startDeadline {
                seat.worker.abandon()
            }
        }
        finish()
    }

    /// Passes the results of finished jobs on, and takes helpers away that have ended or have done enough.
    private mutating func finish() {
        for seat in seats {
            if let job = seat.worker.job, let result = seat.worker.takeResult() {
                running.removeValue(forKey: job)?.answer(result)
            }
            if seat.worker.isIdle, seat.worker.jobs >= options.jobsPerHelper { seat.worker.abandon() }
        }
        let ended = seats.filter(\.worker.isOver)
        seats.removeAll(where: \.worker.isOver)
        if ended.contains(where: { $0.jobs == nil }) {
            refuse(
                MediaError(
                    .outOfResources, "the helper ended before it was ready; it must call MediaJobHelper.serve() first",
                    path: helper.string))
        }
    }

    /// Ends all helpers, and lets all jobs fail.
    mutating func end() {
        while let order = waiting.popFirst() { order.answer(.failure(PoolSupervisor.shutDown)) }
        for seat in seats { seat.worker.stop(PoolSupervisor.shutDown) }
        finish()
        WorkerProcess.waitForAbandoned()
    }
}

extension FilePolicy {
    /// Creates the policy of a job's files.
    fileprivate init(_ files: MediaJobFiles) {
        self.init()
        input = files.inputs.first
        readable = Set(files.inputs)
        folders = Set(files.inputFolders)
        outputNames = Set(files.outputs)
    }
}
