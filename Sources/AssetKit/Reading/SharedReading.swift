import LibAV
package import MediaBase
import Threading

/// One read of an asset for several jobs, each of which reads it as if it were alone.
///
/// ```swift
/// let reading = SharedReading(asset)
/// let seats = jobs.map { _ in reading.makeSeat() }
/// for (job, seat) in zip(jobs, seats) {
///     try WorkerThread {
///         defer { seat.leave() }
///         job.run(seat.asset)
///     }.detach()
/// }
/// reading.run()
/// ```
///
/// Each job has a thread and a ``Seat``. Its readers that set ``AssetReader/joinsSharedReading`` get their samples from here.
/// ``run(progress:)`` waits until every seat has joined or left, then decodes each wanted track once and hands the samples out,
/// all tracks in step. A job that does not keep up makes the others wait, so that memory does not grow. What a job gets does not
/// depend on the others.
///
/// A reader joins if it reads the whole asset. One that does not, or comes when the reading has begun, reads for itself.
package final class SharedReading: Sendable {
    /// The asset that is read.
    private let asset: Asset
    private let threads: Int
    private let desk = Monitor(Desk())

    /// Creates a reading without seats.
    ///
    /// - Parameter threads: The number of decoding threads for each track; 0 for one per core.
    package init(_ asset: Asset, threads: Int = 0) {
        self.asset = asset
        self.threads = threads
        // The reading takes the open file, and jobs may ask later.
        asset.noteCutOff()
    }

    /// Creates a job's place in the reading; call it before ``run(progress:)``.
    package func makeSeat() -> Seat {
        let number = desk.updateQuietly { desk in
            desk.seats.append(.undecided)
            return desk.seats.count - 1
        }
        return Seat(self, number: number)
    }

    /// A job's place in a shared reading.
    package final class Seat: ReadingSeat {
        private let reading: SharedReading
        private let number: Int

        fileprivate init(_ reading: SharedReading, number: Int) {
            self.reading = reading
            self.number = number
        }

        /// The asset for the job, whose readers can join.
        package var asset: Asset { Asset(reading.asset, seat: self) }

        /// Gives the place up: the job has ended, or will not read the whole asset.
        package func leave() { reading.leave(number) }

        /// Returns what makes the samples of a reader's outputs; `nil` if the reader has to read for itself.
        func join(_ outputs: [TrackOutput], in timeRange: MediaTimeRange, for core: DemuxSession) -> SharedPipelines? {
            guard !timeRange.start.isNumeric || timeRange.start <= .zero, !timeRange.end.isNumeric,
                let contents = try? reading.asset.contents()
            else { return nil }
            var wanted: [(lane: SharedLane, bySlices: Bool)] = []
            for output in outputs {
                guard let lane = SharedLane(output.track, output.settings) else { return nil }
                wanted.append((lane, output.settings.decodesBySlices))
            }
            guard let places = reading.join(number, wanted) else { return nil }
            return SharedPipelines(reading, contents, places: places, core: core, timeRange: timeRange)
        }
    }

    // MARK: The reading thread

    /// Reads the asset once for all seats, on the calling thread, until its end or until nobody wants more.
    ///
    /// An error of reading is thrown to every job that still waits for samples.
    ///
    /// - Parameter progress: Receives the time up to which the asset was read.
    package func run(progress: (MediaTime) -> Void = { _ in }) {
        let orders = desk.wait { desk -> [Order]? in
            guard !desk.seats.contains(.undecided) else { return nil }
            desk.isBegun = true
            return desk.orders
        }
        guard !orders.isEmpty else { return }
        do throws(MediaError) {
            try read(orders, progress)
        } catch {
            desk.update { $0.failure = error }
        }
        desk.update { $0.isOver = true }
    }

    private func read(_ orders: [Order], _ progress: (MediaTime) -> Void) throws(MediaError) {
        let reader = try AssetReader(asset: asset)
        reader.threadsPerOutput = threads
        reader.decodesAudioInChunks = true
        let tracks = try asset.contents().tracks
        var lanes: [OpenLane] = []
        for order in orders where !lanes.contains(where: { $0.lane == order.lane }) {
            guard tracks.indices.contains(order.lane.track) else {
                throw MediaError(.changed, "has fewer tracks than before", path: asset.displayName)
            }
            let isBySlices = orders.contains { $0.lane == order.lane && $0.decodesBySlices }
            let output = TrackOutput(
                track: tracks[order.lane.track], settings: order.lane.settings(bySlices: isBySlices))
            output.passesOverUndecodable = true
            try reader.add(output)
            lanes.append(OpenLane(lane: order.lane, output: output))
        }
        try reader.startReading()
        while let next = nextLane(lanes) {
            let lane = lanes[next]
            guard let samples = try lane.output.nextSampleBuffer() else {
                lanes[next].isOver = true
                let ending = LaneEnd(
                    track: lane.lane.track, damage: reader.damage.part(ofTrack: lane.lane.track),
                    undecodable: lane.output.undecodable,
                    samplesCutBeforeZero: lane.output.samplesCutBeforeZero)
                desk.update { $0.end(lane.lane, ending) }
                continue
            }
            let end = samples.duration.isNumeric ? samples.timeRange.end : samples.presentationTime
            if end.isNumeric { lanes[next].position = max(lane.position, end) }
            give(samples, of: lane.lane)
            progress(lanes[next].position)
        }
        reader.cancelReading()
    }

    /// Returns the lane that is furthest behind of those that somebody wants; `nil` when there is none.
    private func nextLane(_ lanes: [OpenLane]) -> Int? {
        desk.read { desk in
            lanes.indices.filter { place in
                !lanes[place].isOver && desk.orders.contains { !$0.isClosed && $0.lane == lanes[place].lane }
            }.min { lanes[$0].position < lanes[$1].position }
        }
    }

    /// Hands samples to everyone who wants them, waiting for those who have too many.
    private func give(_ samples: SampleBuffer, of lane: SharedLane) {
        let size = samples.memorySize
        for place in desk.read({ desk in desk.orders.indices.filter { desk.orders[$0].lane == lane } }) {
            desk.wait { desk -> Void? in
                guard desk.canTake(place) else { return nil }
                if !desk.orders[place].isClosed {
                    desk.orders[place].waiting.append(samples)
                    desk.orders[place].bytes += size
                }
                return ()
            }
        }
    }

    // MARK: The jobs' threads

    /// Takes the orders of a seat, and returns their places; `nil` if it is too late.
    private func join(_ seat: Int, _ wanted: [(lane: SharedLane, bySlices: Bool)]) -> [SharedLane: [Int]]? {
        desk.update { desk in
            guard desk.seats[seat] == .undecided, !desk.isBegun else { return nil }
            desk.seats[seat] = .joined
            var places: [SharedLane: [Int]] = [:]
            for (lane, bySlices) in wanted {
                places[lane, default: []].append(desk.orders.count)
                desk.orders.append(Order(seat: seat, lane: lane, decodesBySlices: bySlices))
            }
            return places
        }
    }

    private func leave(_ seat: Int) {
        desk.update { desk in
            desk.seats[seat] = .left
            for place in desk.orders.indices where desk.orders[place].seat == seat { desk.orders[place].close() }
        }
    }

    /// Waits for the next samples of an order; `nil` at the end of its lane.
    func next(for place: Int) throws(MediaError) -> SampleBuffer? {
        // Whoever waits must be told apart from whoever is slow: see `canTake`.
        desk.update { $0.orders[place].isStarving = true }
        let next = desk.wait { desk -> Result<SampleBuffer?, MediaError>? in
            var next: Result<SampleBuffer?, MediaError>
            if let samples = desk.orders[place].waiting.popFirst() {
                desk.orders[place].bytes -= samples.memorySize
                next = .success(samples)
            } else if let ending = desk.orders[place].ending {
                next = ending.undecodable.map { .failure($0) } ?? .success(nil)
            } else if let failure = desk.failure {
                next = .failure(failure)
            } else if desk.orders[place].isClosed || desk.isOver {
                next = .success(nil)
            } else {
                return nil
            }
            desk.orders[place].isStarving = false
            return next
        }
        return try next.get()
    }

    /// The way in which an order's lane has ended; `nil` before its end.
    func ending(of place: Int) -> LaneEnd? { desk.read { $0.orders[place].ending } }
}

