public import MediaBase

/// How a writer encodes pictures.
///
/// What is `nil` follows from the first picture that is appended.
///
/// ```swift
/// var settings = VideoOutputSettings(codec: .h264, dimensions: Dimensions(width: 960, height: 540))
/// settings.quality = 23
/// ```
public struct VideoOutputSettings: Sendable, Hashable {
    /// A codec that pictures can be encoded with.
    public enum Codec: String, Sendable, Hashable, CaseIterable {
        /// H.264 (x264).
        case h264
        /// HEVC (x265).
        case hevc
        /// Apple ProRes 422 Proxy.
        case proRes422Proxy
        /// Apple ProRes 422 LT.
        case proRes422LT
        /// Apple ProRes 422.
        case proRes422
        /// Apple ProRes 422 HQ.
        case proRes422HQ
        /// Apple ProRes 4444.
        case proRes4444
        /// Avid DNxHR LB, 8 bits.
        case dnxhrLB
        /// Avid DNxHR SQ, 8 bits.
        case dnxhrSQ
        /// Avid DNxHR HQ, 8 bits.
        case dnxhrHQ
        /// Avid DNxHR HQX, 10 bits.
        case dnxhrHQX
        /// Motion JPEG.
        case mjpeg
        /// VP9 (libvpx).
        case vp9
        /// AV1 (SVT-AV1).
        case av1
    }

    /// How much time the encoder takes to save bits.
    public enum Speed: String, Sendable, Hashable, CaseIterable {
        /// Small files.
        case slow
        /// The encoder's own middle.
        case medium
        /// Quicker.
        case fast
        /// Several times quicker than medium.
        case veryFast
        /// As quick as the encoder can.
        case fastest
    }

    /// The codec.
    public var codec: Codec
    /// The size that pictures are scaled to, whatever their shape.
    public var dimensions: Dimensions?
    /// Bits a second on average; `nil` where ``quality`` rules.
    public var bitRate: Int?
    /// The quality that is kept, by the codec's own scale: 0 to 51 with H.264 and HEVC (crf), 0 to 63 with VP9 and AV1,
    /// 2 to 31 with Motion JPEG (qscale); less is better.
    ///
    /// Not used by ProRes and DNxHR, where the codec says it all.
    public var quality: Int?
    /// Frames from one sync sample to the next, at most; 1 for pictures that all stand by themselves.
    public var maximumKeyFrameInterval: Int?
    /// How much time the encoder takes.
    public var speed = Speed.medium
    /// The codec's profile by the encoder's name of it, such as `main` or `high`.
    public var profile: String?
    /// How pixels are stored; `nil` for the codec's most usual, such as `yuv420p`.
    public var pixelFormat: PixelFormat?
    /// Width of a pixel by its height.
    public var pixelAspectRatio: Rational?
    /// The part of the encoded picture that is meant to be seen; written by QuickTime and MPEG-4 files.
    public var cleanAperture: CleanAperture?
    /// How numbers stand for colours.
    ///
    /// Luma and chroma are tagged so, not converted; red, green and blue are converted by
    /// its matrix and range. What is `nil` is what the first picture says of itself.
    public var color: ColorInfo?
    /// The order of fields of interlaced pictures, as ``VideoFormat/fieldOrder`` names it.
    public var fieldOrder: String?
    /// Static HDR metadata.
    public var hdr: HDRInfo?
    /// Frames a second, for rate control and timecode; `nil` where the first picture's duration tells.
    public var expectedFrameRate: Rational?
    /// Codec threads; what x264 makes depends on their number, hence a fixed one.
    public var threads = 4
    /// Further options of the encoder by libavcodec's names; one that it does not have is an error.
    public var encoderOptions: [String: String] = [:]

    /// Settings that keep what is not given.
    public init(codec: Codec, dimensions: Dimensions? = nil) {
        self.codec = codec
        self.dimensions = dimensions
    }
}

extension VideoOutputSettings.Codec {
    /// libavcodec's name of what is made.
    public var codecName: String {
        switch self {
        case .h264, .hevc, .mjpeg, .vp9, .av1: rawValue
        case .proRes422Proxy, .proRes422LT, .proRes422, .proRes422HQ, .proRes4444: "prores"
        case .dnxhrLB, .dnxhrSQ, .dnxhrHQ, .dnxhrHQX: "dnxhd"
        }
    }

    /// The finest clock in which the encoder gives back the times that it was given, in ticks a second.
    ///
    /// libvpx counts in 10⁷ by itself, and refuses more than 10⁹.
    var finestTimescale: Int64 { self == .vp9 ? 10_000_000 : Int64(Int32.max) }

    /// libavcodec's name of the encoder.
    var encoderName: String {
        switch self {
        case .h264: "libx264"
        case .hevc: "libx265"
        case .mjpeg: "mjpeg"
        case .vp9: "libvpx-vp9"
        case .av1: "libsvtav1"
        case .proRes422Proxy, .proRes422LT, .proRes422, .proRes422HQ, .proRes4444: "prores_ks"
        case .dnxhrLB, .dnxhrSQ, .dnxhrHQ, .dnxhrHQX: "dnxhd"
        }
    }

    /// The pixel format that players expect of it.
    var usualPixelFormat: PixelFormat {
        switch self {
        case .h264, .hevc, .vp9, .av1: .yuv420p
        case .mjpeg: PixelFormat(rawValue: "yuvj420p")
        case .proRes422Proxy, .proRes422LT, .proRes422, .proRes422HQ, .dnxhrHQX: PixelFormat(rawValue: "yuv422p10le")
        case .proRes4444: PixelFormat(rawValue: "yuva444p10le")
        case .dnxhrLB, .dnxhrSQ, .dnxhrHQ: PixelFormat(rawValue: "yuv422p")
        }
    }

    /// What its quality may be; `nil` where it has none to choose.
    var qualityRange: ClosedRange<Int>? {
        switch self {
        case .h264, .hevc: 0...51
        case .vp9, .av1: 0...63
        case .mjpeg: 2...31
        default: nil
        }
    }

    /// Whether each picture stands by itself whatever the settings say.
    public var isIntraOnly: Bool {
        switch self {
        case .h264, .hevc, .vp9, .av1: false
        default: true
        }
    }

    /// Whether pictures of two fields can be told apart from others.
    package var holdsFields: Bool { self != .vp9 && self != .av1 }

    /// Whether it is one of Avid's.
    var isDNxHR: Bool { codecName == "dnxhd" }

    /// Whether its players expect limited range, whatever is said.
    package var isLimitedRangeOnly: Bool { range == "tv" }

    /// The only range that its players expect; `nil` where both have a tag.
    var range: String? {
        switch self {
        case .proRes422Proxy, .proRes422LT, .proRes422, .proRes422HQ, .proRes4444, .dnxhrLB, .dnxhrSQ, .dnxhrHQ,
            .dnxhrHQX:
            "tv"
        case .mjpeg: "pc"
        default: nil
        }
    }

    /// The only matrix by which its decoders read it, whatever a container says; `nil` where it has a tag.
    package var matrix: String? {
        switch self {
        case .dnxhrLB, .dnxhrSQ, .dnxhrHQ, .dnxhrHQX: "bt709"
        case .mjpeg: "bt470bg"
        default: nil
        }
    }

    /// Whether its pictures must have even sides.
    public var needsEvenSides: Bool {
        switch self {
        case .proRes4444: false
        default: true
        }
    }
}
