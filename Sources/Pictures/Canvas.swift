package import MediaBase

/// A canvas that draws rectangles, lines, pictures and text on a bitmap, compositing each over the existing content.
///
/// Everything is clipped to the picture, so coordinates of any size are safe. Colours with alpha are composited by
/// Porter and Duff's "source over" on straight alpha, rounded to nearest.
package struct Canvas: Sendable {
    /// The bitmap with everything drawn so far.
    package internal(set) var bitmap: Bitmap
    /// The characters of texts that no installed font has, and in whose place boxes were drawn.
    package internal(set) var missingCharacters: Set<Unicode.Scalar> = []

    /// Creates a canvas that draws on a picture.
    package init(_ bitmap: Bitmap) { self.bitmap = bitmap }

    /// Fills the rectangle whose top-left pixel is (`x`, `y`); does nothing if a side is below 1.
    package mutating func fill(x: Int, y: Int, width: Int, height: Int, with color: Color) {
        let columns = Self.clip(x, width, to: bitmap.width)
        let rows = Self.clip(y, height, to: bitmap.height)
        guard !columns.isEmpty, color.alpha > 0 else { return }
        let rowBytes = bitmap.width * 4
        var pixels = bitmap.bytes.mutableSpan
        for row in rows {
            for column in columns {
                Self.composite(color, over: &pixels, at: row &* rowBytes &+ column &* 4)
            }
        }
    }

    /// Composites a picture with its top-left pixel at (`x`, `y`).
    package mutating func draw(_ picture: Bitmap, x: Int, y: Int) {
        let columns = Self.clip(x, picture.width, to: bitmap.width)
        let rows = Self.clip(y, picture.height, to: bitmap.height)
        let rowBytes = bitmap.width * 4
        let source = picture.bytes.span
        var pixels = bitmap.bytes.mutableSpan
        for row in rows {
            for column in columns {
                let from = ((row - y) * picture.width + (column - x)) * 4
                let color = Color(
                    red: source[from], green: source[from + 1], blue: source[from + 2], alpha: source[from + 3])
                Self.composite(color, over: &pixels, at: row * rowBytes + column * 4)
            }
        }
    }

    /// Returns the part of `start ..< start + length` inside `0..<limit`.
    static func clip(_ start: Int, _ length: Int, to limit: Int) -> Range<Int> {
        guard length > 0, start < limit else { return 0..<0 }
        let end = start.addingReportingOverflow(length)
        let upper = end.overflow ? limit : min(end.partialValue, limit)
        let lower = max(start, 0)
        return lower < upper ? lower..<upper : 0..<0
    }

    @inline(__always)
    static func composite(_ color: Color, over pixels: inout MutableSpan<UInt8>, at start: Int) {
        if color.alpha == 255 {
            pixels[start] = color.red
            pixels[start &+ 1] = color.green
            pixels[start &+ 2] = color.blue
            pixels[start &+ 3] = 255
            return
        }
        if color.alpha == 0 { return }
        // In units of 1/255²: the coverage of the new colour, and the part of the old colour that remains visible.
        let covered = UInt32(color.alpha) * 255
        let kept = UInt32(pixels[start &+ 3]) * (255 - UInt32(color.alpha))
        let total = covered + kept
        pixels[start] = mean(color.red, covered, pixels[start], kept, total)
        pixels[start &+ 1] = mean(color.green, covered, pixels[start &+ 1], kept, total)
        pixels[start &+ 2] = mean(color.blue, covered, pixels[start &+ 2], kept, total)
        pixels[start &+ 3] = UInt8(truncatingIfNeeded: (total + 127) / 255)
    }

    @inline(__always)
    private static func mean(_ new: UInt8, _ covered: UInt32, _ old: UInt8, _ kept: UInt32, _ total: UInt32) -> UInt8 {
        UInt8(truncatingIfNeeded: (UInt32(new) * covered + UInt32(old) * kept + total / 2) / total)
    }
}

extension Canvas {
    /// The number of lines per row of pixels at which a curve is sampled to estimate pixel coverage.
    private static let lines = 8

    /// Fills a bar with ends as round as its size allows and antialiased edges.
    package mutating func fillRounded(x: Int, y: Int, width: Int, height: Int, with color: Color) {
        guard width > 1, height > 1, width <= 1 << 20, height <= 1 << 20 else {
            return fill(x: x, y: y, width: width, height: height, with: color)
        }
        let radius = Double(min(width, height)) / 2
        let cap = Int(radius.rounded(.up))
        for row in 0..<height where row < cap || row >= height - cap {
            let insets = Self.insets(row: row, height: height, radius: radius)
            let widest = insets.max() ?? 0
            let partial = min(Int(widest.rounded(.up)), width)
            let rest = max(partial, width - partial)
            for column in Array(0..<partial) + Array(rest..<width) {
                let part = Self.coverage(column: column, width: width, insets: insets)
                fill(x: x + column, y: y + row, width: 1, height: 1, with: color.withOpacity(part))
            }
            fill(x: x + partial, y: y + row, width: rest - partial, height: 1, with: color)
        }
        fill(x: x, y: y + cap, width: width, height: height - 2 * cap, with: color)
    }

    /// Returns the distance of the curve from the sides, for each sampled line of a row.
    private static func insets(row: Int, height: Int, radius: Double) -> [Double] {
        (0..<lines).map { line in
            let place = Double(row) + (Double(line) + 0.5) / Double(lines)
            let depth = min(place, Double(height) - place)
            guard depth < radius else { return 0 }
            return radius - (radius * radius - (radius - depth) * (radius - depth)).squareRoot()
        }
    }

    /// Returns the fraction of a pixel that lies between the curves, 0…1.
    private static func coverage(column: Int, width: Int, insets: [Double]) -> Double {
        let covered = insets.reduce(0.0) { sum, inset in
            sum + max(0, min(Double(column) + 1, Double(width) - inset) - max(Double(column), inset))
        }
        return covered / Double(lines)
    }
}
