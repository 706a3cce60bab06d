/// The format of a video track.
public struct VideoFormat: Sendable, Hashable {
    /// The size of the stored picture, before any cropping that the container asks for.
    public var encodedSize: Dimensions
    /// The width of a pixel divided by its height; `nil` if unstated, in which case it is 1.
    public var sampleAspectRatio: Rational?
    /// The part of the stored picture that the container wants displayed; `nil` if that is the whole picture.
    public var cleanAperture: CleanAperture?
    /// The storage format of the pixels; `nil` if unknown without decoding.
    public var pixelFormat: PixelFormat?
    /// The number of significant bits per component.
    public var bitDepth: Int?
    /// The ratio of chroma samples to luma samples, such as `4:2:0`; `nil` for RGB and if unknown.
    public var chromaSubsampling: String?
    /// The colour description reported by the decoder.
    public var color: ColorInfo
    /// The order of the two fields of a frame, or that frames are progressive.
    public var fieldOrder: FieldOrder?
    /// Static HDR metadata.
    public var hdr: HDRInfo?
    /// The exponent of the transfer function stated by QuickTime's `gama` atom; `nil` if there is none.
    public var gamma: Rational?
    /// True if frames depend on later ones, so that the stored order differs from the display order.
    public var reorders: Bool

    /// Creates a description from its parts.
    public init(
        encodedSize: Dimensions, sampleAspectRatio: Rational? = nil, cleanAperture: CleanAperture? = nil,
        pixelFormat: PixelFormat? = nil, bitDepth: Int? = nil, color: ColorInfo = ColorInfo(),
        fieldOrder: FieldOrder? = nil, hdr: HDRInfo? = nil, reorders: Bool = false
    ) {
        self.encodedSize = encodedSize
        self.sampleAspectRatio = sampleAspectRatio
        self.cleanAperture = cleanAperture
        self.pixelFormat = pixelFormat
        self.bitDepth = bitDepth
        self.color = color
        self.fieldOrder = fieldOrder
        self.hdr = hdr
        self.reorders = reorders
    }

    /// Returns the intended display size in whole pixels, before any rotation.
    ///
    /// The pixel aspect ratio changes the width and leaves the height, as in
    /// `CMVideoFormatDescriptionGetPresentationDimensions`. Both sides are rounded half up and are at least 1.
    ///
    /// - Parameters:
    ///   - usePixelAspectRatio: Whether to convert to square pixels.
    ///   - useCleanAperture: Whether to crop the picture to the part of its clean aperture that lies inside it.
    public func presentationDimensions(usePixelAspectRatio: Bool, useCleanAperture: Bool = false) -> Dimensions {
        var width = Rational(Int64(encodedSize.width))
        var height = Rational(Int64(encodedSize.height))
        if useCleanAperture, let visible = cleanAperture?.visibleRectangle {
            (width, height) = (visible.width, visible.height)
        }
        if usePixelAspectRatio, let ratio = sampleAspectRatio, ratio.isPositive {
            width = width.multiplied(by: ratio) ?? width
        }
        func whole(_ side: Rational) -> Int? { side.rounded().flatMap { Int32(exactly: $0) }.map { max(1, Int($0)) } }
        guard let columns = whole(width), let rows = whole(height) else { return encodedSize }
        return Dimensions(width: columns, height: rows)
    }
}

/// A pixel storage format, identified by its libavutil name (`av_get_pix_fmt_name`).
public struct PixelFormat: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
    /// libavutil's name, such as `yuv420p10le`.
    public let rawValue: String

    /// Creates a pixel format from its libavutil name, which is not validated until the format is used.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The raw value.
    public var description: String { rawValue }

    /// 8 bits each of red, green, blue and straight alpha, in this order in memory.
    public static let rgba = PixelFormat(rawValue: "rgba")
    /// 16 bits each of red, green, blue and straight alpha, in this order in memory, little-endian.
    public static let rgba64 = PixelFormat(rawValue: "rgba64le")
    /// 8 bits each of blue, green, red and straight alpha, in this order in memory.
    public static let bgra = PixelFormat(rawValue: "bgra")
    /// 8 bits each of straight alpha, red, green and blue, in this order in memory.
    public static let argb = PixelFormat(rawValue: "argb")
    /// 8 bits each of red, green and blue, in this order in memory.
    public static let rgb24 = PixelFormat(rawValue: "rgb24")
    /// 8-bit planar 4:2:0.
    public static let yuv420p = PixelFormat(rawValue: "yuv420p")
    /// 8-bit 4:2:0 with one plane of luma and one of interleaved chroma.
    public static let nv12 = PixelFormat(rawValue: "nv12")
    /// 10-bit planar 4:2:0, little-endian.
    public static let yuv420p10 = PixelFormat(rawValue: "yuv420p10le")
    /// 8 bits of luma only.
    public static let gray = PixelFormat(rawValue: "gray")
}

