public import MediaBase

/// An affine transform that maps points of a picture: `CGAffineTransform`.
///
/// It maps (x, y) to (a·x + c·y + tx, b·x + d·y + ty). Coordinates are in pixels from the top left corner with y
/// pointing down, so positive angles rotate clockwise.
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

    /// Creates the transform of a track for a picture, which keeps the result at the top left corner.
    ///
    /// - Parameters:
    ///   - transform: The track's transform.
    ///   - size: The size of the picture before rotation.
    public init(_ transform: DisplayTransform, of size: Dimensions) {
        let (width, height) = (Double(size.width), Double(size.height))
        let flip =
            transform.isMirrored
            ? PictureTransform(a: -1, b: 0, c: 0, d: 1, tx: width, ty: 0) : PictureTransform.identity
        let turn =
            switch transform.rotation {
            case 90: PictureTransform(a: 0, b: 1, c: -1, d: 0, tx: height, ty: 0)
            case 180: PictureTransform(a: -1, b: 0, c: 0, d: -1, tx: width, ty: height)
            case 270: PictureTransform(a: 0, b: -1, c: 1, d: 0, tx: 0, ty: width)
            default: PictureTransform.identity
            }
        self = flip.concatenating(turn)
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

/// A rectangle in a picture, in pixels from the picture's top left corner.
public struct PictureRectangle: Sendable, Hashable {
    /// The left edge.
    public var x: Double
    /// The upper edge.
    public var y: Double
    /// The width.
    public var width: Double
    /// The height.
    public var height: Double

    /// Creates a rectangle without checking its values.
    public init(x: Double, y: Double, width: Double, height: Double) {
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }
}

extension PictureTransform: Rampable {
    /// The coefficients, in the order of ``init(a:b:c:d:tx:ty:)``.
    public var components: [Double] { [a, b, c, d, tx, ty] }

    /// Creates a transform from its coefficients; see ``components``.
    public init(components: [Double]) {
        self.init(
            a: components[0], b: components[1], c: components[2], d: components[3], tx: components[4],
            ty: components[5])
    }
}

extension PictureRectangle: Rampable {
    /// The left and upper edge, the width and the height.
    public var components: [Double] { [x, y, width, height] }

    /// Creates a rectangle from its edges and sides; see ``components``.
    public init(components: [Double]) {
        self.init(x: components[0], y: components[1], width: components[2], height: components[3])
    }

    /// A rectangle larger than any picture.
    static let unlimited = PictureRectangle(x: -1e8, y: -1e8, width: 2e8, height: 2e8)
}
