/// One row of a picture on which layers are drawn from back to front.
///
/// Pixels are red, green, blue and alpha of 0 to 255 in floating point, with premultiplied alpha. Values are rounded
/// only once, after all layers are drawn.
package struct ComposedRow {
    private var pixels: [SIMD4<Float>]

    /// Creates a row of one colour.
    ///
    /// - Parameter color: The colour with straight alpha, each component 0 to 255.
    package init(width: Int, color: SIMD4<Float>) {
        pixels = Array(repeating: color, count: max(0, width))
        clear(to: color)
    }

    /// Fills the row with one colour, given with straight alpha.
    package mutating func clear(to color: SIMD4<Float>) {
        var filled = color * (color.w / 255)
        filled.w = color.w
        for index in pixels.indices { pixels[index] = filled }
    }

    /// Draws a texture over the current contents.
    ///
    /// A pixel that lies between texture pixels is interpolated from the four around it (bilinear). At the edges of the
    /// visible part, a pixel is weighted by the fraction of it that is covered.
    ///
    /// - Parameter row: The index of this row in the picture.
    package mutating func draw(_ texture: LayerTexture, _ placement: LayerPlacement, row: Int) {
        let columns = placement.columns(row: row, width: pixels.count)
        guard !columns.isEmpty else { return }
        if let shift = placement.shift {
            copy(texture, placement, from: shift, row: row)
        } else {
            sample(texture, placement, columns, row: row)
        }
    }

    private mutating func copy(
        _ texture: LayerTexture, _ placement: LayerPlacement, from shift: (columns: Int, rows: Int), row: Int
    ) {
        let line = row + shift.rows
        guard line >= max(0, Int(placement.top)), line < min(texture.height, Int(placement.bottom)) else { return }
        let first = max(0, Int(placement.left), shift.columns)
        let last = min(texture.width, Int(placement.right), pixels.count + shift.columns)
        guard first < last else { return }
        let source = texture.pixels.span.extracting(line * texture.width + first..<line * texture.width + last)
        let start = first - shift.columns
        let opacity = Float(min(placement.opacity, 1))
        var target = pixels.mutableSpan
        if texture.isOpaque, opacity >= 1 {
            for index in 0..<source.count { target[start &+ index] = SIMD4<Float>(source[index]) }
            return
        }
        for index in 0..<source.count {
            target[start &+ index] = Self.over(SIMD4<Float>(source[index]) * opacity, target[start &+ index])
        }
    }

    private mutating func sample(
        _ texture: LayerTexture, _ placement: LayerPlacement, _ columns: Range<Int>, row: Int
    ) {
        let source = texture.pixels.span
        let (width, height) = (texture.width, texture.height)
        let (lastColumn, lastRow) = (Double(width - 1), Double(height - 1))
        let slope = placement.slope
        let (perU, perV) = (1 / max(slope.u, 1e-9), 1 / max(slope.v, 1e-9))
        let middle = Double(row) + 0.5
        let startU = placement.u.origin + placement.u.perRow * middle
        let startV = placement.v.origin + placement.v.perRow * middle
        let opacity = min(placement.opacity, 1)
        var target = pixels.mutableSpan
        for x in columns {
            let u = startU + placement.u.perColumn * (Double(x) + 0.5)
            let v = startV + placement.v.perColumn * (Double(x) + 0.5)
            let coveredU = min(min(u - placement.left, placement.right - u) * perU + 0.5, 1)
            let coveredV = min(min(v - placement.top, placement.bottom - v) * perV + 0.5, 1)
            guard coveredU > 0, coveredV > 0 else { continue }
            // Edge pixels extend outwards; the coverage determines the edge of the texture.
            let column = min(max(u - 0.5, 0), lastColumn)
            let line = min(max(v - 0.5, 0), lastRow)
            let (left, top) = (Int(column), Int(line))
            let (partU, partV) = (Float(column - Double(left)), Float(line - Double(top)))
            let right = min(left &+ 1, width &- 1)
            let (upper, lower) = (top &* width, min(top &+ 1, height &- 1) &* width)
            let a = SIMD4<Float>(source[upper &+ left])
            let b = SIMD4<Float>(source[upper &+ right])
            let c = SIMD4<Float>(source[lower &+ left])
            let d = SIMD4<Float>(source[lower &+ right])
            let above = a + (b - a) * partU
            let below = c + (d - c) * partU
            let color = above + (below - above) * partV
            target[x] = Self.over(color * Float(opacity * coveredU * coveredV), target[x])
        }
    }

    @inline(__always)
    private static func over(_ front: SIMD4<Float>, _ back: SIMD4<Float>) -> SIMD4<Float> {
        front + back * (1 - front.w * (1 / 255))
    }

    /// Writes the row as red, green, blue and straight alpha with 8 bits each.
    ///
    /// - Parameters:
    ///   - bytes: The memory of a picture; receives as many pixels as fit.
    ///   - start: The byte offset at which the row starts.
    package func write(into bytes: inout MutableRawSpan, at start: Int) {
        guard start >= 0, start <= bytes.byteCount else { return }
        let source = pixels.span
        for index in 0..<min(source.count, (bytes.byteCount - start) / 4) {
            var pixel = source[index]
            if pixel.w < 254.99 {
                let alpha = pixel.w
                pixel *= alpha > 0 ? 255 / alpha : 0
                pixel.w = alpha
                pixel.clamp(lowerBound: SIMD4(repeating: 0), upperBound: SIMD4(repeating: 255))
            }
            // Mixed values stay between 0 and 255. Adding 2^23 rounds a number to an integer, which is then in the
            // lowest bits.
            let shifted = pixel + 8_388_608
            let (red, green) = (shifted.x.bitPattern & 255, shifted.y.bitPattern & 255)
            let (blue, alpha) = (shifted.z.bitPattern & 255, shifted.w.bitPattern & 255)
            let whole = red | green &<< 8 | blue &<< 16 | alpha &<< 24
            bytes.storeBytes(of: whole.littleEndian, toByteOffset: start &+ index &* 4, as: UInt32.self)
        }
    }
}

