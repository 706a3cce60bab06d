import Testing
import Threading

@Suite struct OrderedWorkTests {
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
        concurrentForEach(Array(0..<300), workers: 3) { input in
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

    // MARK: Several pieces an item

    /// Makes pieces of cost 1 on several threads; returns them in the order of their delivery.
    private func pieces(items: Int, lengths: @escaping @Sendable (Int) -> Int, workers: Int, room: Int) -> [Int] {
        var found: [Int] = []
        orderedWork(items, workers: workers, room: room) { item, _, yield in
            for piece in 0..<lengths(item) {
                guard yield(item * 1000 + piece, 1) else { return }
            }
        } deliver: { item, piece in
            found.append(piece)
            if piece / 1000 != item { found.append(-1) }
        }
        return found
    }

    @Test(arguments: [0, 1, 2, 3, 8], [0, 1, 5, 1000])
    func piecesComeInTheOrderOfTheItems(workers: Int, room: Int) {
        let found = pieces(items: 60, lengths: { $0 % 7 }, workers: workers, room: room)
        #expect(found == (0..<60).flatMap { item in (0..<item % 7).map { item * 1000 + $0 } })
    }

    @Test(arguments: [1, 2])
    func noItemsGiveNothing(workers: Int) {
        #expect(pieces(items: 0, lengths: { _ in 1 }, workers: workers, room: 1).isEmpty)
        #expect(pieces(items: 5, lengths: { _ in 0 }, workers: workers, room: 1).isEmpty)
    }

    /// The first item waits until the others have made all that there is room for: that must be no more than that.
    @Test func aWorkerThatIsAheadWaitsForRoom() {
        let made = Monitor(0)
        var most = 0
        orderedWork(2, workers: 2, room: 3) { item, _, yield in
            if item == 0 { made.wait { $0 >= 3 ? () : nil } }
            for piece in 0..<20 {
                if item == 1 { made.update { $0 += 1 } }
                guard yield(piece, 1) else { return }
            }
        } deliver: { item, piece in
            if item == 0 && piece == 0 { most = made.read { $0 } }
        }
        #expect(most == 3)
    }

    @Test(arguments: [1, 2, 8])
    func theFirstFailureInOrderEndsTheWork(workers: Int) {
        var delivered: [Int] = []
        #expect(throws: Failed(input: 3)) {
            try orderedWork(50, workers: workers, room: 100) { item, _, yield throws(Failed) in
                for piece in 0..<3 { _ = yield(item * 10 + piece, 1) }
                if item >= 3 { throw Failed(input: item) }
            } deliver: { _, piece throws(Failed) in
                delivered.append(piece)
            }
        }
        #expect(delivered == [0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32])
    }

    @Test(arguments: [1, 2])
    func aReceiverThatThrowsHasTheWorkersStopped(workers: Int) {
        let stopped = Monitor(false)
        #expect(throws: Failed(input: 1)) {
            try orderedWork(100, workers: workers, room: 1) { item, _, yield throws(Failed) in
                while yield(item, 1) {}
            } stop: {
                stopped.update { $0 = true }
            } deliver: { _, _ throws(Failed) in
                throw Failed(input: 1)
            }
        }
        #expect(stopped.read { $0 } == (workers > 1))
    }
}
