import LibAV
public import MediaBase
import Threading

/// Delivers the samples of one track of an ``AssetReader``: `AVAssetReaderTrackOutput`.
///
/// ```swift
/// let reader = try AssetReader(asset: asset)
/// let output = TrackOutput(track: track, audioSettings: AudioSettings(sampleFormat: .int16))
/// try reader.add(output)
/// try reader.startReading()
/// while let buffer = try output.nextSampleBuffer() { … }
/// ```
///
/// To read a single track, ``Asset/samples(of:as:in:)`` does this in one line.
///
/// Only one thread may read an output at a time; several threads may read different outputs of a reader.
public final class TrackOutput: ReaderOutput, @unchecked Sendable {
    /// The form in which samples are delivered.
    public enum Settings: Sendable, Hashable {
        /// Stored samples, unchanged and in decode order.
        case stored
        /// Linear PCM.
        case audio(AudioSettings)
        /// Decoded video frames.
        case video(VideoSettings)
    }

    /// The track that is read.
    public let track: AssetTrack
    /// The form in which samples are delivered.
    public let settings: Settings
    private let reduction: (any AudioReduction)?

    /// The state that other threads may look at while a buffer is made; locked only for that.
    let state = Mutex(State())
    let read = Confined(Read())

    struct State {
        /// True once a reader has claimed the output.
        var isTaken = false
        var session: DemuxSession?
        var timeRange = MediaTimeRange(start: .zero, duration: .positiveInfinity)
        var duration = MediaTime.indefinite
        var passesOverUndecodable = false
        var undecodable: MediaError?
        var samplesCutBeforeZero: Int64 = 0
        var supportsRandomAccess = false
        var timePitchAlgorithm = AudioTimePitchAlgorithm.spectral
        /// True if no further time ranges follow.
        var isConfigurationFinal = false
    }

    struct Read {
        var session: DemuxSession?
        var id = 0
        var pipeline: (any SamplePipeline)?
        var isOver = false
        var origin = MediaTime.zero
        /// The range that is read, and the latest time that ``limits`` allow from its start.
        var timeRange = MediaTimeRange(start: .zero, duration: .positiveInfinity)
        var latest = MediaTime.positiveInfinity
        var limits = MediaLimits()
        var hasDelivered = false
        /// Opens the asset once more for further time ranges; `nil` before reading starts.
        var opener: RangeOpener?
        /// The further time ranges that are being read.
        var further: FurtherRanges?
        /// True if the session knows that the output has ended.
        var hasEnded = false
    }

    /// Creates an output of stored samples, the only kind for text, subtitle, caption, timecode and data tracks.
    ///
    /// For a time range, these are the samples shown in it and those that must be decoded for them, which are marked as
    /// ``SampleBuffer/Attachments/isNotShown``: video starts with the sync sample before the range's start. A frame
    /// that is on screen at the start lasts until the next one, whatever duration the file states. If an edit list has
    /// several parts that continue each other, each sample is delivered once. If a frame is stored as two fields with
    /// start codes, as in transport streams, both fields form one sample.
    ///
    /// For a composition, these are the samples of its segments, at the composition's times. All segments must have the
    /// same coding and normal speed, and each segment but the first must start with a sample that needs no other.
    /// Otherwise reading throws an error that names the segment. Samples outside the first or last segment that it
    /// needs are marked as not shown.
    public convenience init(track: AssetTrack) { self.init(track: track, settings: .stored) }

    /// Creates an output of linear PCM.
    public convenience init(track: AssetTrack, audioSettings: AudioSettings) {
        self.init(track: track, settings: .audio(audioSettings))
    }

    /// Creates an output of linear PCM in the decoder's format, which reducers see in place of the consumer where the
    /// audio is decoded in chunks; read it by ``nextAudio(reducedTo:)``.
    package init<Partial>(track: AssetTrack, reducedBy makeReducer: @escaping MakeAudioReducer<Partial>) {
        self.track = track
        reduction = Reduction(makeReducer)
        settings = .audio(AudioSettings())
    }

    /// Creates an output of decoded video frames.
    public convenience init(track: AssetTrack, videoSettings: VideoSettings) {
        self.init(track: track, settings: .video(videoSettings))
    }

    /// Creates an output of samples in any form.
    package init(track: AssetTrack, settings: Settings) {
        self.track = track
        reduction = nil
        self.settings = settings
    }

    /// The output itself.
    public override var trackOutputs: [TrackOutput] { [self] }

    /// Throws if no more samples can be read: after a failure, a cancellation or the deadline.
    package func checkReading() throws(MediaError) {
        if let failure = state.withLock({ $0.session })?.failure { throw failure }
    }

    /// Ends reading with an error that did not come from the file, and returns the error to throw.
    func failed(_ error: MediaError) -> MediaError { state.withLock { $0.session }?.fail(error) ?? error }