/// The format of a file that holds a single picture, such as cover art, detected by its first bytes.
package enum PictureFileFormat: String, Sendable, Hashable {
    case jpeg, png, bmp

    /// Detects the picture format; `nil` for any other format.
    package init?(_ bytes: [UInt8]) {
        guard let known = Self.signatures.first(where: { bytes.starts(with: $0.bytes) }) else { return nil }
        self = known.format
    }

    private static let signatures: [(format: PictureFileFormat, bytes: [UInt8])] = [
        (.jpeg, [0xFF, 0xD8, 0xFF]), (.png, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), (.bmp, [0x42, 0x4D]),
    ]

    /// The MIME type.
    package var mimeType: String { "image/\(rawValue)" }

    /// The usual file name extension.
    package var pathExtension: String { self == .jpeg ? "jpg" : rawValue }
}

extension PictureFileFormat {
    /// Reads the dimensions of a JPEG or PNG picture; `nil` for other formats and if the header has no dimensions.
    ///
    /// ITU-T T.81, B.2.2 (frame header); PNG, 11.2.2 (IHDR).
    package static func dimensions(of bytes: [UInt8]) -> Dimensions? {
        func number(_ place: Int, _ count: Int) -> Int? {
            guard place + count <= bytes.count else { return nil }
            return bytes[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
        }
        switch PictureFileFormat(bytes) {
        case .png:
            guard let width = number(16, 4), let height = number(20, 4) else { return nil }
            return Dimensions(width: width, height: height)
        case .jpeg:
            var place = 2
            while let marker = number(place, 2), marker >= 0xFF01, let length = number(place + 2, 2), length >= 2 {
                // DHT, JPG and DAC lie in the same range but are not frame headers.
                if (0xFFC0...0xFFCF).contains(marker), ![0xFFC4, 0xFFC8, 0xFFCC].contains(marker) {
                    guard let height = number(place + 5, 2), let width = number(place + 7, 2) else { return nil }
                    return Dimensions(width: width, height: height)
                }
                place += 2 + length
            }
            return nil
        case .bmp, nil: return nil
        }
    }
}

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

    /// Creates a description of which nothing is known.
    public init() {}

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

        /// Creates a description of which nothing is known.
        public init() {}
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

/// The order of the two fields of a frame, or that frames are progressive.
///
/// The raw values are those of ffprobe's `field_order`. The first letter is the field stored first, the second the field
/// displayed first: `t` for top, `b` for bottom.
public struct FieldOrder: RawRepresentable, Sendable, Hashable, Codable {
    /// The name, such as `tt`.
    public let rawValue: String

    /// Creates an order from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Only whole frames.
    public static let progressive = FieldOrder(rawValue: "progressive")
    /// The top field is stored and displayed first.
    public static let topFieldFirst = FieldOrder(rawValue: "tt")
    /// The bottom field is stored and displayed first.
    public static let bottomFieldFirst = FieldOrder(rawValue: "bb")
    /// The top field is stored first, and the bottom field displayed first.
    public static let topFieldStoredFirst = FieldOrder(rawValue: "tb")
    /// The bottom field is stored first, and the top field displayed first.
    public static let bottomFieldStoredFirst = FieldOrder(rawValue: "bt")
    /// Fields occur, in an unknown order.
    public static let interlaced = FieldOrder(rawValue: "interlaced")
}
