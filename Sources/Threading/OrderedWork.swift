/// Processes items on several threads and delivers their pieces in the order of the items.
///
/// Dedicated threads do the work, so it may take hours without blocking Swift's cooperative threads. The calling
/// thread waits, and `deliver` is called on it. With one worker or one item, everything happens on the calling thread.
///
/// The pieces produced but not yet delivered are bounded: a worker that is ahead waits for room, but the worker whose
/// item is due never does. Items are started in order. The first failure in item order is thrown after all earlier
/// pieces have been delivered. No item is started after that, and the call returns once the work in progress has
/// ended.
///
/// - Parameters:
///   - count: The number of items.
///   - workers: The number of threads; less than one counts as one. If some cannot be started, the others do the work.
///   - room: The total cost of pieces that may wait for delivery; each worker may exceed it by one piece.
///   - work: Produces the pieces of an item. Receives the item, the index of the worker, and a closure to call with
///     each piece and its cost, which returns whether more pieces are wanted.
///   - stop: Called before waiting for the work to end, so that work in progress can end early.
///   - deliver: Receives an item and its next piece.
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

/// Processes inputs in parallel and delivers each result as soon as all earlier results have been delivered.
///
/// Calls ``orderedWork(_:workers:room:_:stop:deliver:)`` with one piece per input: at most three inputs per worker are
/// started but not yet delivered.
///
/// - Parameters:
///   - inputs: The inputs.
///   - workers: The number of inputs processed at once; less than one counts as one.
///   - body: Processes one input.
///   - deliver: Receives the index of an input and its result.
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

/// The state of the items in progress, and the pieces waiting for earlier items.
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

    /// Starts threads; returns true if at least one was started.
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

    /// Waits for the next pieces; returns all that are available, or `nil` after the last item.
    func next() -> (item: Int, pieces: [Result<Piece, Failure>])? {
        while true {
            let step: Step = state.wait { state in
                if let pieces = state.waiting.removeValue(forKey: state.due) {
                    for piece in pieces { state.cost -= piece.cost }
                    return .deliver(item: state.due, pieces: pieces.map(\.piece))
                }
                guard state.due < self.count else { return .end }
                guard state.finished.remove(state.due) != nil else { return nil }
                // The worker whose item is now due may be waiting for this change and must be woken.
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
