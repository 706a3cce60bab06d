import LibAV
public import MediaBase
import Threading

/// What an ``AssetReader`` delivers of one track: `AVAssetReaderTrackOutput`.
///
/// ```swift
/// let reader = try AssetReader(asset: asset)
/// let output = TrackOutput(track: track, audioSettings: AudioSettings(sampleFormat: .int16))
/// try reader.add(output)
/// try reader.startReading()
/// while let buffer = try output.nextSampleBuffer() { … }
/// ```
///
/// One thread reads an output at a time; several outputs of a reader may be read by several threads.
public final class TrackOutput: Sendable {
    /// What form samples are delivered in.
    public enum Settings: Sendable, Hashable {
        /// As the container stores them, untouched and in decode order.
        case stored
        /// As linear PCM.
        case audio(AudioSettings)
        /// As pictures.
        case video(VideoSettings)
    }

    /// The track that is read.
    public let track: AssetTrack
    /// What form samples are delivered in.
    public let settings: Settings
    private let digester: SoundDigester?

    private let state = Mutex(State())
    /// The reader apart from ``state``, which is locked while a buffer is made.
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
        /// From where the presentation is read, and the last moment that is no longer from there than ``limits`` allow.
        var begins = MediaTime.zero
        var latest = MediaTime.positiveInfinity
        var passesOverUndecodable = false
        var hasDelivered = false
        var undecodable: MediaError?
    }

    /// An output of stored samples; the only one that text, subtitle, caption, timecode and data tracks have.
    ///
    /// Of a time range they are those that are shown in it, and those that must be decoded for them, which are marked as
    /// ``SampleBuffer/Attachments/isNotShown``: video begins with the sync sample before the range's start. A picture that
    /// is on screen at the start lasts until the next one, whatever the file says of its duration. Where an edit list has
    /// several parts that continue each other, each sample comes once; where a frame is stored as two fields with start
    /// codes, as in transport streams, both are one sample.
    ///
    /// Of a composition they are those of its segments, at the composition's times, where all segments are coded alike and
    /// play at their own speed, and each but the first begins with a sample that needs no other; else reading throws an
    /// error that names the segment. Samples that the first or last segment needs from outside are marked as not shown.
    public init(track: AssetTrack) {
        self.track = track
        digester = nil
        settings = .stored
    }

    /// An output of linear PCM.
    public init(track: AssetTrack, audioSettings: AudioSettings) {
        self.track = track
        digester = nil
        settings = .audio(audioSettings)
    }

    /// An output of linear PCM as the decoder yields it, of which a digester takes what is needed.
    package init(track: AssetTrack, digester: SoundDigester?) {
        self.track = track
        self.digester = digester
        settings = .audio(AudioSettings())
    }

    /// An output of pictures.
    public init(track: AssetTrack, videoSettings: VideoSettings) {
        self.track = track
        digester = nil
        settings = .video(videoSettings)
    }

    /// Throws where nothing more can be read: after a failure, cancelling, or the deadline.
    package func checkReading() throws(MediaError) {
        if let failure = state.withLock({ $0.reader })?.failure { throw failure }
    }

    /// The next samples in presentation order (stored ones: in decode order); `nil` at the end.
    ///
    /// Samples refer to the decoder's memory and are not copied. Blocks for as long as reading and decoding take.
    /// - Throws: what fails; the reader's ``AssetReader/status`` is then failed, or cancelled.
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
                // How far beyond the end one reads depends on threads, and nothing of it is delivered.
                if let range, end.isNumeric, range.start >= end { return }
                reader.reportDamage(track: trackIndex, at: range)
            }
            let queue = PacketQueue(
                next: { () throws(MediaError) in
                    let sample = try reader.nextPacket(for: id)
                    // Stored samples count where they are delivered; those that are decoded may be needed by others.
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

    /// Whether a track of which nothing can be decoded counts as one without samples; set before reading.
    package var passesOverUndecodable: Bool {
        get { state.withLock { $0.passesOverUndecodable } }
        set { state.withLock { $0.passesOverUndecodable = newValue } }
    }

    /// Why nothing of the track can be decoded, where that is passed over.
    package var undecodable: MediaError? { state.withLock { $0.undecodable } }

    /// How many samples of sound before time 0 were left out so far.
    ///
    /// They are the encoder's priming, and what an edit list does not show. It tells of a read from the file's start.
    public var samplesCutBeforeZero: Int64 {
        state.withLock { ($0.pipeline as? AudioPipeline)?.samplesCutBeforeZero ?? 0 }
    }

    /// What part of the presentation the reader that was started reads.
    var timeRange: MediaTimeRange { state.withLock { $0.timeRange } }

    /// How long the asset of the reader that was started lasts; indefinite where that is not known.
    var assetDuration: MediaTime { state.withLock { $0.duration } }

    /// Why this form cannot be made of this track; `nil` where it can.
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

    /// Whether a reader has the output, which can be of one reader only.
    var isTaken: Bool { taken.withLock { $0 } }

    /// Gives the output to a reader; `false` where one has it already.
    func take() -> Bool {
        taken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
    }

    /// Makes the output ready to be read.
    ///
    /// - Parameter limits: How long what is read of the presentation may be.
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
    /// Keeps an error that means that there is nothing, where such are passed over.
    fileprivate mutating func passesOver(_ error: MediaError) -> Bool {
        guard passesOverUndecodable, !hasDelivered, [.damaged, .unsupported].contains(error.code) else { return false }
        undecodable = error
        isOver = pipeline != nil
        return true
    }
}

/// The pipeline of a track of which nothing can be decoded.
private final class NothingPipeline: SamplePipeline {
    func next(from packets: PacketQueue) -> SampleBuffer? { nil }
}

/// What is read, as outputs see it when they begin: an open file, or a composition.
protocol PipelineMaker: Sendable {
    /// The container's time that is the presentation's zero for a track.
    func origin(of track: AssetTrack) -> MediaTime
    /// What was asked for of the presentation.
    var timeRange: MediaTimeRange { get }
    /// How long all of it lasts.
    var duration: MediaTime { get }
    /// What makes the samples of an output.
    func pipeline(
        for track: AssetTrack, _ settings: TrackOutput.Settings, _ digester: SoundDigester?
    ) throws(MediaError) -> any SamplePipeline
}

/// What an output of a file needs to know to begin.
struct PipelineStart: PipelineMaker, Sendable {
    let file: InputFile
    let contents: AssetContents
    var duration: MediaTime { contents.duration }
    let timeRange: MediaTimeRange
    let isFromStart: Bool
    let threads: Int
    /// How sound is decoded in segments; `nil` for in one go.
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
            // Edits say what is shown of the samples, not which samples there are.
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
    /// The samples as an asynchronous sequence; read on a thread outside Swift's cooperative pool.
    ///
    /// Cancelling the task that iterates cancels the reader.
    public var sampleBuffers: SampleBufferSequence { SampleBufferSequence(output: self) }

    /// The sample buffers of one output, in the order of ``TrackOutput/nextSampleBuffer()``.
    public struct SampleBufferSequence: AsyncSequence, Sendable {
        let output: TrackOutput

        /// Begins, or goes on where reading stopped.
        public func makeAsyncIterator() -> Iterator { Iterator(output: output) }

        /// Reads one buffer at a time.
        public struct Iterator: AsyncIteratorProtocol {
            let output: TrackOutput

            /// The next sample buffer; `nil` at the end.
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
