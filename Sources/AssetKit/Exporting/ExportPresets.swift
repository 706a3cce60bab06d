import LibAV
public import MediaBase

extension ExportSession {
    /// A preset for the output of an export: `AVAssetExportSession`'s presets.
    public struct Preset: RawRepresentable, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        /// The name, such as `mediumQuality` or `1280x720`.
        public let rawValue: String
        let making: Making

        /// The treatment of tracks.
        enum Making: Sendable, Hashable {
            case quality(VideoOutputSettings.Codec, Int, PictureSizeLimit)
            case size(OutputSettingsAssistant.Preset)
            case proRes(VideoOutputSettings.Codec)
            case soundAlone
            case passthrough
        }

        private init(_ name: String, _ making: Making) {
            rawValue = name
            self.making = making
        }

        private init(_ size: OutputSettingsAssistant.Preset) { self.init(size.rawValue, .size(size)) }

        /// Finds a preset by its name; ``allCases`` lists all of them.
        public init?(rawValue: String) {
            guard let preset = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
            self = preset
        }

        /// H.264, at most 360 pixels along the shorter side.
        public static let lowQuality = Preset("lowQuality", .quality(.h264, 28, .shorterSide(360)))
        /// H.264, at most 540 pixels along the shorter side.
        public static let mediumQuality = Preset("mediumQuality", .quality(.h264, 25, .shorterSide(540)))
        /// H.264 at the source's size.
        public static let highestQuality = Preset("highestQuality", .quality(.h264, 18, .none))
        /// HEVC at the source's size; Main 10 if the source has more than 8 bits per component.
        public static let hevcHighestQuality = Preset("hevcHighestQuality", .quality(.hevc, 22, .none))
        /// VP9 at the source's size, and Opus, for WebM.
        public static let vp9HighestQuality = Preset("vp9HighestQuality", .quality(.vp9, 24, .none))
        /// H.264 within 640 by 480.
        public static let size640x480 = Preset(.size640x480)
        /// H.264 within 960 by 540.
        public static let size960x540 = Preset(.size960x540)
        /// H.264 within 1280 by 720.
        public static let size1280x720 = Preset(.size1280x720)
        /// H.264 within 1920 by 1080.
        public static let size1920x1080 = Preset(.size1920x1080)
        /// H.264 within 3840 by 2160.
        public static let size3840x2160 = Preset(.size3840x2160)
        /// HEVC within 1920 by 1080.
        public static let hevc1920x1080 = Preset(.hevc1920x1080)
        /// HEVC within 3840 by 2160.
        public static let hevc3840x2160 = Preset(.hevc3840x2160)
        /// ProRes 422 and linear PCM.
        public static let proRes422LPCM = Preset("proRes422LPCM", .proRes(.proRes422))
        /// ProRes 4444 and linear PCM.
        public static let proRes4444LPCM = Preset("proRes4444LPCM", .proRes(.proRes4444))
        /// AAC audio only.
        public static let appleM4A = Preset("appleM4A", .soundAlone)
        /// Video and audio, copied unchanged.
        public static let passthrough = Preset("passthrough", .passthrough)

        /// All presets.
        public static let allCases: [Preset] = [
            lowQuality, mediumQuality, highestQuality, hevcHighestQuality, vp9HighestQuality, size640x480, size960x540,
            size1280x720, size1920x1080, size3840x2160, hevc1920x1080, hevc3840x2160, proRes422LPCM, proRes4444LPCM,
            appleM4A, passthrough,
        ]

        /// The name of the preset.
        public var description: String { rawValue }

        /// A one-line description of the output.
        public var summary: String {
            switch making {
            case .quality(let codec, _, let limit):
                if case .shorterSide(let side) = limit {
                    "\(codec.displayName), \(side) pixels along the shorter side at most; AAC"
                } else {
                    "\(codec.displayName) in the source's size\(codec == .hevc ? ", 8 or 10 bits" : ""); "
                        + (codec == .vp9 ? "Opus" : "AAC")
                }
            case .size(let size):
                "\(size.codec.displayName) inside \(size.box.width) by \(size.box.height); AAC"
            case .proRes(let codec): "\(codec.displayName) and linear PCM"
            case .soundAlone: "AAC alone"
            case .passthrough: "pictures and sound as they are"
            }
        }
    }
}

extension ExportSession.Preset {
    /// True if the output includes video.
    var needsPictures: Bool {
        switch making {
        case .quality, .size, .proRes: true
        case .soundAlone, .passthrough: false
        }
    }

