package import FileOutput
import Glibc
package import MediaBase
import SystemCalls
package import SystemPackage

/// Workers that do numbered jobs in processes of their own, and their supervisor, which is the calling process.
///
/// A job that crashes, takes too long or too much memory ends alone: its worker is killed and its unfinished outputs are
/// removed, and the other jobs go on in other workers.
///
/// ```swift
/// var pool = WorkerPool(outputs: outputs)
/// pool.timeout = .seconds(30)
/// try pool.run(count: files.count, policy: { policies[$0] }) { index, link in
///     measure(files[index])  // in a worker
/// } deliver: { index, result in
///     print(result)  // in the supervisor, in order
/// }
/// ```
package struct WorkerPool {
    /// The outputs of all jobs.
    package let outputs: OutputFileSet
    /// The number of workers at once.
    package var workers = 1
    /// The longest time that a job may take; `nil` for no limit.
    package var timeout: Duration?
    /// Returns the memory in RAM that a worker may use, in bytes, or `nil` for no limit.
    ///
    /// It is called once, after the first worker has started.
    package var memoryBytes: () -> Int? = { nil }
    /// The number of jobs after which a worker is replaced by a fresh one.
    package var jobsPerWorker = 64
    /// The files and folders that workers may open themselves.
    package var readable = Sandbox.systemFiles
    /// The process that reads byte sources for the workers; `nil` if they have none.
    package var sources: SourceServer?
    /// The limits that the kernel enforces on each worker.
    package var limits = ResourceLimits()
    /// True to deliver results in the order of the jobs; otherwise each is delivered as it comes.
    package var isOrdered = true
    /// The number of times that a job may be done again.
    package var retries = 0

    /// Creates a pool whose workers make outputs of a set.
    package init(outputs: OutputFileSet) { self.outputs = outputs }

    /// The longest result of a job in bytes.
    private static let maximumResult = 1 << 30
    /// The time after a job's time limit at which its worker is killed; the worker itself gives up at the limit.
    private static let grace = Duration.milliseconds(100)
    /// The number of jobs for each worker that may always be begun and not delivered yet.
    private static let room = 3
    /// The number of jobs, and of bytes of their results, up to which others are begun while results wait.
    private static let maximumWaiting = (jobs: 4096, bytes: 16 << 20)
    /// The time between two looks at the memory of the workers.
    private static let lookInterval = Duration.milliseconds(50)

    /// Does all jobs, and leaves the last workers to the system, since the process ends soon.
    ///
    /// The other threads of the calling process may only wait.
    ///
    /// - Parameters:
    ///   - count: The number of jobs.
    ///   - policy: Returns the files that a job may use.
    ///   - work: Does a job, in a worker, and returns its result.
    ///   - notice: Receives what a job sends by ``WorkerLink/notify(_:)``, as it comes.
    ///   - isAgain: Receives each result, and how often the job was done again before; returns true to do it again. It is
    ///     asked ``retries`` times at most.
    ///   - deliver: Receives the result of each job, or the error that ended its worker.
    /// - Throws: The errors of `notice` and `deliver`, and `outOfResources` if no worker can be started.
    package func run(
        count: Int, policy: (Int) -> FilePolicy, work: (Int, WorkerLink) -> [UInt8],
        notice: (Int, [UInt8]) throws -> Void = { _, _ in },
        isAgain: (Int, _ retry: Int, Result<[UInt8], MediaError>) -> Bool = { _, _, _ in false },
        deliver: (Int, Result<[UInt8], MediaError>) throws -> Void
    ) throws {
        var next = 0
        var due = 0
        var returned: [Int] = []
        var waiting: [Int: Result<[UInt8], MediaError>] = [:]
        var waitingBytes = 0
        var attempts: [Int: Int] = [:]
        var seats: [WorkerSeat] = []
        var lastLook = ContinuousClock.now
        var memory: Int??
        while due < count {
            // Results wait for earlier ones, but not without limit.
            while !returned.isEmpty || next < count && hasRoom(begun: next - due, waitingBytes) {
                guard let seat = try nextSeat(in: &seats, work) else { break }
                let job = returned.popLast() ?? next
                let made = retries == 0 ? outputs : outputs.set(for: .init(attempts[job] ?? 0, atJob: job))
                guard try seat.begin(job, policy(job), outputs: made, limit: timeout.map { $0 + Self.grace }) else {
                    returned += [job] + seat.takeBackAll()
                    seats.removeAll(where: \.isOver)
                    continue
                }
                if job == next { next += 1 }
            }
            if seats.contains(where: \.isIdle), let job = Self.takeBack(from: seats) {
                returned.append(job)
                continue
            }
            let memoryBytes = memory ?? self.memoryBytes()
            memory = .some(memoryBytes)
            WorkerSeat.wait(for: seats, atMost: memoryBytes == nil ? .seconds(1) : Self.lookInterval)
            let looks = .now - lastLook >= Self.lookInterval
            if looks { lastLook = .now }
            for seat in seats {
                while let job = seat.job {
                    try seat.receive(atMost: Self.maximumResult) { try notice(job, $0) }
                    seat.check(memoryBytes: looks ? memoryBytes : nil)
                    guard let result = seat.takeResult() else { break }
                    let retry = attempts[job] ?? 0
                    if retry < retries, isAgain(job, retry, result) {
                        attempts[job] = retry + 1
                        returned.append(job)
                        continue
                    }
                    attempts[job] = nil
                    waiting[job] = result
                    waitingBytes += result.size
                }
                if seat.isOver { returned += seat.takeBackAll() }
            }
            // The last worker ends while its result is printed.
            let isLast = next == count && returned.isEmpty
            for seat in seats where seat.isIdle && (isLast || seat.jobs >= jobsPerWorker) { seat.abandon() }
            seats.removeAll(where: \.isOver)
            while let job = isOrdered ? due : waiting.keys.first, let result = waiting.removeValue(forKey: job) {
                waitingBytes -= result.size
                try deliver(job, result)
                due += 1
            }
        }
    }

    /// Returns true if another job may begin although so many have begun and are not delivered.
    private func hasRoom(begun: Int, _ waitingBytes: Int) -> Bool {
        begun < Self.room * max(1, workers)
            || begun < Self.maximumWaiting.jobs && waitingBytes < Self.maximumWaiting.bytes
    }

    /// Takes a job back that waits for a worker.
    private static func takeBack(from seats: [WorkerSeat]) -> Int? {
        for seat in seats {
            if let job = seat.takeBack() { return job }
        }
        return nil
    }

    /// Returns the worker for the next job: one that waits, a new one, or one whose jobs are short; `nil` for none yet.
    private func nextSeat(
        in seats: inout [WorkerSeat], _ work: (Int, WorkerLink) -> [UInt8]
    ) throws(MediaError) -> WorkerSeat? {
        if let idle = seats.first(where: \.isIdle) { return idle }
        if seats.count < max(1, workers) {
            do throws(MediaError) {
                let seat = try start(work)
                seats.append(seat)
                return seat
            } catch {
                guard !seats.isEmpty else { throw error }
            }
        }
        return seats.first { $0.isBrief && $0.jobs + 1 < jobsPerWorker }
    }

    private func start(_ work: (Int, WorkerLink) -> [UInt8]) throws(MediaError) -> WorkerSeat {
        do throws(Errno) {
            return try WorkerSeat(
                WorkerProcess.start(limits: limits, readable: readable) { channel in
                    WorkerLink.serve(channel) { job, _, link in work(job, link) }
                }, sources: sources)
        } catch {
            throw MediaError(
                .outOfResources, "no process can be started: \(error); --no-sandbox works without",
                cause: error.description)
        }
    }
}

