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

    /// The same with what is not known filled in as players do.
    ///
    /// The matrix is BT.601's up to 1024 by 608 pixels (standard definition with its blanking lines), else BT.709's;
    /// BT.2020's where the primaries or an HDR transfer function say so. Primaries follow the matrix, the transfer
    /// function is that of BT.709, the range is limited, and chroma samples lie at the left.
    /// - Parameter size: The stored picture.
    public func assumed(for size: Dimensions) -> ColorInfo {
        let isHDR = transfer == "smpte2084" || transfer == "arib-std-b67"
        let isWide = primaries == "bt2020" || (isHDR && primaries == nil)
        let isStandard = size.width <= 1024 && size.height <= 608
        let matrix = matrix ?? (isWide ? "bt2020nc" : isStandard ? "smpte170m" : "bt709")
        let followsMatrix = matrix == "bt2020nc" || matrix == "bt2020c" || isWide
        return ColorInfo(
            primaries: primaries ?? (followsMatrix ? "bt2020" : "bt709"), transfer: transfer ?? "bt709",
            matrix: matrix, range: range ?? "tv", chromaLocation: chromaLocation ?? "left")
    }

    /// The matrix and the range by which red, green and blue of these colours become luma and chroma.
    ///
    /// The one place in which that is chosen: who converts and who tags both ask here. What is wanted comes first. Else the
    /// matrix is BT.2020's for wide primaries and BT.709's for all others, whatever the size, and the range is limited.
    package func codedAsLuma(wanted: ColorInfo? = nil) -> (matrix: String, range: String) {
        let isWide =
            primaries == "bt2020" || (primaries == nil && (transfer == "smpte2084" || transfer == "arib-std-b67"))
        let matrix = wanted?.matrix.flatMap { $0 == "gbr" ? nil : $0 }
        return (matrix ?? (isWide ? "bt2020nc" : "bt709"), wanted?.range ?? "tv")
    }
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

    /// How bright the content gets, in cd/m²: its own light level, else the display's that it was graded on; `nil`
    /// where neither is known.
    public var peakLuminance: Double? {
        if let level = contentLightLevel?.maximum, level > 0 { return Double(level) }
        guard let level = masteringDisplay?.maximumLuminance, level.isPositive else { return nil }
        return level.doubleValue
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
