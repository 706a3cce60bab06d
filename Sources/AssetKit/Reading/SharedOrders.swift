import LibAV
import MediaBase
import Threading

/// The orders of one job of a ``SharedReading``, and the samples that wait for it.
///
/// Only the reading thread and the job's own threads share them, so that samples for one job do not wake the others.
final class SharedOrders: Sendable {
    private let state = Monitor(State())

    /// Adds an order of a lane's samples.
    ///
    /// - Parameter bySlices: True if the output wants the decoder's threads to work on one frame.
    /// - Returns: The place of the order.
    func add(_ lane: SharedLane, bySlices: Bool) -> Int {
        state.updateQuietly { state in
            state.orders.append(Order(lane: lane, decodesBySlices: bySlices))
            return state.orders.count - 1
        }
    }

    /// The lanes that were ordered.
    var lanes: [(lane: SharedLane, bySlices: Bool)] {
        state.read { $0.orders.map { ($0.lane, $0.decodesBySlices) } }
    }

    // MARK: The reading thread

    /// Returns true if the job takes samples of a lane.
    func wants(_ lane: SharedLane) -> Bool { state.read { $0.orders.contains { $0.lane == lane && !$0.isClosed } } }

    /// Hands samples of a lane to the job, after waiting until there is room for them.
    func give(_ samples: SampleBuffer, of lane: SharedLane) {
        let size = samples.memorySize
        for place in state.read({ state in state.orders.indices.filter { state.orders[$0].lane == lane } }) {
            state.wait { state -> Void? in
                guard state.canTake(place) else { return nil }
                if !state.orders[place].isClosed {
                    state.orders[place].waiting.append(samples)
                    state.orders[place].bytes += size
                }
                return ()
            }
        }
    }

    /// Ends a lane after its last samples.
    func end(_ lane: SharedLane, _ ending: LaneEnd) {
        state.update { state in
            for place in state.orders.indices where state.orders[place].lane == lane {
                state.orders[place].ending = ending
            }
        }
    }

    /// Ends the reading.
    ///
    /// - Parameter failure: The error that ended it early, which is thrown to outputs that wait for more.
    func endReading(_ failure: MediaError?) {
        state.update { state in
            state.failure = failure
            state.isOver = true
        }
    }

    // MARK: The job's threads

    /// Lets go of the samples that wait, and takes no more.
    func close() {
        state.update { state in
            for place in state.orders.indices { state.orders[place].close() }
        }
    }

    /// Waits for the next samples of an order; `nil` at the end of its lane.
    func next(for place: Int) throws(MediaError) -> SampleBuffer? {
        // An output that waits must be told apart from one that is slow: see `canTake`.
        state.update { $0.orders[place].isStarving = true }
        return try state.wait { state in state.next(for: place) }.get()
    }

    /// The way in which an order's lane has ended; `nil` before its end.
    func ending(of place: Int) -> LaneEnd? { state.read { $0.orders[place].ending } }
}

/// The samples that wait for one output of a job.
private struct Order {
    let lane: SharedLane
    let decodesBySlices: Bool
    var waiting = FIFO<SampleBuffer>()
    /// The size of what waits.
    var bytes = 0
    /// True if the output is waiting for samples.
    var isStarving = false
    /// True if the output takes no more.
    var isClosed = false
    var ending: LaneEnd?

    init(lane: SharedLane, decodesBySlices: Bool) {
        (self.lane, self.decodesBySlices) = (lane, decodesBySlices)
    }

    mutating func close() {
        isClosed = true
        waiting.removeAll()
        bytes = 0
    }
}

/// The orders of a job, and the end of the reading.
private struct State {
    var orders: [Order] = []
    var isOver = false
    var failure: MediaError?

    /// The size of waiting samples, in bytes, above which the reading thread waits: about five frames of 1080p.
    private static var room: Int { 16 << 20 }

    /// Returns true if an order can be given more: if there is room, or if its job waits for samples of another track and
    /// would never get to these.
    func canTake(_ place: Int) -> Bool {
        let order = orders[place]
        return order.isClosed || order.bytes <= Self.room || orders.contains { $0.isStarving && $0.waiting.isEmpty }
    }

    /// Returns the next samples of an order or its end; `nil` if there is neither yet.
    mutating func next(for place: Int) -> Result<SampleBuffer?, MediaError>? {
        var next: Result<SampleBuffer?, MediaError>
        if let samples = orders[place].waiting.popFirst() {
            orders[place].bytes -= samples.memorySize
            next = .success(samples)
        } else if let ending = orders[place].ending {
            next = ending.undecodable.map { .failure($0) } ?? .success(nil)
        } else if let failure {
            next = .failure(failure)
        } else if orders[place].isClosed || isOver {
            next = .success(nil)
        } else {
            return nil
        }
        orders[place].isStarving = false
        return next
    }
}