extension Result<[UInt8], MediaError> {
    /// The number of bytes of a result.
    fileprivate var size: Int { (try? get().count) ?? 0 }
}

/// A worker's connection to its supervisor.
package struct WorkerLink: Sendable {
    private let channel: MessageChannel
    private let files: SupervisedFiles

    /// Returns a byte source that the supervisor has read for this process, if the policy of the job allows its name.
    package func source(named name: String) -> any ByteSource {
        SupervisedSource { [files] () throws(MediaError) in try files.connect(to: name) }
    }

    /// Sends the supervisor something before the job is done.
    package func notify(_ bytes: [UInt8]) { try? channel.send([0] + bytes) }

    /// The longest order of a supervisor, which need not be distrusted.
    static let maximumOrder = 1 << 20

    /// Does jobs as they come, in a worker, and returns its exit status.
    ///
    /// Call it before the process starts threads.
    ///
    /// - Parameters:
    ///   - channel: The worker's end of the channel to its supervisor.
    ///   - greeting: A notice that is sent before the first job, once the worker is ready.
    ///   - work: Does a job: receives its number, and the request that the supervisor gave it.
    package static func serve(
        _ channel: MessageChannel, greeting: [UInt8]? = nil, _ work: (Int, [UInt8], WorkerLink) -> [UInt8]
    ) -> CInt {
        guard let ends = try? channel.receive(atMost: 0)?.descriptors, ends.count >= 2 else { return 1 }
        let orders = MessageChannel(ends[0])
        let files = SupervisedFiles(MessageChannel(ends[1]))
        if ends.count > 2 { Activity(adopting: ends[2])?.record() }
        FileAccess.delegate(to: files)
        OutputKeeping.delegate(to: files)
        let link = WorkerLink(channel: channel, files: files)
        if let greeting { link.notify(greeting) }
        while let message = try? orders.receive(atMost: maximumOrder) {
            var order = MessageReader(message.bytes)
            var descriptors = message.descriptors
            do {
                let job = try order.number()
                let path = try order.optional { order throws(MessageReader.Invalid) in try order.path() }
                var request = try order.optional { order throws(MessageReader.Invalid) in try order.bytes() }
                if request == nil, let file = descriptors.popLast() {
                    defer { try? file.close() }
                    request = try readAll(file)
                }
                files.begin(job, path, descriptors.first)
                try channel.send([1] + work(job, request ?? [], link))
            } catch {
                return 1
            }
        }
        return 0
    }
}

extension MediaError {
    /// The error for a worker that does not keep to the form of messages.
    package static let nonsense = MediaError(.crashed, "the process that read the file sent nonsense, or too much")
}
