/// How numbers in a picture stand for colours, by the code points of ITU-T H.273.
///
/// A property is `nil` where the stream does not say; nothing is guessed here. The names are libavutil's
/// (`av_color_primaries_name` and its like).
public struct ColorInfo: Sendable, Hashable, Codable {
    /// Chromaticities of red, green, blue and white, such as `bt709`.
    public var primaries: String?
    /// The transfer characteristic, such as `smpte2084` (PQ) or `arib-std-b67` (HLG).
    public var transfer: String?
    /// The matrix between RGB and luma with chroma, such as `bt2020nc`.
    public var matrix: String?
    /// `tv` for limited, `pc` for full range.
    public var range: String?
    /// Where chroma samples lie against luma samples, such as `left`.
    public var chromaLocation: String?

    /// Makes a description; every part is unknown unless given.
    public init(
        primaries: String? = nil, transfer: String? = nil, matrix: String? = nil, range: String? = nil,
        chromaLocation: String? = nil
    ) {
        self.primaries = primaries
        self.transfer = transfer
        self.matrix = matrix
        self.range = range
        self.chromaLocation = chromaLocation
    }

    /// Whether nothing at all is known.
    public var isUnknown: Bool { self == ColorInfo() }
}

/// What HDR metadata and signalling a stream carries.
public struct HDRInfo: Sendable, Hashable, Codable {
    /// The family that the transfer characteristic tells: `PQ` or `HLG`; `nil` for neither.
    public var transferFamily: String?
    /// The mastering display's primaries and luminance, SMPTE ST 2086.
    public var masteringDisplay: MasteringDisplay?
    /// The content's light level, CTA-861.3.
    public var contentLightLevel: ContentLightLevel?
    /// Whether there is dynamic metadata of SMPTE ST 2094-40 (HDR10+); `nil` where it was not looked for or found.
    public var hdr10Plus: Bool?
    /// The Dolby Vision configuration record.
    public var dolbyVision: DolbyVisionConfiguration?

    /// Makes a description; every part is unknown unless given.
    public init(
        transferFamily: String? = nil, masteringDisplay: MasteringDisplay? = nil,
        contentLightLevel: ContentLightLevel? = nil, hdr10Plus: Bool? = nil,
        dolbyVision: DolbyVisionConfiguration? = nil
    ) {
        self.transferFamily = transferFamily
        self.masteringDisplay = masteringDisplay
        self.contentLightLevel = contentLightLevel
        self.hdr10Plus = hdr10Plus
        self.dolbyVision = dolbyVision
    }

    /// SMPTE ST 2086: the display on which the picture was graded.
    public struct MasteringDisplay: Sendable, Hashable, Codable {
        /// CIE 1931 x and y of red.
        public var red: [Rational]?
        /// CIE 1931 x and y of green.
        public var green: [Rational]?
        /// CIE 1931 x and y of blue.
        public var blue: [Rational]?
        /// CIE 1931 x and y of the white point.
        public var whitePoint: [Rational]?
        /// The darkest level, in cd/m².
        public var minimumLuminance: Rational?
        /// The brightest level, in cd/m².
        public var maximumLuminance: Rational?

        /// Makes a description; every part is unknown unless given.
        public init(
            red: [Rational]? = nil, green: [Rational]? = nil, blue: [Rational]? = nil, whitePoint: [Rational]? = nil,
            minimumLuminance: Rational? = nil, maximumLuminance: Rational? = nil
        ) {
            self.red = red
            self.green = green
            self.blue = blue
            self.whitePoint = whitePoint
            self.minimumLuminance = minimumLuminance
            self.maximumLuminance = maximumLuminance
        }
    }

    /// CTA-861.3: how bright the content gets, in cd/m².
    public struct ContentLightLevel: Sendable, Hashable, Codable {
        /// The brightest pixel (MaxCLL).
        public var maximum: Int
        /// The brightest frame average (MaxFALL).
        public var maximumFrameAverage: Int

        /// Makes a light level from MaxCLL and MaxFALL.
        public init(maximum: Int, maximumFrameAverage: Int) {
            self.maximum = maximum
            self.maximumFrameAverage = maximumFrameAverage
        }
    }

    /// The fields of `dvcC`/`dvvC` (Dolby Vision Streams Within the ISO Base Media File Format).
    public struct DolbyVisionConfiguration: Sendable, Hashable, Codable {
        /// The profile, 0…9.
        public var profile: Int
        /// The level, 0…13.
        public var level: Int
        /// Whether a base layer, an enhancement layer and metadata are present.
        public var layers: [String]
        /// The base layer's compatibility: 0 none, 1 HDR10, 2 SDR, 4 HLG.
        public var compatibility: Int

        /// Makes a configuration from its fields.
        public init(profile: Int, level: Int, layers: [String], compatibility: Int) {
            self.profile = profile
            self.level = level
            self.layers = layers
            self.compatibility = compatibility
        }
    }
}