    /// Returns the file types that the preset can make from tracks, the usual one first; empty if there are none.
    func fileTypes(for tracks: [AssetTrack]) -> [MediaFileType] {
        let media = tracks.filter { [.video, .audio].contains($0.mediaType) && !$0.isAttachedPicture }
        if needsPictures, !media.contains(where: { $0.mediaType == .video }) { return [] }
        switch making {
        case .quality(let codec, _, _):
            guard Encoder.exists(codec.encoderName) else { return [] }
            return codec == .vp9 ? [.webm, .mkv] : [.mov, .mp4, .mkv]
        case .size(let size): return Encoder.exists(size.codec.encoderName) ? [.mov, .mp4, .mkv] : []
        case .proRes: return [.mov]
        case .soundAlone: return media.contains { $0.mediaType == .audio } ? [.m4a] : []
        case .passthrough:
            guard !media.isEmpty else { return [] }
            return MediaFileType.all.filter { type in
                media.count <= type.maximumTracks
                    && media.allSatisfy { track in
                        type.canHold(codec: track.formatDescriptions.first?.codec ?? "", mediaType: track.mediaType)
                    }
            }
        }
    }

    /// Returns the treatment of a video track.
    package func video(for track: AssetTrack) -> Reencoder.Treatment<VideoOutputSettings> {
        guard let format = track.formatDescriptions.first?.video else { return .leaveOut }
        switch making {
        case .quality(let codec, let quality, let limit):
            var settings = VideoOutputSettings(codec: codec, dimensions: limit.size(for: format))
            settings.quality = quality
            if codec == .hevc, let depth = format.bitDepth, depth > 8 { settings.pixelFormat = .yuv420p10 }
            return .encode(settings)
        case .size(let preset):
            var assistant = OutputSettingsAssistant(preset: preset)
            assistant.sourceVideoFormat = track.formatDescriptions.first
            if let rate = track.averageFrameRate ?? track.nominalFrameRate, let duration = rate.inverse {
                assistant.sourceVideoAverageFrameDuration = MediaTime(duration)
            }
            assistant.sourceVideoMinimumFrameDuration = track.minimumFrameDuration
            var settings = assistant.videoSettings
            // The re-encoder also knows the container's values, and the brightness stated by the pictures.
            (settings.color, settings.hdr) = (nil, nil)
            return .encode(settings)
        case .proRes(let codec):
            let size = PictureSizeLimit.none.size(for: format)
            return .encode(VideoOutputSettings(codec: codec, dimensions: size))
        case .soundAlone: return .leaveOut
        case .passthrough: return .copy
        }
    }

    /// Returns the treatment of an audio track.
    package func audio(for track: AssetTrack) -> Reencoder.Treatment<AudioOutputSettings> {
        switch making {
        case .passthrough: return .copy
        case .proRes: return .encode(AudioOutputSettings(codec: .pcm))
        case .quality(.vp9, _, _): return .encode(AudioOutputSettings(codec: .opus))
        case .quality, .size, .soundAlone: return .encode(AudioOutputSettings(codec: .aac))
        }
    }
}

extension VideoOutputSettings.Codec {
    /// The name of a preset's codec for display.
    fileprivate var displayName: String {
        switch self {
        case .h264: "H.264"
        case .hevc: "HEVC"
        case .vp9: "VP9"
        case .proRes422: "ProRes 422"
        case .proRes4444: "ProRes 4444"
        default: rawValue
        }
    }
}

/// Suggests a file type and settings for a source: `AVOutputSettingsAssistant`.
///
/// ```swift
/// var assistant = OutputSettingsAssistant(preset: .size1280x720)
/// assistant.sourceVideoFormat = videoTrack.formatDescriptions.first
/// assistant.sourceAudioFormat = audioTrack.formatDescriptions.first
/// assistant.sourceVideoAverageFrameDuration = MediaTime(value: 1001, timescale: 30000)
/// let input = AssetWriterInput(videoSettings: assistant.videoSettings)
/// ```
///
/// Without a source, the settings are those for a source that fills the preset's size at 30 frames per second, with
/// stereo audio at 44.1 kHz.
public struct OutputSettingsAssistant: Sendable, Hashable {
    /// A maximum size, and the codec for it.
    public struct Preset: RawRepresentable, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        /// The name, such as `1280x720` or `hevc1920x1080`.
        public let rawValue: String

        /// Finds a preset by its name; ``allCases`` lists all of them.
        public init?(rawValue: String) {
            guard let preset = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
            self = preset
        }

        let codec: VideoOutputSettings.Codec
        let box: Dimensions