/// A lane that is being read.
private struct OpenLane {
    let lane: SharedLane
    let output: TrackOutput
    /// The time up to which it was read.
    var position = MediaTime.zero
    var isOver = false
}

/// The samples that wait for one output of a job.
private struct Order {
    let seat: Int
    let lane: SharedLane
    let decodesBySlices: Bool
    var waiting = FIFO<SampleBuffer>()
    /// The size of what waits.
    var bytes = 0
    /// True if the job is waiting for samples.
    var isStarving = false
    /// True if the job takes no more.
    var isClosed = false
    var ending: LaneEnd?

    init(seat: Int, lane: SharedLane, decodesBySlices: Bool) {
        (self.seat, self.lane, self.decodesBySlices) = (seat, lane, decodesBySlices)
    }

    mutating func close() {
        isClosed = true
        waiting.removeAll()
        bytes = 0
    }
}

/// The state that the reading thread and the jobs share.
private struct Desk {
    enum SeatState {
        case undecided, joined, left
    }

    var seats: [SeatState] = []
    var orders: [Order] = []
    var isBegun = false
    var isOver = false
    var failure: MediaError?

    /// The size of waiting samples, in bytes, above which the reading thread waits: about five frames of 1080p.
    private static var room: Int { 16 << 20 }

    /// Returns true if an order can be given more: if there is room, or if its job waits for samples of another track and
    /// would never get to these.
    func canTake(_ place: Int) -> Bool {
        let order = orders[place]
        return order.isClosed || order.bytes <= Self.room
            || orders.contains { $0.seat == order.seat && $0.isStarving && $0.waiting.isEmpty }
    }

    mutating func end(_ lane: SharedLane, _ ending: LaneEnd) {
        for place in orders.indices where orders[place].lane == lane { orders[place].ending = ending }
    }
}

extension TrackOutput.Settings {
    /// True if an output wants its decoder's threads to work on one frame.
    fileprivate var decodesBySlices: Bool {
        if case .video(let settings) = self { settings.decodesBySlices } else { false }
    }
}

extension Asset {
    /// True if readers of the asset can take part in a ``SharedReading``.
    package var hasSharedReading: Bool { seat != nil }
}
