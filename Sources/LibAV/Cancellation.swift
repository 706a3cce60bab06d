import Synchronization

/// A wish to stop that may come before, during or after the work, from any thread, any number of times.
package final class Cancellation: Sendable {
    private struct State {
        var isCancelled = false
        var actions: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether ``cancel()`` was called.
    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Asks all work that is bound to this object to stop.
    package func cancel() {
        let actions = state.withLock { state in
            state.isCancelled = true
            let actions = state.actions
            state.actions = []
            return actions
        }
        for action in actions { action() }
    }

    /// Has `action` called on ``cancel()``, or at once where that was called already.
    func bind(_ action: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.actions.append(action) }
            return state.isCancelled
        }
        if isCancelled { action() }
    }
}
