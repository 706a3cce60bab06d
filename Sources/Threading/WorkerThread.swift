import Glibc

/// A thread of its own for synchronous work that may last for hours, which Swift's cooperative threads must not do.
///
/// It stands for pthread_create(3) and pthread_join(3); libdispatch is not needed and not loaded for it.
package struct WorkerThread: ~Copyable {
    private let thread: pthread_t

    /// Starts a thread; throws the system's error number as ``CannotStart`` where no more threads can be had.
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

    /// Lets the thread run on without anyone to wait for it.
    package consuming func detach() {
        pthread_detach(thread)
    }

    /// No thread could be started.
    package struct CannotStart: Error {
        /// The system's error number, as a rule EAGAIN.
        package let errorNumber: CInt
    }

    private final class Start: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

/// Threads for work that may block for long, outside Swift's cooperative threads.
///
/// A thread that has nothing to do waits for more work, so that short pieces of work do not pay for a thread each. Work
/// never waits for other work to end: where no thread is idle another one is started.
package final class WorkerPool: Sendable {
    /// The threads of asynchronous functions, see ``offload(onCancel:_:)``.
    fileprivate static let offloading = WorkerPool(maximumIdleThreads: 8)

    private struct State: Sendable {
        var waiting = FIFO<@Sendable () -> Void>()
        var idleThreads = 0
    }

    private let state = Monitor(State())
    private let maximumIdleThreads: Int

    /// Makes a pool without threads.
    ///
    /// - Parameter maximumIdleThreads: How many threads are kept while there is nothing to do.
    package init(maximumIdleThreads: Int) { self.maximumIdleThreads = maximumIdleThreads }

    /// Has a thread do the work.
    ///
    /// Where no thread can be started, the calling one does the work.
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

/// Runs work that may block for long on a thread outside Swift's cooperative pool, which must never block.
///
/// - Parameters:
///   - onCancel: Called when the calling task is cancelled; must make `work` end soon.
///   - work: What to run.
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
