/// The kind of media in a track: `AVMediaType` without the prefix; libavutil's `AVMediaType` in C.
public struct MediaType: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
    /// The stable name, as shown in JSON.
    public let rawValue: String

    /// Creates a media type from its stable name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The raw value.
    public var description: String { rawValue }

    /// Video, including cover art.
    public static let video = MediaType(rawValue: "video")
    /// Audio.
    public static let audio = MediaType(rawValue: "audio")
    /// Subtitles, closed captions and other timed text.
    public static let subtitle = MediaType(rawValue: "subtitle")
    /// A `tmcd` track.
    public static let timecode = MediaType(rawValue: "timecode")
    /// Timed data of any other kind (GPMF, `mebx`, `fdsc`…).
    public static let data = MediaType(rawValue: "data")
    /// QuickTime text, which is a subtitle or the names of chapters; only as a track's detailed media type.
    public static let text = MediaType(rawValue: "text")
    /// Closed captions (CEA-608, CEA-708) in a track of their own; only as a track's detailed media type.
    public static let closedCaption = MediaType(rawValue: "closedCaption")
    /// Timed metadata; only as a track's detailed media type.
    public static let metadata = MediaType(rawValue: "metadata")
    /// A file stored inside the container, such as a font.
    public static let attachment = MediaType(rawValue: "attachment")
}

/// The way in which a person perceives a track, and its purpose: `AVMediaCharacteristic` without the prefix.
public enum MediaCharacteristic: Sendable, Hashable, CaseIterable {
    /// The track can be seen.
    case visual
    /// The track can be heard.
    case audible
    /// The track can be read as text.
    case legible
    /// The track consists of frames.
    case frameBased
    /// The track holds only subtitles that are shown whatever the viewer chose.
    case containsOnlyForcedSubtitles
    /// The track describes what is seen, for those who do not see it.
    case describesVideoForAccessibility
    /// The track writes down what is said, for those who do not hear it.
    case transcribesSpokenDialogForAccessibility
    /// The track is marked as the programme itself, to be used by default.
    case isMainProgramContent
    /// The track is marked as an addition, such as a commentary.
    case isAuxiliaryContent
    /// The track is marked as being in the programme's original language.
    case isOriginalContent
    /// The track is marked as a dubbed translation.
    case dubbedTranslation
    /// The video has a high dynamic range.
    case containsHDRVideo
    /// The video has an alpha channel.
    case containsAlphaChannel
}

/// A size in whole pixels.
public struct Dimensions: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int

    /// Creates a size without validating it.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The size as text, such as `1920x1080`.
    public var description: String { "\(width)x\(height)" }

    /// The size with width and height exchanged, as after a quarter turn.
    public var transposed: Dimensions { Dimensions(width: height, height: width) }

    /// Returns the largest size of this shape that fits into `limit` and is not larger than this size.
    ///
    /// Each side is rounded half up to a whole pixel and is at least 1. A side of `limit` that is 0 or negative
    /// imposes no limit.
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

/// The properties of a track that a decoder needs before its first sample, and of the samples: `CMFormatDescription`.
public struct FormatDescription: Sendable, Hashable {
    /// The kind of media in the track.
    public var mediaType: MediaType
    /// The codec's libavcodec name, such as `h264`; `unknown` if it has none.
    public var codec: String
    /// The container's four-character code for the codec, such as `avc1`, or its number, such as `0x0055`; `nil` if
    /// none.
    public var codecTag: String?
    /// The name of the profile, such as `High`.
    public var profile: String?
    /// The level as the codec numbers it (H.264 level 4.1 is 41, HEVC level 4.1 is 123).
    public var level: Int?
    /// The bit rate in bits per second, as stated by the header.
    public var bitRate: Int64?
    /// The maximum number of bits in any second, as stated by the header; `nil` if unstated.
    public var maximumBitRate: Int64?
    /// The codec's own header (`avcC`, inner part of `esds`, Vorbis headers…) as stored by the container.
    public var extradata: [UInt8]
    /// The audio format; `nil` unless ``mediaType`` is audio.
    public var audio: AudioFormat?
    /// The video format; `nil` unless ``mediaType`` is video.
    public var video: VideoFormat?

    /// Creates a description from its parts.
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

/// The format of an audio track.
public struct AudioFormat: Sendable, Hashable {
    /// The number of samples per second in each channel.
    public var sampleRate: Int
    /// The channels and their order.
    public var channelLayout: ChannelLayout
    /// The format of decoded samples; `nil` if not known yet.
    public var sampleFormat: SampleFormat?
    /// True if each channel has its own plane.
    public var isPlanar: Bool
    /// The number of significant bits in a stored sample; `nil` if the codec has no such number (AAC, MP3…).
    public var bitsPerSample: Int?
    /// The number of samples that the encoder added before the first real sample, trimmed from the presentation.
    public var priming: Int?
    /// The number of samples after the last real sample, trimmed from the presentation.
    public var remainder: Int?

    /// The number of channels.
    public var channels: Int { channelLayout.channels }

