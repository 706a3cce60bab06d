internal import SystemCalls

/// Works on several inputs at once and delivers each result as soon as all before it are delivered.
///
/// `body` runs on threads of its own, so it may work for hours without holding up Swift's cooperative threads; the
/// calling thread waits, and is the one on which `deliver` is called. With one worker, or one input, all of it happens
/// on the calling thread. At most three inputs a worker are taken and not delivered, so memory stays bounded when one
/// of them takes long.
///
/// Inputs are taken in order. The error thrown is that of the first input in order that failed, after all results
/// before it were delivered, or the one that `deliver` threw; no further input is taken then, and the call returns once
/// the work that had begun has ended.
///
/// - Parameters:
///   - inputs: What to work on.
///   - workers: How many at once; less than one counts as one.
///   - body: The work on one input.
///   - deliver: Gets the position of an input and its result.
package func concurrentForEach<Input: Sendable, Output: Sendable>(
    _ inputs: [Input], workers: Int, _ body: @escaping @Sendable (Input) throws -> Output,
    deliver: (Int, Output) throws -> Void
) throws {
    let workers = min(workers, inputs.count)
    guard workers > 1 else {
        for (index, input) in inputs.enumerated() { try deliver(index, try body(input)) }
        return
    }
    let schedule = Monitor(Schedule<Output>(count: inputs.count, room: 3 * workers))
    let running = Monitor(0)
    for started in 0..<workers {
        running.update { $0 += 1 }
        do throws(WorkerThread.CannotStart) {
            let thread = try WorkerThread {
                while let index = schedule.wait({ $0.take() }) {
                    let result = Result { try body(inputs[index]) }
                    schedule.update { $0.results[index] = result }
                }
                running.update { $0 -= 1 }
            }
            thread.detach()
        } catch {
            // The threads that there are do the work; the last resort is the calling thread.
            running.update { $0 -= 1 }
            if started == 0 { return try concurrentForEach(inputs, workers: 1, body, deliver: deliver) }
            break
        }
    }
    defer {
        schedule.update { $0.isStopped = true }
        running.wait { $0 == 0 ? () : nil }
    }
    for index in inputs.indices {
        let result = schedule.wait { $0.results.removeValue(forKey: index) }
        try deliver(index, try result.get())
        schedule.update { $0.delivered = index + 1 }
    }
}

/// Which inputs are taken, and the results that wait for those before them.
private struct Schedule<Output: Sendable>: Sendable {
    let count: Int
    let room: Int
    var next = 0
    var delivered = 0
    var isStopped = false
    var results: [Int: Result<Output, any Error>] = [:]

    init(count: Int, room: Int) {
        self.count = count
        self.room = room
    }

    /// The next input to work on; `.some(nil)` where there is no more work, `nil` where there is no room yet.
    mutating func take() -> Int?? {
        if isStopped || next == count { return .some(nil) }
        if next >= delivered + room { return nil }
        defer { next += 1 }
        return next
    }
}
