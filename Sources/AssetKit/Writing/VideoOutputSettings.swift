import LibAV
public import MediaBase

/// Settings with which a writer encodes video.
///
/// Settings that are `nil` are taken from the first video frame that is appended.
///
/// ```swift
/// var settings = VideoOutputSettings(codec: .h264, dimensions: Dimensions(width: 960, height: 540))
/// settings.quality = 23
/// ```
public struct VideoOutputSettings: Sendable, Hashable {
    /// A video codec for encoding.
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

    /// The trade-off between encoding time and file size.
    public enum Speed: String, Sendable, Hashable, CaseIterable {
        /// Slowest, with the smallest files.
        case slow
        /// The encoder's own middle setting.
        case medium
        /// Faster than medium.
        case fast
        /// Several times as fast as medium.
        case veryFast
        /// As fast as the encoder can be.
        case fastest
    }

    /// The codec.
    public var codec: Codec
    /// The size that frames are scaled to, regardless of their shape.
    public var dimensions: Dimensions?
    /// The average bit rate in bits per second; `nil` to encode with constant ``quality``.
    public var bitRate: Int?
    /// The constant quality, on the codec's own scale; lower is better.
    ///
    /// The scale is 0 to 51 for H.264 and HEVC (crf), 0 to 63 for VP9 and AV1, and 2 to 31 for Motion JPEG (qscale).
    /// ProRes and DNxHR ignore it, because the codec variant determines the quality.
    public var quality: Int?
    /// The maximum number of frames between sync samples; 1 makes every frame a sync sample.
    public var maximumKeyFrameInterval: Int?
    /// The trade-off between encoding time and file size.
    public var speed = Speed.medium
    /// The codec's profile by the encoder's name, such as `main` or `high`.
    public var profile: String?
    /// The pixel format; `nil` for the codec's most common one, such as `yuv420p`.
    public var pixelFormat: PixelFormat?
    /// The width of a pixel divided by its height.
    public var pixelAspectRatio: Rational?
    /// The visible part of the encoded frame; QuickTime and MPEG-4 files store it.
    public var cleanAperture: CleanAperture?
    /// The colour tags of the video.
    ///
    /// Luma and chroma are tagged with them but not converted; red, green and blue are converted by the matrix and
    /// range. Components that are `nil` are taken from the first frame.
    public var color: ColorInfo?
    /// The field order of interlaced video.
    public var fieldOrder: FieldOrder?
    /// Static HDR metadata.
    public var hdr: HDRInfo?
    /// The frames per second, for rate control and timecode; `nil` to derive it from the first frame's duration.
    public var expectedFrameRate: Rational?
    /// The number of codec threads; `nil` for six for H.264 and four otherwise.
    ///
    /// It does not depend on the machine, because the bytes that x264 makes depend on it.
    public var threads: Int?
    /// Further options of the encoder by libavcodec's names; an unknown option is an error.
    ///
    /// An option given here replaces the one that is otherwise set. With `x264-params` that lack `asm=avx2`, the same
    /// video frames do not always become the same bytes on a processor with AVX-512.
    public var encoderOptions: [String: String] = [:]

    /// Creates settings; values that are omitted are taken from the source.
    public init(codec: Codec, dimensions: Dimensions? = nil) {
        self.codec = codec
        self.dimensions = dimensions
    }
}

extension VideoOutputSettings.Codec {
    /// The names of a codec, and the choices of its encoder and its players.
    private struct Facts {
        var codec: String
        var encoder: String
        var pixelFormat: String
        var quality: ClosedRange<Int>?
        var profile: String?
        var range: String?
        var matrix: String?

        static func proRes(_ profile: String, _ pixelFormat: String = "yuv422p10le") -> Facts {
            Facts(codec: "prores", encoder: "prores_ks", pixelFormat: pixelFormat, profile: profile, range: "tv")
        }

        static func dnxhr(_ profile: String, _ pixelFormat: String = "yuv422p") -> Facts {
            Facts(
                codec: "dnxhd", encoder: "dnxhd", pixelFormat: pixelFormat, profile: "dnxhr_" + profile, range: "tv",
                matrix: "bt709")
        }
    }

