import Dispatch
import ISOMedia
import LibAV
public import MediaBase
import Threading

/// Feeds one track of an ``AssetWriter``: `AVAssetWriterInput`.
///
/// Samples are appended in presentation order, stored samples in decode order, by one thread at a time. Different
/// inputs may be fed by different threads and in any order.
public final class AssetWriterInput: Sendable {
    /// The treatment of the samples.
    public enum Settings: Sendable, Hashable {
        /// Samples are written unchanged.
        case stored
        /// Linear PCM is encoded.
        case audio(AudioOutputSettings)
        /// Video frames are encoded.
        case video(VideoOutputSettings)
    }

    /// The media type of the track.
    public let mediaType: MediaType
    /// The treatment of the samples.
    public let settings: Settings
    /// The format of the samples that will be appended; `nil` to take it from the first sample.
    public let sourceFormatHint: FormatDescription?

    let state: Mutex<State>

    struct State {
        var header = TrackHeader()
        var associations: [Association] = []
        var stored = StoredHint()
        var timescale: Int32 = 0
        var frameRate: Rational?
        var isRealTime = false
        var beginsWithSyncSample = true
        var isTaken = false
        var hasAdaptor = false
        var phase = Phase.open
        var isMarkedFinished = false
        /// The callback that is invoked when there is room for samples; `nil` if none is registered.
        var request: MediaRequest?
        /// The error for a property that was set too late; the next throwing call throws it.
        var misuse: MediaError?
    }

    /// A reference of a track to another.
    struct Association: Sendable {
        /// The four characters of the reference's type.
        let type: String
        /// The input of the other track.
        let input: ObjectIdentifier
    }

    /// Properties of a track that are known before its first sample.
    struct StoredHint: Sendable {
        var parameters: CodecParameters?
        var timescale: Int32 = 0
        var frameRate: Rational?
        var sampleAspectRatio: Rational?
        /// The time at which an edit list ends the track; `nil` for the last sample's end.
        var end: MediaTime?
        /// The total duration of the source's samples, from which the last sample's duration follows; demuxers often
        /// guess it.
        var mediaDuration: MediaTime?
        /// The source's description of text, timecode or data; `nil` if the source is not an MP4 or QuickTime file.
        var carriage: Carriage?
        /// True if the samples are those of a track of an asset.
        var isCopy = false
    }

    /// The state of an input, independent of how samples are appended.
    enum Phase {
        /// Writing has not started; properties may be set.
        case open
        /// Writing has started, but the session has not.
        case started
        /// The session has started; samples are accepted, or refused after a failure or a cancellation.
        case writing(InputSession)
        /// Writing ended before the session started.
        case over(MediaError)
    }

    /// A callback for samples and the queue it runs on.
    final class MediaRequest: Sendable {
        let queue: DispatchQueue
        let body: @Sendable () -> Void

        init(queue: DispatchQueue, body: @escaping @Sendable () -> Void) {
            self.queue = queue
            self.body = body
        }
    }

    private init(
        mediaType: MediaType, settings: Settings, hint: FormatDescription?, state: State
    ) {
        self.mediaType = mediaType
        self.settings = settings
        sourceFormatHint = hint
        self.state = Mutex(state)
    }

    /// Creates an input that writes stored samples unchanged.
    ///
    /// - Parameters:
    ///   - mediaType: The media type of the samples.
    ///   - sourceFormatHint: The format of the samples, so that the header need not wait for the first sample.
    public convenience init(mediaType: MediaType, sourceFormatHint: FormatDescription? = nil) {
        self.init(mediaType: mediaType, settings: .stored, hint: sourceFormatHint, state: State())
    }

    /// Creates an input that copies the stored samples of an asset's track.
    ///
    /// The input takes over the track's language, name, transform, pixel aspect ratio, clean aperture and timecode. A
    /// track of text, timecode or data of an MP4 or QuickTime file keeps its sample description byte for byte, in
    /// MP4 and QuickTime files.
    public convenience init(copying track: AssetTrack) {
        var state = State()
        state.header = TrackHeader(of: track)
        state.frameRate = track.nominalFrameRate ?? track.averageFrameRate
        state.stored.parameters = track.codecParameters
        state.stored.timescale = track.naturalTimeScale
        state.stored.end = track.editedEnd
        state.stored.mediaDuration = track.tableDuration
        state.stored.frameRate = state.frameRate
        state.stored.carriage = track.carriage
        state.stored.isCopy = true
        state.stored.sampleAspectRatio = track.formatDescriptions.first?.video?.sampleAspectRatio
        state.header.cleanAperture = track.formatDescriptions.first?.video?.cleanAperture
        state.header.dolbyVision = track.formatDescriptions.first?.video?.hdr?.dolbyVision
        self.init(
            mediaType: track.mediaType, settings: .stored, hint: track.formatDescriptions.first, state: state)
    }