        private init(_ codec: VideoOutputSettings.Codec, _ width: Int, _ height: Int) {
            rawValue = (codec == .h264 ? "" : codec.rawValue) + "\(width)x\(height)"
            self.codec = codec
            box = Dimensions(width: width, height: height)
        }

        /// H.264 within 640 by 480.
        public static let size640x480 = Preset(.h264, 640, 480)
        /// H.264 within 960 by 540.
        public static let size960x540 = Preset(.h264, 960, 540)
        /// H.264 within 1280 by 720.
        public static let size1280x720 = Preset(.h264, 1280, 720)
        /// H.264 within 1920 by 1080.
        public static let size1920x1080 = Preset(.h264, 1920, 1080)
        /// H.264 within 3840 by 2160.
        public static let size3840x2160 = Preset(.h264, 3840, 2160)
        /// HEVC within 1920 by 1080.
        public static let hevc1920x1080 = Preset(.hevc, 1920, 1080)
        /// HEVC within 3840 by 2160.
        public static let hevc3840x2160 = Preset(.hevc, 3840, 2160)

        /// All presets.
        public static let allCases: [Preset] = [
            size640x480, size960x540, size1280x720, size1920x1080, size3840x2160, hevc1920x1080, hevc3840x2160,
        ]

        /// The name of the preset.
        public var description: String { rawValue }
    }

    /// The preset on which the settings are based.
    public let preset: Preset
    /// The format of the source's video; `nil` if unknown.
    public var sourceVideoFormat: FormatDescription?
    /// The format of the source's audio; `nil` if unknown.
    public var sourceAudioFormat: FormatDescription?
    /// The average duration of the source's frames; 1/30 s by default.
    public var sourceVideoAverageFrameDuration = MediaTime(value: 1, timescale: 30)
    /// The shortest duration of the source's frames; `nil`, the default, to use the average.
    public var sourceVideoMinimumFrameDuration: MediaTime?

    /// Creates an assistant without a source.
    public init(preset: Preset) { self.preset = preset }

    /// The type of file for which the settings are meant.
    public var outputFileType: MediaFileType { .mov }

    /// The video settings: the preset's size or that of the source, whichever is smaller.
    ///
    /// The bit rate depends on the number of pixels per second. The maximum distance of sync samples is two seconds at
    /// the source's highest frame rate.
    public var videoSettings: VideoOutputSettings {
        let limit = PictureSizeLimit.box(preset.box)
        let source = sourceVideoFormat?.video
        var settings = VideoOutputSettings(
            codec: preset.codec, dimensions: source.map { limit.size(for: $0) } ?? preset.box)
        let average = Self.rate(sourceVideoAverageFrameDuration) ?? Rational(30)
        let highest = sourceVideoMinimumFrameDuration.flatMap(Self.rate) ?? average
        settings.expectedFrameRate = average
        settings.bitRate = Self.bitRate(settings, at: average)
        settings.maximumKeyFrameInterval = max(1, min(600, Int(clamping: (highest.rounded() ?? 30) * 2)))
        if let source, let size = settings.dimensions {
            let shape = Rational(Int64(source.encodedSize.width), Int64(source.encodedSize.height))
            settings.pixelAspectRatio = shape.multiplied(by: source.sampleAspectRatio ?? .one)?
                .multiplied(by: Rational(Int64(size.height), Int64(size.width)))
            settings.color = source.isRGB || source.color.isUnknown ? nil : source.color
            settings.hdr = source.hdr
        }
        return settings
    }

    /// The audio settings: AAC with the source's channels, at most 48 kHz.
    public var audioSettings: AudioOutputSettings {
        let source = sourceAudioFormat?.audio
        let rate = source.map { min(48000, $0.sampleRate) } ?? 44100
        let usual = [8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000]
        let layout = source?.channelLayout.knownName == nil ? (source == nil ? .stereo : nil) : source?.channelLayout
        return AudioOutputSettings(
            codec: .aac, sampleRate: usual.first { $0 >= rate } ?? 48000, channelLayout: layout,
            bitRate: 64_000 * max(1, source?.channels ?? 2))
    }

    private static func rate(_ duration: MediaTime) -> Rational? {
        guard duration.isNumeric, duration > .zero else { return nil }
        return Rational(duration)?.inverse
    }

    /// Returns the bits per second for frames of a size and rate: a fifth of a bit per pixel for H.264.
    static func bitRate(_ settings: VideoOutputSettings, at rate: Rational) -> Int {
        guard let size = settings.dimensions else { return 0 }
        let hundredths: Int64 = settings.codec == .hevc ? 12 : 20
        let pixels = Rational(Int64(size.width)).multiplied(by: Rational(Int64(size.height)))
        let bits = pixels?.multiplied(by: min(rate, Rational(240)))?.multiplied(by: Rational(hundredths, 100))
        return max(64_000, Int(clamping: bits?.rounded() ?? 0))
    }
}

