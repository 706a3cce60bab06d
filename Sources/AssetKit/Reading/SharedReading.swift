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
        let orders = SharedOrders()
        let number = desk.updateQuietly { desk in
            desk.seats.append((.undecided, orders))
            return desk.seats.count - 1
        }
        return Seat(self, number: number, orders)
    }

    /// A job's place in a shared reading.
    package final class Seat: ReadingSeat {
        private let reading: SharedReading
        private let number: Int
        private let orders: SharedOrders

        fileprivate init(_ reading: SharedReading, number: Int, _ orders: SharedOrders) {
            (self.reading, self.number, self.orders) = (reading, number, orders)
        }

        /// The asset for the job, whose readers can join.
        package var asset: Asset { Asset(reading.asset, seat: self) }

        /// Gives the place up: the job has ended, or will not read the whole asset.
        package func leave() {
            reading.leave(number)
            orders.close()
        }

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
            return SharedPipelines(orders, contents, places: places, core: core, timeRange: timeRange)
        }
    }

    // MARK: The reading thread

    /// Reads the asset once for all seats, on the calling thread, until its end or until nobody wants more.
    ///
    /// An error of reading is thrown to every job that still waits for samples.
    ///
    /// - Parameter progress: Receives the time up to which the asset was read.
    package func run(progress: (MediaTime) -> Void = { _ in }) {
        let jobs = desk.wait { desk -> [SharedOrders]? in
            guard !desk.seats.contains(where: { $0.state == .undecided }) else { return nil }
            desk.isBegun = true
            return desk.seats.filter { $0.state == .joined }.map(\.orders)
        }
        guard !jobs.isEmpty else { return }
        var failure: MediaError?
        do throws(MediaError) {
            try read(for: jobs, progress)
        } catch {
            failure = error
        }
        for job in jobs { job.endReading(failure) }
    }

    private func read(for jobs: [SharedOrders], _ progress: (MediaTime) -> Void) throws(MediaError) {
        let reader = try AssetReader(asset: asset)
        reader.threadsPerOutput = threads
        reader.decodesAudioInChunks = true
        let lanes = try open(jobs.flatMap(\.lanes), of: reader)
        try reader.startReading()
        while let lane = lanes.filter({ lane in !lane.isOver && jobs.contains { $0.wants(lane.lane) } })
            .min(by: { $0.position < $1.position })
        {
            guard let samples = try lane.output.nextSampleBuffer() else {
                lane.isOver = true
                let ending = LaneEnd(
                    track: lane.lane.track, damage: reader.damage.part(ofTrack: lane.lane.track),
                    undecodable: lane.output.undecodable,
                    samplesCutBeforeZero: lane.output.samplesCutBeforeZero)
                for job in jobs { job.end(lane.lane, ending) }
                continue
            }
            let end = samples.duration.isNumeric ? samples.timeRange.end : samples.presentationTime
            if end.isNumeric { lane.position = max(lane.position, end) }
            // A job that has too many makes the reading wait.
            for job in jobs { job.give(samples, of: lane.lane) }
            progress(lane.position)
        }
        reader.cancelReading()
    }

    /// Adds an output for each lane to the reader.
    private func open(
        _ ordered: [(lane: SharedLane, bySlices: Bool)], of reader: AssetReader
    ) throws(MediaError) -> [OpenLane] {
        let tracks = try asset.contents().tracks
        var lanes: [OpenLane] = []
        for (lane, _) in ordered where !lanes.contains(where: { $0.lane == lane }) {
            guard tracks.indices.contains(lane.track) else {
                throw MediaError(.changed, "has fewer tracks than before", path: asset.displayName)
            }
            let isBySlices = ordered.contains { $0.lane == lane && $0.bySlices }
            let output = TrackOutput(track: tracks[lane.track], settings: lane.settings(bySlices: isBySlices))
            output.passesOverUndecodable = true
            try reader.add(output)
            lanes.append(OpenLane(lane, output))
        }
        return lanes
    }

    // MARK: The jobs' threads

    /// Takes the orders of a seat, and returns their places; `nil` if it is too late.
    private func join(_ seat: Int, _ wanted: [(lane: SharedLane, bySlices: Bool)]) -> [SharedLane: [Int]]? {
        desk.update { desk in
            guard desk.seats[seat].state == .undecided, !desk.isBegun else { return nil }
            desk.seats[seat].state = .joined
            var places: [SharedLane: [Int]] = [:]
            for (lane, bySlices) in wanted {
                places[lane, default: []].append(desk.seats[seat].orders.add(lane, bySlices: bySlices))
            }
            return places
        }
    }

    private func leave(_ seat: Int) { desk.update { $0.seats[seat].state = .left } }
}

/// A lane that is being read.
private final class OpenLane {
    let lane: SharedLane
    let output: TrackOutput
    /// The time up to which it was read.
    var position = MediaTime.zero
    var isOver = false

    init(_ lane: SharedLane, _ output: TrackOutput) { (self.lane, self.output) = (lane, output) }
}

/// The seats, of which each has to join or leave before the reading begins.
private struct Desk {
    enum SeatState {
        case undecided, joined, left
    }

    var seats: [(state: SeatState, orders: SharedOrders)] = []
    var isBegun = false
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
