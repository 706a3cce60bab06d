public import Dispatch
import LibAV
public import MediaBase
import Threading

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
        var stored = PassthroughWritingPipeline.StoredHint()
        var timescale: Int32 = 0
        var frameRate: Rational?
        var isRealTime = false
        var isTaken = false
        var hasAdaptor = false
        var phase = Phase.open
        var isMarkedFinished = false
        /// Asks for samples whenever there is room; `nil` where nobody is to be asked.
        var request: MediaRequest?
        /// A property that was set too late, for the next call that can throw.
        var misuse: MediaError?
    }

    /// How far an input has come, whichever way its samples come.
    enum Phase {
        /// Writing has not started: properties may be set.
        case open
        /// Writing has started, the session has not.
        case started
        /// Samples are taken, or refused where writing has failed or was cancelled.
        case writing(InputSession)
        /// Writing ended before the session started.
        case over(MediaError)
    }

    /// What is called for samples, and where.
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
    /// Changes what is said of the track; once writing has started the next call that can throw says that it was too late.
    private func change(_ property: String, _ body: (inout State) -> Void) {
        state.withLock { state in
            if case .open = state.phase {
                body(&state)
            } else {
                state.misuse = state.misuse ?? .setTooLate(property, before: "writing starts")
            }
        }
    }

    /// The track's language, ISO 639-2.
    public var languageCode: String? {
        get { state.withLock { $0.header.language } }
        set { change("languageCode") { $0.header.language = newValue } }
    }

    /// The track's name.
    public var name: String? {
        get { state.withLock { $0.header.name } }
        set { change("name") { $0.header.name = newValue } }
    }

    /// What else is said of the track.
    public var metadata: [MetadataItem] {
        get { state.withLock { $0.header.metadata } }
        set { change("metadata") { $0.header.metadata = newValue } }
    }

    /// How pictures are turned for display.
    public var transform: DisplayTransform {
        get { state.withLock { $0.header.transform } }
        set { change("transform") { $0.header.transform = newValue } }
    }

    /// The first picture's timecode, `HH:MM:SS:FF` or `HH:MM:SS;FF`, which becomes a track of its own where the container
    /// has such; it needs a known frame rate.
    public var startTimecode: String? {
        get { state.withLock { $0.header.timecode } }
        set { change("startTimecode") { $0.header.timecode = newValue } }
    }

    /// Whether the track is meant to be used without being asked for.
    public var isEnabled: Bool {
        get { state.withLock { $0.header.isEnabled } }
        set { change("isEnabled") { $0.header.isEnabled = newValue } }
    }

    /// Ticks a second in which times of pictures are kept; 0, the default, for what the first one needs to be exact.
    public var mediaTimeScale: Int32 {
        get { state.withLock { $0.timescale } }
        set {
            change("mediaTimeScale") {
                $0.timescale = max(0, newValue)
                $0.stored.timescale = max(0, newValue)
            }
        }
    }

    /// Frames a second, for timecode and rate control; `nil` where the first picture's duration tells.
    public var nominalFrameRate: Rational? {
        get { state.withLock { $0.frameRate } }
        set {
            change("nominalFrameRate") {
                $0.frameRate = newValue
                $0.stored.frameRate = newValue
            }
        }
    }

    /// Whether samples come from something that cannot wait: more of them wait for the encoder then.
    public var expectsMediaDataInRealTime: Bool {
        get { state.withLock { $0.isRealTime } }
        set { change("expectsMediaDataInRealTime") { $0.isRealTime = newValue } }
    }
}

// MARK: - While writing

extension AssetWriterInput {
    /// True while `append` returns or throws at once, without waiting for the encoder.
    ///
    /// Never true before the session is started and after the input is finished. True once writing has failed or was
    /// cancelled, so that loops which append while it is true come to `append`, which throws what happened.
    public var isReadyForMoreMediaData: Bool {
        let phase = state.withLock { $0.isMarkedFinished ? nil : $0.phase }
        return switch phase {
        case .writing(let link): link.isReady
        case .over: true
        case .open, .started, nil: false
        }
    }

