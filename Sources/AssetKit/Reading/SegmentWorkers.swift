import LibAV
import SystemCalls

/// Threads that decode segments, each with decoders of its own; they end with this object.
final class SegmentWorkers: Sendable {
    private let setup: DecoderSetup
    private let digester: SoundDigester?
    private let count: Int
    private let schedule = Monitor(Schedule())

    private struct Schedule: Sendable {
        var waiting: [SoundSegment] = []
        var results: [Int: DecodedSegment] = [:]
        /// Threads that were started; `nil` before the first segment.
        var threads: Int?
        var isStopped = false

        /// The next segment to decode; `.some(nil)` where there is no more work.
        mutating func take() -> SoundSegment?? {
            if isStopped { return .some(nil) }
            return waiting.isEmpty ? nil : .some(waiting.removeFirst())
        }
    }

    /// - Parameter count: How many threads; with one, all is done on the thread that asks.
    init(_ setup: DecoderSetup, digester: SoundDigester?, count: Int) {
        self.setup = setup
        self.digester = digester
        self.count = count
    }

    deinit { schedule.update { $0.isStopped = true } }

    /// How many segments should be under way or waiting, so that no thread is idle and memory stays bounded.
    var room: Int { count > 1 ? count + 1 : 1 }

    /// Has a segment decoded.
    func submit(_ segment: SoundSegment) {
        if count > 1, schedule.update({ $0.threads }) == nil { start() }
        schedule.update { $0.waiting.append(segment) }
    }

    /// What came of a segment that was submitted; waits for it.
    ///
    /// Each is given once.
    func result(of segment: SoundSegment) -> DecodedSegment {
        let number = segment.number
        guard schedule.update({ $0.threads ?? 0 }) > 0 else {
            schedule.update { $0.waiting.removeAll { $0.number == number } }
            return segment.decode(setup, digester: digester)
        }
        return schedule.wait { $0.results.removeValue(forKey: number) }
    }

    private func start() {
        var started = 0
        let (schedule, setup, digester) = (schedule, setup, digester)
        while started < count {
            do throws(WorkerThread.CannotStart) {
                // A thread must not keep this object, whose end is its own.
                let thread = try WorkerThread {
                    while let segment = schedule.wait({ $0.take() }) {
                        let result = segment.decode(setup, digester: digester)
                        schedule.update { $0.results[segment.number] = result }
                    }
                }
                thread.detach()
                started += 1
            } catch {
                break
            }
        }
        let threads = started
        schedule.update { $0.threads = threads }
    }
}
