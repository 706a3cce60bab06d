import Glibc

/// A lock that nothing else comes with: pthread_mutex_t.
///
/// Use the standard library's `Mutex`. This one stands for it where ThreadSanitizer watches, and guards the frames and
/// packets that are used again (`Shelf`), for each of which it is taken twice.
package final class PlainLock: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    /// Makes a lock that nobody holds; pthread_mutex_init(3).
    package init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Waits until nobody holds the lock, and takes it; never twice from one thread.
    package func lock() { pthread_mutex_lock(mutex) }

    /// Takes the lock if nobody holds it; whether it did.
    package func tryLock() -> Bool { pthread_mutex_trylock(mutex) == 0 }

    /// Gives it back.
    package func unlock() { pthread_mutex_unlock(mutex) }
}