    /// Appends samples; blocks while the encoder has as many waiting as it may.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` before the session was started, after the input was
    ///   finished, and for samples that are of another kind, coded otherwise than those before, or out of order: sound
    ///   follows the sound before it (an overlap of up to 10 ms, but no more than half of it, is the rounding of times),
    ///   pictures come in rising order of presentation, stored samples in that of decoding. What is refused is not written, and
    ///   others may follow. ``MediaError/Code-swift.struct/unsupported`` for what the file cannot hold. Later calls tell
    ///   what went wrong while encoding earlier samples.
    public func append(_ buffer: SampleBuffer) throws(MediaError) {
        let link = try open()
        do throws(MediaError) {
            let append: (SampleBuffer) throws(MediaError) -> Void = link.append
            try append(buffer)
        } catch {
            throw told(error)
        }
    }

    /// Appends samples, waiting without a thread while the encoder has as many waiting as it may.
    ///
    /// - Throws: as the other one does, and ``MediaError/Code-swift.struct/cancelled`` where the task is cancelled while it
    ///   waits; the samples are not appended then.
    public func append(_ buffer: SampleBuffer) async throws(MediaError) {
        let link = try open()
        do throws(MediaError) { try await link.append(buffer) } catch { throw told(error) }
    }

    /// Where samples go as long as more may come.
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

    /// Whoever has been told that writing is over is not asked for samples any more.
    private func told(_ error: MediaError) -> MediaError {
        state.withLock { state in
            if case .writing(let link) = state.phase, link.isOver { state.request = nil }
        }
        return error
    }

    /// Calls `body` on a queue whenever the input is ready for more, until it is finished: it should append as long as
    /// ``isReadyForMoreMediaData``, and call ``markAsFinished()`` when it has no more.
    ///
    /// May be called before the session starts; the first call comes when it has started. Once writing has failed or was
    /// cancelled, `body` is called one more time unless an `append` has thrown that already: so it comes to an `append`
    /// that throws, and whoever waits for its end does not wait for ever. A later request takes the place of this one.
    public func requestMediaDataWhenReady(on queue: DispatchQueue, using body: @escaping @Sendable () -> Void) {
        state.withLock { $0.request = MediaRequest(queue: queue, body: body) }
        ask()
    }

    /// Has the request called when there is room; every step of the input that may make room comes through here.
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

    /// Reports from where stored samples were written so far, those that are not shown included, on the source's time
    /// line; `nil` for inputs that encode, and before the first sample.
    package var storedFrom: MediaTime? {
        guard case .writing(let link) = state.withLock({ $0.phase }) else { return nil }
        return link.storedFrom
    }

    /// Says that no sample follows; any number of times.
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

// MARK: - What its writer says

extension AssetWriterInput {
    /// Gives the input to a writer; `false` where one has it already.
    func take() -> Bool {
        state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
    }

    /// Writing starts: what the input says of its track holds from now on.
    func start() -> TrackHeader {
        state.withLock { state in
            state.phase = .started
            return state.header
        }
    }

    /// The session starts: joins the input to what the writer's inputs share.
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

    /// The session has started for all inputs.
    func begin() { ask() }

    /// Writing ends without the session having started.
    func end(_ error: MediaError) {
        state.withLock { state in
            if case .writing = state.phase { return }
            state.phase = .over(error)
        }
        ask()
    }

    /// A property that was set too late, told once.
    func takeMisuse() -> MediaError? { state.withLock { $0.misuse.take() } }
}

extension MediaError {
    /// What is told of a property that was set when it had no effect any more.
    static func setTooLate(_ property: String, before moment: String) -> MediaError {
        MediaError(.invalidArgument, "\(property) was set too late and is not changed; set it before \(moment)")
    }
}
