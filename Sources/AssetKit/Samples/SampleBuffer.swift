import LibAV
public import MediaBase

/// Some samples of a track with their times: `CMSampleBuffer`, but immutable.
///
/// It holds one picture, a run of sound, or one stored (compressed) sample, refers to libav's own memory, counted,
/// and may be shared between threads.
public final class SampleBuffer: Sendable {
    /// What the buffer holds.
    public enum Content: Sendable {
        /// A decoded picture.
        case picture(PixelBuffer)
        /// Decoded sound.
        case sound(AudioBuffer)
        /// A sample as the container stores it.
        case stored(CompressedSample)
    }

    /// The track that it is of: ``AssetTrack/index``.
    public let trackIndex: Int
    /// When its first sample is shown, on the presentation's time line; indefinite where a stored one does not say.
    public let presentationTime: MediaTime
    /// When it has to be decoded; `nil` for decoded samples, and where the container does not say.
    public let decodeTime: MediaTime?
    /// How long it is shown.
    ///
    /// A picture's lasts until the next one's presentation time.
    public let duration: MediaTime
    /// Whether decoding can start with it, or did.
    public let isSync: Bool
    /// What its samples are.
    public let formatDescription: FormatDescription
    /// What else is known of it.
    public let attachments: Attachments
    /// The samples.
    public let content: Content

    /// How stored samples are coded, for a writer that takes them as they are.
    let codecParameters: CodecParameters?

    /// What else is known of a sample buffer.
    public struct Attachments: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: UInt8
        /// Makes a set from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// The demuxer or the decoder saw damage in it.
        public static let isDamaged = Attachments(rawValue: 1)
        /// It is decoded for the sake of others, and not shown.
        public static let isNotShown = Attachments(rawValue: 2)
    }

    init(
        track: AssetTrack, presentationTime: MediaTime, decodeTime: MediaTime? = nil, duration: MediaTime, isSync: Bool,
        formatDescription: FormatDescription, attachments: Attachments = [], content: Content
    ) {
        trackIndex = track.index
        codecParameters = track.codecParameters
        self.presentationTime = presentationTime
        self.decodeTime = decodeTime
        self.duration = duration
        self.isSync = isSync
        self.formatDescription = formatDescription
        self.attachments = attachments
        self.content = content
    }

    init(
        ofTrack index: Int = 0, presentationTime: MediaTime, decodeTime: MediaTime? = nil, duration: MediaTime,
        isSync: Bool = true, formatDescription: FormatDescription, codecParameters: CodecParameters? = nil,
        content: Content
    ) {
        trackIndex = index
        self.codecParameters = codecParameters
        self.presentationTime = presentationTime
        self.decodeTime = decodeTime
        self.duration = duration
        self.isSync = isSync
        self.formatDescription = formatDescription
        attachments = []
        self.content = content
    }

    /// The same samples as part of another track, at another time.
    init(_ buffer: SampleBuffer, ofTrack index: Int, presentationTime: MediaTime, duration: MediaTime) {
        trackIndex = index
        codecParameters = buffer.codecParameters
        self.presentationTime = presentationTime
        decodeTime = nil
        self.duration = duration
        isSync = buffer.isSync
        formatDescription = buffer.formatDescription
        attachments = buffer.attachments
        content = buffer.content
    }

    /// The same stored sample, decoded at another time.
    convenience init(_ buffer: SampleBuffer, decodeTime: MediaTime) {
        self.init(
            buffer, ofTrack: buffer.trackIndex, presentationTime: buffer.presentationTime, decodeTime: decodeTime,
            duration: buffer.duration, isShown: true)
    }

    /// The same moment with another picture.
    convenience init(_ buffer: SampleBuffer, picture: PixelBuffer) {
        self.init(
            buffer, ofTrack: buffer.trackIndex, presentationTime: buffer.presentationTime,
            decodeTime: buffer.decodeTime, duration: buffer.duration, isShown: true, content: .picture(picture))
    }

    /// Samples as part of another track, at other times.
    ///
    /// - Parameters:
    ///   - isShown: Whether it is more than what others need to be decoded.
    ///   - content: What it holds in its place; `nil` for the same.
    init(
        _ buffer: SampleBuffer, ofTrack index: Int, presentationTime: MediaTime, decodeTime: MediaTime?,
        duration: MediaTime, isShown: Bool, content: Content? = nil
    ) {
        trackIndex = index
        codecParameters = buffer.codecParameters
        self.presentationTime = presentationTime
        self.decodeTime = decodeTime
        self.duration = duration
        isSync = buffer.isSync
        formatDescription = buffer.formatDescription
        attachments = isShown ? buffer.attachments : buffer.attachments.union(.isNotShown)
        self.content = content ?? buffer.content
    }

    /// The picture; `nil` for other content.
    public var pixelBuffer: PixelBuffer? {
        if case .picture(let picture) = content { picture } else { nil }
    }

    /// The sound; `nil` for other content.
    public var audioBuffer: AudioBuffer? {
        if case .sound(let sound) = content { sound } else { nil }
    }

    /// The stored sample; `nil` for other content.
    public var storedSample: CompressedSample? {
        if case .stored(let sample) = content { sample } else { nil }
    }

    /// From its presentation time to the end of its duration.
    public var timeRange: MediaTimeRange { MediaTimeRange(start: presentationTime, duration: duration) }
}

