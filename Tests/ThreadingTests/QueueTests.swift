import Testing
import Threading

@Suite struct QueueTests {
    @Test(arguments: [1, 2, 31, 32, 33, 1000])
    func elementsComeInTheirOrder(batch: Int) {
        var queue = FIFO<Int>()
        var (next, expected) = (0, 0)
        for round in 0..<50 {
            for _ in 0..<batch {
                queue.append(next)
                next += 1
            }
            // Fewer are taken than were appended, in most rounds.
            for _ in 0..<(batch * (round % 3) / 2) {
                guard let element = queue.popFirst() else { break }
                #expect(element == expected)
                expected += 1
            }
            #expect(queue.count == next - expected && queue.first == (queue.isEmpty ? nil : expected))
        }
        while let element = queue.popFirst() {
            #expect(element == expected)
            expected += 1
        }
        #expect(expected == next && queue.isEmpty && queue.first == nil)
    }

    @Test func elementsArePutBackToTheFront() {
        var queue = FIFO<Int>()
        queue.prepend(1)
        queue.append(2)
        queue.prepend(0)
        #expect(queue.popFirst() == 0)
        queue.prepend(5)
        #expect((0..<3).map { _ in queue.popFirst() } == [5, 1, 2] && queue.popFirst() == nil)
    }

    @Test func takenElementsAreReleased() {
        final class Element {}
        weak var element: Element?
        var queue = FIFO<Element>()
        do {
            let made = Element()
            element = made
            queue.append(made)
            queue.append(Element())
        }
        _ = queue.popFirst()
        #expect(element == nil && queue.count == 1)
    }
}

@Suite struct ThreadPoolTests {
    /// Work that waits for other work ends, as no number of threads is the most.
    @Test(arguments: [0, 1, 4])
    func workNeverWaitsForOther(maximumIdleThreads: Int) {
        let pool = ThreadPool(maximumIdleThreads: maximumIdleThreads)
        for _ in 0..<20 {
            let arrived = Monitor(0)
            for _ in 0..<8 {
                pool.run {
                    arrived.update { $0 += 1 }
                    arrived.wait { $0 >= 8 ? () : nil }
                    arrived.update { $0 += 1 }
                }
            }
            arrived.wait { $0 == 16 ? () : nil }
        }
    }

    @Test func allWorkIsDone() {
        let pool = ThreadPool(maximumIdleThreads: 2)
        let sum = Monitor(0)
        for number in 1...500 { pool.run { sum.update { $0 += number } } }
        sum.wait { $0 == 500 * 501 / 2 ? () : nil }
    }
}
