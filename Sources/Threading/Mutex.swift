// The lock of all modules: the standard library's, or one that ThreadSanitizer sees.

#if THREAD_SANITIZER
    import Glibc

    @_exported public import struct Synchronization.Atomic

    /// Stands for the standard library's `Mutex` in builds for ThreadSanitizer, which does not see how that one waits.
    ///
    /// It stands for pthread_mutex_t. It is not recursive.
    public struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
        private final class Storage {
            var value: Value
            let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

            init(_ value: consuming Value) {
                self.value = value
                lock.initialize(to: pthread_mutex_t())
                pthread_mutex_init(lock, nil)
            }

            deinit {
                pthread_mutex_destroy(lock)
                lock.deallocate()
            }
        }

        private let storage: Storage

        /// Makes a lock that nobody holds.
        public init(_ value: consuming sending Value) { storage = Storage(value) }

        /// Calls the closure with the value, while nobody else has it.
        public borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(storage.lock)
            defer { pthread_mutex_unlock(storage.lock) }
            return try body(&storage.value)
        }

        /// Calls the closure with the value where nobody else has it; returns `nil` otherwise.
        public borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result? {
            guard pthread_mutex_trylock(storage.lock) == 0 else { return nil }
            defer { pthread_mutex_unlock(storage.lock) }
            return try body(&storage.value)
        }
    }
#else
    @_exported public import Synchronization
#endif
