import LibAV
public import MediaBase
import SystemCalls
import Threading

/// Reads samples of an asset's tracks, in one pass over the file however many outputs there are: `AVAssetReader`.
///
/// Add outputs, then ``startReading()``, then pull each output until it yields `nil`. Outputs should be pulled roughly
/// in step, because what lies between them in the file has to wait in memory.
///
/// A reader may be used from any thread; ``cancelReading()`` ends it from any thread at any moment.
public final class AssetReader: Sendable {
    /// How far a reader has come.
    public enum Status: Sendable, Hashable {
        /// Not started.
        case unknown
        /// Started; more samples may come.
        case reading
        /// Every output has delivered all.
        case completed
        /// Something went wrong: ``AssetReader/error``.
        case failed
        /// ``AssetReader/cancelReading()`` was called.
        case cancelled
    }

    /// What is read.
    public let asset: Asset

    private let state: Mutex<State>
    let cancellation: Cancellation

    private struct State {
        var outputs: [TrackOutput] = []
        var timeRange = MediaTimeRange(start: .zero, duration: .positiveInfinity)
        var threads = 0
        var decodesSegments = false
        var segmentBytes = SegmentSettings().bytes
        var core: DemuxSession?
        var isStarted = false
        var error: MediaError?
        var isCancelled = false
        /// A property that was set while the reader was being started.
        var misuse: MediaError?
    }

    /// A reader of an asset, whose header is read now where that was not done yet.
    public convenience init(asset: Asset) throws(MediaError) {
        try self.init(asset: asset, cancellation: Cancellation())
    }

    /// A reader that a cancellation ends too.
    init(asset: Asset, cancellation: Cancellation) throws(MediaError) {
        _ = try asset.contents()
        self.asset = asset
        self.cancellation = cancellation
        state = Mutex(State())
    }

    /// Changes how is read; once reading has started, the next samples that are asked for fail and say that it was too late.
    private func change(_ property: String, _ body: (inout State) -> Void) {
        state.withLock { state in
            guard state.isStarted else { return body(&state) }
            let misuse = MediaError.setTooLate(property, before: "reading starts")
            guard let core = state.core else { return state.misuse = misuse }
            if core.readerStatus == .reading { _ = core.fail(misuse) }
        }
    }

    /// What part of the presentation is read, exact to the sample and to the frame; set before starting.
    ///
    /// A picture is delivered where it is on screen at some moment of the range. A property that is set after starting
    /// fails the reader with an error that names it.
    public var timeRange: MediaTimeRange {
        get { state.withLock { $0.timeRange } }
        set { change("timeRange") { $0.timeRange = newValue } }
    }

    /// Codec threads for each output; 0, the default, for as many as there are cores.
    ///
    /// Set before starting.
    public var threadsPerOutput: Int {
        get { state.withLock { $0.threads } }
        set { change("threadsPerOutput") { $0.threads = max(0, newValue) } }
    }

    /// Whether long sound is decoded in segments, several at a time by ``threadsPerOutput`` threads; not so by default.
    ///
    /// The file is read once, in order, and a few seconds ahead. Segments lie at fixed places, so the samples do not
    /// depend on the number of threads; they are those of decoding in one go, except where a decoder adds noise of its
    /// own (AAC's noise substitution, AC-3's dither), which any two decoders do differently. Codecs and files with which
    /// that cannot be held are decoded in one go. Set before starting.
    public var decodesSoundInSegments: Bool {
        get { state.withLock { $0.decodesSegments } }
        set { change("decodesSoundInSegments") { $0.decodesSegments = newValue } }
    }

    /// About how many bytes of decoded sound a segment has; set before starting.
    package var segmentBytes: Int {
        get { state.withLock { $0.segmentBytes } }
        set { change("segmentBytes") { $0.segmentBytes = max(1, newValue) } }
    }

    /// Whether ``add(_:)`` would take an output.
    public func canAdd(_ output: any ReaderOutput) -> Bool {
        state.withLock { state in output.trackOutputs.allSatisfy { refusal(of: $0, state) == nil } }
    }

