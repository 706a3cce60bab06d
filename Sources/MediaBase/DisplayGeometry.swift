/// The part of a stored picture intended for display: `kCMFormatDescriptionExtension_CleanAperture`.
///
/// It consists of four exact numbers and the area that they select in a picture of a given size. ISO/IEC 14496-12,
/// 12.1.4.
public struct CleanAperture: Sendable, Hashable {
    /// The width in pixels; above 0.
    public let width: Rational
    /// The height in pixels; above 0.
    public let height: Rational
    /// The horizontal distance from the picture's centre to the aperture's centre, positive to the right.
    public let horizontalOffset: Rational
    /// The vertical distance from the picture's centre to the aperture's centre, positive downwards.
    public let verticalOffset: Rational
    /// The size of the picture that contains the aperture.
    package let pictureSize: Dimensions
    /// The exact area defined by the four numbers, which may extend beyond the picture.
    public let rectangle: ExactRectangle
    /// The part of ``rectangle`` that lies inside the picture.
    public let visibleRectangle: ExactRectangle
    /// The whole pixels inside ``visibleRectangle``; at least one.
    public let pixelRect: PixelRectangle

    /// Places an aperture in a picture.
    ///
    /// The left edge is at offset + (size − clean)/2, and the top edge accordingly.
    /// - Parameter size: The size of the stored picture.
    /// - Throws: `damaged` if a number is invalid, or the aperture has no area or holds no whole pixel of the picture.
    public init(
        width: Rational, height: Rational, horizontalOffset: Rational = .zero, verticalOffset: Rational = .zero,
        in size: Dimensions
    ) throws(MediaError) {
        let numbers = [width, height, horizontalOffset, verticalOffset]
        guard numbers.allSatisfy(\.isValid) else {
            throw MediaError(.damaged, "has a denominator that is not positive")
        }
        guard width.isPositive, height.isPositive else { throw MediaError(.damaged, "has no area") }
        guard let x = Span(width, offset: horizontalOffset, in: size.width),
            let y = Span(height, offset: verticalOffset, in: size.height)
        else { throw MediaError(.damaged, "holds no whole pixel of the picture") }
        self.width = width
        self.height = height
        self.horizontalOffset = horizontalOffset
        self.verticalOffset = verticalOffset
        pictureSize = size
        rectangle = ExactRectangle(x: x.start, y: y.start, width: width, height: height)
        visibleRectangle = ExactRectangle(
            x: x.visibleStart, y: y.visibleStart, width: x.visibleLength, height: y.visibleLength)
        pixelRect = PixelRectangle(x: x.firstPixel, y: y.firstPixel, width: x.pixelCount, height: y.pixelCount)
    }

    /// Creates the aperture that remains after cropping whole pixels from each side.
    ///
    /// - Throws: The errors of ``init(width:height:horizontalOffset:verticalOffset:in:)``.
    public init(
        croppingLeft left: Int, top: Int, right: Int, bottom: Int, of size: Dimensions
    ) throws(MediaError) {
        func rational(_ number: Int) -> Rational { Rational(Int64(number)) }
        guard let width = rational(size.width).subtracting(rational(left))?.subtracting(rational(right)),
            let height = rational(size.height).subtracting(rational(top))?.subtracting(rational(bottom)),
            let across = rational(left).subtracting(rational(right))?.divided(by: Rational(2)),
            let down = rational(top).subtracting(rational(bottom))?.divided(by: Rational(2))
        else { throw MediaError(.damaged, "has no area") }
        try self.init(width: width, height: height, horizontalOffset: across, verticalOffset: down, in: size)
    }

    /// True if part of the aperture lies outside the picture.
    public var exceedsPicture: Bool { rectangle != visibleRectangle }

    /// The extent of an aperture along one axis.
    private struct Span {
        let start: Rational
        let visibleStart: Rational
        let visibleLength: Rational
        let firstPixel: Int
        let pixelCount: Int

        /// Returns `nil` if the span holds no whole pixel, or an edge cannot be represented exactly in 64 bits.
        init?(_ length: Rational, offset: Rational, in size: Int) {
            let size = Rational(Int64(size))
            guard let start = size.subtracting(length)?.divided(by: Rational(2))?.adding(offset),
                let end = start.adding(length),
                case let visibleStart = max(start, .zero), case let visibleEnd = min(end, size),
                let visibleLength = visibleEnd.subtracting(visibleStart),
                let first = visibleStart.rounded(.up), let last = visibleEnd.rounded(.down), first < last
            else { return nil }
            self.start = start
            self.visibleStart = visibleStart
            self.visibleLength = visibleLength
            // Both values lie between 0 and the picture's size.
            firstPixel = Int(first)
            pixelCount = Int(last - first)
        }
    }
}

/// A rectangle with exact edges; x points right and y down from the picture's top-left corner.
public struct ExactRectangle: Sendable, Hashable, Codable {
    /// The left edge.
    public let x: Rational
    /// The top edge.
    public let y: Rational
    /// The width in pixels.
    public let width: Rational
    /// The height in pixels.
    public let height: Rational

    /// Creates a rectangle without validating it.
    public init(x: Rational, y: Rational, width: Rational, height: Rational) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
}

/// A rectangle of whole pixels; x points right and y down from the picture's top-left corner.
public struct PixelRectangle: Sendable, Hashable, Codable {
    /// The first column.
    public let x: Int
    /// The first row.
    public let y: Int
    /// The number of columns.
    public let width: Int
    /// The number of rows.
    public let height: Int

    /// Creates a rectangle without validating it.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// The width and height.
    public var size: Dimensions { Dimensions(width: width, height: height) }
}

/// The display size that Matroska states for the cropped picture (DisplayWidth, DisplayHeight, DisplayUnit).
///
/// RFC 9559, 11.1.
public struct ContainerDisplay: Sendable, Hashable, Codable {
    /// The width in ``unit``.
    public let width: Int
    /// The height in ``unit``.
    public let height: Int
    /// The unit: `pixels`, `centimeters`, `inches`, `aspectRatio` or `unknown`.
    public let unit: String

    /// Creates a size without validating it.
    public init(width: Int, height: Int, unit: String) {
        self.width = width
        self.height = height
        self.unit = unit
    }
}

/// The three sizes in a QuickTime track's `tapt` atom, which apply before its matrix.
///
/// QuickTime File Format, "Track Aperture Mode Dimensions".
public struct TrackAperture: Sendable, Hashable {
    /// The size cropped to the clean aperture, in square pixels (`clef`); `nil` if unstated.
    public var clean: Size?
    /// The size of the whole picture in square pixels (`prof`); `nil` if unstated.
    public var production: Size?
    /// The size of the whole picture in stored pixels (`enof`); `nil` if unstated.
    public var encoded: Size?

    /// A size in exact fractions of a pixel.
    public struct Size: Sendable, Hashable {
        /// The width in pixels.
        public var width: Rational
        /// The height in pixels.
        public var height: Rational

        /// Creates a size without validating it.
        public init(width: Rational, height: Rational) {
            self.width = width
            self.height = height
        }
    }

    /// Creates the three sizes; each is unknown by default.
    public init(clean: Size? = nil, production: Size? = nil, encoded: Size? = nil) {
        self.clean = clean
        self.production = production
        self.encoded = encoded
    }
}
