import Glibc

/// An affine transform that maps points of a picture: `CGAffineTransform`.
///
/// It maps (x, y) to (a·x + c·y + tx, b·x + d·y + ty). Coordinates are in pixels from the top left corner with y
/// pointing down, so positive angles rotate clockwise. Tracks, layers of video compositions and inputs of writers all use
/// it.
///
/// ```swift
/// let quarter = PictureTransform.identity.translatedBy(x: 720, y: 0).rotated(by: .pi / 2)
/// ```
public struct PictureTransform: Sendable, Hashable {
    /// The factor from x to x.
    public var a: Double
    /// The factor from x to y.
    public var b: Double
    /// The factor from y to x.
    public var c: Double
    /// The factor from y to y.
    public var d: Double
    /// The horizontal translation.
    public var tx: Double
    /// The vertical translation.
    public var ty: Double

    /// Creates a transform from its coefficients.
    public init(a: Double, b: Double, c: Double, d: Double, tx: Double, ty: Double) {
        (self.a, self.b, self.c, self.d, self.tx, self.ty) = (a, b, c, d, tx, ty)
    }

    /// The identity transform.
    public static let identity = PictureTransform(a: 1, b: 0, c: 0, d: 1, tx: 0, ty: 0)

    /// Returns a translation.
    public static func translation(x: Double, y: Double) -> PictureTransform {
        PictureTransform(a: 1, b: 0, c: 0, d: 1, tx: x, ty: y)
    }

    /// Returns a scaling about the top left corner.
    public static func scale(x: Double, y: Double) -> PictureTransform {
        PictureTransform(a: x, b: 0, c: 0, d: y, tx: 0, ty: 0)
    }

    /// Returns a rotation about the top left corner by an angle's sine and cosine; clockwise for a positive sine.
    public static func rotation(sine: Double, cosine: Double) -> PictureTransform {
        PictureTransform(a: cosine, b: sine, c: -sine, d: cosine, tx: 0, ty: 0)
    }

    /// Returns a clockwise rotation about the top left corner, exact for multiples of 90 degrees.
    public static func rotation(degrees: Double) -> PictureTransform {
        switch degrees.truncatingRemainder(dividingBy: 360) {
        case 0: .identity
        case 90, -270: rotation(sine: 1, cosine: 0)
        case 180, -180: rotation(sine: 0, cosine: -1)
        case 270, -90: rotation(sine: -1, cosine: 0)
        default: rotation(sine: sin(degrees * .pi / 180), cosine: cos(degrees * .pi / 180))
        }
    }

    /// Returns a clockwise rotation about the top left corner by an angle in radians; multiples of `Double.pi / 2` are
    /// exact.
    public static func rotation(radians: Double) -> PictureTransform {
        let quarters = (radians / (.pi / 2)).rounded()
        if quarters.magnitude < 1e9, quarters * (.pi / 2) == radians { return rotation(degrees: quarters * 90) }
        return rotation(sine: sin(radians), cosine: cos(radians))
    }

    /// Returns the transform that rotates by an angle in radians, clockwise, and then applies this one.
    ///
    /// Multiples of `Double.pi / 2` are exact. The order is that of `CGAffineTransformRotate`.
    public func rotated(by angle: Double) -> PictureTransform { Self.rotation(radians: angle).concatenating(self) }

    /// Returns the transform that scales both sides by a factor and then applies this one.
    public func scaled(by factor: Double) -> PictureTransform { scaledBy(x: factor, y: factor) }

    /// Returns the transform that scales and then applies this one: `CGAffineTransformScale`.
    public func scaledBy(x: Double, y: Double) -> PictureTransform { Self.scale(x: x, y: y).concatenating(self) }

    /// Returns the transform that moves points by an offset and then applies this one.
    public func translated(by offset: (x: Double, y: Double)) -> PictureTransform {
        translatedBy(x: offset.x, y: offset.y)
    }

    /// Returns the transform that moves points and then applies this one: `CGAffineTransformTranslate`.
    public func translatedBy(x: Double, y: Double) -> PictureTransform {
        Self.translation(x: x, y: y).concatenating(self)
    }

    /// Returns the transform that applies this one first and then another.
    public func concatenating(_ next: PictureTransform) -> PictureTransform {
        PictureTransform(
            a: a * next.a + b * next.c, b: a * next.b + b * next.d, c: c * next.a + d * next.c,
            d: c * next.b + d * next.d, tx: tx * next.a + ty * next.c + next.tx,
            ty: tx * next.b + ty * next.d + next.ty)
    }

    /// The inverse transform; `nil` if several points map to the same point.
    public var inverted: PictureTransform? {
        let determinant = a * d - b * c
        guard determinant.isFinite, determinant.magnitude > 1e-12 else { return nil }
        let (p, q, r, s) = (d / determinant, -b / determinant, -c / determinant, a / determinant)
        return PictureTransform(a: p, b: q, c: r, d: s, tx: -(tx * p + ty * r), ty: -(tx * q + ty * s))
    }

    /// True if points stay where they are.
    public var isIdentity: Bool { self == .identity }
}

// MARK: - The matrix that files store

