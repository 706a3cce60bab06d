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
