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
