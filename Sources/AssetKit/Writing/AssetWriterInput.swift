public import Dispatch
import LibAV
public import MediaBase
import Synchronization

/// What an ``AssetWriter`` writes of one track: `AVAssetWriterInput`.
///
/// Samples are appended in order of their times (stored ones: of decoding) by one thread at a time; different inputs may
/// be fed by different threads and in any order.
public final class AssetWriterInput: Sendable {
    /// What becomes of the samples.
    public enum Settings: Sendable, Hashable {
        /// They are written as they are.
        case stored
        /// Linear PCM is encoded.
        case audio(AudioOutputSettings)
        /// Pictures are encoded.
        case video(VideoOutputSettings)
    }

    /// What the track carries.
    public let mediaType: MediaType
    /// What becomes of the samples.
    public let settings: Settings
    /// How stored samples are coded; `nil` where the first sample tells.
    public let sourceFormatHint: FormatDescription?

    let state: Mutex<State>

    struct State {
        var header = TrackHeader()
        var stored = StoredWritingPipeline.StoredHint()
        var timescale: Int32 = 0
        var frameRate: Rational?
        var isRealTime = false
        var isTaken = false
        var hasAdaptor = false
        var isMarkedFinished = false
        var link: WriterLink?
    }

    private init(
        mediaType: MediaType, settings: Settings, hint: FormatDescription?, state: State
    ) {
        self.mediaType = mediaType
        self.settings = settings
        sourceFormatHint = hint
        self.state = Mutex(state)
    }

    /// An input whose stored samples are written as they are.
    ///
    /// - Parameters:
    ///   - mediaType: What they carry.
    ///   - sourceFormatHint: How they are coded, so that the header need not wait for the first one.
    public convenience init(mediaType: MediaType, sourceFormatHint: FormatDescription? = nil) {
        self.init(mediaType: mediaType, settings: .stored, hint: sourceFormatHint, state: State())
    }

    /// An input that takes the stored samples of an asset's track as they are, with its language, name, transform, pixel
    /// aspect, clean aperture and timecode.
    public convenience init(copying track: AssetTrack) {
        var state = State()
        state.copy(track)
        state.stored.parameters = track.codecParameters
        state.stored.timescale = track.naturalTimeScale
        state.stored.end = track.editedEnd
        state.stored.mediaDuration = track.tableDuration
        state.stored.frameRate = state.frameRate
        state.stored.sampleAspectRatio = track.formatDescriptions.first?.video?.sampleAspectRatio
        state.header.cleanAperture = track.formatDescriptions.first?.video?.cleanAperture
        state.header.dolbyVision = track.formatDescriptions.first?.video?.hdr?.dolbyVision
        self.init(
            mediaType: track.mediaType, settings: .stored, hint: track.formatDescriptions.first, state: state)
    }

    /// An input that encodes sound.
    ///
    /// - Parameters:
    ///   - audioSettings: How.
    ///   - track: Where its language, name and other facts come from.
    public convenience init(audioSettings: AudioOutputSettings, like track: AssetTrack? = nil) {
        var state = State()
        if let track { state.copy(track) }
        self.init(mediaType: .audio, settings: .audio(audioSettings), hint: nil, state: state)
    }

    /// An input that encodes pictures.
    ///
    /// - Parameters:
    ///   - videoSettings: How.
    ///   - track: Where its language, name, transform, timecode, frame rate and other facts come from.
    public convenience init(videoSettings: VideoOutputSettings, like track: AssetTrack? = nil) {
        var state = State()
        if let track {
            state.copy(track)
            state.timescale = track.naturalTimeScale
        }
        state.header.cleanAperture = videoSettings.cleanAperture
        state.header.hdr = videoSettings.hdr
        self.init(mediaType: .video, settings: .video(videoSettings), hint: nil, state: state)
    }
}

extension AssetWriterInput.State {
    /// Takes over what a track says of itself apart from its samples.
    fileprivate mutating func copy(_ track: AssetTrack) {
        let ownKeys: Set<String> = ["title", "timecode", "language", "creation_time", "encoder", "vendor_id"]
        // Matroska's figures on the stored bytes hold for those alone.
        let figures: Set<String> = ["bps", "duration", "number_of_frames", "number_of_bytes"]
        header.language = track.language
        header.name = track.metadata.first { $0.identifier == "title" }?.value.text
        header.creationTime = track.metadata.first { $0.identifier == "creation_time" }?.value.text
        header.metadata = track.metadata.filter { item in
            let key = item.identifier.lowercased()
            return !ownKeys.contains(key) && !figures.contains(key) && !key.hasPrefix("_statistics")
        }
        header.transform = track.preferredTransform
        header.timecode = track.mediaType == .video ? track.startTimecode : nil
        header.isEnabled = track.isEnabled
        header.dispositions = track.dispositions.filter { $0 != "attached_pic" && $0 != "timed_thumbnails" }
        frameRate = track.nominalFrameRate ?? track.averageFrameRate
    }
}

