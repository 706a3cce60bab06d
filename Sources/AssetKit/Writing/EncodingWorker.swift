import MediaBase
import SystemCalls
import Threading

/// Scales or encodes the samples of one input on a thread, and queues a few samples for it.
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
    ///   - encode: Called with each buffer in order, which is released afterwards. If it throws, the thread ends.
    ///   - finish: Called once after the last buffer.
    ///   - fail: Called with the error that was thrown.
    func start(
        encode: @escaping @Sendable (SampleBuffer) throws(MediaError) -> Void,
        finish: @escaping @Sendable () throws(MediaError) -> Void, fail: @escaping @Sendable (MediaError) -> Void
    ) throws(MediaError) {
        do throws(WorkerThread.CannotStart) {
            let thread = try WorkerThread { [self] in
                do throws(MediaError) {
                    while let buffer = next() { try encode(buffer) }
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

    /// Returns the next buffer; `nil` if there are no more.
    private func next() -> SampleBuffer? {
        let buffer: SampleBuffer?? = state.wait { state in
            if state.isStopped { return .some(nil) }
            if let buffer = state.waiting.popFirst() { return .some(buffer) }
            return state.isFinishing ? .some(nil) : nil
        }
        // There is room now, so the next buffer can be appended while this one is encoded.
        wake()
        return buffer ?? nil
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
