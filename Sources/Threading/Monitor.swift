import Glibc

/// State that threads share under a lock, with waiting for a change of it.
///
/// It stands for pthread_mutex_t with one pthread_cond_t. The lock is not recursive: a closure must not come back to the
/// same monitor.
package final class Monitor<State>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    /// Makes a monitor of a first state, which nothing else may refer to.
    package init(_ state: sending State) {
        self.state = state
        mutex.initialize(to: pthread_mutex_t())
        changed.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// Changes the state under the lock and wakes all who wait.
    package func update<Result: Sendable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        // Whoever wakes finds the lock free.
        defer {
            pthread_mutex_unlock(mutex)
            pthread_cond_broadcast(changed)
        }
        return try body(&state)
    }

    /// Reads the state under the lock, and wakes nobody.
    package func read<Result: Sendable>(_ body: (State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(state)
    }

    /// Changes the state under the lock in a way that nobody waits for.
    package func updateQuietly<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&state)
    }

    /// Waits until `body` gives something else than `nil`, and wakes all who wait, as `body` may have changed the state.
    ///
    /// `body` is called under the lock, at first at once and then after each change; while it gives `nil` it must leave
    /// the state as it is.
    package func wait<Result: Sendable>(_ body: (inout State) -> Result?) -> Result {
        pthread_mutex_lock(mutex)
        defer {
            pthread_mutex_unlock(mutex)
            pthread_cond_broadcast(changed)
        }
        while true {
            if let result = body(&state) { return result }
            pthread_cond_wait(changed, mutex)
        }
    }
}
