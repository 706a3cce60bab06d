import LibAV
public import MediaBase
import SystemCalls
import Threading

/// Reads samples of an asset's tracks in a single pass over the file, for any number of outputs: `AVAssetReader`.
///
/// Add outputs, then ``startReading()``, then pull each output until it returns `nil`. Outputs should be pulled roughly
/// in step, because packets of the other outputs have to wait in memory.
///
/// A reader may be used from any thread. ``cancelReading()`` may be called from any thread at any time.
public final class AssetReader: Sendable {
    /// The state of a reader.
    public enum Status: Sendable, Hashable {
        /// Reading has not started.
        case unknown
        /// Reading has started; more samples may follow.
        case reading
        /// All outputs have delivered all of their samples.
        case completed
        /// Reading failed with ``AssetReader/error``.
        case failed
        /// ``AssetReader/cancelReading()`` was called.
        case cancelled
    }

    /// The asset that is read.
    public let asset: Asset

    private let state: Mutex<State>
    let cancellation: Cancellation

    private struct State {
        var outputs: [TrackOutput] = []
        var timeRange = MediaTimeRange(start: .zero, duration: .positiveInfinity)
        var threads = 0
        var decodesInChunks = false
        var chunkBytes = ChunkSettings().bytes
        var joinsSharedReading = false
        var core: DemuxSession?
        var isStarted = false
        var error: MediaError?
        var isCancelled = false
        /// The error for a property that was set while reading was being started.
        var misuse: MediaError?
    }

    /// Creates a reader of an asset, whose header is read now if necessary.
    public convenience init(asset: Asset) throws(MediaError) {
        try self.init(asset: asset, cancellation: Cancellation())
    }

    /// Creates a reader that can also be cancelled through a cancellation.
    init(asset: Asset, cancellation: Cancellation) throws(MediaError) {
        _ = try asset.contents()
        self.asset = asset
        self.cancellation = cancellation
        state = Mutex(State())
    }

    /// Changes a property of the reader; after reading has started, the next request for samples fails with the misuse.
    private func change(_ property: String, _ body: (inout State) -> Void) {
        state.withLock { state in
            guard state.isStarted else { return body(&state) }
            let misuse = MediaError.setTooLate(property, before: "reading starts")
            guard let core = state.core else { return state.misuse = misuse }
            if core.readerStatus == .reading { _ = core.fail(misuse) }
        }
    }

    /// The part of the presentation to read, exact to the sample and to the frame; set it before reading starts.
    ///
    /// A frame is delivered if it is on screen at some time within the range. Setting a property after the start fails
    /// the reader with an error that names the property.
    public var timeRange: MediaTimeRange {
        get { state.withLock { $0.timeRange } }
        set { change("timeRange") { $0.timeRange = newValue } }
    }

    /// The number of codec threads for each output; 0, the default, uses as many as there are cores.
    ///
    /// Set it before reading starts.
    public var threadsPerOutput: Int {
        get { state.withLock { $0.threads } }
        set { change("threadsPerOutput") { $0.threads = max(0, newValue) } }
    }

    /// Indicates whether long audio is decoded in chunks with a decoder each.
    ///
    /// False by default. If all outputs are of audio tracks, chunks are decoded in parallel on ``threadsPerOutput``
    /// threads: the file is read once, in order, and a few seconds ahead. Chunks have fixed positions, so the samples
    /// depend neither on the number of threads nor on the other outputs. They equal those of a single decoder, unless a
    /// decoder adds noise (AAC's noise substitution, AC-3's dither), which differs between any two decoders. Codecs and
    /// files for which this cannot be ensured are decoded by a single decoder. Set it before reading starts.
    public var decodesAudioInChunks: Bool {
        get { state.withLock { $0.decodesInChunks } }
        set { change("decodesAudioInChunks") { $0.decodesInChunks = newValue } }
    }

    /// The approximate size of a chunk's decoded audio in bytes; set it before reading starts.
    package var chunkBytes: Int {
        get { state.withLock { $0.chunkBytes } }
        set { change("chunkBytes") { $0.chunkBytes = max(1, newValue) } }
    }

    /// Indicates whether samples come from the asset's ``SharedReading`` where that can be; set it before reading starts.
    package var joinsSharedReading: Bool {
        get { state.withLock { $0.joinsSharedReading } }
        set { change("joinsSharedReading") { $0.joinsSharedReading = newValue } }
    }

    /// Returns true if ``add(_:)`` would accept the output.
    public func canAdd(_ output: ReaderOutput) -> Bool {
        state.withLock { state in output.trackOutputs.allSatisfy { refusal(of: $0, state) == nil } }
    }

    /// Adds an output; call it before reading starts.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` if the output's track belongs to another asset, if
    ///   the output was already added, if its settings do not fit the track, and after reading has started.
    public func add(_ output: ReaderOutput) throws(MediaError) {
        let outputs = output.trackOutputs
        try state.withLock { state throws(MediaError) in
            for output in outputs {
                if let refusal = refusal(of: output, state) { throw MediaError(.invalidArgument, refusal) }
            }
            for output in outputs {
                guard output.take() else { throw MediaError(.invalidArgument, "the output was added already") }
                state.outputs.append(output)
            }
        }
    }

