import Synchronization

/// A wish to stop that may come before, during or after the work, from any thread, any number of times.
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

    /// Whether ``cancel()`` was called.
    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Asks all work that is bound to this object to stop.
    package func cancel() {
        state.withLock { state in
            state.isCancelled = true
            for bound in state.bound { bound.io?.cancel() }
            state.bound = []
        }
    }

    /// Leaves alone from now on what is bound; gives whether it was asked to stop before.
    package func release() -> Bool {
        state.withLock { state in
            state.bound = []
            return state.isCancelled
        }
    }

    /// Has the reading of a file that is open already end on ``cancel()``, or at once where that was called before.
    package func bind(_ file: InputFile) { bind(file.io) }

    /// Has the reading of `io` end on ``cancel()``, or at once where that was called already.
    func bind(_ io: InputIO) {
        state.withLock { state in
            guard !state.isCancelled else { return io.cancel() }
            // Files that were closed since need no word any more.
            state.bound.removeAll { $0.io == nil }
            state.bound.append(Bound(io: io))
        }
    }
}