extension PictureTransform {
    /// Creates the transform that a track's stored matrix states.
    ///
    /// ISO/IEC 14496-12, 6.2.2. The projective numbers u, v and w are ignored, as players do.
    /// - Parameter matrix: The nine numbers `a b u c d v x y w`: 16.16 fixed point, except u, v and w, which are 2.30; an
    ///   array of any other length gives the identity.
    public init(matrix: [Int32]) {
        guard matrix.count == 9 else {
            self = .identity
            return
        }
        func number(_ place: Int) -> Double { Double(matrix[place]) / 65536 }
        self.init(a: number(0), b: number(1), c: number(3), d: number(4), tx: number(6), ty: number(7))
    }

    /// The nine numbers that files store, the first of ``init(matrix:)``; each is rounded to the nearest 1/65536.
    ///
    /// A transform that was created from such numbers returns exactly these. Numbers beyond 32 bits are clamped.
    public var matrix: [Int32] {
        func fixed(_ number: Double) -> Int32 {
            let scaled = (number * 65536).rounded()
            guard !scaled.isNaN else { return 0 }
            return Int32(max(Double(Int32.min), min(Double(Int32.max), scaled)))
        }
        return [fixed(a), fixed(b), 0, fixed(c), fixed(d), 0, fixed(tx), fixed(ty), 0x4000_0000]
    }
}

// MARK: - Quarter turns

/// The meaning of a track's transform for display.
///
/// Only the signs of a, b, c and d matter, as stored: players ignore the scale that some cameras put into the matrix.
extension PictureTransform {
    private var turn: (rotation: Int, isMirrored: Bool)? {
        let stored = matrix
        return switch (stored[0].signum(), stored[1].signum(), stored[3].signum(), stored[4].signum()) {
        case (1, 0, 0, 1): (0, false)
        case (0, 1, -1, 0): (90, false)
        case (-1, 0, 0, -1): (180, false)
        case (0, -1, 1, 0): (270, false)
        case (-1, 0, 0, 1): (0, true)
        case (0, 1, 1, 0): (270, true)
        case (1, 0, 0, -1): (180, true)
        case (0, -1, -1, 0): (90, true)
        default: nil
        }
    }

    /// The clockwise rotation in degrees, applied after ``isMirrored``: 0, 90, 180 or 270.
    ///
    /// The sign is the opposite of libavutil's `av_display_rotation_get`, because "rotated 90 degrees" commonly means
    /// clockwise.
    public var rotation: Int { turn?.rotation ?? 0 }

    /// True if the picture is flipped horizontally before it is rotated.
    public var isMirrored: Bool { turn?.isMirrored ?? false }

    /// True if the transform is a multiple of a quarter turn, with or without a flip.
    ///
    /// Pictures of a track with any other transform are displayed without rotation.
    public var isQuarterTurn: Bool { turn != nil }

    /// The pixel aspect ratio that unequal scale factors give a square pixel, before rotation; 1 for equal factors.
    ///
    /// Some files state the shape of their pixels in this way instead of in a `pasp` atom.
    public var pixelStretch: Rational {
        guard isQuarterTurn else { return .one }
        let stored = matrix
        // One number of each pair is 0.
        let across = Int64(stored[0].magnitude) + Int64(stored[1].magnitude)
        let down = Int64(stored[3].magnitude) + Int64(stored[4].magnitude)
        let stretch = Rational(across, down)
        return (stretch.doubleValue - 1).magnitude > 0.01 ? stretch : .one
    }

    /// The transform without its scale factors if they are unequal; otherwise the same transform.
    public var withoutStretch: PictureTransform { pixelStretch == .one ? self : unscaled }

    /// The transform with its factors replaced by their signs.
    private var unscaled: PictureTransform {
        func sign(_ number: Double) -> Double { number > 0 ? 1 : number < 0 ? -1 : 0 }
        return PictureTransform(a: sign(a), b: sign(b), c: sign(c), d: sign(d), tx: tx, ty: ty)
    }

    /// Returns the size of a picture of `size` after the rotation.
    public func apply(to size: Dimensions) -> Dimensions {
        rotation == 90 || rotation == 270 ? size.transposed : size
    }

    /// Returns the flip and the quarter turn alone, for a picture whose result is to lie at the top left corner.
    ///
    /// Transforms that are no quarter turn give the identity.
    /// - Parameter size: The size of the picture before rotation.
    public func turning(_ size: Dimensions) -> PictureTransform {
        guard isQuarterTurn else { return .identity }
        let (width, height) = (Double(size.width), Double(size.height))
        var turn = unscaled
        turn.tx = max(0, -turn.a * width) + max(0, -turn.c * height)
        turn.ty = max(0, -turn.b * width) + max(0, -turn.d * height)
        return turn
    }

    /// Returns a transform that centres a picture in a frame, as large as fits.
    public static func fitting(_ size: Dimensions, into frame: Dimensions) -> PictureTransform {
        guard size.width > 0, size.height > 0 else { return .identity }
        let (width, height) = (Double(size.width), Double(size.height))
        let scale = min(Double(frame.width) / width, Double(frame.height) / height)
        return PictureTransform(
            a: scale, b: 0, c: 0, d: scale, tx: (Double(frame.width) - width * scale) / 2,
            ty: (Double(frame.height) - height * scale) / 2)
    }
}
