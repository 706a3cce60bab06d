import Synchronization
import Testing

@testable import MediaJobs

@Suite struct ConcurrentForEachTests {
    private struct Failed: Error, Equatable { var input: Int }

    /// The results in the order in which they are delivered.
    private func concurrentMap<Output: Sendable>(
        _ inputs: [Int], workers: Int, _ body: @escaping @Sendable (Int) throws -> Output
    ) throws -> [Output] {
        var outputs: [Output] = []
        try concurrentForEach(inputs, workers: workers, body) { outputs.append($1) }
        return outputs
    }

    /// Work that takes longer the earlier the input comes, so that later ones would overtake.
    private static func slowSquare(_ input: Int) -> Int {
        var sum = 0
        for step in 0..<((500 - input) * 100) { sum &+= step }
        return sum == .min ? 0 : input * input
    }

    @Test(arguments: [-1, 1, 2, 3, 16, 1000])
    func resultsComeInOrder(workers: Int) throws {
        let outputs = try concurrentMap(Array(0..<500), workers: workers) { Self.slowSquare($0) }
        #expect(outputs == (0..<500).map { $0 * $0 })
    }

    @Test func noInputsGiveNoOutputs() throws {
        #expect(try concurrentMap([Int](), workers: 4) { $0 } == [])
    }

    @Test(arguments: [1, 2, 8])
    func theFirstErrorInOrderIsThrown(workers: Int) throws {
        var delivered: [Int] = []
        #expect(throws: Failed(input: 30)) {
            try concurrentForEach(Array(0..<200), workers: workers) { input in
                _ = Self.slowSquare(input)
                if input >= 30 { throw Failed(input: input) }
                return input
            } deliver: {
                delivered.append($1)
            }
        }
        #expect(delivered == Array(0..<30))
    }

    @Test func anErrorOfTheReceiverStopsTheWork() throws {
        let begun = Atomic(0)
        #expect(throws: Failed(input: 5)) {
            try concurrentForEach(Array(0..<10_000), workers: 4) { input in
                begun.add(1, ordering: .relaxed)
                return input
            } deliver: { index, _ in
                if index == 5 { throw Failed(input: index) }
            }
        }
        #expect(begun.load(ordering: .relaxed) <= 5 + 3 * 4)
    }

    @Test func workersDoNotRunFarAhead() throws {
        let ahead = Mutex((begun: 0, delivered: 0, most: 0))
        try concurrentForEach(Array(0..<300), workers: 3) { input in
            ahead.withLock {
                $0.begun += 1
                $0.most = max($0.most, $0.begun - $0.delivered)
            }
            if input == 0 { for step in 0..<2_000_000 where step == -1 { print(step) } }
        } deliver: { _, _ in
            ahead.withLock { $0.delivered += 1 }
        }
        // Nine are taken and not delivered; the one just being handed over is counted by the schedule only afterwards.
        #expect(ahead.withLock(\.most) <= 9)
        #expect(ahead.withLock(\.delivered) == 300)
    }

    @Test func workIsDoneAtTheSameTime() throws {
        // Each of two waits for the other: with one thread this would not end.
        let arrived = Atomic(0)
        let outputs = try concurrentMap([0, 1], workers: 2) { input in
            arrived.add(1, ordering: .acquiringAndReleasing)
            while arrived.load(ordering: .acquiring) < 2 {}
            return input
        }
        #expect(outputs == [0, 1])
    }
}
