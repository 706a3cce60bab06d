import MediaBase
import SystemCalls
import Threading

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
