/// Works on items on several threads at once, and delivers what each makes in the order of the items, piece by piece.
///
/// Threads of its own do the work, so it may take hours without holding up Swift's cooperative threads. The calling
/// thread waits, and is the one on which `deliver` is called. With one worker, or one item, all of it happens on the
/// calling thread.
///
/// What is made and not delivered yet is bounded: a worker that is ahead waits for room, the one whose item is due never
/// does. Items are begun in order. The first failure in the items' order is thrown, after the delivery of all before it;
/// no item is begun then, and the call returns once the work under way has ended.
///
/// - Parameters:
///   - count: How many items there are.
///   - workers: How many threads; less than one counts as one. Those that cannot be started are done without.
///   - room: The cost of what may wait for its delivery; each worker may exceed it by one piece.
///   - work: Makes the pieces of an item. Gets the item, the number of the worker from 0, and a closure to call with
///     each piece and its cost, which returns whether more is wanted.
///   - stop: Called before the end of the work is waited for, so that work under way may end early.
///   - deliver: Gets an item and its next piece.
package func orderedWork<Piece: Sendable, Failure: Error>(
    _ count: Int, workers: Int, room: Int,
    _ work:
        @escaping @Sendable (_ item: Int, _ worker: Int, _ yield: (Piece, _ cost: Int) -> Bool) throws(Failure) -> Void,
    stop: () -> Void = {}, deliver: (Int, Piece) throws(Failure) -> Void
) throws(Failure) {
    let workers = min(workers, count)
    let schedule = OrderedSchedule<Piece, Failure>(count: count, room: room)
    guard workers > 1, schedule.start(workers, work) else {
        for item in 0..<count {
            var failure: Failure?
            try work(item, 0) { piece, _ in
                do throws(Failure) { try deliver(item, piece) } catch { failure = error }
                return failure == nil
            }
            if let failure { throw failure }
        }
        return
    }
    defer {
        schedule.stop()
        stop()
        schedule.waitForWorkers()
    }
    while let (item, pieces) = schedule.next() {
        for piece in pieces { try deliver(item, try piece.get()) }
    }
}

/// Works on several inputs at once and delivers each result as soon as all before it are delivered.
///
/// ``orderedWork(_:workers:room:_:stop:deliver:)`` with one piece an input: at most three inputs a worker are begun and
/// not delivered.
///
/// - Parameters:
///   - inputs: What to work on.
///   - workers: How many at once; less than one counts as one.
///   - body: The work on one input.
///   - deliver: Gets the position of an input and its result.
package func concurrentForEach<Input: Sendable, Output: Sendable, Failure: Error>(
    _ inputs: [Input], workers: Int, _ body: @escaping @Sendable (Input) throws(Failure) -> Output,
    deliver: (Int, Output) throws(Failure) -> Void
) throws(Failure) {
    try orderedWork(inputs.count, workers: workers, room: 2 * workers) { item, _, yield throws(Failure) in
        _ = yield(try body(inputs[item]), 1)
    } deliver: { item, output throws(Failure) in
        try deliver(item, output)
    }
}

/// Which items are begun, and the pieces that wait for those before them.
private final class OrderedSchedule<Piece: Sendable, Failure: Error>: Sendable {
    typealias Work = @Sendable (Int, Int, (Piece, Int) -> Bool) throws(Failure) -> Void

    private struct State: Sendable {
        var begun = 0
        var due = 0
        var waiting: [Int: [(piece: Result<Piece, Failure>, cost: Int)]] = [:]
        var finished: Set<Int> = []
        var cost = 0
        var isStopped = false
        var runningWorkers = 0
    }

    private let state = Monitor(State())
    private let count: Int
    private let room: Int

    init(count: Int, room: Int) {
        self.count = count
        self.room = room
    }

    /// Starts threads; returns whether there is one.
    func start(_ workers: Int, _ work: @escaping Work) -> Bool {
        for worker in 0..<workers {
            state.update { $0.runningWorkers += 1 }
            guard let thread = try? WorkerThread({ self.run(worker, work) }) else {
                state.update { $0.runningWorkers -= 1 }
                return worker > 0
            }
            thread.detach()
        }
        return true
    }

    private func run(_ worker: Int, _ work: Work) {
        while let item = begin() {
            do throws(Failure) {
                try work(item, worker) { piece, cost in
                    enqueue(.success(piece), cost, of: item)
                    return waitForRoom(item)
                }
            } catch {
                enqueue(.failure(error), 0, of: item)
            }
            state.update { _ = $0.finished.insert(item) }
        }
        state.update { $0.runningWorkers -= 1 }
    }

    private func begin() -> Int? {
        state.updateQuietly { state in
            guard !state.isStopped, state.begun < count else { return nil }
            defer { state.begun += 1 }
            return state.begun
        }
    }

    private func enqueue(_ piece: Result<Piece, Failure>, _ cost: Int, of item: Int) {
        state.update { state in
            state.waiting[item, default: []].append((piece, cost))
            state.cost += cost
        }
    }

    private func waitForRoom(_ item: Int) -> Bool {
        state.wait { state in
            if state.isStopped { return false }
            return item == state.due || state.cost < room ? true : nil
        }
    }

    private enum Step: Sendable {
        case deliver(item: Int, pieces: [Result<Piece, Failure>])
        case advanced
        case end
    }

    /// Waits for the pieces that come next; returns as many as are there, or `nil` after the last item.
    func next() -> (item: Int, pieces: [Result<Piece, Failure>])? {
        while true {
            let step: Step = state.wait { state in
                if let pieces = state.waiting.removeValue(forKey: state.due) {
                    for piece in pieces { state.cost -= piece.cost }
                    return .deliver(item: state.due, pieces: pieces.map(\.piece))
                }
                guard state.due < self.count else { return .end }
                guard state.finished.remove(state.due) != nil else { return nil }
                // The worker whose item is due now may be waiting for that, and must be woken.
                state.due += 1
                return .advanced
            }
            switch step {
            case .deliver(let item, let pieces): return (item, pieces)
            case .advanced: continue
            case .end: return nil
            }
        }
    }

    func stop() { state.update { $0.isStopped = true } }

    func waitForWorkers() { state.wait { $0.runningWorkers == 0 ? () : nil } }
}
