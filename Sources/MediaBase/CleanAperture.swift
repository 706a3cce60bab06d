/// The part of a stored picture that is meant to be seen: `kCMFormatDescriptionExtension_CleanAperture`.
///
/// Four exact numbers, and what they cut out of a picture of one size. ISO/IEC 14496-12, 12.1.4.
public struct CleanAperture: Sendable, Hashable {
    /// Pixels across; above 0.
    public let width: Rational
    /// Pixels down; above 0.
    public let height: Rational
    /// From the picture's centre to the aperture's, to the right.
    public let horizontalOffset: Rational
    /// From the picture's centre to the aperture's, downwards.
    public let verticalOffset: Rational
    /// The size of the picture that it is placed in.
    package let pictureSize: Dimensions
    /// What is cut out, exactly as the four numbers say; it may reach beyond the picture.
    public let rectangle: ExactRectangle
    /// ``rectangle`` as far as it lies inside the picture.
    public let visibleRectangle: ExactRectangle
    /// The whole pixels inside ``visibleRectangle``; at least one.
    public let pixelRect: PixelRectangle

    /// Places an aperture in a picture.
    ///
    /// The left edge is offset + (size − clean)/2, and so is the upper one.
    /// - Parameter size: The stored picture.
    /// - Throws: `damaged` where a number is invalid, the aperture has no area, or holds no whole pixel of the picture.
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

    /// Places the aperture that is left when whole pixels are cut off at each side.
    ///
    /// - Throws: As above.
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

    /// Whether some of the aperture lies outside the picture.
    public var exceedsPicture: Bool { rectangle != visibleRectangle }

    /// One direction of an aperture.
    private struct Span {
        let start: Rational
        let visibleStart: Rational
        let visibleLength: Rational
        let firstPixel: Int
        let pixelCount: Int

        /// `nil` where no whole pixel is inside, or an edge has no exact number of 64 bits.
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
            // Both lie between 0 and the picture's size.
            firstPixel = Int(first)
            pixelCount = Int(last - first)
        }
    }
}

/// A rectangle with exact edges, x to the right and y downwards from the picture's upper left corner.
public struct ExactRectangle: Sendable, Hashable, Codable {
    /// The left edge.
    public let x: Rational
    /// The upper edge.
    public let y: Rational
    /// Pixels across.
    public let width: Rational
    /// Pixels down.
    public let height: Rational

    /// Makes a rectangle; no check is made.
    public init(x: Rational, y: Rational, width: Rational, height: Rational) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
}

/// A rectangle of whole pixels, x to the right and y downwards from the picture's upper left corner.
public struct PixelRectangle: Sendable, Hashable, Codable {
    /// The first column.
    public let x: Int
    /// The first row.
    public let y: Int
    /// Columns.
    public let width: Int
    /// Rows.
    public let height: Int

    /// Makes a rectangle; no check is made.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// Columns by rows.
    public var size: Dimensions { Dimensions(width: width, height: height) }
}

/// The size in which Matroska wants cropped pictures to be shown (DisplayWidth, DisplayHeight, DisplayUnit).
///
/// RFC 9559, 11.1.
public struct ContainerDisplay: Sendable, Hashable, Codable {
    /// Across, in ``unit``.
    public let width: Int
    /// Down, in ``unit``.
    public let height: Int
    /// `pixels`, `centimeters`, `inches`, `aspectRatio` or `unknown`.
    public let unit: String

    /// Makes a size; no check is made.
    public init(width: Int, height: Int, unit: String) {
        self.width = width
        self.height = height
        self.unit = unit
    }
}

/// The three sizes that QuickTime keeps for a track, before its matrix: `tapt`.
///
/// QuickTime File Format, "Track Aperture Mode Dimensions".
public struct TrackAperture: Sendable, Hashable {
    /// Cropped to the clean aperture, square pixels (`clef`); `nil` where the file does not say.
    public var clean: Size?
    /// The whole picture with square pixels (`prof`).
    public var production: Size?
    /// The whole picture in stored pixels (`enof`).
    public var encoded: Size?

    /// A size in exact fractions of a pixel.
    public struct Size: Sendable, Hashable {
        /// Pixels across.
        public var width: Rational
        /// Pixels down.
        public var height: Rational

        /// Makes a size; no check is made.
        public init(width: Rational, height: Rational) {
            self.width = width
            self.height = height
        }
    }

    /// Makes the sizes; each is unknown unless given.
    public init(clean: Size? = nil, production: Size? = nil, encoded: Size? = nil) {
        self.clean = clean
        self.production = production
        self.encoded = encoded
    }
}
