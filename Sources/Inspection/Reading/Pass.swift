package import AssetKit
package import MediaBase
internal import Threading

/// Takes what a ``Pass`` reads of one track, or of several that belong together.
///
/// One thread at a time calls it, with the samples of each track in order and those of several tracks roughly in step.
package protocol PassConsumer<Partial>: AnyObject, SendableMetatype {
    /// The result of the consumer's reducers; `Never` if it takes samples only.
    associatedtype Partial: Sendable = Never
    /// The tracks that the consumer wants, and the form in which it wants them.
    var inputs: [PassInput] { get }
    /// Creates reducers of the consumer's audio, which are used where that saves work; `nil` for none.
    var makeReducer: MakeAudioReducer<Partial>? { get }
    /// Takes the next samples of a track; returns false to take no more of any track.
    func take(_ samples: DeliveredSamples<Partial>, of track: AssetTrack) throws(MediaError) -> Bool
    /// Reads the beginning from the file itself, in parallel; returns the time at which the pass has to go on, or `nil` if
    /// nothing was read.
    ///
    /// Called only if the consumer is alone in the pass.
    ///
    /// - Parameter progress: Receives the number of seconds that were read.
    func readDirectly(_ asset: Asset, threads: Int, progress: (Double) -> Void) throws(MediaError) -> MediaTime?
}

extension PassConsumer {
    package var makeReducer: MakeAudioReducer<Partial>? { nil }

    package func readDirectly(_ asset: Asset, threads: Int, progress: (Double) -> Void) throws(MediaError) -> MediaTime?
    { nil }
}

/// A track and the form in which a consumer wants it.
package struct PassInput: Sendable, Hashable {
    /// The track.
    package let track: AssetTrack
    /// The form of its samples.
    package let settings: TrackOutput.Settings

    /// Creates an input; consumers with equal inputs share one decoding.
    package init(_ track: AssetTrack, _ settings: TrackOutput.Settings) {
        self.track = track
        self.settings = settings
    }
}