    private func refusal(of output: TrackOutput, _ state: State) -> String? {
        if state.isStarted { return "outputs are added before reading starts" }
        if output.isTaken { return "the output was added already, to this reader or another" }
        guard (try? asset.contents())?.tracks.contains(output.track) == true else {
            return "the output's track is not of this asset"
        }
        return output.impossibility
    }

    /// Opens decoders and seeks to the start of ``timeRange``.
    ///
    /// - Throws: Errors from opening and seeking; the reader is then failed.
    ///   ``MediaError/Code-swift.struct/invalidArgument`` if there are no outputs, if the time range is invalid, or if
    ///   reading was already started; the reader's state is then unchanged.
    public func startReading() throws(MediaError) {
        let (outputs, timeRange, threads, chunks, opener) = try state.withLock { state throws(MediaError) in
            guard !state.isCancelled else { throw MediaError(.cancelled, "cancelled", path: asset.displayName) }
            guard !state.isStarted else { throw MediaError(.invalidArgument, "reading was started already") }
            guard !state.outputs.isEmpty else { throw MediaError(.invalidArgument, "the reader has no outputs") }
            guard state.timeRange.isValid else {
                throw MediaError(.invalidArgument, "the time range is invalid: it ends before it begins")
            }
            state.isStarted = true
            let threads = state.threads > 0 ? state.threads : availableProcessors()
            let chunks = ChunkSettings(
                bytes: state.chunkBytes, threads: min(threads, ChunkSettings.maximumThreads),
                readsAhead: state.outputs.allSatisfy { $0.track.mediaType == .audio })
            let opener = RangeOpener(
                asset: asset, cancellation: cancellation, threads: state.threads, decodesInChunks: state.decodesInChunks
            )
            return (state.outputs, state.timeRange, state.threads, state.decodesInChunks ? chunks : nil, opener)
        }
        // The lock is not held, because opening and seeking may take long and must not block cancellation.
        var landed: DemuxSession?
        do throws(MediaError) {
            for output in outputs {
                let shown = output.track.timeRange
                let start = timeRange.start.isNumeric ? max(timeRange.start, .zero) : .zero
                let end = min(shown.end, timeRange.end)
                guard end.isNumeric, end > start else { continue }
                let error = asset.limits.error(reading: MediaTimeRange(start: start, end: end))
                if let error { throw error }
            }
            let (core, start) = try land(outputs, in: timeRange, threads: threads, chunks)
            landed = core
            for (id, output) in outputs.enumerated() {
                try output.start(core, id: id, start, opener)
            }
            state.withLock { state in
                state.core = core
                if let misuse = state.misuse { _ = core.fail(misuse) }
                if state.isCancelled { core.cancel() }
            }
        } catch {
            let named = error.at(path: asset.displayName)
            // Fails the outputs that were already started.
            _ = landed?.fail(named)
            state.withLock { if named.code == .cancelled { $0.isCancelled = true } else { $0.error = named } }
            throw named
        }
    }

    /// Opens the source at the start of the time range.
    private func land(
        _ outputs: [TrackOutput], in timeRange: MediaTimeRange, threads: Int, _ chunks: ChunkSettings?
    ) throws(MediaError) -> (DemuxSession, any PipelineMaker) {
        func sessionWithoutPackets() -> DemuxSession {
            DemuxSession(
                named: asset.displayName, outputs: outputs.count, cancellation: cancellation, deadline: asset.deadline)
        }
        if joinsSharedReading, let seat = asset.seat as? SharedReading.Seat, case let core = sessionWithoutPackets(),
            let start = seat.join(outputs, in: timeRange, for: core)
        {
            return (core, start)
        }
        if let backing = asset.backing as? any ComposedBacking {
            let core = sessionWithoutPackets()
            let start = backing.pipelines(for: core, in: timeRange, threads: threads, cancellation: cancellation)
            return (core, start)
        }
        let landing = ReaderSeek(asset: asset, outputs: outputs, timeRange: timeRange, cancellation: cancellation)
        let (file, core, isFromStart) = try landing.land()
        let start = PipelineStart(
            file: file, contents: try asset.contents(), timeRange: timeRange, isFromStart: isFromStart,
            threads: threads, chunks: chunks)
        return (core, start)
    }

    /// The current state of reading.
    public var status: Status {
        state.withLock { state in
            if let core = state.core { return core.readerStatus }
            if state.isCancelled { return .cancelled }
            return state.error == nil ? .unknown : .failed
        }
    }

    /// The error that made reading fail; `nil` unless ``status`` is failed.
    public var error: MediaError? { state.withLock { $0.error ?? $0.core?.error } }

    /// The damage found so far.
    public var damage: DamageReport { state.withLock { $0.core?.damage } ?? DamageReport() }

    /// Cancels reading; current and later requests for samples fail as cancelled.
    ///
    /// May be called from any thread, any number of times, before, during and after reading.
    public func cancelReading() {
        cancellation.cancel()
        state.withLock { state in
            state.isCancelled = true
            state.core?.cancel()
        }
    }
}

