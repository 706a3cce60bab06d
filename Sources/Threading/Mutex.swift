// The lock used by all modules: the standard library's, or a replacement that ThreadSanitizer understands.

#if THREAD_SANITIZER
    import Glibc

    @_exported public import struct Synchronization.Atomic

    /// A replacement for the standard library's `Mutex`, whose waiting ThreadSanitizer cannot see.
    ///
    /// Corresponds to pthread_mutex_t. The lock is not recursive.
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

        /// Creates an unlocked mutex.
        public init(_ value: consuming sending Value) { storage = Storage(value) }

        /// Calls the closure with exclusive access to the value.
        public borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(storage.lock)
            defer { pthread_mutex_unlock(storage.lock) }
            return try body(&storage.value)
        }

        /// Calls the closure if exclusive access to the value is available immediately; otherwise returns `nil`.
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