/// Reads an asset once, decodes each track once, and gives what was decoded to everyone who has joined.
///
/// ```swift
/// let pass = Pass(asset)
/// pass.join(peaks)
/// pass.join(loudness)
/// try pass.run()
/// ```
///
/// A single consumer is called on the reading thread. Of several, each has a worker and a queue that holds about a
/// megabyte, so that the slowest one decides how fast the file is read. What a consumer gets does not depend on the others.
package final class Pass {
    private let asset: Asset
    private let start: MediaTime
    private let threads: Int
    private let isSerial: Bool
    private var seats: [any Seat] = []
    private var lanes: [Lane] = []

    /// The damage that reading has found.
    package private(set) var damage = DamageReport()
    /// The reasons why tracks could not be decoded, by track index.
    package var undecodable: [Int: MediaError] {
        Dictionary(
            lanes.compactMap { lane in lane.output.undecodable.map { (lane.output.track.index, $0) } },
            uniquingKeysWith: { first, _ in first })
    }
    /// Indicates whether a track of which nothing can be decoded counts as one without samples; set it before running.
    package var passesOverUndecodable = false

    /// The samples of one track in one form, and the seats of those who want them.
    private struct Lane {
        let output: TrackOutput
        var seats: [any Seat]
        /// The time up to which the lane was read.
        var position = MediaTime.zero
        var isOver = false
    }

    /// Creates a pass without consumers.
    ///
    /// - Parameters:
    ///   - start: The time from which the asset is read.
    ///   - threads: The number of decoding threads for each track; 0 for one per core.
    ///   - isSerial: True to decode audio with a single decoder from start to end.
    package init(_ asset: Asset, from start: MediaTime = .zero, threads: Int = 0, isSerial: Bool = false) {
        self.asset = asset
        self.start = start
        self.threads = threads
        self.isSerial = isSerial
    }

    /// Adds a consumer; call it before running.
    package func join(_ consumer: some PassConsumer) { seats.append(ConsumerSeat(consumer)) }

    /// Returns the number of a track's samples before time 0 that were left out.
    package func samplesCutBeforeZero(of track: AssetTrack) -> Int64 {
        lanes.first { $0.output.track == track }?.output.samplesCutBeforeZero ?? 0
    }

    /// Reads the asset until its end, or until no consumer wants more.
    ///
    /// - Parameters:
    ///   - end: The time at which reading is expected to end, for progress only; `nil` for the end of the longest track.
    ///   - progress: Called from time to time with the fraction done, 0…1, and the number of seconds read.
    /// - Throws: The errors of reading, and the first one of a consumer, which ends the pass.
    package func run(until end: MediaTime? = nil, progress: ((Double, Double) -> Void)? = nil) throws(MediaError) {
        let ends = seats.flatMap(\.inputs).map(\.track.timeRange.end).filter(\.isNumeric)
        let length = ((end ?? ends.max() ?? .zero) - start).seconds
        func tell(_ seconds: Double) { progress?(length > 0 ? min(seconds / length, 1) : 0, seconds) }
        var start = start
        if seats.count == 1, !asset.hasSharedReading,
            let next = try seats[0].readDirectly(asset, threads: threads, progress: tell)
        {
            start = next
        }
        let reader = try AssetReader(asset: asset)
        reader.joinsSharedReading = true
        reader.threadsPerOutput = threads
        reader.decodesAudioInChunks = !isSerial
        reader.timeRange = MediaTimeRange(start: start, duration: .positiveInfinity)
        try addOutputs(to: reader)
        try reader.startReading()
        defer { damage = reader.damage }
        if seats.count > 1 { for seat in seats { seat.startWorker() } }
        do throws(MediaError) {
            while let next = nextLane() {
                try step(next)
                tell((lanes[next].position - self.start).seconds)
            }
        } catch {
            for seat in seats { seat.stopWorker() }
            throw error
        }
        for seat in seats { seat.finishWorker() }
        if let failure = seats.compactMap(\.failure).first { throw failure }
    }

    private func addOutputs(to reader: AssetReader) throws(MediaError) {
        var places: [PassInput: Int] = [:]
        for seat in seats {
            for input in seat.inputs {
                if let place = places[input] {
                    lanes[place].seats.append(seat)
                    continue
                }
                places[input] = lanes.count
                let output =
                    seats.count == 1
                    ? seat.output(of: input) : TrackOutput(track: input.track, settings: input.settings)
                output.passesOverUndecodable = passesOverUndecodable
                try reader.add(output)
                lanes.append(Lane(output: output, seats: [seat]))
            }
        }
    }

    /// Returns the lane that is furthest behind, so that few packets wait for the others; `nil` when all are over.
    private func nextLane() -> Int? {
        if lanes.count == 1 { return lanes[0].isOver || !lanes[0].seats.contains(where: \.wantsMore) ? nil : 0 }
        return lanes.indices.filter { lane in !lanes[lane].isOver && lanes[lane].seats.contains(where: \.wantsMore) }
            .min { lanes[$0].position < lanes[$1].position }
    }

    private func step(_ index: Int) throws(MediaError) {
        let lane = lanes[index]
        var end: MediaTime?
        if seats.count == 1 {
            end = try seats[0].pull(lane.output)
        } else if let samples = try lane.output.nextSampleBuffer() {
            for seat in lane.seats where seat.wantsMore { seat.give(samples, of: lane.output.track) }
            if let failure = seats.lazy.compactMap(\.failure).first { throw failure }
            end = samples.endTime
        }
        guard let end else { return lanes[index].isOver = true }
        if end.isNumeric { lanes[index].position = max(lane.position, end) }
    }
}

/// The place of a consumer in a pass.
private protocol Seat: AnyObject {
    var inputs: [PassInput] { get }
    var wantsMore: Bool { get }
    var failure: MediaError? { get }
    /// Returns an output with the consumer's reducers.
    func output(of input: PassInput) -> TrackOutput
    func readDirectly(_ asset: Asset, threads: Int, progress: (Double) -> Void) throws(MediaError) -> MediaTime?
    /// Takes the next samples of an output and returns their end; `nil` at the track's end.
    func pull(_ output: TrackOutput) throws(MediaError) -> MediaTime?
    /// Gives samples to the consumer, through its queue if it has a worker.
    func give(_ samples: SampleBuffer, of track: AssetTrack)
    func startWorker()
    /// Waits until the worker has taken everything.
    func finishWorker()
    /// Drops what waits, and waits for the worker.
    func stopWorker()
}

