package import FileOutput
import Glibc
package import MediaBase
import SystemCalls
package import SystemPackage

/// A worker and the jobs that it has.
///
/// A worker whose jobs are short has the next one waiting in its socket, so that it need not wait for the supervisor,
/// which takes a part of such a job's time. The supervisor holds the worker's end too: it can take that job back.
package final class WorkerSeat {
    private var process: WorkerProcess?
    private let channel: MessageChannel
    private let calls: MessageChannel
    private let orders: MessageChannel
    private let workerOrders: MessageChannel
    private let service: FileService
    private let activity: Activity?
    /// The jobs that were given and are not done: the one that is being done, and the next.
    private var given: [(job: Int, limit: Duration?)] = []
    private var begun = ContinuousClock.now
    /// True if the last job was so short that the way to the supervisor matters.
    private var lastWasBrief = false
    /// The number of jobs done.
    package private(set) var jobs = 0
    /// The result of the job, once it has come.
    private(set) var result: Result<[UInt8], MediaError>?

    private static let briefness = Duration.milliseconds(20)
    private static let messagesAtOnce = 64
    /// The longest request that is part of a message.
    private static let longestSent = 1 << 15

    /// Connects a worker that was started and calls ``WorkerLink/serve(_:greeting:_:)``.
    ///
    /// - Parameter sources: The process that reads byte sources for it; `nil` if it may read none.
    package init(_ process: consuming WorkerProcess, sources: SourceServer? = nil) throws(Errno) {
        let workerCalls: MessageChannel
        (calls, workerCalls) = try MessageChannel.pair()
        (orders, workerOrders) = try MessageChannel.pair()
        // Nobody would read what a worker leaves there.
        orders.stopReceiving()
        activity = Activity()
        channel = process.channel
        service = FileService(process: process.id, sources: sources)
        // Sent before the first job, since a worker that was just forked keeps one descriptor only.
        let ends = [workerOrders.descriptor, workerCalls.descriptor] + [activity?.descriptor].compactMap(\.self)
        try process.channel.send([], descriptors: ends, waits: false)
        self.process = consume process
    }

    deinit { activity?.release() }

    /// The job that is being done; `nil` if the worker waits for one.
    package var job: Int? { given.first?.job }
    /// The time at which the job is given up.
    package var deadline: ContinuousClock.Instant? { given.first?.limit.map { begun + $0 } }
    /// True if the worker has ended.
    package var isOver: Bool { process == nil }
    /// True if the worker waits for a job.
    package var isIdle: Bool { given.isEmpty && process != nil }
    /// True if the worker does a job, and can be given the next because its jobs are short.
    var isBrief: Bool { given.count == 1 && lastWasBrief && process != nil }
    /// The descriptors on which the worker sends.
    private var descriptors: [CInt] { process == nil ? [] : [channel.descriptor.rawValue, calls.descriptor.rawValue] }

    /// Gives the worker a job; returns false if it has died meanwhile.
    ///
    /// - Parameters:
    ///   - job: The number of the job.
    ///   - request: What the worker has to know of it beside the number.
    ///   - policy: The files that the job may use.
    ///   - outputs: The set in which its outputs are made.
    ///   - limit: The longest time that the job may take; `nil` for no limit.
    /// - Throws: The error of the system if a long request cannot be put into a temporary file.
    package func begin(
        _ job: Int, request: [UInt8] = [], _ policy: FilePolicy, outputs: OutputFileSet, limit: Duration?
    ) throws(Errno) -> Bool {
        // A socket does not hold a long request, and the supervisor does not wait for the worker to read it.
        let file = request.count > Self.longestSent ? try makeTemporaryFile(with: request) : nil
        defer { try? file?.close() }
        let input = service.begin(job, policy, outputs: outputs)
        defer { try? input?.descriptor.close() }
        var writer = MessageWriter()
        writer.write(job)
        writer.write(input) { $0.write($1.path) }
        writer.write(file == nil ? request : nil) { $0.write($1) }
        let descriptors = [input?.descriptor, file].compactMap(\.self)
        guard process != nil, (try? orders.send(writer.bytes, descriptors: descriptors, waits: false)) != nil else {
            service.end(job)
            abandon()
            return false
        }
        if given.isEmpty { begun = .now }
        given.append((job, limit))
        return true
    }

    /// Takes the next job back if the worker has not begun it.
    func takeBack() -> Int? {
        guard given.count > 1,
            case .message(let message)? = try? workerOrders.receiveAvailable(atMost: WorkerLink.maximumOrder)
        else {
            return nil
        }
        message.close()
        let job = given.removeLast().job
        service.end(job)
        return job
    }

    /// Takes back all jobs of a worker that has died, except for the one that it died of.
    package func takeBackAll() -> [Int] {
        defer { given = [] }
        for job in given { service.end(job.job) }
        return given.map(\.job)
    }

    /// Waits until a worker sends something, another descriptor can be read, or a job is to be given up: poll(2).
    ///
    /// - Parameters:
    ///   - seats: The workers.
    ///   - descriptors: The other descriptors.
    ///   - maximum: The longest time to wait.
    package static func wait(
        for seats: [WorkerSeat], or descriptors: [FileDescriptor] = [], atMost maximum: Duration
    ) {
        let all = descriptors.map(\.rawValue) + seats.flatMap(\.descriptors)
        var polled = all.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var pause = maximum
        for case let deadline? in seats.map(\.deadline) { pause = min(pause, deadline - .now) }
        _ = poll(&polled, nfds_t(polled.count), CInt(max(0, pause / .milliseconds(1)).rounded(.up)))
    }

    /// Serves what the worker has sent; only some of it, so that a worker that sends without end is noticed.
    package func receive(atMost maximumBytes: Int, notice: ([UInt8]) throws -> Void) throws {
        do {
            for _ in 0..<Self.messagesAtOnce {
                let arrival = try calls.receiveAvailable(atMost: FileCall.maximumBytes)
                if case .end = arrival { return died() }
                guard case .message(let message) = arrival else { break }
                try Self.check(message)
                var job = 0
                let call = try FileCall(message.bytes, job: &job)
                let (answer, sent) = service.answer(call, of: job)
                defer { sent.close() }
                try calls.send(answer.message, descriptors: sent.descriptors, waits: false)
            }
            for _ in 0..<Self.messagesAtOnce {
                switch try channel.receiveAvailable(atMost: maximumBytes) {
                case .none: return
                case .end: return died()
                case .message(let message):
                    try Self.check(message)
                    // The first byte tells a result from a notice.
                    guard message.bytes.first == 1 else {
                        try notice(Array(message.bytes.dropFirst()))
                        continue
                    }
                    // Nobody has asked an idle worker for a result.
                    guard !given.isEmpty, result == nil else { throw MessageReader.Invalid() }
                    return result = .success(Array(message.bytes.dropFirst()))
                }
            }
        } catch is MessageReader.Invalid {
            stop(.nonsense)
        } catch MessageChannel.Failure.isInvalid {
            stop(.nonsense)
        } catch let error where error is MessageChannel.Failure || error is Errno {
            // It died while an answer was sent.
            died()
        }
    }

    /// Refuses descriptors, which a worker has no reason to send.
    private static func check(_ message: MessageChannel.Message) throws(MessageReader.Invalid) {
        message.close()
        guard message.descriptors.isEmpty else { throw MessageReader.Invalid() }
    }

    /// Gives up the job of a worker whose connection has ended.
    private func died() {
        guard let process = process.take() else { return }
        let ending = process.endNow()
        result = .failure(
            ending?.error(during: activity?.latest) ?? MediaError(.crashed, "the process that read the file crashed"))
    }

    /// Kills the worker if it has taken too long or too much memory.
    package func check(memoryBytes: Int?) {
        guard result == nil else { return }
        if let deadline, ContinuousClock.now >= deadline {
            stop(MediaError(.timedOut, "was not done within the time limit"))
        } else if let memoryBytes, let used = process?.residentBytes, used > memoryBytes {
            stop(MediaError(.memoryLimit, "needs more memory than the limit of \(max(1, memoryBytes >> 20)) MB"))
        }
    }

    /// Kills the worker, and gives its job up with an error.
    package func stop(_ error: MediaError) {
        result = .failure(error)
        abandon()
    }

    /// Returns the result of the job, which is then over; `nil` if it has not come.
    package func takeResult() -> Result<[UInt8], MediaError>? {
        guard let result, let job else { return nil }
        service.end(job)
        self.result = nil
        given.removeFirst()
        jobs += 1
        lastWasBrief = .now - begun < Self.briefness
        begun = .now
        return result
    }

    /// Kills the worker without waiting for its end.
    package func abandon() {
        guard let process = process.take() else { return }
        process.abandon()
    }
}