/// Mixes rows of 8-bit luma or chroma.
///
/// Weights range from 0 for none to 65536 for full; results are rounded once. If spans differ in length, the shorter
/// one decides.
package enum PlaneBlending {
    /// Copies a row.
    package static func copy(_ source: Span<UInt8>, into row: inout MutableSpan<UInt8>) {
        let count = min(source.count, row.count)
        let source = source.extracting(first: count)
        for index in 0..<count { row[index] = source[index] }
    }

    /// Fills a row with one value.
    package static func fill(_ row: inout MutableSpan<UInt8>, with value: UInt8) {
        for index in 0..<row.count { row[index] = value }
    }

    /// Mixes a row into another with a single weight.
    package static func blend(_ source: Span<UInt8>, weight: UInt32, into row: inout MutableSpan<UInt8>) {
        let count = min(source.count, row.count)
        let source = source.extracting(first: count)
        let weight = min(weight, 65536)
        let rest = 65536 &- weight
        for index in 0..<count {
            let mixed = UInt32(row[index]) &* rest &+ UInt32(source[index]) &* weight &+ 32768
            row[index] = UInt8(truncatingIfNeeded: mixed &>> 16)
        }
    }

    /// Mixes samples into part of a row, each with its own weight (65535 for full) times a common scale.
    ///
    /// - Parameter start: The index in the row at which the samples start; samples that do not fit are ignored.
    package static func blend(
        _ source: Span<UInt8>, weights: Span<UInt16>, scale: UInt32, into row: inout MutableSpan<UInt8>, at start: Int
    ) {
        guard start >= 0, start < row.count else { return }
        let count = min(source.count, weights.count, row.count - start)
        let (source, weights) = (source.extracting(first: count), weights.extracting(first: count))
        let scale = min(scale, 65536)
        for index in 0..<count {
            let weight = (UInt32(weights[index]) &* scale) &>> 16
            let mixed =
                UInt32(row[start &+ index]) &* (65536 &- weight) &+ UInt32(source[index]) &* weight &+ 32768
            row[start &+ index] = UInt8(truncatingIfNeeded: mixed &>> 16)
        }
    }
}

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
