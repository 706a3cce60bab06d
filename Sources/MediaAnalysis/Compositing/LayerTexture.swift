/// A picture as layers are drawn from: red, green, blue and alpha of 8 bits, the colours multiplied by alpha.
package struct LayerTexture: Sendable {
    /// Pixels a row.
    package let width: Int
    /// Rows.
    package let height: Int
    /// Whether all of it is opaque.
    package let isOpaque: Bool
    let pixels: [SIMD4<UInt8>]

    /// Makes a texture of pixels with straight alpha; `nil` where there are not as many as the size says.
    ///
    /// - Parameter bytes: Red, green, blue and alpha of each pixel, rows from the top.
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

/// Where a texture lies on the picture that is composed, what of it is shown, and how opaque.
package struct LayerPlacement: Sendable {
    /// The place in the texture, in its pixels from its left and top edge, of the point (0, 0) of the composed picture; how
    /// it moves from one column to the next, and from one row to the next.
    package var u: (origin: Double, perColumn: Double, perRow: Double)
    /// The same down the texture.
    package var v: (origin: Double, perColumn: Double, perRow: Double)
    /// The part that is shown, in pixels of the texture.
    package var left: Double
    /// See ``left``.
    package var top: Double
    /// See ``left``.
    package var right: Double
    /// See ``left``.
    package var bottom: Double
    /// 0 for not at all, 1 for as opaque as it is.
    package var opacity: Double

    /// A placement.
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

    /// Whether all of it is a number that can be worked with.
    private var isFinite: Bool {
        [u.origin, u.perColumn, u.perRow, v.origin, v.perColumn, v.perRow, left, top, right, bottom, opacity]
            .allSatisfy { $0.isFinite && $0.magnitude < 1e9 }
    }

    /// Whether pixels of the texture lie exactly on pixels of the picture; then by how many columns and rows.
    var shift: (columns: Int, rows: Int)? {
        guard u.perColumn == 1, u.perRow == 0, v.perColumn == 0, v.perRow == 1,
            [u.origin, v.origin, left, top, right, bottom].allSatisfy({ $0 == $0.rounded() })
        else { return nil }
        return (Int(u.origin), Int(v.origin))
    }

    /// The columns of a row, of so many, of which something may be seen.
    func columns(row: Int, width: Int) -> Range<Int> {
        guard isFinite, opacity > 0, left < right, top < bottom else { return 0..<0 }
        var (low, high) = (0.0, Double(width))
        func limit(_ origin: Double, _ step: Double, _ first: Double, _ last: Double) {
            // From the middle of column x: origin + step · (x + 0.5).
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

    /// How many pixels of the texture a pixel of the picture is wide, across each direction of the texture.
    var slope: (u: Double, v: Double) {
        (
            (u.perColumn * u.perColumn + u.perRow * u.perRow).squareRoot(),
            (v.perColumn * v.perColumn + v.perRow * v.perRow).squareRoot()
        )
    }
}