/// One sample as the container stores it, usually compressed.
public final class CompressedSample: Sendable {
    let packet: Packet

    init(_ packet: consuming Packet) { self.packet = packet }

    /// How many bytes it has.
    public var size: Int { packet.size }

    /// Where it lies in the file; `nil` where the demuxer does not say.
    public var filePosition: Int64? { packet.position }

    /// Lends the bytes.
    public func withBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
        try packet.withBytes(body)
    }
}

// Samples that do not come from a file.

extension AudioBuffer {
    /// Makes a run of sound whose samples `fill` writes.
    ///
    /// - Parameters:
    ///   - sampleCount: Samples in each channel; at least one.
    ///   - sampleFormat: How a sample is stored.
    ///   - isPlanar: Whether each channel lies by itself.
    ///   - sampleRate: Samples of a channel a second.
    ///   - channelLayout: Which channels.
    ///   - fill: Called once for each plane with its bytes, which are zero at first: one plane a channel where
    ///     `isPlanar`, else one with all channels sample by sample, in the machine's byte order.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for a form that makes no sense.
    public convenience init(
        sampleCount: Int, sampleFormat: SampleFormat, isPlanar: Bool = false, sampleRate: Int,
        channelLayout: ChannelLayout, fill: (_ plane: Int, inout MutableRawSpan) -> Void
    ) throws(MediaError) {
        let frame = try Frame.sound(
            sampleCount, format: sampleFormat, isPlanar: isPlanar, sampleRate: sampleRate,
            channelLayout: channelLayout, fill: fill)
        self.init(whole: frame, sampleFormat: sampleFormat, isPlanar: isPlanar)
    }

    /// Makes a run of interleaved 16-bit sound.
    ///
    /// - Parameters:
    ///   - samples: All channels of the first moment, then of the next; what is over at the end is left out.
    ///   - sampleRate: Samples of a channel a second.
    ///   - channelLayout: Which channels.
    public convenience init(
        interleaved samples: [Int16], sampleRate: Int, channelLayout: ChannelLayout
    ) throws(MediaError) {
        let count = samples.count / max(1, channelLayout.channels)
        try self.init(
            sampleCount: count, sampleFormat: .int16, sampleRate: sampleRate, channelLayout: channelLayout
        ) { _, span in
            for place in 0..<min(samples.count, span.byteCount / 2) {
                span.storeBytes(of: samples[place], toByteOffset: place * 2, as: Int16.self)
            }
        }
    }
}

extension SampleBuffer {
    /// Makes a buffer of sound that is heard from a time on.
    public convenience init(sound: AudioBuffer, presentationTime: MediaTime) {
        let format = AudioFormat(
            sampleRate: sound.sampleRate, channelLayout: sound.channelLayout, sampleFormat: sound.sampleFormat,
            isPlanar: sound.isPlanar)
        self.init(
            presentationTime: presentationTime,
            duration: MediaTime(value: Int64(sound.sampleCount), timescale: Int32(clamping: sound.sampleRate)),
            formatDescription: FormatDescription(mediaType: .audio, codec: "pcm", audio: format),
            content: .sound(sound))
    }

    /// Makes a buffer of one picture that is on screen from a time on.
    ///
    /// - Parameters:
    ///   - picture: The picture; not copied.
    ///   - presentationTime: From when on.
    ///   - duration: How long; indefinite for as long as until the next picture.
    public convenience init(
        picture: PixelBuffer, presentationTime: MediaTime, duration: MediaTime = .indefinite
    ) {
        let format = VideoFormat(
            encodedSize: picture.dimensions, sampleAspectRatio: picture.sampleAspectRatio,
            pixelFormat: picture.pixelFormat, color: picture.color)
        self.init(
            presentationTime: presentationTime, duration: duration,
            formatDescription: FormatDescription(mediaType: .video, codec: "rawvideo", video: format),
            content: .picture(picture))
    }

    /// Makes a buffer of one stored (compressed) sample.
    ///
    /// - Parameters:
    ///   - bytes: The sample as the container is to hold it; copied.
    ///   - formatDescription: How it is coded, with the codec's own header.
    ///   - presentationTime: When it is shown or heard.
    ///   - decodeTime: When it has to be decoded; `nil` where that is the order of presentation.
    ///   - duration: How long.
    ///   - isSync: Whether it can be decoded without those before it.
    public convenience init(
        stored bytes: [UInt8], formatDescription: FormatDescription, presentationTime: MediaTime,
        decodeTime: MediaTime? = nil, duration: MediaTime, isSync: Bool
    ) throws(MediaError) {
        let packet = try Packet.copying(bytes)
        self.init(
            presentationTime: presentationTime, decodeTime: decodeTime ?? presentationTime, duration: duration,
            isSync: isSync, formatDescription: formatDescription, content: .stored(CompressedSample(packet)))
    }
}