    private var facts: Facts {
        switch self {
        case .h264: Facts(codec: "h264", encoder: "libx264", pixelFormat: "yuv420p", quality: 0...51)
        case .hevc: Facts(codec: "hevc", encoder: "libx265", pixelFormat: "yuv420p", quality: 0...51)
        case .proRes422Proxy: .proRes("proxy")
        case .proRes422LT: .proRes("lt")
        case .proRes422: .proRes("standard")
        case .proRes422HQ: .proRes("hq")
        case .proRes4444: .proRes("4444", "yuva444p10le")
        case .dnxhrLB: .dnxhr("lb")
        case .dnxhrSQ: .dnxhr("sq")
        case .dnxhrHQ: .dnxhr("hq")
        case .dnxhrHQX: .dnxhr("hqx", "yuv422p10le")
        case .mjpeg:
            Facts(
                codec: "mjpeg", encoder: "mjpeg", pixelFormat: "yuvj420p", quality: 2...31, range: "pc",
                matrix: "bt470bg")
        case .vp9: Facts(codec: "vp9", encoder: "libvpx-vp9", pixelFormat: "yuv420p", quality: 0...63)
        case .av1: Facts(codec: "av1", encoder: "libsvtav1", pixelFormat: "yuv420p", quality: 0...63)
        }
    }

    /// libavcodec's name of the codec.
    public var codecName: String { facts.codec }

    /// The finest timescale, in ticks per second, in which the encoder returns times exactly as it received them.
    ///
    /// libvpx counts in 10⁷ internally, and refuses more than 10⁹.
    var finestTimescale: Int64 { self == .vp9 ? 10_000_000 : Int64(Int32.max) }

    /// libavcodec's name of the encoder.
    var encoderName: String { facts.encoder }

    /// The encoder's name of the only profile; `nil` if the codec has several, or none.
    var profile: String? { facts.profile }

    /// The pixel format that players expect of the codec.
    var usualPixelFormat: PixelFormat { PixelFormat(rawValue: facts.pixelFormat) }

    /// The valid range of the quality; `nil` if the codec has no quality setting.
    var qualityRange: ClosedRange<Int>? { facts.quality }

    /// Indicates whether the codec codes every frame independently, whatever the settings are.
    public var isIntraOnly: Bool { ![.h264, .hevc, .vp9, .av1].contains(self) }

    /// Indicates whether the encoder can mark frames as interlaced; x265 does so only for single fields.
    package var holdsFields: Bool { ![.hevc, .vp9, .av1].contains(self) }

    /// Indicates whether the codec is a variant of Avid DNxHR.
    var isDNxHR: Bool { codecName == "dnxhd" }

    /// Indicates whether the codec's players expect limited range, whatever the tags say.
    package var isLimitedRangeOnly: Bool { range == "tv" }

    /// The only range that the codec's players expect; `nil` if the codec tags the range.
    var range: String? { facts.range }

    /// The only matrix that the codec's decoders use, whatever the container says; `nil` if the codec tags the matrix.
    package var matrix: String? { facts.matrix }

    /// Indicates whether the sides of frames must be even.
    public var needsEvenSides: Bool { self != .proRes4444 }
}

// Configurations and options of libavcodec's encoders.

extension VideoOutputSettings {
    /// The pixel format that frames are converted to.
    var encodedPixelFormat: PixelFormat { pixelFormat ?? codec.usualPixelFormat }

