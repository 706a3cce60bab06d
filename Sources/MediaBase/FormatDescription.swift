/// What a track carries: `AVMediaType` without the prefix, `AVMediaType` of libavutil in C.
public struct MediaType: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
    /// The stable name, as JSON shows it.
    public let rawValue: String

    /// Makes a media type from its stable name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The raw value.
    public var description: String { rawValue }

    /// Moving pictures, cover art included.
    public static let video = MediaType(rawValue: "video")
    /// Sound.
    public static let audio = MediaType(rawValue: "audio")
    /// Subtitles, closed captions and other timed text.
    public static let subtitle = MediaType(rawValue: "subtitle")
    /// A `tmcd` track.
    public static let timecode = MediaType(rawValue: "timecode")
    /// Timed data that is none of the above (GPMF, `mebx`, `fdsc`…).
    public static let data = MediaType(rawValue: "data")
    /// A file carried inside the container, such as a font.
    public static let attachment = MediaType(rawValue: "attachment")
}

/// What a person perceives in a track: `AVMediaCharacteristic` without the prefix.
public enum MediaCharacteristic: Sendable, Hashable {
    /// The track can be seen as pictures.
    case visual
    /// The track can be heard.
    case audible
    /// The track can be read as text.
    case legible
}

/// A size in whole pixels.
public struct Dimensions: Sendable, Hashable, Codable, CustomStringConvertible {
    /// Pixels across.
    public let width: Int
    /// Pixels down.
    public let height: Int

    /// Makes a size; no check is made.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// For example `1920x1080`.
    public var description: String { "\(width)x\(height)" }

    /// Width and height exchanged, as after a quarter turn.
    public var transposed: Dimensions { Dimensions(width: height, height: width) }

    /// The largest size of this shape that fits into `limit` and is not larger than this one.
    ///
    /// Each side is rounded half up to a whole pixel and is at least 1. A side of `limit` that is 0 or negative sets no
    /// limit.
    public func fitted(into limit: Dimensions) -> Dimensions {
        guard width > 0, height > 0 else { return self }
        var (numerator, denominator) = (1, 1)
        if limit.width > 0, limit.width < width { (numerator, denominator) = (limit.width, width) }
        if limit.height > 0, limit.height < height {
            let narrower = limit.height.multipliedFullWidth(by: denominator)
            let current = numerator.multipliedFullWidth(by: height)
            if (narrower.high, narrower.low) < (current.high, current.low) {
                (numerator, denominator) = (limit.height, height)
            }
        }
        func scaled(_ side: Int) -> Int {
            let product = side.multipliedReportingOverflow(by: numerator)
            guard !product.overflow else { return side }
            let (quotient, remainder) = product.partialValue.quotientAndRemainder(dividingBy: denominator)
            return max(1, remainder >= denominator - remainder ? quotient + 1 : quotient)
        }
        return Dimensions(width: scaled(width), height: scaled(height))
    }
}

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

/// How one PCM sample is stored: `AVSampleFormat` of libavutil without the planar twins.
///
/// Samples are in the machine's byte order. 24-bit sources arrive as ``int32``, left-justified.
public enum SampleFormat: String, Sendable, Hashable, Codable, CaseIterable {
    /// Unsigned 8 bits; silence is 128.
    case uint8 = "u8"
    /// Signed 16 bits.
    case int16 = "s16"
    /// Signed 32 bits.
    case int32 = "s32"
    /// Signed 64 bits.
    case int64 = "s64"
    /// 32-bit IEEE 754, full scale at ±1.
    case float32 = "flt"
    /// 64-bit IEEE 754, full scale at ±1.
    case float64 = "dbl"

    /// Bytes that one sample of one channel takes.
    public var bytesPerSample: Int {
        switch self {
        case .uint8: 1
        case .int16: 2
        case .int32, .float32: 4
        case .int64, .float64: 8
        }
    }
}

/// Which loudspeaker each channel is for.
public struct ChannelLayout: Sendable, Hashable, Codable, CustomStringConvertible {
    /// How many channels there are.
    public let channels: Int

    /// libavutil's description, such as `stereo`, `5.1(side)` or `2 channels` where the order is unknown.
    public let name: String

    /// Makes a layout from its number of channels and libavutil's description of it.
    ///
    /// The names that are understood are those of `av_channel_layout_from_string`.
    public init(channels: Int, name: String) {
        self.channels = channels
        self.name = name
    }

    /// One channel in the middle.
    public static let mono = ChannelLayout(channels: 1, name: "mono")
    /// Left and right.
    public static let stereo = ChannelLayout(channels: 2, name: "stereo")

    /// ``name`` where it says which channels there are; `nil` where it only counts them.
    public var knownName: String? { name.hasSuffix("channels") ? nil : name }

    /// ``name``.
    public var description: String { name }
}

/// How sound without any header is stored, which only the one who names the file can say.
///
/// Written as `FORMAT:RATE[:CHANNELS]`, as in `s16le:44100:2`. Channels are interleaved.
public struct RawSound: Sendable, Hashable, CustomStringConvertible {
    /// How one sample is stored, by libavformat's name of the format.
    public enum Encoding: String, Sendable, Hashable, CaseIterable {
        /// Signed and unsigned whole numbers of 8 bits.
        case s8, u8
        /// Whole numbers of 16 bits, the low byte first or last.
        case s16le, s16be, u16le, u16be
        /// Whole numbers of 24 bits in three bytes.
        case s24le, s24be, u24le, u24be
        /// Whole numbers of 32 bits.
        case s32le, s32be, u32le, u32be
        /// IEEE 754 numbers of 32 bits.
        case f32le, f32be
        /// IEEE 754 numbers of 64 bits.
        case f64le, f64be
        /// ITU-T G.711, A-law and µ-law.
        case alaw, mulaw
    }

    /// How one sample is stored.
    public let encoding: Encoding
    /// Samples a second and channel.
    public let sampleRate: Int
    /// Interleaved channels.
    public let channels: Int

    /// What can be written, for messages.
    public static let forms =
        "FORMAT:RATE[:CHANNELS] such as s16le:44100:2; formats: "
        + Encoding.allCases.map(\.rawValue).joined(separator: " ")

    /// Reads `FORMAT:RATE[:CHANNELS]`; one channel where none are named, the low byte first where `s16` alone is.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` for anything else, for a rate beyond 1…16777216 and for channels
    ///   beyond 1…512.
    public init(parsing text: String) throws(MediaError) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { $0.lowercased() }
        guard (2...3).contains(parts.count),
            let encoding = Encoding(rawValue: parts[0]) ?? .init(rawValue: parts[0] + "le"),
            let rate = Self.number(parts[1]), (1...1 << 24).contains(rate),
            let channels = parts.count == 3 ? Self.number(parts[2]) : 1, (1...512).contains(channels)
        else {
            throw MediaError(.invalidArgument, "'\(text.prefix(40))' is no raw sound: write \(Self.forms)")
        }
        self.encoding = encoding
        sampleRate = rate
        self.channels = channels
    }

    private static func number(_ text: String) -> Int? {
        text.allSatisfy { $0.isASCII && $0.isNumber } ? Int(text) : nil
    }

    /// The form in which it is written.
    public var description: String { "\(encoding.rawValue):\(sampleRate):\(channels)" }
}