/// The consumer is used by the reading thread alone, or by the worker's alone while that runs.
private final class ConsumerSeat<Consumer: PassConsumer>: Seat, @unchecked Sendable {
    private let consumer: Consumer
    private let isOpen = Atomic(true)
    private let state = Monitor(State())
    private var worker: WorkerThread?

    private struct State: Sendable {
        var waiting = FIFO<(samples: SampleBuffer, track: AssetTrack)>()
        var bytes = 0
        var isClosed = false
        var failure: MediaError?
    }

    /// The size of waiting samples, in bytes, above which the reading thread waits.
    private static var room: Int { 1 << 20 }

    init(_ consumer: Consumer) { self.consumer = consumer }

    var inputs: [PassInput] { consumer.inputs }
    var wantsMore: Bool { isOpen.load(ordering: .acquiring) }
    var failure: MediaError? { state.read { $0.failure } }

    func output(of input: PassInput) -> TrackOutput {
        if let makeReducer = consumer.makeReducer { return TrackOutput(track: input.track, reducedBy: makeReducer) }
        return TrackOutput(track: input.track, settings: input.settings)
    }

    func readDirectly(_ asset: Asset, threads: Int, progress: (Double) -> Void) throws(MediaError) -> MediaTime? {
        try consumer.readDirectly(asset, threads: threads, progress: progress)
    }

    func pull(_ output: TrackOutput) throws(MediaError) -> MediaTime? {
        guard consumer.makeReducer != nil else {
            guard let samples = try output.nextSampleBuffer() else { return nil }
            try take(.samples(samples), of: output.track)
            return samples.endTime
        }
        guard let samples = try output.nextAudio(reducedTo: Consumer.Partial.self) else { return nil }
        try take(samples, of: output.track)
        return samples.endTime
    }

    private func take(_ samples: DeliveredSamples<Consumer.Partial>, of track: AssetTrack) throws(MediaError) {
        if try !consumer.take(samples, of: track) { close() }
    }

    func give(_ samples: SampleBuffer, of track: AssetTrack) {
        guard worker != nil else { return takeOrFail(samples, of: track) }
        state.wait { $0.bytes <= Self.room || !wantsMore ? () : nil }
        state.update { state in
            state.waiting.append((samples, track))
            state.bytes += samples.memorySize
        }
    }

    private func takeOrFail(_ samples: SampleBuffer, of track: AssetTrack) {
        do throws(MediaError) {
            try take(.samples(samples), of: track)
        } catch {
            close(error)
        }
    }

    /// Takes no more samples.
    private func close(_ failure: MediaError? = nil) {
        isOpen.store(false, ordering: .releasing)
        state.update { $0.failure = failure }
    }

    func startWorker() {
        // Without a thread, the reading thread calls the consumer.
        worker = try? WorkerThread { [self] in work() }
    }

    private func work() {
        while let next = state.wait({ state -> (samples: SampleBuffer, track: AssetTrack)?? in
            guard let next = state.waiting.popFirst() else { return state.isClosed ? .some(nil) : nil }
            return next
        }) {
            if wantsMore { takeOrFail(next.samples, of: next.track) }
            state.update { $0.bytes -= next.samples.memorySize }
        }
    }

    func finishWorker() {
        state.update { $0.isClosed = true }
        worker.take()?.join()
    }

    func stopWorker() {
        state.update { $0.waiting.removeAll() }
        finishWorker()
    }
}

extension DeliveredSamples {
    /// The time at which the samples end.
    fileprivate var endTime: MediaTime {
        switch self {
        case .samples(let buffer): buffer.endTime
        case .reduced(let audio):
            audio.presentationTime
                + MediaTime(value: Int64(audio.sampleCount), timescale: Int32(clamping: audio.sampleRate))
        }
    }
}

extension SampleBuffer {
    /// The time at which the samples end; their start if the duration is unknown.
    fileprivate var endTime: MediaTime { duration.isNumeric ? presentationTime + duration : presentationTime }
}
