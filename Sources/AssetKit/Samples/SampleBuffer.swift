import LibAV
public import MediaBase

/// One or more samples of a track with their times: `CMSampleBuffer`, but immutable.
///
/// It holds one video frame, a run of audio, or one stored (compressed) sample. It refers to libav's own
/// reference-counted memory, and may be shared between threads.
public final class SampleBuffer: Sendable {
    /// The content of a buffer.
    public enum Content: Sendable {
        /// A decoded video frame.
        case picture(PixelBuffer)
        /// Decoded audio.
        case sound(AudioBuffer)
        /// A sample as stored by the container.
        case stored(CompressedSample)
    }

    /// The index of the track, ``AssetTrack/index``.
    public let trackIndex: Int
    /// The time of its first sample on the presentation timeline; indefinite if a stored sample does not state it.
    public let presentationTime: MediaTime
    /// The decode time; `nil` for decoded samples, or if the container does not state it.
    public let decodeTime: MediaTime?
    /// The duration of the presentation.
    ///
    /// A video frame lasts until the presentation time of the next one.
    public let duration: MediaTime
    /// True if decoding can start, or did start, with this sample.
    public let isSync: Bool
    /// The format of the samples.
    public let formatDescription: FormatDescription
    /// Further properties of the buffer.
    public let attachments: Attachments
    /// The samples.
    public let content: Content
    /// The values that were attached to the buffer, by key.
    public let attachedValues: [String: Attachment]

    /// The coding parameters of stored samples, for a writer that copies them unchanged.
    let codecParameters: CodecParameters?

    /// Further properties of a sample buffer.
    public struct Attachments: OptionSet, Sendable, Hashable {
        /// The raw bits of the set.
        public let rawValue: UInt8
        /// Creates a set from its raw bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// The demuxer or the decoder found damage in the buffer.
        public static let isDamaged = Attachments(rawValue: 1)
        /// The buffer is needed to decode others, and is not shown.
        public static let isNotShown = Attachments(rawValue: 2)
    }

    init(
        ofTrack index: Int = 0, presentationTime: MediaTime, decodeTime: MediaTime? = nil, duration: MediaTime,
        isSync: Bool = true, formatDescription: FormatDescription, codecParameters: CodecParameters? = nil,
        attachments: Attachments = [], content: Content, attachedValues: [String: Attachment] = [:]
    ) {
        trackIndex = index
        self.attachedValues = attachedValues
        self.codecParameters = codecParameters
        self.presentationTime = presentationTime
        self.decodeTime = decodeTime
        self.duration = duration
        self.isSync = isSync
        self.formatDescription = formatDescription
        self.attachments = attachments
        self.content = content
    }

    /// Creates a buffer of a file's track.
    convenience init(
        track: AssetTrack, presentationTime: MediaTime, decodeTime: MediaTime? = nil, duration: MediaTime, isSync: Bool,
        formatDescription: FormatDescription, attachments: Attachments = [], content: Content
    ) {
        self.init(
            ofTrack: track.index, presentationTime: presentationTime, decodeTime: decodeTime, duration: duration,
            isSync: isSync, formatDescription: formatDescription, codecParameters: track.codecParameters,
            attachments: attachments, content: content)
    }

    /// Creates a buffer like another; values that are `nil` are those of the other.
    ///
    /// - Parameter isShown: False if the samples are only needed to decode others.
    convenience init(
        _ buffer: SampleBuffer, ofTrack index: Int? = nil, presentationTime: MediaTime? = nil,
        decodeTime: MediaTime? = nil, duration: MediaTime? = nil, isShown: Bool = true, content: Content? = nil
    ) {
        self.init(
            ofTrack: index ?? buffer.trackIndex, presentationTime: presentationTime ?? buffer.presentationTime,
            decodeTime: decodeTime ?? buffer.decodeTime, duration: duration ?? buffer.duration, isSync: buffer.isSync,
            formatDescription: buffer.formatDescription, codecParameters: buffer.codecParameters,
            attachments: isShown ? buffer.attachments : buffer.attachments.union(.isNotShown),
            content: content ?? buffer.content, attachedValues: buffer.attachedValues.filter(\.value.propagates))
    }

    /// The video frame; `nil` for other content.
    public var pixelBuffer: PixelBuffer? {
        if case .picture(let picture) = content { picture } else { nil }
    }

    /// The audio; `nil` for other content.
    public var audioBuffer: AudioBuffer? {
        if case .sound(let sound) = content { sound } else { nil }
    }

    /// The stored sample; `nil` for other content.
    public var storedSample: CompressedSample? {
        if case .stored(let sample) = content { sample } else { nil }
    }

    /// The range from the presentation time to the end of the duration.
    public var timeRange: MediaTimeRange { MediaTimeRange(start: presentationTime, duration: duration) }
}

// Attachments: buffers are immutable, so attaching something gives another buffer over the same samples.

extension SampleBuffer {
    /// A value that is attached to a buffer under a key of the caller's own: `CMSetAttachment`.
    public struct Attachment: Sendable, Hashable {
        /// A value, by type.
        public enum Value: Sendable, Hashable {
            /// A truth value.
            case flag(Bool)
            /// An integer.
            case integer(Int64)
            /// A floating-point number.
            case number(Double)
            /// Text.
            case text(String)
            /// Bytes.
            case data([UInt8])
            /// A time.
            case time(MediaTime)
        }

        /// The value.
        public var value: Value
        /// Indicates whether buffers that are made of this one get it too: `kCMAttachmentMode_ShouldPropagate`.
        public var propagates: Bool

