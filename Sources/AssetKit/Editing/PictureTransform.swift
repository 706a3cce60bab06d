public import MediaBase

/// An affine map of the plane: where each point of a picture goes: `CGAffineTransform`.
///
/// (x, y) goes to (a·x + c·y + tx, b·x + d·y + ty). Points are counted in pixels from the top left corner, y downwards, so
/// that a positive angle turns clockwise.
public struct PictureTransform: Sendable, Hashable {
    /// Across by across.
    public var a: Double
    /// Down by across.
    public var b: Double
    /// Across by down.
    public var c: Double
    /// Down by down.
    public var d: Double
    /// Across.
    public var tx: Double
    /// Down.
    public var ty: Double

    /// Makes a map from its numbers.
    public init(a: Double, b: Double, c: Double, d: Double, tx: Double, ty: Double) {
        (self.a, self.b, self.c, self.d, self.tx, self.ty) = (a, b, c, d, tx, ty)
    }

    /// Everything stays.
    public static let identity = PictureTransform(a: 1, b: 0, c: 0, d: 1, tx: 0, ty: 0)

    /// Moves.
    public static func translation(x: Double, y: Double) -> PictureTransform {
        PictureTransform(a: 1, b: 0, c: 0, d: 1, tx: x, ty: y)
    }

    /// Makes larger or smaller, from the top left corner.
    public static func scale(x: Double, y: Double) -> PictureTransform {
        PictureTransform(a: x, b: 0, c: 0, d: y, tx: 0, ty: 0)
    }

    /// Turns about the top left corner, by a sine and a cosine; clockwise for a positive sine.
    public static func rotation(sine: Double, cosine: Double) -> PictureTransform {
        PictureTransform(a: cosine, b: sine, c: -sine, d: cosine, tx: 0, ty: 0)
    }

    /// This one, and then another.
    public func concatenating(_ next: PictureTransform) -> PictureTransform {
        PictureTransform(
            a: a * next.a + b * next.c, b: a * next.b + b * next.d, c: c * next.a + d * next.c,
            d: c * next.b + d * next.d, tx: tx * next.a + ty * next.c + next.tx,
            ty: tx * next.b + ty * next.d + next.ty)
    }

    /// The map back; `nil` where several points go to one.
    public var inverted: PictureTransform? {
        let determinant = a * d - b * c
        guard determinant.isFinite, determinant.magnitude > 1e-12 else { return nil }
        let (p, q, r, s) = (d / determinant, -b / determinant, -c / determinant, a / determinant)
        return PictureTransform(a: p, b: q, c: r, d: s, tx: -(tx * p + ty * r), ty: -(tx * q + ty * s))
    }

    /// Turns and flips a picture of a size as a track's transform says, so that it lies at the top left corner.
    ///
    /// - Parameters:
    ///   - transform: The track's.
    ///   - size: The size before the turn.
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

    /// Brings a picture of a size into the middle of a frame, as large as fits.
    public static func fitting(_ size: Dimensions, into frame: Dimensions) -> PictureTransform {
        guard size.width > 0, size.height > 0 else { return .identity }
        let (width, height) = (Double(size.width), Double(size.height))
        let scale = min(Double(frame.width) / width, Double(frame.height) / height)
        return PictureTransform(
            a: scale, b: 0, c: 0, d: scale, tx: (Double(frame.width) - width * scale) / 2,
            ty: (Double(frame.height) - height * scale) / 2)
    }
}

/// A rectangle of a picture, in pixels from its top left corner.
public struct PictureRectangle: Sendable, Hashable {
    /// Its left edge.
    public var x: Double
    /// Its upper edge.
    public var y: Double
    /// How wide it is.
    public var width: Double
    /// How high it is.
    public var height: Double

    /// Makes a rectangle; no check is made.
    public init(x: Double, y: Double, width: Double, height: Double) {
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }
}

extension PictureTransform: Rampable {
    func mixed(with other: PictureTransform, _ part: Double) -> PictureTransform {
        func mix(_ from: Double, _ to: Double) -> Double { from + (to - from) * part }
        return PictureTransform(
            a: mix(a, other.a), b: mix(b, other.b), c: mix(c, other.c), d: mix(d, other.d), tx: mix(tx, other.tx),
            ty: mix(ty, other.ty))
    }

    /// Whether all of it is numbers.
    var isFinite: Bool { [a, b, c, d, tx, ty].allSatisfy(\.isFinite) }
}

extension PictureRectangle: Rampable {
    func mixed(with other: PictureRectangle, _ part: Double) -> PictureRectangle {
        func mix(_ from: Double, _ to: Double) -> Double { from + (to - from) * part }
        return PictureRectangle(
            x: mix(x, other.x), y: mix(y, other.y), width: mix(width, other.width), height: mix(height, other.height))
    }

    /// Everything.
    static let unlimited = PictureRectangle(x: -1e8, y: -1e8, width: 2e8, height: 2e8)
}
