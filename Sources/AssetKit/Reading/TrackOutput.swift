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
/// Only one thread may read an output at a time; several threads may read different outputs of a reader.
public final class TrackOutput: Sendable {
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
    private let digester: SoundDigester?

    private let state = Mutex(State())
    /// The session of the reader, separate from ``state``, which is locked while a buffer is made.
    private let started = Mutex<DemuxSession?>(nil)
    private let taken = Mutex(false)

    fileprivate struct State {
        var reader: DemuxSession?
        var id = 0
        var pipeline: (any SamplePipeline)?
        var isOver = false
        var origin = MediaTime.zero
        var timeRange = MediaTimeRange(start: .zero, duration: .positiveInfinity)
        var duration = MediaTime.indefinite
        var limits = MediaLimits()
        /// The start of the range that is read, and the latest time that ``limits`` allow from there.
        var begins = MediaTime.zero
        var latest = MediaTime.positiveInfinity
        var passesOverUndecodable = false
        var hasDelivered = false
        var undecodable: MediaError?
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
    public init(track: AssetTrack) {
        self.track = track
        digester = nil
        settings = .stored
    }

    /// Creates an output of linear PCM.
    public init(track: AssetTrack, audioSettings: AudioSettings) {
        self.track = track
        digester = nil
        settings = .audio(audioSettings)
    }

    /// Creates an output of linear PCM in the decoder's format, from which a digester extracts what is needed.
    package init(track: AssetTrack, digester: SoundDigester?) {
        self.track = track
        self.digester = digester
        settings = .audio(AudioSettings())
    }

    /// Creates an output of decoded video frames.
    public init(track: AssetTrack, videoSettings: VideoSettings) {
        self.track = track
        digester = nil
        settings = .video(videoSettings)
    }

    /// Throws if no more samples can be read: after a failure, a cancellation or the deadline.
    package func checkReading() throws(MediaError) {
        if let failure = state.withLock({ $0.reader })?.failure { throw failure }
    }

    /// Returns the next samples in presentation order, or in decode order for stored samples; `nil` at the end.
    ///
    /// Samples refer to the decoder's memory and are not copied. Blocks while reading and decoding.
    /// - Throws: The error of reading or decoding; the reader's ``AssetReader/status`` is then failed or cancelled.
    public func nextSampleBuffer() throws(MediaError) -> SampleBuffer? {
        try state.withLock { state throws(MediaError) in
            guard let reader = state.reader, let pipeline = state.pipeline else {
                throw MediaError(.invalidArgument, "the output belongs to no reader that was started")
            }
            if let failure = reader.failure { throw failure }
            guard !state.isOver else { return nil }
            let id = state.id
            let trackIndex = track.index
            let (timeBase, origin) = (track.timeBase, state.origin)
            let (end, decodes) = (state.timeRange.end, settings != .stored)
            func report(_ damage: PacketDecoder.Damage) {
                let range = damage.range(in: timeBase, from: origin)
                // The amount read beyond the end depends on the threads, and none of it is delivered.
                if let range, end.isNumeric, range.start >= end { return }
                reader.reportDamage(track: trackIndex, at: range)
            }
            let queue = PacketQueue(
                next: { () throws(MediaError) in
                    let sample = try reader.nextPacket(for: id)
                    // Damage in stored samples counts on delivery; packets to decode count at once, because others may
                    // depend on them.
                    if decodes, let damage = sample?.damage { report(damage) }
                    return sample
                }, reportDamage: report, ahead: { () throws(MediaError) in try reader.packetAhead(for: id) })
            do throws(MediaError) {
                guard let buffer = try pipeline.next(from: queue) else {
                    state.isOver = true
                    reader.outputEnded(id)
                    return nil
                }
                if buffer.presentationTime > state.latest, buffer.presentationTime.isNumeric,
                    let error = state.limits.error(
                        reading: MediaTimeRange(start: state.begins, end: buffer.presentationTime))
                {
                    throw error
                }
                state.hasDelivered = true
                return buffer
            } catch {
                guard state.passesOver(error) else { throw reader.fail(error) }
                reader.outputEnded(id)
                return nil
            }
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
    public var samplesCutBeforeZero: Int64 {
        state.withLock { ($0.pipeline as? AudioPipeline)?.samplesCutBeforeZero ?? 0 }
    }

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
                ? settings.impossibility : "a \(track.mediaType) track cannot be delivered as pictures"
        }
    }

    /// Indicates whether a reader has claimed the output; only one reader may do so.
    var isTaken: Bool { taken.withLock { $0 } }

    /// Claims the output for a reader; returns false if a reader already has it.
    func take() -> Bool {
        taken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
    }

    /// Prepares the output for reading.
    ///
    /// - Parameter limits: The limits that include the maximum duration to read.
    func start(
        _ reader: DemuxSession, id: Int, _ start: any PipelineMaker, limits: MediaLimits
    ) throws(MediaError) {
        try state.withLock { state throws(MediaError) in
            state.limits = limits
            state.begins = start.timeRange.start.isNumeric ? max(start.timeRange.start, .zero) : .zero
            state.latest = state.begins + MediaTime(value: Int64(clamping: limits.duration), timescale: 1)
            do throws(MediaError) {
                state.pipeline = try start.pipeline(for: track, settings, digester)
            } catch {
                guard state.passesOver(error) else { throw error }
                state.pipeline = NothingPipeline()
            }
            state.reader = reader
            state.id = id
            state.origin = start.origin(of: track)
            state.timeRange = start.timeRange
            state.duration = start.duration
        }
        started.withLock { $0 = reader }
    }
}

extension TrackOutput.State {
    /// Records an error that makes the track undecodable; returns true if such tracks are tolerated.
    fileprivate mutating func passesOver(_ error: MediaError) -> Bool {
        guard passesOverUndecodable, !hasDelivered, [.damaged, .unsupported].contains(error.code) else { return false }
        undecodable = error
        isOver = pipeline != nil
        return true
    }
}

/// The pipeline of a track that cannot be decoded.
private final class NothingPipeline: SamplePipeline {
    func next(from packets: PacketQueue) -> SampleBuffer? { nil }
}

/// Creates the pipelines of outputs when reading starts, for an open file or a composition.
protocol PipelineMaker: Sendable {
    /// Returns the container time of the presentation's zero for a track.
    func origin(of track: AssetTrack) -> MediaTime
    /// The requested part of the presentation.
    var timeRange: MediaTimeRange { get }
    /// The duration of the whole presentation.
    var duration: MediaTime { get }
    /// Returns the pipeline that makes the samples of an output.
    func pipeline(
        for track: AssetTrack, _ settings: TrackOutput.Settings, _ digester: SoundDigester?
    ) throws(MediaError) -> any SamplePipeline
}

/// A backing whose samples are made from those of other assets.
protocol ComposedBacking: AssetBacking {
    /// Returns what creates the pipelines of a reader's outputs.
    ///
    /// - Parameters:
    ///   - core: Receives the damage that is found in the sources.
    ///   - threads: The number of codec threads for each output.
    ///   - cancellation: Cancels the readers of the sources.
    func pipelines(
        for core: DemuxSession, in timeRange: MediaTimeRange, threads: Int, cancellation: Cancellation
    ) -> any PipelineMaker
}

/// Creates the pipelines for outputs of a file.
struct PipelineStart: PipelineMaker, Sendable {
    let file: InputFile
    let contents: AssetContents
    var duration: MediaTime { contents.duration }
    let timeRange: MediaTimeRange
    let isFromStart: Bool
    let threads: Int
    /// The settings for decoding audio in segments; `nil` for serial decoding.
    let segments: SegmentSettings?

    func origin(of track: AssetTrack) -> MediaTime { contents.origin(ofStream: track.index) }

    func pipeline(
        for track: AssetTrack, _ settings: TrackOutput.Settings, _ digester: SoundDigester?
    ) throws(MediaError) -> any SamplePipeline {
        let range = OutputRange(timeRange, trackEnd: track.editedEnd, grid: track.trimGrid)
        guard let format = track.formatDescriptions.first else {
            throw MediaError(.unsupported, "track \(track.index) has no format description")
        }
        switch settings {
        case .stored:
            // Edits define which samples are shown, not which samples exist.
            let range = OutputRange(timeRange, trackEnd: nil, grid: track.trimGrid)
            return PassthroughPipeline(
                track: track, format: format, origin: origin(of: track), range: range, limits: file.limits)
        case .audio(let settings):
            return try AudioPipeline(
                file, track: track, format: format, origin: origin(of: track), range: range, settings: settings,
                isFromStart: isFromStart, threads: threads, segments: segments, digester: digester)
        case .video(let settings):
            return try VideoPipeline(
                file, track: track, format: format, origin: origin(of: track), range: range, settings: settings,
                threads: threads)
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

    private func cancelReader() { started.withLock { $0 }?.cancel() }
}
