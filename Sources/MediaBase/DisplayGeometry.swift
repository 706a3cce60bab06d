/// The transform that orients stored pictures for display: the nine numbers of a track's matrix, and their meaning.
///
/// The matrix is, row by row, `a b u / c d v / x y w`; a point (p, q) of the stored picture maps to (a·p + c·q + x,
/// b·p + d·q + y). See ISO/IEC 14496-12, 6.2.2. The rotation has the opposite sign of libavutil's
/// `av_display_rotation_get`, because "rotated 90 degrees" commonly means clockwise.
public struct DisplayTransform: Sendable, Hashable {
    /// The nine numbers as stored in the file: a, b, c, d, x and y in 16.16 fixed point, u, v and w in 2.30.
    public let matrix: [Int32]

    /// The clockwise rotation in degrees, applied after ``isMirrored``: 0, 90, 180 or 270.
    public let rotation: Int

    /// True if the picture is flipped horizontally before it is rotated.
    public let isMirrored: Bool

    /// True if the matrix is a multiple of a quarter turn, with or without a flip.
    ///
    /// Pictures with any other matrix are displayed without rotation.
    public let isQuarterTurn: Bool

    /// Interprets a matrix.
    ///
    /// - Parameter matrix: Nine numbers, row by row; an array of any other length means no transform.
    public init(matrix: [Int32]) {
        self.matrix = matrix
        guard matrix.count == 9 else {
            (rotation, isMirrored, isQuarterTurn) = (0, false, false)
            return
        }
        // Only the signs matter: players ignore the scale that some cameras put into the matrix.
        switch (matrix[0].signum(), matrix[1].signum(), matrix[3].signum(), matrix[4].signum()) {
        case (1, 0, 0, 1): (rotation, isMirrored, isQuarterTurn) = (0, false, true)
        case (0, 1, -1, 0): (rotation, isMirrored, isQuarterTurn) = (90, false, true)
        case (-1, 0, 0, -1): (rotation, isMirrored, isQuarterTurn) = (180, false, true)
        case (0, -1, 1, 0): (rotation, isMirrored, isQuarterTurn) = (270, false, true)
        case (-1, 0, 0, 1): (rotation, isMirrored, isQuarterTurn) = (0, true, true)
        case (0, 1, 1, 0): (rotation, isMirrored, isQuarterTurn) = (270, true, true)
        case (1, 0, 0, -1): (rotation, isMirrored, isQuarterTurn) = (180, true, true)
        case (0, -1, -1, 0): (rotation, isMirrored, isQuarterTurn) = (90, true, true)
        default: (rotation, isMirrored, isQuarterTurn) = (0, false, false)
        }
    }

    /// No rotation and no flip.
    public static let identity = DisplayTransform(matrix: [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000])

    /// The pixel aspect ratio that unequal scale factors give a square pixel, before rotation; 1 for equal factors.
    ///
    /// Some files state the shape of their pixels in this way instead of in a `pasp` atom.
    public var pixelStretch: Rational {
        guard isQuarterTurn else { return .one }
        // One number of each pair is 0.
        let across = Int64(matrix[0].magnitude) + Int64(matrix[1].magnitude)
        let down = Int64(matrix[3].magnitude) + Int64(matrix[4].magnitude)
        let stretch = Rational(across, down)
        return (stretch.doubleValue - 1).magnitude > 0.01 ? stretch : .one
    }

    /// The transform without its scale factors if they are unequal; otherwise the same transform.
    public var withoutStretch: DisplayTransform {
        guard pixelStretch != .one else { return self }
        var plain = matrix
        for place in [0, 1, 3, 4] { plain[place] = plain[place].signum() << 16 }
        return DisplayTransform(matrix: plain)
    }

    /// Returns the size of a picture of `size` after the rotation.
    public func apply(to size: Dimensions) -> Dimensions {
        rotation == 90 || rotation == 270 ? size.transposed : size
    }
}

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