/// Moves a reader to the start of its time range, by a seek if the container's random access is exact.
///
/// Otherwise reading starts at the beginning of the file. A seek is checked by the packets after it: an index of decode
/// times can lead to a sync sample that is shown after the requested time, and then an earlier one is tried. If the
/// index may mark frames as sync samples that are not (``ContainerFormat``), a test decode checks the frame.
struct ReaderSeek {
    let asset: Asset
    let outputs: [TrackOutput]
    let timeRange: MediaTimeRange
    let cancellation: Cancellation

    /// The distances by which successive attempts start earlier.
    private static let stepsBack: [MediaTime] = [0, 1, 4, 16].map { MediaTime(value: $0, timescale: 1) }

    /// Returns an open file at the right position with the session of its outputs, and true if that is the file's
    /// start.
    func land() throws(MediaError) -> (InputFile, DemuxSession, isFromStart: Bool) {
        let streams = outputs.map(\.track.index)
        let leadPlace = outputs.firstIndex { $0.track.mediaType == .video } ?? 0
        let lead = outputs[leadPlace]
        let contents = try asset.contents()
        var file = try asset.takeFile(cancellation)
        guard timeRange.start.isNumeric, timeRange.start > .zero, file.isSeekable, canSeek(contents.format) else {
            return (file, session(file, streams), true)
        }
        for step in Self.stepsBack {
            let target = outputs.map { timeRange.start - preRoll(of: $0.track) }.min() ?? timeRange.start
            let time = target - step + contents.origin(ofStream: lead.track.index)
            guard time > .zero, let ticks = time.ticks(in: lead.track.timeBase, rounding: .down),
                file.seek(stream: lead.track.index, to: ticks)
            else { break }
            let core = session(file, streams)
            guard try hasLanded(core, file) else { continue }
            guard lead.track.mediaType == .video, lead.track.formatDescriptions.first?.video?.reorders == true else {
                return (file, core, false)
            }
            // After a seek libavcodec may drop frames until it has learnt their order, so reading starts one sync
            // sample earlier.
            guard let first = try core.peekPacket(for: leadPlace)?.packet.dts,
                file.seek(stream: lead.track.index, to: first &- 1)
            else { break }
            let earlier = session(file, streams)
            if try hasLanded(earlier, file) { return (file, earlier, false) }
        }
        file = try asset.takeFile(cancellation)
        return (file, session(file, streams), true)
    }

    private func session(_ file: InputFile, _ streams: [Int]) -> DemuxSession {
        DemuxSession(file, streams: streams, count: asset.countPacket)
    }

    private func canSeek(_ format: ContainerFormat) -> Bool {
        outputs.allSatisfy { output in
            guard output.track.mediaType == .audio, case .audio = output.settings else { return format.hasIndex }
            // Timestamps must be able to represent every sample, or positions after a seek are off by the rounding.
            guard format.isSampleExact, let rate = output.track.formatDescriptions.first?.audio?.sampleRate, rate > 0
            else { return false }
            let perSample = output.track.timeBase.multiplied(by: Rational(Int64(rate)))
            return perSample.map { $0.num == 1 } ?? false
        }
    }

    /// Returns how much earlier decoding must start to produce the same first sample as a decode from the start.
    private func preRoll(of track: AssetTrack) -> MediaTime {
        guard track.mediaType == .audio else { return .zero }
        // Half a second covers AAC's overlap, MP3's bit reservoir and Opus's 80 ms with a wide margin.
        return track.formatDescriptions.first?.codec.hasPrefix("pcm_") == true
            ? .zero : MediaTime(value: 1, timescale: 2)
    }

    /// Returns true if every output's first packet is early enough.
    private func hasLanded(_ core: DemuxSession, _ file: InputFile) throws(MediaError) -> Bool {
        let contents = try asset.contents()
        let hasTrueSyncSamples = contents.format.hasTrueSyncSamples
        for (id, output) in outputs.enumerated() {
            let type = output.track.mediaType
            // Sparse tracks (text, data) may have no packets near the position.
            guard type == .video || type == .audio else { continue }
            guard let first = try core.peekPacket(for: id) else { return false }
            let times = StoredTimes(first, track: output.track, origin: contents.origin(ofStream: output.track.index))
            guard times.presentation.isNumeric else { return false }
            if times.presentation > timeRange.start - preRoll(of: output.track) { return false }
            guard type == .video else { continue }
            guard first.packet.isKey else { return false }
            if hasTrueSyncSamples { continue }
            guard try isSyncPicture(first, of: output.track, in: file) else { return false }
        }
        return true
    }

    /// Returns true if a decoder without any context decodes the packet as a sync sample.
    private func isSyncPicture(
        _ sample: CompressedSample, of track: AssetTrack, in file: InputFile
    ) throws(MediaError) -> Bool {
        var decoder = PacketDecoder(try Decoder.open(file, stream: track.index, threads: 1))
        guard try decoder.send(sample) == nil, try decoder.send(nil) == nil else { return false }
        if case .frame(let frame) = try decoder.receive() { return frame.isKey && !frame.isCorrupt }
        return false
    }
}
