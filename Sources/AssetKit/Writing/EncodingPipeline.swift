import ISOMedia
import LibAV
import MediaBase
import SystemCalls
import Threading

/// Turns the samples that are appended to one input into packets for the container; the counterpart of
/// ``SamplePipeline``.
///
/// Only one thread may use a pipeline at a time.
protocol EncodingPipeline: AnyObject, Sendable {
    /// Returns the samples in the form that ``append(_:to:)`` takes, or the same samples if no conversion is needed.
    ///
    /// Video frames mostly become smaller, so that large ones need not be kept while the encoder is busy.
    func prepared(_ buffer: SampleBuffer) throws(MediaError) -> SampleBuffer

    /// Takes samples and adds packets that are complete to `sink`.
    func append(_ buffer: SampleBuffer, to sink: any PacketSink) throws(MediaError)

    /// Ends the samples and adds all remaining packets to `sink`.
    func finish(to sink: any PacketSink) throws(MediaError)

    /// The part of the session that samples cover, counted from its start; `nil` if there are none.
    var presented: (start: MediaTime, end: MediaTime)? { get }

    /// The session, with its start aligned to this track.
    var session: SessionFacts { get }
}

extension EncodingPipeline {
    /// The part of ``presented`` that lies before the session's end.
    var shown: (start: MediaTime, end: MediaTime)? { session.clipped(presented) }

    func prepared(_ buffer: SampleBuffer) throws(MediaError) -> SampleBuffer { buffer }
}

/// The destination of an input's packets.
protocol PacketSink {
    /// Sets the format of the stream; called before the first packet.
    func begin(_ stream: WrittenStream) throws(MediaError)

    /// Takes a packet, in decode order, whose times are in units of the stream's time base.
    func add(_ packet: consuming Packet) throws(MediaError)
}

/// The properties of a track that are known once its first sample has arrived.
struct WrittenStream: Sendable {
    var parameters: CodecParameters
    var timeBase: Rational
    var frameRate: Rational?
    var sampleAspectRatio: Rational?
    var codecTag: String?
    /// The duration of the encoder's priming, which is stored before the first audible sample.
    var priming = MediaTime.zero
    /// The boxes that describe text, timecode or data in MP4 and QuickTime files, in place of libavformat's own.
    var description: TrackDescription?
}

/// The properties of a session that every pipeline needs.
struct SessionFacts: Sendable {
    /// The source time that is the file's zero.
    var start: MediaTime
    /// The session's end, which may become known during writing.
    let limit: SessionLimit
    /// The grid of a track's possible start and end times; `nil` before it is known, and for audio, which is cut at
    /// samples.
    private var grid: TrimGrid?
    var fileType: MediaFileType
    var usesGlobalHeader: Bool
    /// The rules of the segments, which encoders begin with keyframes; `nil` if the encoder decides alone.
    var segments: FragmentWriter.Rules?

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
    /// - Parameter timescale: The ticks per second of the track's times.
    /// - Returns: The ticks per second in which those times, and the session's end if known, are whole when counted
    ///   from the start.
    mutating func begin(onGridOf timescale: Int32) -> Int32 {
        let own = max(1, timescale)
        let grid = TrimGrid(timescale: own)
        self.grid = grid
        start = grid.rounded(start)
        let scales = [own] + [start, end].filter(\.isNumeric).map(\.timescale)
        return MediaTime.commonTimescale(of: scales) ?? own
    }

    /// Moves the start to the first audio sample at or after it.
    mutating func begin(atSampleOf rate: Int32) {
        guard let first = start.sampleIndex(rate: rate, rounding: .up) else { return }
        start = MediaTime(value: first, timescale: rate)
    }

    /// The source time from which on no samples are written, aligned to this track; +∞ if there is no limit.
    var end: MediaTime {
        let end = limit.end.withLock { $0 }
        return grid?.rounded(end) ?? end
    }

    /// Indicates whether encoded audio may begin later than the file; in segments silence comes before it, because browsers
    /// would play the encoder's priming.
    var keepsLateStarts: Bool { fileType.keepsLateStarts && segments == nil }

    /// Returns the number of the segment to which a time of the session belongs; `nil` without segments.
    func segment(at time: MediaTime) -> Int64? {
        guard let segments, let interval = Rational(segments.interval) else { return nil }
        return (time - segments.start).ticks(in: interval, rounding: .down)
    }

