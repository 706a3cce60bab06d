import Threading

/// A request to stop that may come before, during or after the work, from any thread and any number of times.
package final class Cancellation: Sendable {
    private struct State {
        var isCancelled = false
        var bound: [Bound] = []
    }

    private struct Bound {
        weak var io: InputIO?
    }

    private let state = Mutex(State())

    package init() {}

    /// True if ``cancel()`` was called.
    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Requests all work that is bound to this object to stop.
    package func cancel() {
        state.withLock { state in
            state.isCancelled = true
            for bound in state.bound { bound.io?.cancel() }
            state.bound = []
        }
    }

    /// Unbinds all files and returns true if a stop was requested before.
    package func release() -> Bool {
        state.withLock { state in
            state.bound = []
            return state.isCancelled
        }
    }

    /// Makes reading from an open file end on ``cancel()``, or immediately if it was already called.
    package func bind(_ file: InputFile) { bind(file.io) }

    /// Makes reading from `io` end on ``cancel()``, or immediately if it was already called.
    func bind(_ io: InputIO) {
        state.withLock { state in
            guard !state.isCancelled else { return io.cancel() }
            // Files that have been closed since need no notification.
            state.bound.removeAll { $0.io == nil }
            state.bound.append(Bound(io: io))
        }
    }
}
