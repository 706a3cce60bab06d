import Glibc

/// A thread of its own for synchronous work that may last for hours, which Swift's cooperative threads must not do.
///
/// It stands for pthread_create(3) and pthread_join(3); libdispatch is not needed and not loaded for it.
package struct WorkerThread: ~Copyable {
    private let thread: pthread_t

    /// Starts a thread; throws the system's error number as ``CannotStart`` where no more threads can be had.
    package init(_ body: @escaping @Sendable () -> Void) throws(CannotStart) {
        var thread = pthread_t()
        let start = Unmanaged.passRetained(Start(body))
        let status = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, start.toOpaque())
        guard status == 0 else {
            start.release()
            throw CannotStart(errorNumber: status)
        }
        self.thread = thread
    }

    /// Waits until the thread has ended.
    package consuming func join() {
        pthread_join(thread, nil)
    }

    /// Lets the thread run on without anyone to wait for it.
    package consuming func detach() {
        pthread_detach(thread)
    }

    /// No thread could be started.
    package struct CannotStart: Error {
        /// The system's error number, as a rule EAGAIN.
        package let errorNumber: CInt
    }

    private final class Start: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
