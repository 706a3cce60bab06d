/// How stored pictures are turned for display: the nine numbers of a track's matrix, and what they amount to.
///
/// The matrix is row by row `a b u / c d v / x y w`; a point (p, q) of the stored picture lands at
/// (a·p + c·q + x, b·p + d·q + y). ISO/IEC 14496-12, 6.2.2; `av_display_rotation_get` of libavutil with the sign
/// turned, because people say "rotated 90 degrees" and mean clockwise.
public struct DisplayTransform: Sendable, Hashable {
    /// The nine numbers as the file stores them: a, b, c, d, x, y in 16.16 fixed point, u, v, w in 2.30.
    public let matrix: [Int32]

    /// Whole quarter turns clockwise after ``isMirrored`` was applied: 0, 90, 180 or 270.
    public let rotation: Int

    /// Whether the picture is flipped left to right, before it is turned.
    public let isMirrored: Bool

    /// Whether the matrix is a quarter turn, with or without a flip; otherwise pictures are shown unturned.
    public let isQuarterTurn: Bool

    /// Reads a matrix.
    ///
    /// - Parameter matrix: Nine numbers, row by row; anything else counts as no turn at all.
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

    /// No turn and no flip.
    public static let identity = DisplayTransform(matrix: [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000])

    /// Width of a pixel by its height that unequal scales make of a square one, before it is turned; 1 for equal scales.
    ///
    /// Some files say the shape of their pixels in this way, and have no `pasp`.
    public var pixelStretch: Rational {
        guard isQuarterTurn else { return .one }
        // One number of each pair is 0.
        let across = Int64(matrix[0].magnitude) + Int64(matrix[1].magnitude)
        let down = Int64(matrix[3].magnitude) + Int64(matrix[4].magnitude)
        let stretch = Rational(across, down)
        return (stretch.doubleValue - 1).magnitude > 0.01 ? stretch : .one
    }

    /// The same turn; without its scales, where they are unequal.
    public var withoutStretch: DisplayTransform {
        guard pixelStretch != .one else { return self }
        var plain = matrix
        for place in [0, 1, 3, 4] { plain[place] = plain[place].signum() << 16 }
        return DisplayTransform(matrix: plain)
    }

    /// The size of a picture of `size` after the turn.
    public func apply(to size: Dimensions) -> Dimensions {
        rotation == 90 || rotation == 270 ? size.transposed : size
    }
}

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
