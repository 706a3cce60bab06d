/// Threads for work that may block for long, outside Swift's cooperative threads.
///
/// A thread that has nothing to do waits for more work, so that short pieces of work do not pay for a thread each. Work
/// never waits for other work to end: where no thread is idle another one is started.
package final class WorkerPool: Sendable {
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
