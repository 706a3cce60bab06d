public import Dispatch
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
    /// The format of stored samples; `nil` to take it from the first sample.
    public let sourceFormatHint: FormatDescription?

    let state: Mutex<State>

    struct State {
        var header = TrackHeader()
        var stored = PassthroughWritingPipeline.StoredHint()
        var timescale: Int32 = 0
        var frameRate: Rational?
        var isRealTime = false
        var isTaken = false
        var hasAdaptor = false
        var phase = Phase.open
        var isMarkedFinished = false
        /// The callback that is invoked when there is room for samples; `nil` if none is registered.
        var request: MediaRequest?
        /// The error for a property that was set too late; the next throwing call throws it.
        var misuse: MediaError?
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
    /// The input takes over the track's language, name, transform, pixel aspect ratio, clean aperture and timecode.
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

    /// Creates an input that encodes audio.
    ///
    /// - Parameters:
    ///   - audioSettings: The encoder settings.
    ///   - track: The track from which language, name and other properties are taken.
    public convenience init(audioSettings: AudioOutputSettings, like track: AssetTrack? = nil) {
        var state = State()
        if let track { state.copy(track) }
        self.init(mediaType: .audio, settings: .audio(audioSettings), hint: nil, state: state)
    }

    /// Creates an input that encodes video.
    ///
    /// - Parameters:
    ///   - videoSettings: The encoder settings.
    ///   - track: The track from which language, name, transform, timecode, frame rate and other properties are taken.
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
    /// Copies the properties of a track except its samples.
    fileprivate mutating func copy(_ track: AssetTrack) {
        let ownKeys: Set<String> = ["title", "timecode", "language", "creation_time", "encoder", "vendor_id"]
        // Matroska's statistics describe the stored bytes only.
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
    public var transform: DisplayTransform {
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

    /// Indicates whether samples come from a source that cannot wait; if true, more of them are queued for the encoder.
    public var expectsMediaDataInRealTime: Bool {
        get { state.withLock { $0.isRealTime } }
        set { change("expectsMediaDataInRealTime") { $0.isRealTime = newValue } }
    }
}

// MARK: - While writing

extension AssetWriterInput {
    /// True while `append` returns or throws at once, without waiting for the encoder.
    ///
    /// Always false before the session starts and after the input is finished. True once writing has failed or was
    /// cancelled, so that loops that append while it is true reach an `append` that throws the error.
    public var isReadyForMoreMediaData: Bool {
        let phase = state.withLock { $0.isMarkedFinished ? nil : $0.phase }
        return switch phase {
        case .writing(let link): link.isReady
        case .over: true
        case .open, .started, nil: false
        }
    }

    /// Appends samples; blocks while the encoder's queue is full.
    ///
    /// Samples of an input have a fixed order. Audio follows the audio before it; an overlap of up to 10 ms, but no
    /// more than half of it, counts as rounding of times. Video frames are appended in rising presentation order,
    /// stored samples in decode order.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` before the session starts, after the input is
    ///   finished, and for samples of another kind, in another coding than the previous ones, or out of order.
    ///   ``MediaError/Code-swift.struct/unsupported`` for samples that the file cannot hold. Refused samples are not
    ///   written, and others may follow. Later calls throw errors from encoding earlier samples.
    public func appendNow(_ buffer: SampleBuffer) throws(MediaError) {
        let link = try open()
        do throws(MediaError) { try link.appendNow(buffer) } catch { throw told(error) }
    }

    /// Appends samples; waits without blocking a thread while the encoder's queue is full.
    ///
    /// - Throws: The errors of ``appendNow(_:)``, and ``MediaError/Code-swift.struct/cancelled`` if the task is
    ///   cancelled while it waits; the samples are then not appended.
    public func append(_ buffer: SampleBuffer) async throws(MediaError) {
        let link = try open()
        do throws(MediaError) { try await link.append(buffer) } catch { throw told(error) }
    }

    /// Returns the session to append to; throws if no more samples may be appended.
    private func open() throws(MediaError) -> InputSession {
        try state.withLock { state throws(MediaError) in
            if let misuse = state.misuse.take() { throw misuse }
            guard !state.isMarkedFinished else {
                throw MediaError(.invalidArgument, "the input was marked as finished")
            }
            switch state.phase {
            case .writing(let link): return link
            case .over(let error):
                state.request = nil
                throw error
            case .open, .started:
                throw MediaError(.invalidArgument, "samples are appended after the writer's session was started")
            }
        }
    }

    /// Removes the sample callback once a caller has received the error that ended writing, and returns the error.
    private func told(_ error: MediaError) -> MediaError {
        state.withLock { state in
            if case .writing(let link) = state.phase, link.isOver { state.request = nil }
        }
        return error
    }

    /// Calls `body` on a queue whenever the input is ready for more samples, until the input is finished.
    ///
    /// `body` should append while ``isReadyForMoreMediaData`` is true, and call ``markAsFinished()`` when no samples
    /// remain.
    ///
    /// The request may be made before the session starts; the first call follows the start. Once writing has failed or
    /// was cancelled, `body` is called one more time unless an `append` has already thrown the error. That way `body`
    /// always reaches an `append` that throws, and code that waits for its end does not wait for ever. A later request
    /// replaces this one.
    public func requestMediaDataWhenReady(on queue: DispatchQueue, using body: @escaping @Sendable () -> Void) {
        state.withLock { $0.request = MediaRequest(queue: queue, body: body) }
        ask()
    }

    /// Invokes the sample callback when there is room; every step that may make room calls this method.
    private func ask() {
        let (request, phase) = state.withLock { ($0.isMarkedFinished ? nil : $0.request, $0.phase) }
        guard let request else { return }
        switch phase {
        case .open, .started: break
        case .writing(let link): link.whenReady { [self] in request.queue.async { self.serve(request) } }
        case .over: request.queue.async { self.serve(request) }
        }
    }

    private func serve(_ request: MediaRequest) {
        let (isWanted, phase) = state.withLock { ($0.request === request && !$0.isMarkedFinished, $0.phase) }
        guard isWanted else { return }
        guard isReadyForMoreMediaData else { return ask() }
        let isLast =
            switch phase {
            case .writing(let link): link.isOver
            default: true
            }
        if isLast { state.withLock { $0.request = nil } }
        request.body()
        if !isLast { ask() }
    }

    /// The source time from which on stored samples, including hidden ones, were written so far.
    ///
    /// `nil` for inputs that encode, and before the first sample.
    package var storedFrom: MediaTime? {
        guard case .writing(let link) = state.withLock({ $0.phase }) else { return nil }
        return link.storedFrom
    }

    /// Marks the input as finished, so that no more samples follow; may be called any number of times.
    public func markAsFinished() {
        let link = state.withLock { state in
            guard !state.isMarkedFinished else { return InputSession?.none }
            state.isMarkedFinished = true
            state.request = nil
            guard case .writing(let link) = state.phase else { return nil }
            return link
        }
        link?.finish()
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
    func start() -> TrackHeader {
        state.withLock { state in
            state.phase = .started
            return state.header
        }
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
            let checks = SampleChecks(mediaType, settings, codec: sourceFormatHint?.codec, in: session.fileType)
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
