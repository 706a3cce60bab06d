public import MediaBase

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

/// A distance in a picture, in pixels; x points right and y down.
public struct PictureOffset: Sendable, Hashable {
    /// The distance to the right.
    public var x: Double
    /// The distance down.
    public var y: Double

    /// Creates an offset without checking its values.
    public init(x: Double, y: Double) { (self.x, self.y) = (x, y) }

    /// No distance.
    public static let zero = PictureOffset(x: 0, y: 0)
}

extension PictureOffset: Rampable {
    /// The distances to the right and down.
    public var components: [Double] { [x, y] }

    /// Creates an offset from its distances; see ``components``.
    public init(components: [Double]) { self.init(x: components[0], y: components[1]) }
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
