/// A picture from which layers are drawn: 8-bit red, green, blue and alpha, with premultiplied alpha.
package struct LayerTexture: Sendable {
    /// The number of pixels per row.
    package let width: Int
    /// The number of rows.
    package let height: Int
    /// True if all pixels are opaque.
    package let isOpaque: Bool
    let pixels: [SIMD4<UInt8>]

    /// Creates a texture from pixels with straight alpha, or returns `nil` if their number does not match the size.
    ///
    /// - Parameter bytes: The red, green, blue and alpha of each pixel, in rows from the top.
    package init?(width: Int, height: Int, straight bytes: [UInt8]) {
        guard width > 0, height > 0, case let (count, overflow) = width.multipliedReportingOverflow(by: height),
            !overflow, bytes.count / 4 == count, bytes.count % 4 == 0
        else { return nil }
        self.width = width
        self.height = height
        var least: UInt8 = 255
        var pixels = [SIMD4<UInt8>](repeating: SIMD4(), count: count)
        var target = pixels.mutableSpan
        let bytes = bytes.span
        for index in 0..<count {
            let place = index &* 4
            let alpha = bytes[place &+ 3]
            least = min(least, alpha)
            var pixel = SIMD4(bytes[place], bytes[place &+ 1], bytes[place &+ 2], alpha)
            if alpha != 255 { pixel = Self.multiplied(pixel, by: alpha) }
            target[index] = pixel
        }
        self.pixels = pixels
        isOpaque = least == 255
    }

    private static func multiplied(_ pixel: SIMD4<UInt8>, by alpha: UInt8) -> SIMD4<UInt8> {
        func part(_ value: UInt8) -> UInt8 {
            UInt8(truncatingIfNeeded: (UInt32(value) &* UInt32(alpha) &+ 127) / 255)
        }
        return SIMD4(part(pixel.x), part(pixel.y), part(pixel.z), alpha)
    }
}

/// The position of a texture on the composed picture, its visible part, and its opacity.
package struct LayerPlacement: Sendable {
    /// The horizontal texture coordinate, in texture pixels from the left edge: its value at the point (0, 0) of the
    /// composed picture, and its change per column and per row.
    package var u: (origin: Double, perColumn: Double, perRow: Double)
    /// The vertical texture coordinate, in texture pixels from the top edge, in the same form as ``u``.
    package var v: (origin: Double, perColumn: Double, perRow: Double)
    /// The left edge of the visible part, in texture pixels.
    package var left: Double
    /// The top edge of the visible part, in texture pixels.
    package var top: Double
    /// The right edge of the visible part, in texture pixels.
    package var right: Double
    /// The bottom edge of the visible part, in texture pixels.
    package var bottom: Double
    /// The opacity: 0 for invisible, 1 for the texture's own alpha.
    package var opacity: Double

    /// Creates a placement.
    package init(
        u: (origin: Double, perColumn: Double, perRow: Double), v: (origin: Double, perColumn: Double, perRow: Double),
        left: Double, top: Double, right: Double, bottom: Double, opacity: Double
    ) {
        self.u = u
        self.v = v
        self.left = left
        self.top = top
        self.right = right
        self.bottom = bottom
        self.opacity = opacity
    }

    /// True if all values are finite and small enough to compute with.
    private var isFinite: Bool {
        [u.origin, u.perColumn, u.perRow, v.origin, v.perColumn, v.perRow, left, top, right, bottom, opacity]
            .allSatisfy { $0.isFinite && $0.magnitude < 1e9 }
    }

    /// The offset in columns and rows if texture pixels coincide exactly with pixels of the picture; otherwise `nil`.
    var shift: (columns: Int, rows: Int)? {
        guard u.perColumn == 1, u.perRow == 0, v.perColumn == 0, v.perRow == 1,
            [u.origin, v.origin, left, top, right, bottom].allSatisfy({ $0 == $0.rounded() })
        else { return nil }
        return (Int(u.origin), Int(v.origin))
    }

    /// Returns the columns of a row of `width` pixels in which the texture may be visible.
    func columns(row: Int, width: Int) -> Range<Int> {
        guard isFinite, opacity > 0, left < right, top < bottom else { return 0..<0 }
        var (low, high) = (0.0, Double(width))
        func limit(_ origin: Double, _ step: Double, _ first: Double, _ last: Double) {
            // The coordinate at the centre of column x is origin + step · (x + 0.5).
            let start = origin + step * 0.5
            guard step != 0 else {
                if start <= first || start >= last { high = low }
                return
            }
            let (one, other) = ((first - start) / step, (last - start) / step)
            low = max(low, min(one, other).rounded(.down))
            high = min(high, max(one, other).rounded(.up) + 1)
        }
        let middle = Double(row) + 0.5
        limit(u.origin + u.perRow * middle, u.perColumn, left - slope.u / 2, right + slope.u / 2)
        limit(v.origin + v.perRow * middle, v.perColumn, top - slope.v / 2, bottom + slope.v / 2)
        return low < high ? Int(low)..<Int(high) : 0..<0
    }

    /// The size of a pixel of the picture in texture pixels, along each direction of the texture.
    var slope: (u: Double, v: Double) {
        (
            (u.perColumn * u.perColumn + u.perRow * u.perRow).squareRoot(),
            (v.perColumn * v.perColumn + v.perRow * v.perRow).squareRoot()
        )
    }
}