    /// Creates an input that encodes audio.
    ///
    /// - Parameters:
    ///   - audioSettings: The encoder settings.
    ///   - sourceFormatHint: The format of the audio that will be appended. It replaces the sample rate and the channel
    ///     layout where the settings have none, and ``AssetWriter/add(_:)`` checks that the encoder takes it.
    ///   - track: The track from which language, name and other properties are taken.
    public convenience init(
        audioSettings: AudioOutputSettings, sourceFormatHint: FormatDescription? = nil, like track: AssetTrack? = nil
    ) {
        var state = State()
        if let track { state.header = TrackHeader(of: track) }
        let settings = audioSettings.completed(from: sourceFormatHint?.audio)
        self.init(mediaType: .audio, settings: .audio(settings), hint: sourceFormatHint, state: state)
    }

    /// Creates an input that encodes video.
    ///
    /// - Parameters:
    ///   - videoSettings: The encoder settings.
    ///   - sourceFormatHint: The format of the frames that will be appended. It replaces the size, and for frames of that
    ///     size the pixel aspect ratio and the clean aperture, where the settings have none; ``AssetWriter/add(_:)``
    ///     checks that the encoder takes it.
    ///   - track: The track from which language, name, transform, timecode, frame rate and other properties are taken.
    public convenience init(
        videoSettings: VideoOutputSettings, sourceFormatHint: FormatDescription? = nil, like track: AssetTrack? = nil
    ) {
        let videoSettings = videoSettings.completed(from: sourceFormatHint?.video)
        var state = State()
        if let track {
            state.header = TrackHeader(of: track)
            state.frameRate = track.nominalFrameRate ?? track.averageFrameRate
            state.timescale = track.naturalTimeScale
        }
        state.header.cleanAperture = videoSettings.cleanAperture
        state.header.hdr = videoSettings.hdr
        self.init(mediaType: .video, settings: .video(videoSettings), hint: sourceFormatHint, state: state)
    }
}

// MARK: - Before writing

extension AssetWriterInput {
    /// Changes a property of the track; after writing has started, the next throwing call reports the misuse.
    private func change(_ property: String, _ body: (inout State) -> Void) {
        state.withLock { state in
            if case .open = state.phase {
                body(&state)
            } else {
                state.misuse = state.misuse ?? .setTooLate(property, before: "writing starts")
            }
        }
    }

    /// The track's language as an ISO 639-2 code.
    public var languageCode: String? {
        get { state.withLock { $0.header.language } }
        set { change("languageCode") { $0.header.language = newValue } }
    }

    /// The track's name.
    public var name: String? {
        get { state.withLock { $0.header.name } }
        set { change("name") { $0.header.name = newValue } }
    }

    /// The track's other metadata.
    public var metadata: [MetadataItem] {
        get { state.withLock { $0.header.metadata } }
        set { change("metadata") { $0.header.metadata = newValue } }
    }

    /// The transform that players apply to video frames for display.
    public var transform: PictureTransform {
        get { state.withLock { $0.header.transform } }
        set { change("transform") { $0.header.transform = newValue } }
    }

    /// The timecode of the first video frame, `HH:MM:SS:FF` or `HH:MM:SS;FF`.
    ///
    /// It becomes a separate track in containers that support timecode tracks. It requires a known frame rate.
    public var startTimecode: String? {
        get { state.withLock { $0.header.timecode } }
        set { change("startTimecode") { $0.header.timecode = newValue } }
    }

    /// Makes the track refer to that of another input of the same writer: `AVAssetWriterInput.addTrackAssociation`.
    ///
    /// QuickTime and MPEG-4 files store the reference (`tref`); other files store none. Set it before writing starts.
    ///
    /// - Parameters:
    ///   - input: The input of the other track.
    ///   - type: The type of the reference, four characters: `tmcd` to a timecode track, `cdsc` from timed metadata to
    ///     the track that it describes, `chap`, `sync` and others.
    public func addTrackAssociation(withTrackOf input: AssetWriterInput, type: String) {
        change("the association") { $0.associations.append(Association(type: type, input: ObjectIdentifier(input))) }
    }