    /// Returns the configuration that opens the encoder for frames of a format.
    ///
    /// - Parameters:
    ///   - source: The format of the first frame: its size, pixel aspect ratio and colour tags replace unset settings.
    ///   - frameRate: The frames per second, if known.
    func configuration(
        for source: VideoFormat, timeBase: Rational, frameRate: Rational?, in fileType: MediaFileType,
        usesGlobalHeader: Bool
    ) throws(MediaError) -> Encoder.Configuration {
        try check(in: fileType)
        try check(dimensions ?? source.encodedSize)
        var configuration = Encoder.Configuration(name: codec.encoderName, timeBase: timeBase)
        // The converter determines the matrix and the range of converted frames.
        var color = ColorInfo(container: source.color, stream: color ?? ColorInfo())
        if let matrix = codec.matrix { color.matrix = matrix }
        if encodedPixelFormat.isRGB { (color.matrix, color.range) = ("gbr", "pc") }
        if codec == .mjpeg || color.range != nil, let range = codec.range { color.range = range }
        configuration.video = VideoFormat(
            encodedSize: dimensions ?? source.encodedSize,
            sampleAspectRatio: pixelAspectRatio ?? source.sampleAspectRatio, pixelFormat: encodedPixelFormat,
            color: color, fieldOrder: fieldOrder ?? source.fieldOrder)
        configuration.frameRate = expectedFrameRate ?? frameRate
        configuration.bitRate = bitRate.map(Int64.init)
        configuration.threads = threads ?? (codec == .h264 ? 6 : 4)
        configuration.usesGlobalHeader = usesGlobalHeader
        // The codec tag under which QuickTime and related players accept HEVC.
        if codec == .hevc, fileType.isISO { configuration.codecTag = "hvc1" }
        configuration.options = options
        return configuration
    }

    /// Returns true if an encoder for frames of a format opens only without the bit rate.
    package func isBitRateRefused(for source: VideoFormat, in fileType: MediaFileType) -> Bool {
        guard bitRate != nil else { return false }
        var others = self
        others.bitRate = nil
        return !opens(for: source, in: fileType) && others.opens(for: source, in: fileType)
    }

    private func opens(for source: VideoFormat, in fileType: MediaFileType) -> Bool {
        do throws(MediaError) {
            let rate = expectedFrameRate ?? Rational(25)
            let configuration = try configuration(
                for: source, timeBase: rate.inverse ?? Rational(1, 25), frameRate: rate, in: fileType,
                usesGlobalHeader: true)
            _ = try Encoder.open(configuration)
            return true
        } catch {
            return false
        }
    }

    /// Throws if the settings are already known to be unusable, before any frame arrives.
    func check(in fileType: MediaFileType) throws(MediaError) {
        guard Encoder.exists(codec.encoderName) else {
            throw MediaError(.unsupported, "this build of FFmpeg has no encoder \(codec.encoderName)")
        }
        let formats = Encoder.pixelFormats(of: codec.encoderName)
        guard encodedPixelFormat.canBeMade, formats.isEmpty || formats.contains(encodedPixelFormat) else {
            throw MediaError(
                .invalidArgument, "\(codec.rawValue) cannot be encoded in the pixel format \(encodedPixelFormat)")
        }
        if let dimensions { try check(dimensions) }
        try checkProfile()
        try checkNumbers()
    }

    /// Throws if frames of a format cannot be encoded with the settings, or if it is no video.
    func check(_ source: FormatDescription, in fileType: MediaFileType) throws(MediaError) {
        guard let video = source.video else {
            throw MediaError(.invalidArgument, "the source format hint is of \(source.mediaType), not of video")
        }
        _ = try configuration(
            for: video, timeBase: Rational(1, 25), frameRate: nil, in: fileType, usesGlobalHeader: true)
    }

    /// Checks the profile before x264 does, because x264 reports errors on standard error, past libav's log.
    private func checkProfile() throws(MediaError) {
        guard codec == .h264, let profile else { return }
        // ITU-T H.264, annex A.2: the highest bit depth and chroma format of each profile.
        let known: [(name: String, depth: Int, chroma: Set<String>)] = [
            ("baseline", 8, ["420"]), ("main", 8, ["420"]), ("high", 8, ["400", "420"]),
            ("high10", 10, ["400", "420"]),
            ("high422", 10, ["400", "420", "422"]), ("high444", 14, ["400", "420", "422", "444"]),
        ]
        guard let allowed = known.first(where: { $0.name == profile }) else {
            let names = known.map(\.name).joined(separator: ", ")
            throw MediaError(.invalidArgument, "h264 has no profile \(profile); there are \(names)")
        }
        let (depth, chroma) = Encoder.form(of: encodedPixelFormat)
        guard depth <= allowed.depth, allowed.chroma.contains(chroma) else {
            throw MediaError(
                .invalidArgument,
                "the profile \(profile) of h264 has no pictures of the pixel format \(encodedPixelFormat)")
        }
        guard profile != "baseline" || fieldOrder == nil || fieldOrder == .progressive else {
            throw MediaError(.invalidArgument, "the profile baseline of h264 has no interlaced pictures")
        }
        let isLossless = bitRate == nil && (quality ?? 23) + 6 * (depth - 8) <= 0
        guard !isLossless || profile == "high444" else {
            throw MediaError(
                .invalidArgument, "a quality of 0 is lossless, which the profile \(profile) of h264 is not")
        }
    }