extension WorkerProcess.Ending {
    /// Returns the error for a worker that ended during a job.
    fileprivate func error(during note: Activity.Note?) -> MediaError {
        let subject =
            switch note?.step ?? .none {
            case .none, .reading: "the process that read the file"
            case .decoding: "the decoder"
            case .encoding: "the encoder"
            }
        let happened =
            switch self {
            case .signalled(let signal): "crashed (\(Self.name(of: signal)))"
            case .exited(let status): "ended the process (\(status))"
            }
        var place = ""
        if let seconds = note?.seconds {
            place = " at \(MediaTime(seconds: seconds, preferredTimescale: 1000).clockText())"
        }
        if let track = note?.track { place += " of track \(track)" }
        return MediaError(.crashed, "\(subject) \(happened)\(place); the file is damaged or hostile")
    }

    private static func name(of signal: CInt) -> String {
        let names = [
            SIGABRT: "SIGABRT", SIGSEGV: "SIGSEGV", SIGBUS: "SIGBUS", SIGILL: "SIGILL", SIGFPE: "SIGFPE",
            SIGTRAP: "SIGTRAP", SIGKILL: "SIGKILL", SIGSYS: "SIGSYS", SIGXCPU: "SIGXCPU",
        ]
        return names[signal] ?? "signal \(signal)"
    }
}