    /// Adds an output; before starting.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for an output of another asset's track, one that was
    ///   added already, one whose form does not fit the track, and after starting.
    public func add(_ output: any ReaderOutput) throws(MediaError) {
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

    /// Opens decoders and goes to the start of ``timeRange``.
    ///
    /// - Throws: what fails; the reader is then failed. ``MediaError/Code-swift.struct/invalidArgument`` without outputs,
    ///   for an invalid time range, and the second time; these leave the reader as it is.
    public func startReading() throws(MediaError) {
        let (outputs, timeRange, threads, segments) = try state.withLock { state throws(MediaError) in
            guard !state.isCancelled else { throw MediaError(.cancelled, "cancelled", path: asset.displayName) }
            guard !state.isStarted else { throw MediaError(.invalidArgument, "reading was started already") }
            guard !state.outputs.isEmpty else { throw MediaError(.invalidArgument, "the reader has no outputs") }
            guard state.timeRange.isValid else {
                throw MediaError(.invalidArgument, "the time range is invalid: it ends before it begins")
            }
            state.isStarted = true
            let threads = state.threads > 0 ? state.threads : availableProcessors()
            let segments = SegmentSettings(
                bytes: state.segmentBytes, threads: min(threads, SegmentSettings.maximumThreads))
            return (state.outputs, state.timeRange, state.threads, state.decodesSegments ? segments : nil)
        }
        // Not under the lock: opening and seeking may take long, and must not keep anybody from cancelling.
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
            let (core, start) = try land(outputs, in: timeRange, threads: threads, segments)
            landed = core
            for (id, output) in outputs.enumerated() {
                try output.start(core, id: id, start, limits: asset.limits)
            }
            state.withLock { state in
                state.core = core
                if let misuse = state.misuse { _ = core.fail(misuse) }
                if state.isCancelled { core.cancel() }
            }
        } catch {
            let named = error.at(path: asset.displayName)
            // Outputs that were begun already have nothing to deliver.
            _ = landed?.fail(named)
            state.withLock { if named.code == .cancelled { $0.isCancelled = true } else { $0.error = named } }
            throw named
        }
    }

    /// Goes to the start of what is read.
    private func land(
        _ outputs: [TrackOutput], in timeRange: MediaTimeRange, threads: Int, _ segments: SegmentSettings?
    ) throws(MediaError) -> (DemuxSession, any PipelineMaker) {
        if let composition = asset.composition {
            let core = DemuxSession(
                named: asset.displayName, outputs: outputs.count, cancellation: cancellation, deadline: asset.deadline)
            let start = CompositionStart(
                composition: composition, core: core, timeRange: timeRange, threads: threads, cancellation: cancellation
            )
            return (core, start)
        }
        if let rendering = asset.rendering {
            let core = DemuxSession(
                named: asset.displayName, outputs: outputs.count, cancellation: cancellation, deadline: asset.deadline)
            let start = RenderingStart(
                rendering: rendering, core: core, timeRange: timeRange, threads: threads, cancellation: cancellation)
            return (core, start)
        }
        let landing = ReaderSeek(asset: asset, outputs: outputs, timeRange: timeRange, cancellation: cancellation)
        let (file, core, isFromStart) = try landing.land()
        let start = PipelineStart(
            file: file, contents: try asset.contents(), timeRange: timeRange, isFromStart: isFromStart,
            threads: threads, segments: segments)
        return (core, start)
    }

    /// How far reading has come.
    public var status: Status {
        state.withLock { state in
            if let core = state.core { return core.readerStatus }
            if state.isCancelled { return .cancelled }
            return state.error == nil ? .unknown : .failed
        }
    }

    /// What went wrong; `nil` unless ``status`` is failed.
    public var error: MediaError? { state.withLock { $0.error ?? $0.core?.error } }

    /// What could not be used so far.
    public var damage: DamageReport { state.withLock { $0.core?.damage } ?? DamageReport() }

    /// Ends reading: outputs that are being pulled, and all later pulls, fail as cancelled.
    ///
    /// From any thread, any number of times, before, during and after reading.
    public func cancelReading() {
        cancellation.cancel()
        state.withLock { state in
            state.isCancelled = true
            state.core?.cancel()
        }
    }
}