/// The maximum size of encoded video frames when they are scaled down.
public enum PictureSizeLimit: Sendable, Hashable {
    /// No limit except the size of the source.
    case none
    /// A maximum number of pixels along the shorter side: 540 for 960x540 and for 540x960.
    case shorterSide(Int)
    /// A maximum number of rows.
    case height(Int)
    /// A box that the frame must fit into, in either orientation.
    case box(Dimensions)
}

extension PictureSizeLimit {
    /// Returns the size for video frames of a format: even sides, never larger than the source.
    ///
    /// The pixel aspect ratio compensates for rounding, unless pixels are to be square. Among the sizes within a
    /// fiftieth of the exact one, the result is the nearest whose pixel aspect ratio is a fraction that codecs and
    /// containers can store.
    /// - Parameters:
    ///   - format: The format of the source.
    ///   - hasSquarePixels: True to produce square pixels. One side is then shortened rather than the other lengthened.
    public func size(for format: VideoFormat, hasSquarePixels: Bool = false) -> Dimensions {
        var width = Rational(Int64(format.encodedSize.width))
        var height = Rational(Int64(format.encodedSize.height))
        if hasSquarePixels, let ratio = format.sampleAspectRatio, ratio.isPositive {
            if ratio > .one { height = height.divided(by: ratio) ?? height }
            if ratio < .one { width = width.multiplied(by: ratio) ?? width }
        }
        let scale = min(.one, scale(width: width, height: height))
        let nearest = Dimensions(
            width: Self.even(width, scale, most: format.encodedSize.width),
            height: Self.even(height, scale, most: format.encodedSize.height))
        if hasSquarePixels { return nearest }
        // The first limit is that of x264, the second that of libavformat when it reads QuickTime files.
        return Self.keepable(nearest, for: format, most: 4096) ?? Self.keepable(nearest, for: format, most: 32767)
            ?? nearest
    }

    /// Returns the nearest size whose pixel aspect ratio has no term above `most`; `nil` if none exists.
    private static func keepable(_ nearest: Dimensions, for format: VideoFormat, most: Int64) -> Dimensions? {
        let source = format.encodedSize
        func isKept(_ size: Dimensions) -> Bool {
            guard
                let across = Rational(Int64(size.height), Int64(size.width)).multiplied(
                    by: Rational(Int64(source.width), Int64(source.height))),
                let ratio = across.multiplied(by: format.sampleAspectRatio ?? .one)
            else { return false }
            return max(ratio.num, ratio.den) <= most
        }
        func steps(_ side: Int, most: Int) -> [Int] {
            let reach = side / 50 / 2
            return (-reach...reach).map { side + 2 * $0 }.filter { $0 >= 2 && $0 <= max(2, most) }
        }
        // Rows take precedence over columns, because the caller asks for a number of rows.
        let candidates = steps(nearest.height, most: nearest.height).reversed().lazy.compactMap {
            height -> Dimensions? in
            steps(nearest.width, most: source.width).sorted { abs($0 - nearest.width) < abs($1 - nearest.width) }
                .lazy.map { Dimensions(width: $0, height: height) }.first(where: isKept)
        }
        return candidates.first
    }

    private func scale(width: Rational, height: Rational) -> Rational {
        func ratio(_ limit: Int, _ side: Rational) -> Rational {
            // Rounds an odd limit down, because the even side above it would exceed it.
            Rational(Int64(max(2, limit) / 2 * 2)).divided(by: side) ?? .one
        }
        switch self {
        case .none: return .one
        case .shorterSide(let limit): return ratio(limit, min(width, height))
        case .height(let limit): return ratio(limit, height)
        case .box(let box):
            let isUpright = width < height
            let size = isUpright == (box.width < box.height) ? box : box.transposed
            return min(ratio(size.width, width), ratio(size.height, height))
        }
    }

    /// Returns the even number nearest to a scaled side, at most the source's side but never less than 2.
    private static func even(_ side: Rational, _ scale: Rational, most: Int) -> Int {
        let halves = side.multiplied(by: scale)?.divided(by: Rational(2))?.rounded() ?? 1
        return max(2, min(Int(clamping: halves) * 2, most / 2 * 2))
    }
}
