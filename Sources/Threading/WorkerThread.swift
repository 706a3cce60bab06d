import Glibc

/// A dedicated thread for synchronous work that may take hours, which must not run on Swift's cooperative threads.
///
/// Corresponds to pthread_create(3) and pthread_join(3); it does not need or load libdispatch.
package struct WorkerThread: ~Copyable {
    private let thread: pthread_t

    /// Starts a thread; throws ``CannotStart`` with the system's error number if the system allows no more threads.
    package init(_ body: @escaping @Sendable () -> Void) throws(CannotStart) {
        var thread = pthread_t()
        let start = Unmanaged.passRetained(Start(body))
        let status = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, start.toOpaque())
        guard status == 0 else {
            start.release()
            throw CannotStart(errorNumber: status)
        }
        self.thread = thread
    }

    /// Waits until the thread has ended.
    package consuming func join() {
        pthread_join(thread, nil)
    }

    /// Lets the thread run on without being joined.
    package consuming func detach() {
        pthread_detach(thread)
    }

    /// The error for a thread that could not be started.
    package struct CannotStart: Error {
        /// The system's error number, usually EAGAIN.
        package let errorNumber: CInt
    }

    private final class Start: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

/// A pool of threads for work that may block for a long time, outside Swift's cooperative threads.
///
/// An idle thread waits for more work, so that short tasks do not each pay for a new thread. Work never waits for
/// other work to end: if no thread is idle, another one is started.
package final class WorkerPool: Sendable {
    /// The threads used by ``offload(onCancel:_:)``.
    fileprivate static let offloading = WorkerPool(maximumIdleThreads: 8)

    private struct State: Sendable {
        var waiting = FIFO<@Sendable () -> Void>()
        var idleThreads = 0
    }

    private let state = Monitor(State())
    private let maximumIdleThreads: Int

    /// Creates a pool without threads.
    ///
    /// - Parameter maximumIdleThreads: The maximum number of idle threads kept.
    package init(maximumIdleThreads: Int) { self.maximumIdleThreads = maximumIdleThreads }

    /// Runs the work on a thread of the pool, or on the calling thread if no thread can be started.
    package func run(_ work: @escaping @Sendable () -> Void) {
        let isTaken = state.update { state in
            guard state.idleThreads > state.waiting.count else { return false }
            state.waiting.append(work)
            return true
        }
        guard !isTaken else { return }
        guard let thread = try? WorkerThread({ self.serve(first: work) }) else { return work() }
        thread.detach()
    }

    private func serve(first: @Sendable () -> Void) {
        first()
        while let work = next() { work() }
    }

    private func next() -> (@Sendable () -> Void)? {
        let isKept = state.updateQuietly { state in
            guard state.idleThreads < maximumIdleThreads else { return false }
            state.idleThreads += 1
            return true
        }
        guard isKept else { return nil }
        return state.wait { state in
            guard let work = state.waiting.popFirst() else { return nil }
            state.idleThreads -= 1
            return work
        }
    }
}

/// Runs work that may block for a long time on a thread outside Swift's cooperative pool, which must never block.
///
/// - Parameters:
///   - onCancel: Called when the calling task is cancelled; must make `work` end soon.
///   - work: The work to run.
package func offload<Value: Sendable, Failure: Error>(
    onCancel: @escaping @Sendable () -> Void, _ work: @escaping @Sendable () throws(Failure) -> Value
) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            WorkerPool.offloading.run {
                continuation.resume(returning: Result { () throws(Failure) in try work() })
            }
        }
    } onCancel: {
        onCancel()
    }
    return try result.get()
}