        /// Creates an attachment.
        ///
        /// - Parameters:
        ///   - value: The value.
        ///   - propagates: True if buffers that are made of this one get it too.
        public init(_ value: Value, propagates: Bool = true) {
            self.value = value
            self.propagates = propagates
        }
    }

    /// Returns a buffer of the same samples to which a value is attached: `CMSetAttachment`.
    ///
    /// Nothing is copied. Writers keep no attachments: they are for those who hand buffers on to each other.
    /// - Parameters:
    ///   - attachment: The value; `nil` to remove what is attached: `CMRemoveAttachment`.
    ///   - key: The key.
    public func attaching(_ attachment: Attachment?, forKey key: String) -> SampleBuffer {
        var values = attachedValues
        values[key] = attachment
        return with(attachments, values)
    }

    /// Returns a buffer of the same samples with other properties.
    ///
    /// - Parameter attachments: The properties; with ``Attachments/isNotShown``, a writer keeps a stored sample only for
    ///   those that need it.
    public func marked(_ attachments: Attachments) -> SampleBuffer { with(attachments, attachedValues) }

    /// Returns another buffer with the values of this one that propagate: `CMPropagateAttachments`.
    ///
    /// - Parameter other: The buffer that gets them; its own value for the same key is replaced.
    public func propagatingAttachments(to other: SampleBuffer) -> SampleBuffer {
        let values = attachedValues.filter(\.value.propagates)
        return other.with(other.attachments, other.attachedValues.merging(values) { _, new in new })
    }

    /// Returns a buffer of the same video frame in another form.
    func converted(to picture: PixelBuffer) -> SampleBuffer {
        SampleBuffer(
            ofTrack: trackIndex, presentationTime: presentationTime, decodeTime: decodeTime, duration: duration,
            isSync: isSync, formatDescription: formatDescription.describing(picture), codecParameters: codecParameters,
            attachments: attachments, content: .picture(picture), attachedValues: attachedValues)
    }

    /// The approximate memory of decoded samples, in bytes.
    package var memorySize: Int {
        if let audio = audioBuffer {
            return audio.sampleCount * audio.channelLayout.channels * audio.sampleFormat.bytesPerSample
        }
        return pixelBuffer.map { 2 * $0.dimensions.width * $0.dimensions.height } ?? 1 << 12
    }

    private func with(_ attachments: Attachments, _ values: [String: Attachment]) -> SampleBuffer {
        SampleBuffer(
            ofTrack: trackIndex, presentationTime: presentationTime, decodeTime: decodeTime, duration: duration,
            isSync: isSync, formatDescription: formatDescription, codecParameters: codecParameters,
            attachments: attachments, content: content, attachedValues: values)
    }
}

/// A sample as stored by the container, usually compressed.
public final class CompressedSample: Sendable {
    let packet: Packet

    init(_ packet: consuming Packet) { self.packet = packet }

    /// The size in bytes.
    public var size: Int { packet.size }

    /// The byte position in the file; `nil` if the demuxer does not report it.
    public var filePosition: Int64? { packet.position }

    /// Lends the bytes of the sample.
    public func withBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
        try packet.withBytes(body)
    }
}

// Samples that do not come from a file.

extension AudioBuffer {
    /// Creates a run of audio whose samples are written by `fill`.
    ///
    /// - Parameters:
    ///   - sampleCount: The number of samples in each channel; at least one.
    ///   - sampleFormat: The storage format of a sample.
    ///   - isPlanar: True if each channel has its own plane.
    ///   - sampleRate: The number of samples per second in each channel.
    ///   - channelLayout: The channel layout.
    ///   - fill: Called once for each plane with its bytes, which are initially zero. There is one plane per channel if
    ///     `isPlanar` is true, otherwise one with all channels interleaved. Samples are in native byte order.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` if the parameters are not valid.
    public convenience init(
        sampleCount: Int, sampleFormat: SampleFormat, isPlanar: Bool = false, sampleRate: Int,
        channelLayout: ChannelLayout, fill: (_ plane: Int, inout MutableRawSpan) -> Void
    ) throws(MediaError) {
        let frame = try Frame.sound(
            sampleCount, format: sampleFormat, isPlanar: isPlanar, sampleRate: sampleRate,
            channelLayout: channelLayout, fill: fill)
        self.init(whole: frame, sampleFormat: sampleFormat, isPlanar: isPlanar)
    }

    /// Creates a run of interleaved 16-bit audio.
    ///
    /// - Parameters:
    ///   - samples: The samples of all channels, interleaved; an incomplete group at the end is ignored.
    ///   - sampleRate: The number of samples per second in each channel.
    ///   - channelLayout: The channel layout.
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
    /// Creates a buffer of audio that starts at a given time.
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

    /// Creates a buffer of one video frame that appears at a given time.
    ///
    /// - Parameters:
    ///   - picture: The frame; not copied.
    ///   - presentationTime: The time at which the frame appears.
    ///   - duration: The duration of the presentation; indefinite to last until the next frame.
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

    /// Creates a buffer of one stored (compressed) sample.
    ///
    /// - Parameters:
    ///   - bytes: The sample as the container is to store it; copied.
    ///   - formatDescription: The format of the sample, with the codec's own header.
    ///   - presentationTime: The presentation time.
    ///   - decodeTime: The decode time; `nil` if samples are decoded in presentation order.
    ///   - duration: The duration of the presentation.
    ///   - isSync: True if the sample can be decoded without those before it.
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