    /// Indicates whether players use the track by default.
    public var isEnabled: Bool {
        get { state.withLock { $0.header.isEnabled } }
        set { change("isEnabled") { $0.header.isEnabled = newValue } }
    }

    /// The ticks per second in which video times are stored; 0, the default, derives them from the first frame's exact
    /// time.
    public var mediaTimeScale: Int32 {
        get { state.withLock { $0.timescale } }
        set {
            change("mediaTimeScale") {
                $0.timescale = max(0, newValue)
                $0.stored.timescale = max(0, newValue)
            }
        }
    }

    /// The frames per second, for timecode and rate control; `nil` to derive it from the first frame's duration.
    public var nominalFrameRate: Rational? {
        get { state.withLock { $0.frameRate } }
        set {
            change("nominalFrameRate") {
                $0.frameRate = newValue
                $0.stored.frameRate = newValue
            }
        }
    }

    /// Indicates whether the first stored sample of a video track must be a sync sample; true by default.
    ///
    /// Without one, players cannot decode the first frames. Set it to false to write a stream that has none, such as one
    /// with gradual refresh, or a recording that begins anywhere.
    public var beginsWithSyncSample: Bool {
        get { state.withLock { $0.beginsWithSyncSample } }
        set { change("beginsWithSyncSample") { $0.beginsWithSyncSample = newValue } }
    }

    /// Indicates whether samples come from a source that cannot wait; if true, more of them are queued for the encoder.
    public var expectsMediaDataInRealTime: Bool {
        get { state.withLock { $0.isRealTime } }
        set { change("expectsMediaDataInRealTime") { $0.isRealTime = newValue } }
    }
}

// MARK: - Calls from the writer

extension AssetWriterInput {
    /// Claims the input for a writer; returns false if a writer already has it.
    func take() -> Bool {
        state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
    }

    /// Marks the start of writing, which fixes the track's properties, and returns them.
    ///
    /// - Parameter inputs: All inputs of the writer.
    func start(among inputs: [AssetWriterInput]) -> TrackHeader {
        state.withLock { state in
            state.phase = .started
            var header = state.header
            header.references = state.associations.compactMap { association in
                let lane = inputs.firstIndex { ObjectIdentifier($0) == association.input }
                return lane.map { (association.type, $0) }
            }
            return header
        }
    }

    /// The reason why files of a type cannot hold the samples that the input copies; `nil` if there is none that is
    /// known.
    func reasonAgainst(_ fileType: MediaFileType) -> String? {
        let stored = state.withLock { $0.stored }
        guard settings == .stored, stored.isCopy else { return nil }
        return fileType.reasonAgainstDescribing(stored.carriage, mediaType: mediaType)
    }

    /// Connects the input to the muxer when the session starts.
    func join(_ core: MuxSession, lane: Int, session: SessionFacts) throws(MediaError) -> InputSession {
        let (link, isFinished) = try state.withLock { state throws(MediaError) in
            let pipeline: any EncodingPipeline
            switch settings {
            case .audio(let settings): pipeline = AudioEncodingPipeline(settings, session: session)
            case .video(let settings):
                pipeline = VideoEncodingPipeline(
                    settings, session: session, timescale: state.timescale, frameRate: state.frameRate)
            case .stored:
                pipeline = PassthroughWritingPipeline(mediaType: mediaType, session: session, hint: state.stored)
            }
            var checks = SampleChecks(
                mediaType, settings, codec: settings == .stored ? sourceFormatHint?.codec : nil, in: session.fileType)
            checks.needsSyncSample = state.beginsWithSyncSample
            let link = try InputSession(
                core: core, lane: lane, pipeline: pipeline, checks: checks, encodes: settings != .stored,
                isRealTime: state.isRealTime)
            state.phase = .writing(link)
            return (link, state.isMarkedFinished)
        }
        if isFinished { link.finish() }
        return link
    }

    /// Requests samples after the session has started for all inputs.
    func begin() { ask() }

    /// Ends the input if writing ends before the session starts.
    func end(_ error: MediaError) {
        state.withLock { state in
            if case .writing = state.phase { return }
            state.phase = .over(error)
        }
        ask()
    }

    /// Returns, once, the error for a property that was set too late.
    func takeMisuse() -> MediaError? { state.withLock { $0.misuse.take() } }
}

extension MediaError {
    /// Returns the error for a property that was set after it could take effect.
    static func setTooLate(_ property: String, before moment: String) -> MediaError {
        MediaError(.invalidArgument, "\(property) was set too late and is not changed; set it before \(moment)")
    }
}
