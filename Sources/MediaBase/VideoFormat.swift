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
    /// The field order: `progressive`, `tt`, `bb`, `tb` or `bt`.
    ///
    /// The first letter is the field stored first, the second the field displayed first: `t` for top, `b` for bottom.
    public var fieldOrder: String?
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
        fieldOrder: String? = nil, hdr: HDRInfo? = nil, reorders: Bool = false
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
package enum PictureFileFormat: Sendable, Hashable {
    case jpeg, png, bmp

    /// Detects the picture format; `nil` for any other format.
    package init?(_ bytes: [UInt8]) {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if bytes.starts(with: [0x42, 0x4D]) {
            self = .bmp
        } else {
            return nil
        }
    }

    /// The MIME type.
    package var mimeType: String {
        switch self {
        case .jpeg: "image/jpeg"
        case .png: "image/png"
        case .bmp: "image/bmp"
        }
    }

    /// The usual file name extension.
    package var pathExtension: String {
        switch self {
        case .jpeg: "jpg"
        case .png: "png"
        case .bmp: "bmp"
        }
    }
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