    /// Counts a part of the track as damaged.
    func reportDamage(at range: MediaTimeRange) {
        state.withLock { $0.session }?.reportDamage(track: track.index, at: range)
    }

    /// The damage that the output's reader has found so far; empty before reading starts.
    public var damage: DamageReport { state.withLock { $0.session }?.damage ?? DamageReport() }

    /// Returns the next samples in presentation order, or in decode order for stored samples; `nil` at the end.
    ///
    /// Samples refer to the decoder's memory and are not copied. Blocks while reading and decoding.
    /// - Throws: The error of reading or decoding; the reader's ``AssetReader/status`` is then failed or cancelled.
    public override func nextSampleBuffer() throws(MediaError) -> SampleBuffer? {
        try next(
            at: { $0.presentationTime }, { pipeline, packets throws(MediaError) in try pipeline.next(from: packets) },
            again: { output throws(MediaError) in try output.nextSampleBuffer() })
    }

    /// Returns the next audio of an output with reducers that give `Partial`; `nil` at the end.
    package func nextAudio<Partial>(
        reducedTo type: Partial.Type
    ) throws(MediaError) -> DeliveredSamples<Partial>? {
        let audio = try nextRun()
        switch audio {
        case nil: return nil
        case .samples(let buffer): return .samples(buffer)
        case .reduced(let run, let time):
            guard let partial = (reduction as? Reduction<Partial>)?.take(run.partial) else {
                throw MediaError(.invalidArgument, "the output's reducers give no \(type)")
            }
            return .reduced(ReducedAudio(partial, of: run, at: time))
        }
    }

    private func nextRun() throws(MediaError) -> PipelineAudio? {
        try next(
            at: { $0.presentationTime },
            { pipeline, packets throws(MediaError) in try pipeline.nextAudio(from: packets) },
            again: { output throws(MediaError) in try output.nextRun() })
    }

    /// Returns what a pipeline makes next, or an output that reads a further time range.
    private func next<Value>(
        at time: (Value) -> MediaTime,
        _ next: (any SamplePipeline, PacketQueue) throws(MediaError) -> Value?,
        again: (TrackOutput) throws(MediaError) -> Value?
    ) throws(MediaError) -> Value? {
        try read.use { read throws(MediaError) in
            guard let session = read.session, let pipeline = read.pipeline else {
                throw MediaError(.invalidArgument, "the output belongs to no reader that was started")
            }
            if let failure = session.failure { throw failure }
            if read.further != nil { return try self.next(ofRanges: &read, session, again) }
            guard !read.isOver else { return nil }
            let queue = packets(for: read, of: session)
            do throws(MediaError) {
                let value = try next(pipeline, queue)
                if pipeline.samplesCutBeforeZero > 0 {
                    state.withLock { $0.samplesCutBeforeZero = pipeline.samplesCutBeforeZero }
                }
                guard let value else {
                    end(&read, session)
                    return nil
                }
                let time = time(value)
                if time > read.latest, time.isNumeric {
                    let start = read.timeRange.start.isNumeric ? max(read.timeRange.start, .zero) : .zero
                    let range = MediaTimeRange(start: start, end: time)
                    if let error = read.limits.error(reading: range) { throw error }
                }
                read.hasDelivered = true
                return value
            } catch {
                guard !read.hasDelivered, passesOver(error) else { throw session.fail(error) }
                end(&read, session)
                return nil
            }
        }
    }

    /// Returns another output of the same kind, which no reader has.
    func another() -> TrackOutput {
        let output = TrackOutput(track: track, settings: settings, reduction: reduction)
        output.audioTimePitchAlgorithm = audioTimePitchAlgorithm
        return output
    }

    /// The algorithm for segments of a composition whose audio plays faster or slower; ``AudioTimePitchAlgorithm/spectral``
    /// by default.
    ///
    /// Set it before reading starts; later it has no effect.
    public var audioTimePitchAlgorithm: AudioTimePitchAlgorithm {
        get { state.withLock { $0.timePitchAlgorithm } }
        set { state.withLock { $0.timePitchAlgorithm = newValue } }
    }

    private init(track: AssetTrack, settings: Settings, reduction: (any AudioReduction)?) {
        (self.track, self.settings, self.reduction) = (track, settings, reduction)
    }

    private func packets(for read: Read, of session: DemuxSession) -> PacketQueue {
        let (id, trackIndex, timeBase, origin) = (read.id, track.index, track.timeBase, read.origin)
        let (end, decodes) = (read.timeRange.end, settings != .stored)
        func report(_ damage: PacketDecoder.Damage) {
            let range = damage.range(in: timeBase, from: origin)
            // The amount read beyond the end depends on the threads, and none of it is delivered.
            if let range, end.isNumeric, range.start >= end { return }
            session.reportDamage(track: trackIndex, at: range)
        }
        return PacketQueue(
            next: { () throws(MediaError) in
                let sample = try session.nextPacket(for: id)
                // Damage in stored samples counts on delivery; packets to decode count at once, because others may
                // depend on them.
                if decodes, let damage = sample?.damage { report(damage) }
                return sample
            }, reportDamage: report, ahead: { () throws(MediaError) in try session.packetAhead(for: id) })
    }