/// Brings a reader to the start of its time range: by a seek where the container's random access is exact, and by
/// reading from the file's start where it is not.
///
/// A seek is checked by the packets that follow it: an index of decode times can lead to a sync sample that is shown
/// after the time asked for, and then an earlier one is tried. Where the index may call pictures sync samples that are none
/// (``ContainerFormat``), the decoder is asked.
struct ReaderSeek {
    let asset: Asset
    let outputs: [TrackOutput]
    let timeRange: MediaTimeRange
    let cancellation: Cancellation

    /// How much earlier each further try begins.
    private static let stepsBack: [MediaTime] = [0, 1, 4, 16].map { MediaTime(value: $0, timescale: 1) }

    /// An open file at the right place, with the queues of its outputs, and whether that is the file's start.
    func land() throws(MediaError) -> (InputFile, DemuxSession, isFromStart: Bool) {
        let streams = outputs.map(\.track.index)
        let leadPlace = outputs.firstIndex { $0.track.mediaType == .video } ?? 0
        let lead = outputs[leadPlace]
        let contents = try asset.contents()
        var file = try asset.takeFile(cancellation)
        guard timeRange.start.isNumeric, timeRange.start > .zero, file.isSeekable, canSeek(contents.format) else {
            return (file, DemuxSession(file, streams: streams), true)
        }
        for step in Self.stepsBack {
            let target = outputs.map { timeRange.start - preRoll(of: $0.track) }.min() ?? timeRange.start
            let time = target - step + contents.origin(ofStream: lead.track.index)
            guard time > .zero, let ticks = time.ticks(in: lead.track.timeBase, rounding: .down),
                file.seek(stream: lead.track.index, to: ticks)
            else { break }
            let core = DemuxSession(file, streams: streams)
            guard try hasLanded(core, file) else { continue }
            guard lead.track.mediaType == .video, lead.track.formatDescriptions.first?.video?.reorders == true else {
                return (file, core, false)
            }
            // After a seek libavcodec may drop pictures until it has learnt their order: begin one sync sample earlier.
            guard let first = try core.peekPacket(for: leadPlace)?.packet.dts,
                file.seek(stream: lead.track.index, to: first &- 1)
            else { break }
            let earlier = DemuxSession(file, streams: streams)
            if try hasLanded(earlier, file) { return (file, earlier, false) }
        }
        file = try asset.takeFile(cancellation)
        return (file, DemuxSession(file, streams: streams), true)
    }

    private func canSeek(_ format: ContainerFormat) -> Bool {
        outputs.allSatisfy { output in
            guard output.track.mediaType == .audio, case .audio = output.settings else { return format.hasIndex }
            // Time stamps must be able to name every sample, or places after a seek are off by the rounding.
            guard format.isSampleExact, let rate = output.track.formatDescriptions.first?.audio?.sampleRate, rate > 0
            else { return false }
            let perSample = output.track.timeBase.multiplied(by: Rational(Int64(rate)))
            return perSample.map { $0.num == 1 } ?? false
        }
    }

    /// How much earlier decoding must begin for its first wanted sample to be what a decode from the start gives.
    private func preRoll(of track: AssetTrack) -> MediaTime {
        guard track.mediaType == .audio else { return .zero }
        // Half a second covers AAC's overlap, MP3's bit reservoir and Opus's 80 ms with a wide margin.
        return track.formatDescriptions.first?.codec.hasPrefix("pcm_") == true
            ? .zero : MediaTime(value: 1, timescale: 2)
    }

    /// Whether every output's first packet lies early enough.
    private func hasLanded(_ core: DemuxSession, _ file: InputFile) throws(MediaError) -> Bool {
        let contents = try asset.contents()
        let hasTrueSyncSamples = contents.format.hasTrueSyncSamples
        for (id, output) in outputs.enumerated() {
            let type = output.track.mediaType
            // Sparse tracks (text, data) may have nothing near the place.
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

    /// Whether a decoder that knows of nothing else makes a sync sample's picture of a packet.
    private func isSyncPicture(
        _ sample: CompressedSample, of track: AssetTrack, in file: InputFile
    ) throws(MediaError) -> Bool {
        var decoder = PacketDecoder(try Decoder.open(file, stream: track.index, threads: 1))
        guard try decoder.send(sample) == nil, try decoder.send(nil) == nil else { return false }
        if case .frame(let frame) = try decoder.receive() { return frame.isKey && !frame.isCorrupt }
        return false
    }
}
