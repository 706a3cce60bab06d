import MediaBase
internal import SystemCalls

/// Hands out runs of work to several workers, and gives what they make to one thread in the runs' order, piece by piece.
///
/// What is made and not delivered yet is bounded: a worker that is ahead waits for room; the one whose run is due never
/// does. ``ConcurrentForEach.swift`` is for work of which each input gives one result.
final class OrderedRuns<Output: Sendable>: Sendable {
    private let state: Monitor<State>
    private let count: Int
    private let room: Int

    private struct State: Sendable {
        var taken = 0
        var due = 0
        var waiting: [Int: [(output: Output, cost: Int)]] = [:]
        var finished: Set<Int> = []
        var cost = 0
        var isStopped = false
    }

    /// - Parameters:
    ///   - count: How many runs there are.
    ///   - room: How many bytes may wait; each worker may exceed it by one piece.
    init(count: Int, room: Int) {
        self.count = count
        self.room = room
        state = Monitor(State())
    }

    // MARK: Workers

    /// The next run to work on; `nil` where there is none, and after ``stop()``.
    func takeRun() -> Int? {
        state.update { state in
            guard !state.isStopped, state.taken < count else { return nil }
            defer { state.taken += 1 }
            return state.taken
        }
    }

    /// Waits until a worker may make another piece of a run; `false` where none is wanted any more.
    func waitForRoom(in run: Int) -> Bool {
        state.wait { state in
            if state.isStopped { return false }
            return run == state.due || state.cost < room ? true : nil
        }
    }

    /// Hands over the next piece of a run; `cost` is about how many bytes it has.
    func hand(_ output: Output, cost: Int, from run: Int) {
        state.update { state in
            state.waiting[run, default: []].append((output, cost))
            state.cost += cost
        }
    }

    /// Says that a run has no more pieces.
    func finish(_ run: Int) { state.update { _ = $0.finished.insert(run) } }

    // MARK: The thread that takes

    /// The pieces that come next, as many as are there; empty after the last run.
    func next() -> [Output] {
        while true {
            let pieces: [Output]? = state.wait { state in
                if let pieces = state.waiting.removeValue(forKey: state.due) {
                    for piece in pieces { state.cost -= piece.cost }
                    return .some(pieces.map(\.output))
                }
                guard state.due < self.count else { return .some([]) }
                guard state.finished.remove(state.due) != nil else { return nil }
                // The worker whose run is due now may be waiting for that.
                state.due += 1
                return .some(nil)
            }
            if let pieces { return pieces }
        }
    }

    /// Lets workers take no more runs, and wait no more.
    func stop() { state.update { $0.isStopped = true } }
}
