import LibAV
import MediaBase
import SystemCalls
import Threading

/// Turns the samples that are appended to one input into packets for the container; the counterpart of
/// ``SamplePipeline``.
///
/// One thread uses it at a time.
protocol EncodingPipeline: AnyObject, Sendable {
    /// Makes of samples what ``append(_:to:)`` takes in their place: the same where there is nothing to make.
    ///
    /// Pictures mostly become smaller, so that the large ones need not be kept while the encoder is busy.
    func prepared(_ buffer: SampleBuffer) throws(MediaError) -> SampleBuffer

    /// Takes samples; what can be written goes to `sink`.
    func append(_ buffer: SampleBuffer, to sink: any PacketSink) throws(MediaError)

    /// Says that no sample follows, so that what is still inside goes to `sink`.
    func finish(to sink: any PacketSink) throws(MediaError)

    /// Which part of the session has been given samples, counted from its start; `nil` where none was.
    var presented: (start: MediaTime, end: MediaTime)? { get }

    /// The session, with its start as this track counts from it.
    var session: SessionFacts { get }
}

extension EncodingPipeline {
    /// What is shown of ``presented`` when the session's end cuts it.
    var shown: (start: MediaTime, end: MediaTime)? { session.clipped(presented) }

    func prepared(_ buffer: SampleBuffer) throws(MediaError) -> SampleBuffer { buffer }
}

/// Where the packets of an input go.
protocol PacketSink {
    /// Says how the samples are coded; comes before the first packet.
    func begin(_ stream: WrittenStream) throws(MediaError)

    /// Takes a packet whose times are in units of the stream's time base, in decode order.
    func add(_ packet: consuming Packet) throws(MediaError)
}

/// What a pipeline knows of its track when its first sample has come.
struct WrittenStream: Sendable {
    var parameters: CodecParameters
    var timeBase: Rational
    var frameRate: Rational?
    var sampleAspectRatio: Rational?
    var codecTag: String?
}

/// What every pipeline of a writer has to know.
struct SessionFacts: Sendable {
    /// The time of the samples that is the file's zero.
    var start: MediaTime
    /// Where it ends, which may become known while it is written.
    let limit: SessionLimit
    /// Where one track can begin and end; `nil` before it is known, and for audio, which is cut at samples.
    private var grid: TrimGrid?
    var fileType: MediaFileType
    var usesGlobalHeader: Bool

    init(start: MediaTime, limit: SessionLimit, fileType: MediaFileType, usesGlobalHeader: Bool) {
        self.start = start
        self.limit = limit
        self.fileType = fileType
        self.usesGlobalHeader = usesGlobalHeader
    }
}

extension SessionFacts {
    /// Moves the start to the nearest time from which all times of a track can be counted exactly.
    ///
    /// - Parameter timescale: Ticks a second of the track's times.
    /// - Returns: Ticks a second in which they, and the session's end as far as it is known, are whole when they are
    ///   counted from the start.
    mutating func begin(onGridOf timescale: Int32) -> Int32 {
        let own = max(1, timescale)
        let grid = TrimGrid(timescale: own)
        self.grid = grid
        start = grid.rounded(start)
        let scales = [own] + [start, end].filter(\.isNumeric).map(\.timescale)
        return MediaTime.commonTimescale(of: scales) ?? own
    }

    /// Moves the start to the first sample of audio that is not before it.
    mutating func begin(atSampleOf rate: Int32) {
        guard let first = start.sampleIndex(rate: rate, rounding: .up) else { return }
        start = MediaTime(value: first, timescale: rate)
    }

    /// The time of the samples from which on nothing is written, as this track counts; +∞ for none.
    var end: MediaTime {
        let end = limit.end.withLock { $0 }
        return grid?.rounded(end) ?? end
    }

    /// What is shown of a stretch when the session's end cuts it.
    func clipped(_ presented: (start: MediaTime, end: MediaTime)?) -> (start: MediaTime, end: MediaTime)? {
        guard let presented, case let last = end, last.isNumeric else { return presented }
        let cut = max(.zero, last - start)
        return (min(presented.start, cut), min(presented.end, cut))
    }
}

/// Where a session ends, shared by all inputs.
final class SessionLimit: Sendable {
    /// A time of the samples; +∞ as long as none was given.
    let end = Mutex(MediaTime.positiveInfinity)
}

/// The thread on which the samples of one input are encoded, and the few samples that wait for it.
///
/// Waiting for room never depends on another input, so no order of feeding can block for ever.
final class EncodingWorker: Sendable {
    private let state: Monitor<State>
    private let capacity: Int

    private struct State {
        var waiting = FIFO<SampleBuffer>()
        /// No sample follows.
        var isFinishing = false
        /// The thread has ended.
        var isDone = false
        /// Encoding was given up.
        var isStopped = false
        /// Tasks that wait for room, by numbers of their own.
        var continuations: [Int: CheckedContinuation<Void, Never>] = [:]
        var taskCount = 0
        /// Called once when there is room again.
        var onReady: (@Sendable () -> Void)?