    /// Creates a description from its parts.
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

/// The storage format of one PCM sample: libavutil's `AVSampleFormat` without the planar variants.
///
/// Samples are in native byte order. 24-bit sources are delivered as ``int32``, left-justified.
public enum SampleFormat: String, Sendable, Hashable, Codable, CaseIterable {
    /// Unsigned 8-bit integers; silence is 128.
    case uint8 = "u8"
    /// Signed 16-bit integers.
    case int16 = "s16"
    /// Signed 32-bit integers.
    case int32 = "s32"
    /// Signed 64-bit integers.
    case int64 = "s64"
    /// 32-bit IEEE 754, full scale at ±1.
    case float32 = "flt"
    /// 64-bit IEEE 754, full scale at ±1.
    case float64 = "dbl"

    /// The number of bytes in one sample of one channel.
    public var bytesPerSample: Int {
        switch self {
        case .uint8: 1
        case .int16: 2
        case .int32, .float32: 4
        case .int64, .float64: 8
        }
    }
}

/// The assignment of channels to loudspeakers.
public struct ChannelLayout: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The number of channels.
    public let channels: Int

    /// The libavutil description, such as `stereo`, `5.1(side)`, or `2 channels` if the order is unknown.
    public let name: String

    /// Creates a layout from its number of channels and its libavutil description.
    ///
    /// The accepted names are those of `av_channel_layout_from_string`.
    public init(channels: Int, name: String) {
        self.channels = channels
        self.name = name
    }

    /// A single centre channel.
    public static let mono = ChannelLayout(channels: 1, name: "mono")
    /// Left and right.
    public static let stereo = ChannelLayout(channels: 2, name: "stereo")
    /// Left, right and low frequencies.
    public static let twoPointOne = ChannelLayout(channels: 3, name: "2.1")
    /// Left, right and centre.
    public static let threePointZero = ChannelLayout(channels: 3, name: "3.0")
    /// Left, right, centre and back centre.
    public static let fourPointZero = ChannelLayout(channels: 4, name: "4.0")
    /// Left, right, back left and back right.
    public static let quadraphonic = ChannelLayout(channels: 4, name: "quad")
    /// Left, right, centre, back left and back right.
    public static let fivePointZero = ChannelLayout(channels: 5, name: "5.0")
    /// Left, right, centre, side left and side right.
    public static let fivePointZeroSide = ChannelLayout(channels: 5, name: "5.0(side)")
    /// Left, right, centre, low frequencies, back left and back right.
    public static let fivePointOne = ChannelLayout(channels: 6, name: "5.1")
    /// Left, right, centre, low frequencies, side left and side right.
    public static let fivePointOneSide = ChannelLayout(channels: 6, name: "5.1(side)")
    /// The channels of ``fivePointOneSide`` and back centre.
    public static let sixPointOne = ChannelLayout(channels: 7, name: "6.1")
    /// The channels of ``fivePointOne`` and side left and right.
    public static let sevenPointOne = ChannelLayout(channels: 8, name: "7.1")
    /// The channels of ``fivePointOne`` and left and right of centre.
    public static let sevenPointOneWide = ChannelLayout(channels: 8, name: "7.1(wide)")

    /// The ``name`` if it identifies the channels; `nil` if it only states their number.
    public var knownName: String? { name.hasSuffix("channels") ? nil : name }

    /// ``name``.
    public var description: String { name }

    /// Returns the usual layout of one to eight channels, as in `av_channel_layout_default`; `nil` for other numbers.
    package static func usual(channels: Int) -> ChannelLayout? {
        let names = ["mono", "stereo", "2.1", "4.0", "5.0", "5.1", "6.1", "7.1"]
        return names.indices.contains(channels - 1) ? ChannelLayout(channels: channels, name: names[channels - 1]) : nil
    }
}

/// The storage format of headerless audio, which only the user can specify.
///
/// Written as `FORMAT:RATE[:CHANNELS]`, as in `s16le:44100:2`. Channels are interleaved.
public struct RawSound: Sendable, Hashable, CustomStringConvertible {
    /// The storage format of one sample, by its libavformat name.
    public enum Encoding: String, Sendable, Hashable, CaseIterable {
        /// Signed and unsigned 8-bit integers.
        case s8, u8
        /// 16-bit integers, little-endian or big-endian.
        case s16le, s16be, u16le, u16be
        /// 24-bit integers in three bytes.
        case s24le, s24be, u24le, u24be
        /// 32-bit integers.
        case s32le, s32be, u32le, u32be
        /// 32-bit IEEE 754 numbers.
        case f32le, f32be
        /// 64-bit IEEE 754 numbers.
        case f64le, f64be
        /// ITU-T G.711, A-law and µ-law.
        case alaw, mulaw
    }

    /// The storage format of one sample.
    public let encoding: Encoding
    /// The number of samples per second in each channel.
    public let sampleRate: Int
    /// The number of interleaved channels.
    public let channels: Int

    /// The accepted forms, for messages.
    public static let forms =
        "FORMAT:RATE[:CHANNELS] such as s16le:44100:2; formats: "
        + Encoding.allCases.map(\.rawValue).joined(separator: " ")

    /// Parses `FORMAT:RATE[:CHANNELS]`; the default is one channel, and little-endian for names such as `s16`.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` for any other form, for a rate outside 1…16777216 and for a number
    ///   of channels outside 1…512.
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

    /// The text that ``init(parsing:)`` accepts.
    public var description: String { "\(encoding.rawValue):\(sampleRate):\(channels)" }
}
