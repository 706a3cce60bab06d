import Glibc

/// State shared by threads under a lock, with the ability to wait for a change.
///
/// Corresponds to a pthread_mutex_t with one pthread_cond_t. The lock is not recursive: a closure must not use the
/// same monitor again.
package final class Monitor<State>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    /// Creates a monitor with an initial state, which nothing else may refer to.
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

    /// Changes the state under the lock and wakes all waiting threads.
    package func update<Result: Sendable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        // Broadcast after unlocking, so that woken threads find the lock free.
        defer {
            pthread_mutex_unlock(mutex)
            pthread_cond_broadcast(changed)
        }
        return try body(&state)
    }

    /// Reads the state under the lock without waking any thread.
    package func read<Result: Sendable>(_ body: (State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(state)
    }

    /// Changes the state under the lock without waking any thread, for changes that no thread waits for.
    package func updateQuietly<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&state)
    }

    /// Waits until `body` returns a value other than `nil`, then wakes all waiting threads.
    ///
    /// `body` is called under the lock, first immediately and then after each change. It must not change the state
    /// while it returns `nil`, but may do so when it returns a value.
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
