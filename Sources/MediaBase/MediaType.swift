/// What a track carries: `AVMediaType` without the prefix, `AVMediaType` of libavutil in C.
public struct MediaType: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
    /// The stable name, as JSON shows it.
    public let rawValue: String

    /// Makes a media type from its stable name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The raw value.
    public var description: String { rawValue }

    /// Moving pictures, cover art included.
    public static let video = MediaType(rawValue: "video")
    /// Sound.
    public static let audio = MediaType(rawValue: "audio")
    /// Subtitles, closed captions and other timed text.
    public static let subtitle = MediaType(rawValue: "subtitle")
    /// A `tmcd` track.
    public static let timecode = MediaType(rawValue: "timecode")
    /// Timed data that is none of the above (GPMF, `mebx`, `fdsc`…).
    public static let data = MediaType(rawValue: "data")
    /// A file carried inside the container, such as a font.
    public static let attachment = MediaType(rawValue: "attachment")
}

/// What a person perceives in a track: `AVMediaCharacteristic` without the prefix.
public enum MediaCharacteristic: Sendable, Hashable {
    /// The track can be seen as pictures.
    case visual
    /// The track can be heard.
    case audible
    /// The track can be read as text.
    case legible
}

/// A size in whole pixels.
public struct Dimensions: Sendable, Hashable, Codable, CustomStringConvertible {
    /// Pixels across.
    public let width: Int
    /// Pixels down.
    public let height: Int

    /// Makes a size; no check is made.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// For example `1920x1080`.
    public var description: String { "\(width)x\(height)" }

    /// Width and height exchanged, as after a quarter turn.
    public var transposed: Dimensions { Dimensions(width: height, height: width) }

    /// The largest size of this shape that fits into `limit` and is not larger than this one.
    ///
    /// Each side is rounded half up to a whole pixel and is at least 1. A side of `limit` that is 0 or negative sets no
    /// limit.
    public func fitted(into limit: Dimensions) -> Dimensions {
        guard width > 0, height > 0 else { return self }
        var (numerator, denominator) = (1, 1)
        if limit.width > 0, limit.width < width { (numerator, denominator) = (limit.width, width) }
        if limit.height > 0, limit.height < height {
            let narrower = limit.height.multipliedFullWidth(by: denominator)
            let current = numerator.multipliedFullWidth(by: height)
            if (narrower.high, narrower.low) < (current.high, current.low) {
                (numerator, denominator) = (limit.height, height)
            }
        }
        func scaled(_ side: Int) -> Int {
            let product = side.multipliedReportingOverflow(by: numerator)
            guard !product.overflow else { return side }
            let (quotient, remainder) = product.partialValue.quotientAndRemainder(dividingBy: denominator)
            return max(1, remainder >= denominator - remainder ? quotient + 1 : quotient)
        }
        return Dimensions(width: scaled(width), height: scaled(height))
    }
}
