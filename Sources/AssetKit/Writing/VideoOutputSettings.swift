import LibAV
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

// From settings to libavcodec's encoders and their options.

extension VideoOutputSettings {
    /// The pixel format that pictures are brought to.
    var encodedPixelFormat: PixelFormat { pixelFormat ?? codec.usualPixelFormat }

    /// How the encoder is opened for pictures of a form.
    ///
    /// - Parameters:
    ///   - source: The first picture: its size, pixel aspect, and colours hold where the settings say nothing.
    ///   - frameRate: Frames a second, as far as is known.
    func configuration(
        for source: VideoFormat, timeBase: Rational, frameRate: Rational?, in fileType: MediaFileType,
        usesGlobalHeader: Bool
    ) throws(MediaError) -> Encoder.Configuration {
        try check(in: fileType)
        try check(dimensions ?? source.encodedSize)
        var configuration = Encoder.Configuration(name: codec.encoderName, timeBase: timeBase)
        // What was converted says by which matrix and to which range.
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
        configuration.threads = threads
        configuration.usesGlobalHeader = usesGlobalHeader
        // The name under which QuickTime and its relatives play it.
        if codec == .hevc, fileType.isISO { configuration.codecTag = "hvc1" }
        configuration.options = options
        return configuration
    }

    /// Whether an encoder for pictures of a form opens without the bit rate, and with it does not.
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

    /// Throws for what no picture can be encoded with, as far as that is known before any has come.
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

    /// x264 prints what is wrong with a profile on standard error, past libav's log, so it is not asked.
    private func checkProfile() throws(MediaError) {
        guard codec == .h264, let profile else { return }
        // ITU-T H.264, annex A.2: the highest bit depth and chroma format of each.
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
        guard profile != "baseline" || fieldOrder == nil || fieldOrder == "progressive" else {
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
        guard (0...64).contains(threads) else {
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
        case .proRes422Proxy: add("profile", "proxy")
        case .proRes422LT: add("profile", "lt")
        case .proRes422: add("profile", "standard")
        case .proRes422HQ: add("profile", "hq")
        case .proRes4444: add("profile", "4444")
        case .dnxhrLB: add("profile", "dnxhr_lb")
        case .dnxhrSQ: add("profile", "dnxhr_sq")
        case .dnxhrHQ: add("profile", "dnxhr_hq")
        case .dnxhrHQX: add("profile", "dnxhr_hqx")
        }
        // It stores the lines of both fields together; the container says which came first.
        if codec.isDNxHR { add("flags", "-ildct") }
        // FFmpeg's own letters would stand for the maker otherwise, and some editors look at them.
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
