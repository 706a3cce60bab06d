import MediaBase
import SystemCalls

/// The thread on which the samples of one input are encoded, and the few samples that wait for it.
///
/// Waiting for room never depends on another input, so no order of feeding can block for ever.
final class EncodingWorker: Sendable {
    private let state: Monitor<State>
    private let capacity: Int

    private struct State {
        var waiting: [SampleBuffer] = []
        /// No sample follows.
        var isFinishing = false
        /// The thread has ended.
        var isDone = false
        /// Encoding was given up.
        var isStopped = false
        var continuations: [CheckedContinuation<Void, Never>] = []
        /// Called once when there is room again.
        var onReady: (@Sendable () -> Void)?
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
    ///   - encode: Called with each buffer in order; where it throws, encoding ends.
    ///   - finish: Called once after the last buffer.
    ///   - fail: Called with what was thrown.
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

    private var isStopped: Bool { state.update { $0.isStopped } }

    /// The next buffer; `nil` when there will be none.
    private func next() -> SampleBuffer? {
        let buffer: SampleBuffer?? = state.wait { state in
            if state.isStopped { return .some(nil) }
            if !state.waiting.isEmpty { return .some(state.waiting.removeFirst()) }
            return state.isFinishing ? .some(nil) : nil
        }
        wake()
        return buffer ?? nil
    }

    private func end() {
        state.update { state in
            state.isDone = true
            state.isStopped = true
            state.waiting = []
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
                state.continuations = []
                state.onReady = nil
            }
            return (state.continuations, state.onReady)
        }
        for continuation in continuations { continuation.resume() }
        onReady?()
    }

    /// Whether a buffer would be taken at once.
    var isReady: Bool { state.update { !$0.isStopped && !$0.isFinishing && $0.waiting.count < capacity } }

    /// Takes a buffer, waiting for room; `false` where encoding has ended.
    func append(_ buffer: SampleBuffer) -> Bool {
        state.wait { state in
            if state.isStopped || state.isFinishing { return false }
            guard state.waiting.count < capacity else { return nil }
            state.waiting.append(buffer)
            return true
        }
    }

    /// Waits for room without holding a thread; returns also where encoding has ended, or the task was cancelled.
    func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let goesOn = state.update { state in
                if state.isStopped || state.isFinishing || state.waiting.count < capacity { return true }
                state.continuations.append(continuation)
                return false
            }
            if goesOn { continuation.resume() }
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
            state.waiting = []
        }
        wake()
    }

    /// Waits until all is encoded, or encoding was given up.
    func waitUntilDone() { state.wait { $0.isDone ? () : nil } }
}