        /// Takes a buffer; `nil` where there is no room, `false` where encoding has ended.
        mutating func take(_ buffer: SampleBuffer, _ capacity: Int) -> Bool? {
            if isStopped || isFinishing { return false }
            guard waiting.count < capacity else { return nil }
            waiting.append(buffer)
            return true
        }
    }

    /// A worker for the samples that are appended.
    ///
    /// - Parameter capacity: How many buffers wait at most.
    init(capacity: Int) {
        self.capacity = capacity
        state = Monitor(State())
    }

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - prepare: Called with each buffer in order, which is let go when it has returned.
    ///   - encode: Called with what was made of each; where either throws, encoding ends.
    ///   - finish: Called once after the last buffer.
    ///   - fail: Called with what was thrown.
    func start(
        prepare: @escaping @Sendable (SampleBuffer) throws(MediaError) -> SampleBuffer,
        encode: @escaping @Sendable (SampleBuffer) throws(MediaError) -> Void,
        finish: @escaping @Sendable () throws(MediaError) -> Void, fail: @escaping @Sendable (MediaError) -> Void
    ) throws(MediaError) {
        do throws(WorkerThread.CannotStart) {
            let thread = try WorkerThread { [self] in
                do throws(MediaError) {
                    while let buffer = try next(prepare) { try encode(buffer) }
                    if !isStopped { try finish() }
                } catch {
                    fail(error)
                }
                end()
            }
            thread.detach()
        } catch {
            throw MediaError(.outOfResources, "no more threads can be started", cause: "\(error.errorNumber)")
        }
    }

    private var isStopped: Bool { state.read { $0.isStopped } }

    /// What was made of the next buffer; `nil` when there will be none.
    private func next(
        _ prepare: (SampleBuffer) throws(MediaError) -> SampleBuffer
    ) throws(MediaError) -> SampleBuffer? {
        let buffer: SampleBuffer?? = state.wait { state in
            if state.isStopped { return .some(nil) }
            if let buffer = state.waiting.popFirst() { return .some(buffer) }
            return state.isFinishing ? .some(nil) : nil
        }
        // The next one may come while this one is prepared: whoever appends is to have little to wait for.
        wake()
        guard let buffer, let buffer else { return nil }
        return try prepare(buffer)
    }

    private func end() {
        state.update { state in
            state.isDone = true
            state.isStopped = true
            state.waiting.removeAll()
        }
        wake()
    }

    /// Tells those who wait without a thread of their own.
    private func wake() {
        let (continuations, onReady) = state.update { state in
            guard state.isStopped || state.waiting.count < capacity else {
                return ([CheckedContinuation<Void, Never>](), (@Sendable () -> Void)?.none)
            }
            defer {
                state.continuations = [:]
                state.onReady = nil
            }
            return (Array(state.continuations.values), state.onReady)
        }
        for continuation in continuations { continuation.resume() }
        onReady?()
    }

    /// Whether a buffer would be taken, or refused because encoding has ended, at once.
    var isReady: Bool { state.read { $0.isStopped || $0.isFinishing || $0.waiting.count < capacity } }

    /// Takes a buffer, waiting for room; `false` where encoding has ended.
    func append(_ buffer: SampleBuffer) -> Bool { state.wait { $0.take(buffer, capacity) } }

    /// Takes a buffer; `nil` where there is no room, `false` where encoding has ended.
    func appendAtOnce(_ buffer: SampleBuffer) -> Bool? { state.update { $0.take(buffer, capacity) } }

    /// Waits for room without holding a thread; returns also where encoding has ended, or the task was cancelled.
    ///
    /// The room may be taken by another task meanwhile.
    func waitForRoom() async {
        let task = state.update { state in
            state.taskCount += 1
            return state.taskCount
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.update { state in
                    let isOver = Task.isCancelled || state.isStopped || state.isFinishing
                    if isOver || state.waiting.count < capacity { return true }
                    state.continuations[task] = continuation
                    return false
                }
                if goesOn { continuation.resume() }
            }
        } onCancel: {
            state.update { $0.continuations.removeValue(forKey: task) }?.resume()
        }
    }

    /// Calls `body` once, when there is room or encoding has ended: at once, or later on the worker's thread.
    func whenReady(_ body: @escaping @Sendable () -> Void) {
        let isNow = state.update { state in
            if state.isStopped || state.isFinishing || state.waiting.count < capacity { return true }
            state.onReady = body
            return false
        }
        if isNow { body() }
    }

    /// Says that no buffer follows.
    func finish() {
        state.update { $0.isFinishing = true }
        wake()
    }

    /// Gives encoding up; the buffer that is being encoded is the last.
    func stop() {
        state.update { state in
            state.isStopped = true
            state.waiting.removeAll()
        }
        wake()
    }

    /// Waits until all is encoded, or encoding was given up.
    func waitUntilDone() { state.wait { $0.isDone ? () : nil } }
}