    /// Returns the part of a range that lies before the session's end.
    func clipped(_ presented: (start: MediaTime, end: MediaTime)?) -> (start: MediaTime, end: MediaTime)? {
        guard let presented, case let last = end, last.isNumeric else { return presented }
        let cut = max(.zero, last - start)
        return (min(presented.start, cut), min(presented.end, cut))
    }
}

/// The end of a session, shared by all inputs.
final class SessionLimit: Sendable {
    /// The end as a source time; +∞ until one is set.
    let end = Mutex(MediaTime.positiveInfinity)
}

/// Encodes the samples of one input on a thread and queues a few samples for it.
///
/// Waiting for room never depends on another input, so no order of appending can block for ever.
final class EncodingWorker: Sendable {
    private let state: Monitor<State>
    private let capacity: Int

    private struct State {
        var waiting = FIFO<SampleBuffer>()
        /// True if no more samples follow.
        var isFinishing = false
        /// True once the thread has ended.
        var isDone = false
        /// True if encoding was stopped early.
        var isStopped = false
        /// The tasks that wait for room, by task number.
        var continuations: [Int: CheckedContinuation<Void, Never>] = [:]
        var taskCount = 0
        /// Called once when there is room again.
        var onReady: (@Sendable () -> Void)?

        /// Takes a buffer; returns `nil` if there is no room, and `false` if encoding has ended.
        mutating func take(_ buffer: SampleBuffer, _ capacity: Int) -> Bool? {
            if isStopped || isFinishing { return false }
            guard waiting.count < capacity else { return nil }
            waiting.append(buffer)
            return true
        }
    }

    /// Creates a worker.
    ///
    /// - Parameter capacity: The maximum number of buffers that wait.
    init(capacity: Int) {
        self.capacity = capacity
        state = Monitor(State())
    }

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - prepare: Called with each buffer in order; the buffer is released afterwards.
    ///   - encode: Called with each result of `prepare`. If either throws, encoding ends.
    ///   - finish: Called once after the last buffer.
    ///   - fail: Called with the error that was thrown.
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

    /// Returns the next prepared buffer; `nil` if there are no more.
    private func next(
        _ prepare: (SampleBuffer) throws(MediaError) -> SampleBuffer
    ) throws(MediaError) -> SampleBuffer? {
        let buffer: SampleBuffer?? = state.wait { state in
            if state.isStopped { return .some(nil) }
            if let buffer = state.waiting.popFirst() { return .some(buffer) }
            return state.isFinishing ? .some(nil) : nil
        }
        // There is room now, so the next buffer can be appended while this one is prepared.
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

    /// Resumes waiting tasks and calls the ready callback if there is room or encoding has ended.
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

    /// Indicates whether a buffer would be taken, or refused because encoding has ended, without waiting.
    var isReady: Bool { state.read { $0.isStopped || $0.isFinishing || $0.waiting.count < capacity } }

    /// Takes a buffer after waiting for room; returns `false` if encoding has ended.
    func append(_ buffer: SampleBuffer) -> Bool { state.wait { $0.take(buffer, capacity) } }

    /// Takes a buffer without waiting; returns `nil` if there is no room, and `false` if encoding has ended.
    func appendAtOnce(_ buffer: SampleBuffer) -> Bool? { state.update { $0.take(buffer, capacity) } }

    /// Waits for room without blocking a thread; also returns if encoding has ended or the task was cancelled.
    ///
    /// Another task may take the room in the meantime.
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

    /// Calls `body` once when there is room or encoding has ended: at once, or later on the worker's thread.
    func whenReady(_ body: @escaping @Sendable () -> Void) {
        let isNow = state.update { state in
            if state.isStopped || state.isFinishing || state.waiting.count < capacity { return true }
            state.onReady = body
            return false
        }
        if isNow { body() }
    }

    /// Ends the queue; the buffers that wait are still encoded.
    func finish() {
        state.update { $0.isFinishing = true }
        wake()
    }

    /// Stops encoding after the buffer that is being encoded.
    func stop() {
        state.update { state in
            state.isStopped = true
            state.waiting.removeAll()
        }
        wake()
    }

    /// Waits until all buffers are encoded or encoding was stopped.
    func waitUntilDone() { state.wait { $0.isDone ? () : nil } }
}
