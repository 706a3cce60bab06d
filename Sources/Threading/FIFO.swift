/// A first-in, first-out queue with operations in amortized constant time.
package struct FIFO<Element> {
    private var elements: [Element?] = []
    private var head = 0

    /// Makes an empty queue.
    package init() {}

    /// The number of elements in the queue.
    package var count: Int { elements.count - head }
    /// True if the queue has no elements.
    package var isEmpty: Bool { count == 0 }
    /// The next element to be removed.
    package var first: Element? { isEmpty ? nil : elements[head] }

    /// Adds an element at the end.
    package mutating func append(_ element: Element) { elements.append(element) }

    /// Puts an element back at the front.
    package mutating func prepend(_ element: Element) {
        if head > 0 {
            head -= 1
            elements[head] = element
        } else {
            elements.insert(element, at: 0)
        }
    }

    /// Removes all elements.
    package mutating func removeAll() {
        elements = []
        head = 0
    }

    /// Removes and returns the first element; `nil` if the queue is empty.
    package mutating func popFirst() -> Element? {
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