    /// Records an error that makes the track undecodable; returns true if such tracks are tolerated.
    private func passesOver(_ error: MediaError) -> Bool {
        guard [.damaged, .unsupported].contains(error.code) else { return false }
        return state.withLock { state in
            if state.passesOverUndecodable { state.undecodable = error }
            return state.passesOverUndecodable
        }
    }

    /// Indicates whether an undecodable track counts as one without samples; set it before reading.
    package var passesOverUndecodable: Bool {
        get { state.withLock { $0.passesOverUndecodable } }
        set { state.withLock { $0.passesOverUndecodable = newValue } }
    }

    /// The reason why the track cannot be decoded, if such tracks are tolerated.
    package var undecodable: MediaError? { state.withLock { $0.undecodable } }

    /// The number of audio samples before time 0 that were omitted so far.
    ///
    /// These are the encoder's priming and samples that an edit list hides. The number is valid only for reading from
    /// the file's start.
    public var samplesCutBeforeZero: Int64 { state.withLock { $0.samplesCutBeforeZero } }

    /// The part of the presentation that the started reader reads.
    var timeRange: MediaTimeRange { state.withLock { $0.timeRange } }

    /// The duration of the started reader's asset; indefinite if unknown.
    var assetDuration: MediaTime { state.withLock { $0.duration } }

    /// The reason why the track cannot be delivered in this form; `nil` if it can.
    var impossibility: String? {
        switch settings {
        case .stored: nil
        case .audio(let settings):
            track.mediaType == .audio
                ? settings.impossibility : "a \(track.mediaType) track cannot be delivered as linear PCM"
        case .video(let settings):
            track.mediaType == .video
                ? settings.impossibility : "a \(track.mediaType) track cannot be delivered as video frames"
        }
    }

    /// Indicates whether a reader has claimed the output; only one reader may do so.
    var isTaken: Bool { state.withLock { $0.isTaken } }

    /// Claims the output for a reader; returns false if a reader already has it.
    func take() -> Bool {
        state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
    }

    /// Prepares the output for reading.
    ///
    /// - Parameter opener: Opens the asset once more for further time ranges.
    func start(
        _ session: DemuxSession, id: Int, _ start: any PipelineMaker, _ opener: RangeOpener
    ) throws(MediaError) {
        let limits = opener.asset.limits
        var settings = settings
        if case .audio(var audio) = settings {
            audio.timePitchAlgorithm = audioTimePitchAlgorithm
            settings = .audio(audio)
        }
        try read.use { [settings] read throws(MediaError) in
            (read.limits, read.opener) = (limits, opener)
            read.timeRange = start.timeRange
            let begins = start.timeRange.start.isNumeric ? max(start.timeRange.start, .zero) : .zero
            read.latest = begins + MediaTime(value: Int64(clamping: limits.duration), timescale: 1)
            do throws(MediaError) {
                read.pipeline = try start.pipeline(for: track, settings, reduction)
            } catch {
                guard passesOver(error) else { throw error }
                read.pipeline = NothingPipeline()
            }
            (read.session, read.id, read.origin) = (session, id, start.origin(of: track))
        }
        state.withLock { state in
            state.session = session
            state.timeRange = start.timeRange
            state.duration = start.duration
        }
    }
}

extension TrackOutput {
    /// The samples as an asynchronous sequence, which reads on a thread outside Swift's cooperative pool.
    ///
    /// Cancelling the iterating task cancels the reader.
    public var sampleBuffers: SampleBufferSequence { SampleBufferSequence(output: self) }

    /// An asynchronous sequence of one output's sample buffers, in the order of ``TrackOutput/nextSampleBuffer()``.
    public struct SampleBufferSequence: AsyncSequence, Sendable {
        let output: TrackOutput

        /// Returns an iterator that starts reading, or continues at the current position.
        public func makeAsyncIterator() -> Iterator { Iterator(output: output) }

        /// An iterator that reads one buffer at a time.
        public struct Iterator: AsyncIteratorProtocol {
            let output: TrackOutput

            /// Returns the next sample buffer; `nil` at the end.
            public func next(isolation: isolated (any Actor)?) async throws(MediaError) -> SampleBuffer? {
                let output = output
                return try await offload(onCancel: { output.cancelReader() }) { () throws(MediaError) in
                    try output.nextSampleBuffer()
                }
            }
        }
    }

    /// Cancels the reader that the output belongs to.
    func cancelReader() { state.withLock { $0.session }?.cancel() }
}
