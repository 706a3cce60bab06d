// The other modules that have a Mutex have links to this file.
#if THREAD_SANITIZER
    internal import SystemCalls

    /// Hides the standard library's `Mutex` in builds for ThreadSanitizer, which does not see how that one waits.
    struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
        private final class Storage {
            var value: Value
            init(_ value: consuming Value) { self.value = value }
        }

        private let storage: Storage
        private let lock = PlainLock()

        init(_ value: consuming sending Value) { storage = Storage(value) }

        borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            lock.lock()
            defer { lock.unlock() }
            return try body(&storage.value)
        }

        borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result? {
            guard lock.tryLock() else { return nil }
            defer { lock.unlock() }
            return try body(&storage.value)
        }
    }
#endif
