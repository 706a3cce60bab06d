/// A queue: what was appended first is taken first, each in constant time on average.
package struct FIFO<Element> {
    private var elements: [Element?] = []
    private var head = 0

    /// Makes an empty queue.
    package init() {}

    /// How many elements wait.
    package var count: Int { elements.count - head }
    /// Whether none waits.
    package var isEmpty: Bool { count == 0 }
    /// The element that is taken next.
    package var first: Element? { isEmpty ? nil : elements[head] }

    /// Puts an element at the end.
    package mutating func append(_ element: Element) { elements.append(element) }

    /// Puts an element back to the front.
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

    /// Takes the first element; returns `nil` where there is none.
    package mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head].take()
        head += 1
        // Moving the rest up at times costs less than it does at each one.
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
