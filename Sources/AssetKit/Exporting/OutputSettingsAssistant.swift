public import MediaBase

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
/// Without a source, the settings are those of a source that fills the preset's size at 30 frames a second, with stereo
/// sound of 44.1 kHz.
public struct OutputSettingsAssistant: Sendable, Hashable {
    /// A size, and the codec that goes with it.
    public struct Preset: RawRepresentable, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        /// The name, such as `1280x720` or `hevc1920x1080`.
        public let rawValue: String

        /// A preset by its name; ``allCases`` says which there are.
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

        /// H.264 inside 640 by 480.
        public static let size640x480 = Preset(.h264, 640, 480)
        /// H.264 inside 960 by 540.
        public static let size960x540 = Preset(.h264, 960, 540)
        /// H.264 inside 1280 by 720.
        public static let size1280x720 = Preset(.h264, 1280, 720)
        /// H.264 inside 1920 by 1080.
        public static let size1920x1080 = Preset(.h264, 1920, 1080)
        /// H.264 inside 3840 by 2160.
        public static let size3840x2160 = Preset(.h264, 3840, 2160)
        /// HEVC inside 1920 by 1080.
        public static let hevc1920x1080 = Preset(.hevc, 1920, 1080)
        /// HEVC inside 3840 by 2160.
        public static let hevc3840x2160 = Preset(.hevc, 3840, 2160)

        /// All of them.
        public static let allCases: [Preset] = [
            size640x480, size960x540, size1280x720, size1920x1080, size3840x2160, hevc1920x1080, hevc3840x2160,
        ]

        /// The name.
        public var description: String { rawValue }
    }

    /// What is aimed at.
    public let preset: Preset
    /// What the source's pictures are; `nil` where that is not known.
    public var sourceVideoFormat: FormatDescription?
    /// What the source's sound is; `nil` where that is not known.
    public var sourceAudioFormat: FormatDescription?
    /// How long the source's pictures last on average; 1/30 s unless set.
    public var sourceVideoAverageFrameDuration = MediaTime(value: 1, timescale: 30)
    /// How long the shortest of them lasts; as long as on average unless set.
    public var sourceVideoMinimumFrameDuration: MediaTime?

    /// An assistant that knows of no source yet.
    public init(preset: Preset) { self.preset = preset }

    /// What kind of file the settings are for.
    public var outputFileType: MediaFileType { .mov }

    /// The settings for pictures: the preset's size or the source's, whichever is smaller.
    ///
    /// The bit rate goes with the number of pixels a second; the distance of sync samples is two seconds at the highest
    /// rate that the source reaches.
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

    /// The settings for sound: AAC with the source's channels, at most 48 kHz.
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

    /// Bits a second for pictures of a size and rate, at a fifth of a bit for each pixel with H.264.
    static func bitRate(_ settings: VideoOutputSettings, at rate: Rational) -> Int {
        guard let size = settings.dimensions else { return 0 }
        let hundredths: Int64 = settings.codec == .hevc ? 12 : 20
        let pixels = Rational(Int64(size.width)).multiplied(by: Rational(Int64(size.height)))
        let bits = pixels?.multiplied(by: min(rate, Rational(240)))?.multiplied(by: Rational(hundredths, 100))
        return max(64_000, Int(clamping: bits?.rounded() ?? 0))
    }
}