// MARK: - Before writing

extension AssetWriterInput {
    /// Changes what is said of the track; without effect once writing has started.
    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            if state.link == nil { body(&state) }
        }
    }

    /// The track's language, ISO 639-2.
    public var languageCode: String? {
        get { state.withLock { $0.header.language } }
        set { change { $0.header.language = newValue } }
    }

    /// The track's name.
    public var name: String? {
        get { state.withLock { $0.header.name } }
        set { change { $0.header.name = newValue } }
    }

    /// What else is said of the track.
    public var metadata: [MetadataItem] {
        get { state.withLock { $0.header.metadata } }
        set { change { $0.header.metadata = newValue } }
    }

    /// How pictures are turned for display.
    public var transform: DisplayTransform {
        get { state.withLock { $0.header.transform } }
        set { change { $0.header.transform = newValue } }
    }

    /// The first picture's timecode, `HH:MM:SS:FF` or `HH:MM:SS;FF`, which becomes a track of its own where the container
    /// has such; it needs a known frame rate.
    public var startTimecode: String? {
        get { state.withLock { $0.header.timecode } }
        set { change { $0.header.timecode = newValue } }
    }

    /// Whether the track is meant to be used without being asked for.
    public var isEnabled: Bool {
        get { state.withLock { $0.header.isEnabled } }
        set { change { $0.header.isEnabled = newValue } }
    }

    /// Ticks a second in which times of pictures are kept; 0, the default, for what the first one needs to be exact.
    public var mediaTimeScale: Int32 {
        get { state.withLock { $0.timescale } }
        set {
            change {
                $0.timescale = max(0, newValue)
                $0.stored.timescale = max(0, newValue)
            }
        }
    }

    /// Frames a second, for timecode and rate control; `nil` where the first picture's duration tells.
    public var nominalFrameRate: Rational? {
        get { state.withLock { $0.frameRate } }
        set {
            change {
                $0.frameRate = newValue
                $0.stored.frameRate = newValue
            }
        }
    }

    /// Whether samples come from something that cannot wait: more of them wait for the encoder then.
    public var expectsMediaDataInRealTime: Bool {
        get { state.withLock { $0.isRealTime } }
        set { change { $0.isRealTime = newValue } }
    }
}

// MARK: - While writing

extension AssetWriterInput {
    private var link: WriterLink? { state.withLock { $0.link } }

    private func started() throws(MediaError) -> WriterLink {
        guard let link else {
            throw MediaError(.invalidArgument, "samples are appended after the writer's session was started")
        }
        return link
    }

    /// Whether a sample that is appended would be taken at once.
    ///
    /// Never true before the session is started and after the input is finished.
    public var isReadyForMoreMediaData: Bool {
        state.withLock { !$0.isMarkedFinished ? $0.link : nil }?.isReady ?? false
    }

    /// Appends samples; blocks while the encoder has as many waiting as it may.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` before the session was started and after the input was
    ///   finished, and for samples of another kind; later calls tell what went wrong while encoding earlier samples.
    public func append(_ buffer: SampleBuffer) throws(MediaError) {
        let append: (SampleBuffer) throws(MediaError) -> Void = try open().append
        try append(buffer)
    }

    /// Appends samples, waiting without a thread while the encoder has as many waiting as it may.
    ///
    /// - Throws: as the other one does, and ``MediaError/Code-swift.struct/cancelled`` where the task is cancelled while it
    ///   waits; the samples are not appended then.
    public func append(_ buffer: SampleBuffer) async throws(MediaError) {
        try await open().append(buffer)
    }

    /// Where samples go as long as more may come.
    private func open() throws(MediaError) -> WriterLink {
        let link = try started()
        guard !state.withLock({ $0.isMarkedFinished }) else {
            throw MediaError(.invalidArgument, "the input was marked as finished")
        }
        return link
    }

    /// Calls `body` on a queue whenever the input is ready for more, until it is finished: it should append as long as
    /// ``isReadyForMoreMediaData``, and call ``markAsFinished()`` when it has no more.
    public func requestMediaDataWhenReady(on queue: DispatchQueue, using body: @escaping @Sendable () -> Void) {
        guard let link else { return }
        link.whenReady { [self] in
            queue.async {
                guard self.isReadyForMoreMediaData else { return }
                body()
                self.requestMediaDataWhenReady(on: queue, using: body)
            }
        }
    }

    /// Reports from where stored samples were written so far, those that are not shown included, on the source's time
    /// line; `nil` for inputs that encode, and before the first sample.
    package var storedFrom: MediaTime? { link?.storedFrom }

    /// Says that no sample follows; any number of times.
    public func markAsFinished() {
        let link = state.withLock { state in
            guard let link = state.link, !state.isMarkedFinished else { return WriterLink?.none }
            state.isMarkedFinished = true
            return link
        }
        link?.finish()
    }

    /// Gives the input to a writer; `false` where one has it already.
    func take() -> Bool {
        state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
    }
}
