import SystemCalls
import Testing

@testable import MediaJobs

@Suite struct OrderedRunsTests {
    /// Has workers make runs of pieces, each piece of one byte, and gives them in the order in which they come out.
    private func pieces(runs: Int, lengths: @escaping @Sendable (Int) -> Int, workers: Int, room: Int) throws -> [Int] {
        let work = OrderedRuns<Int>(count: runs, room: room)
        for _ in 0..<workers {
            try WorkerThread {
                while let run = work.takeRun() {
                    for piece in 0..<lengths(run) where work.waitForRoom(in: run) {
                        work.hand(run * 1000 + piece, cost: 1, from: run)
                    }
                    work.finish(run)
                }
            }.detach()
        }
        var found: [Int] = []
        while case let pieces = work.next(), !pieces.isEmpty { found += pieces }
        return found
    }

    @Test(arguments: [1, 2, 3, 8], [0, 1, 5, 1000])
    func piecesComeInTheOrderOfTheRuns(workers: Int, room: Int) throws {
        let found = try pieces(runs: 60, lengths: { $0 % 7 }, workers: workers, room: room)
        #expect(found == (0..<60).flatMap { run in (0..<run % 7).map { run * 1000 + $0 } })
    }

    @Test func noRunsGiveNothing() throws {
        #expect(try pieces(runs: 0, lengths: { _ in 1 }, workers: 2, room: 1).isEmpty)
        #expect(try pieces(runs: 5, lengths: { _ in 0 }, workers: 2, room: 1).isEmpty)
    }

    @Test func aWorkerThatIsAheadWaitsForRoom() {
        let work = OrderedRuns<Int>(count: 2, room: 2)
        #expect(work.takeRun() == 0 && work.takeRun() == 1 && work.takeRun() == nil)
        for piece in 0..<3 { work.hand(piece, cost: 1, from: 1) }
        // The run that is due always has room; the other one has it again once it is due or less waits.
        #expect(work.waitForRoom(in: 0))
        work.hand(10, cost: 1, from: 0)
        #expect(work.next() == [10])
        work.finish(0)
        #expect(work.next() == [0, 1, 2])
        #expect(work.waitForRoom(in: 1))
        work.stop()
        #expect(!work.waitForRoom(in: 1))
        #expect(OrderedRuns<Int>(count: 0, room: 0).next().isEmpty)
    }
}
