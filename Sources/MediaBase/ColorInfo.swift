/// The interpretation of the numbers in a picture as colours, by the code points of ITU-T H.273.
///
/// A property is `nil` if the stream does not state it; nothing is guessed here. The names are libavutil's
/// (`av_color_primaries_name` and similar).
public struct ColorInfo: Sendable, Hashable, Codable {
    /// The chromaticities of red, green, blue and white, such as `bt709`.
    public var primaries: String?
    /// The transfer characteristic, such as `smpte2084` (PQ) or `arib-std-b67` (HLG).
    public var transfer: String?
    /// The matrix that converts between RGB and luma with chroma, such as `bt2020nc`.
    public var matrix: String?
    /// The range: `tv` for limited, `pc` for full.
    public var range: String?
    /// The position of chroma samples relative to luma samples, such as `left`.
    public var chromaLocation: String?

    /// Creates a description; every part is unknown by default.
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

    /// True if nothing is known.
    public var isUnknown: Bool { self == ColorInfo() }

    /// Returns a copy in which unknown parts have the values that players assume.
    ///
    /// The matrix is BT.601's up to 1024 by 608 pixels (standard definition with its blanking lines), otherwise
    /// BT.709's; it is BT.2020's if the primaries or an HDR transfer function imply that. The primaries follow the
    /// matrix, the transfer function is BT.709's, the range is limited, and chroma samples are located at the left.
    /// - Parameter size: The size of the stored picture.
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

    /// Returns the matrix and range that convert red, green and blue of these colours to luma and chroma.
    ///
    /// This is the only place that chooses them, for both conversion and tagging. Values in `wanted` take precedence.
    /// Otherwise the matrix is BT.2020's for wide primaries and BT.709's for all others, whatever the size, and the
    /// range is limited.
    package func codedAsLuma(wanted: ColorInfo? = nil) -> (matrix: String, range: String) {
        let isWide =
            primaries == "bt2020" || (primaries == nil && (transfer == "smpte2084" || transfer == "arib-std-b67"))
        let matrix = wanted?.matrix.flatMap { $0 == "gbr" ? nil : $0 }
        return (matrix ?? (isWide ? "bt2020nc" : "bt709"), wanted?.range ?? "tv")
    }
}

/// The HDR metadata and signalling of a stream.
public struct HDRInfo: Sendable, Hashable, Codable {
    /// The HDR family implied by the transfer characteristic: `PQ` or `HLG`; `nil` for neither.
    public var transferFamily: String?
    /// The primaries and luminance of the mastering display, SMPTE ST 2086.
    public var masteringDisplay: MasteringDisplay?
    /// The light level of the content, CTA-861.3.
    public var contentLightLevel: ContentLightLevel?
    /// True if there is dynamic metadata of SMPTE ST 2094-40 (HDR10+); `nil` if none was looked for or found.
    public var hdr10Plus: Bool?
    /// The Dolby Vision configuration record.
    public var dolbyVision: DolbyVisionConfiguration?

    /// Creates a description; every part is unknown by default.
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

    /// The peak luminance of the content, in cd/m².
    ///
    /// This is the content's maximum light level if known, else the maximum of its mastering display; `nil` if neither
    /// is known.
    public var peakLuminance: Double? {
        if let level = contentLightLevel?.maximum, level > 0 { return Double(level) }
        guard let level = masteringDisplay?.maximumLuminance, level.isPositive else { return nil }
        return level.doubleValue
    }

    /// The display on which the content was graded, SMPTE ST 2086.
    public struct MasteringDisplay: Sendable, Hashable, Codable {
        /// The CIE 1931 x and y coordinates of red.
        public var red: [Rational]?
        /// The CIE 1931 x and y coordinates of green.
        public var green: [Rational]?
        /// The CIE 1931 x and y coordinates of blue.
        public var blue: [Rational]?
        /// The CIE 1931 x and y coordinates of the white point.
        public var whitePoint: [Rational]?
        /// The minimum luminance, in cd/m².
        public var minimumLuminance: Rational?
        /// The maximum luminance, in cd/m².
        public var maximumLuminance: Rational?

        /// Creates a description; every part is unknown by default.
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

    /// The light level of the content in cd/m², CTA-861.3.
    public struct ContentLightLevel: Sendable, Hashable, Codable {
        /// The light level of the brightest pixel (MaxCLL).
        public var maximum: Int
        /// The highest average light level of a frame (MaxFALL).
        public var maximumFrameAverage: Int

        /// Creates a light level from MaxCLL and MaxFALL.
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
        /// The layers that are present: base layer, enhancement layer and metadata.
        public var layers: [String]
        /// The compatibility of the base layer: 0 none, 1 HDR10, 2 SDR, 4 HLG.
        public var compatibility: Int

        /// Creates a configuration from its fields.
        public init(profile: Int, level: Int, layers: [String], compatibility: Int) {
            self.profile = profile
            self.level = level
            self.layers = layers
            self.compatibility = compatibility
        }
    }
}
