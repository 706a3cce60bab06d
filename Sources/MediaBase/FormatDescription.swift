/// What a decoder must know of a track before its first sample, and what the samples will be: `CMFormatDescription`.
public struct FormatDescription: Sendable, Hashable {
    /// What the track carries.
    public var mediaType: MediaType
    /// libavcodec's name of the codec, such as `h264`; `unknown` where it has none.
    public var codec: String
    /// The four characters by which the container names the codec, such as `avc1`, or its number for it, such as
    /// `0x0055`; `nil` where it has none.
    public var codecTag: String?
    /// The profile's name, such as `High`.
    public var profile: String?
    /// The level as the codec numbers it (H.264 level 4.1 is 41, HEVC level 4.1 is 123).
    public var level: Int?
    /// Bits a second, as the header says.
    public var bitRate: Int64?
    /// The most bits in any second, as the header says; `nil` where it does not.
    public var maximumBitRate: Int64?
    /// The codec's own header (`avcC`, `esds`'s inner part, Vorbis headers…) as the container stores it.
    public var extradata: [UInt8]
    /// What the sound is; `nil` unless ``mediaType`` is audio.
    public var audio: AudioFormat?
    /// What the pictures are; `nil` unless ``mediaType`` is video.
    public var video: VideoFormat?

    /// Makes a description from its parts.
    public init(
        mediaType: MediaType, codec: String, codecTag: String? = nil, profile: String? = nil, level: Int? = nil,
        bitRate: Int64? = nil, maximumBitRate: Int64? = nil, extradata: [UInt8] = [], audio: AudioFormat? = nil,
        video: VideoFormat? = nil
    ) {
        self.mediaType = mediaType
        self.codec = codec
        self.codecTag = codecTag
        self.profile = profile
        self.level = level
        self.bitRate = bitRate
        self.maximumBitRate = maximumBitRate
        self.extradata = extradata
        self.audio = audio
        self.video = video
    }
}

/// What sound a track carries.
public struct AudioFormat: Sendable, Hashable {
    /// Samples a second and channel.
    public var sampleRate: Int
    /// Which channels there are.
    public var channelLayout: ChannelLayout
    /// What the decoder yields; `nil` where it is not known yet.
    public var sampleFormat: SampleFormat?
    /// Whether each channel has a plane of its own.
    public var isPlanar: Bool
    /// Significant bits of a stored sample; `nil` where the codec has none (AAC, MP3…).
    public var bitsPerSample: Int?
    /// Samples that the encoder put before the first real one, and that the presentation cuts.
    public var priming: Int?
    /// Samples after the last real one, that the presentation cuts.
    public var remainder: Int?

    /// How many channels there are.
    public var channels: Int { channelLayout.channels }

    /// Makes a description from its parts.
    public init(
        sampleRate: Int, channelLayout: ChannelLayout, sampleFormat: SampleFormat? = nil, isPlanar: Bool = false,
        bitsPerSample: Int? = nil, priming: Int? = nil, remainder: Int? = nil
    ) {
        self.sampleRate = sampleRate
        self.channelLayout = channelLayout
        self.sampleFormat = sampleFormat
        self.isPlanar = isPlanar
        self.bitsPerSample = bitsPerSample
        self.priming = priming
        self.remainder = remainder
    }
}
