import Glibc

/// A dedicated thread for synchronous work that may take hours, which must not run on Swift's cooperative threads.
///
/// Corresponds to pthread_create(3) and pthread_join(3); it does not need or load libdispatch.
package struct WorkerThread: ~Copyable {
    private let thread: pthread_t

    /// Starts a thread; throws ``CannotStart`` with the system's error number if the system allows no more threads.
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

    /// Lets the thread run on without being joined.
    package consuming func detach() {
        pthread_detach(thread)
    }

    /// The error for a thread that could not be started.
    package struct CannotStart: Error {
        /// The system's error number, usually EAGAIN.
        package let errorNumber: CInt
    }

    private final class Start: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

/// A pool of threads for work that may block for a long time, outside Swift's cooperative threads.
///
/// An idle thread waits for more work, so that short tasks do not each pay for a new thread. Work never waits for
/// other work to end: if no thread is idle, another one is started.
package final class ThreadPool: Sendable {
    /// The threads used by ``offload(onCancel:_:)``.
    fileprivate static let offloading = ThreadPool(maximumIdleThreads: 8)

    private struct State: Sendable {
        var waiting = FIFO<@Sendable () -> Void>()
        var idleThreads = 0
    }

    private let state = Monitor(State())
    private let maximumIdleThreads: Int

    /// Creates a pool without threads.
    ///
    /// - Parameter maximumIdleThreads: The maximum number of idle threads kept.
    package init(maximumIdleThreads: Int) { self.maximumIdleThreads = maximumIdleThreads }

    /// Runs the work on a thread of the pool, or on the calling thread if no thread can be started.
    package func run(_ work: @escaping @Sendable () -> Void) {
        let isTaken = state.update { state in
            guard state.idleThreads > state.waiting.count else { return false }
            state.waiting.append(work)
            return true
        }
        guard !isTaken else { return }
        guard let thread = try? WorkerThread({ self.serve(first: work) }) else { return work() }
        thread.detach()
    }

    private func serve(first: @Sendable () -> Void) {
        first()
        while let work = next() { work() }
    }

    private func next() -> (@Sendable () -> Void)? {
        let isKept = state.updateQuietly { state in
            guard state.idleThreads < maximumIdleThreads else { return false }
            state.idleThreads += 1
            return true
        }
        guard isKept else { return nil }
        return state.wait { state in
            guard let work = state.waiting.popFirst() else { return nil }
            state.idleThreads -= 1
            return work
        }
    }
}

/// Runs work that may block for a long time on a thread outside Swift's cooperative pool, which must never block.
///
/// - Parameters:
///   - onCancel: Called when the calling task is cancelled; must make `work` end soon.
///   - work: The work to run.
package func offload<Value: Sendable, Failure: Error>(
    onCancel: @escaping @Sendable () -> Void, _ work: @escaping @Sendable () throws(Failure) -> Value
) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            ThreadPool.offloading.run {
                continuation.resume(returning: Result { () throws(Failure) in try work() })
            }
        }
    } onCancel: {
        onCancel()
    }
    return try result.get()
}

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

    /// Waits as ``wait(_:)`` does, but returns `nil` if `body` has returned no value after a duration.
    package func wait<Result: Sendable>(atMost duration: Duration, _ body: (inout State) -> Result?) -> Result? {
        var end = timespec()
        clock_gettime(CLOCK_REALTIME, &end)
        let (seconds, attoseconds) = duration.components
        let nanoseconds = end.tv_nsec + Int(attoseconds / 1_000_000_000)
        end.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
        end.tv_nsec = nanoseconds % 1_000_000_000
        pthread_mutex_lock(mutex)
        defer {
            pthread_mutex_unlock(mutex)
            pthread_cond_broadcast(changed)
        }
        while true {
            if let result = body(&state) { return result }
            if pthread_cond_timedwait(changed, mutex, &end) != 0 { return body(&state) }
        }
    }
}

/// A first-in, first-out queue with operations in amortized constant time.
///
/// Public and inlinable, so that other modules' elements need no lookup of their type for each operation.
public struct FIFO<Element> {
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var head = 0

    /// Makes an empty queue.
    @inlinable public init() {}

    /// The number of elements in the queue.
    @inlinable public var count: Int { elements.count - head }
    /// True if the queue has no elements.
    @inlinable public var isEmpty: Bool { count == 0 }
    /// The next element to be removed.
    @inlinable public var first: Element? { isEmpty ? nil : elements[head] }

    /// Adds an element at the end.
    @inlinable public mutating func append(_ element: Element) { elements.append(element) }

    /// Puts an element back at the front.
    @inlinable public mutating func prepend(_ element: Element) {
        if head > 0 {
            head -= 1
            elements[head] = element
        } else {
            elements.insert(element, at: 0)
        }
    }

    /// Removes all elements.
    @inlinable public mutating func removeAll() {
        elements = []
        head = 0
    }

    /// Removes and returns the first element; `nil` if the queue is empty.
    @inlinable public mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head].take()
        head += 1
        // Moving the remaining elements occasionally is cheaper than at every removal.
        if head == elements.count {
            elements.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 32, head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }
}

extension FIFO: Sendable where Element: Sendable {}