    private func check(_ size: Dimensions) throws(MediaError) {
        if codec.isDNxHR, size.width < 256 || size.height < 120 {
            throw MediaError(.unsupported, "DNxHR has no pictures of \(size), only from 256x120 on; use another codec")
        }
        if dimensions != nil, codec.needsEvenSides, size.width % 2 != 0 || size.height % 2 != 0 {
            throw MediaError(.invalidArgument, "\(codec.rawValue) needs even sides, not \(size)")
        }
    }

    private func checkNumbers() throws(MediaError) {
        if let bitRate, bitRate <= 0 { throw MediaError(.invalidArgument, "a bit rate of \(bitRate) makes no sense") }
        if let quality, let range = codec.qualityRange, !range.contains(quality) {
            throw MediaError(
                .invalidArgument,
                "a quality of \(quality) is outside \(codec.rawValue)'s, \(range.lowerBound) to \(range.upperBound)")
        }
        if let interval = maximumKeyFrameInterval, interval < 1 {
            throw MediaError(.invalidArgument, "\(interval) frames between sync samples make no sense")
        }
        if let threads, !(0...64).contains(threads) {
            throw MediaError(.invalidArgument, "\(threads) encoder threads are outside 0 to 64")
        }
    }

    private var options: [(key: String, value: String)] {
        var options: [(key: String, value: String)] = []
        func add(_ key: String, _ value: String?) { if let value { options.append((key, value)) } }
        let interval = maximumKeyFrameInterval.map(String.init)
        switch codec {
        case .h264:
            add("preset", x26xPreset)
            add("crf", bitRate == nil ? String(quality ?? 23) : nil)
            add("g", interval)
            add("profile", profile)
            // With AVX-512, x264's macroblock trees depend on memory that it never wrote, and the bytes differ from run
            // to run.
            if Encoder.processorHasAVX512 { add("x264-params", "asm=avx2") }
        case .hevc:
            add("preset", x26xPreset)
            add("crf", bitRate == nil ? String(quality ?? 28) : nil)
            add("g", interval)
            add("profile", profile)
            add("x265-params", "log-level=none:info=0")
        case .vp9:
            add("crf", bitRate == nil ? String(quality ?? 31) : nil)
            add("b", bitRate == nil ? "0" : nil)
            add("g", interval)
            add("deadline", "good")
            add("cpu-used", String([Speed.slow: 1, .medium: 2, .fast: 4, .veryFast: 5, .fastest: 5][speed] ?? 2))
            add("row-mt", "1")
        case .av1:
            add("crf", bitRate == nil ? String(quality ?? 35) : nil)
            add("g", interval)
            add("preset", String([Speed.slow: 5, .medium: 8, .fast: 9, .veryFast: 11, .fastest: 12][speed] ?? 8))
        case .mjpeg:
            // FF_QP2LAMBDA is 118.
            add("flags", "+qscale")
            add("global_quality", String((quality ?? 3) * 118))
            add("color_range", "pc")
        default: add("profile", codec.profile)
        }
        // DNxHR stores the lines of both fields together; the container says which field comes first.
        if codec.isDNxHR { add("flags", "-ildct") }
        // Otherwise FFmpeg's own vendor code would be written, which some editors check.
        if codec.encoderName == "prores_ks" { add("vendor", "apl0") }
        let own = encoderOptions.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value) }
        return options.filter { option in encoderOptions[option.key] == nil } + own
    }

    private var x26xPreset: String {
        switch speed {
        case .slow: "slow"
        case .medium: "medium"
        case .fast: "fast"
        case .veryFast: "veryfast"
        case .fastest: "ultrafast"
        }
    }
}
