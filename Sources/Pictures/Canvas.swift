/// Draws on a bitmap: rectangles, lines, pictures and text, each composited over what is there.
///
/// Everything is clipped to the picture; coordinates far outside, however large, are harmless. Colours with alpha
/// are composited by Porter and Duff's "source over" on straight alpha, rounded to nearest.
package struct Canvas: Sendable {
    /// What has been drawn.
    package internal(set) var bitmap: Bitmap

    /// Starts drawing on a picture.
    package init(_ bitmap: Bitmap) { self.bitmap = bitmap }

    /// Fills the rectangle whose top left pixel is (`x`, `y`); nothing for a width or height below 1.
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

    /// Fills the whole picture with a colour, not compositing but replacing.
    package mutating func clear(to color: Color) {
        var pixels = bitmap.bytes.mutableSpan
        for start in stride(from: 0, to: pixels.count, by: 4) {
            pixels[start] = color.red
            pixels[start &+ 1] = color.green
            pixels[start &+ 2] = color.blue
            pixels[start &+ 3] = color.alpha
        }
    }

    /// Composites a picture whose top left pixel comes to (`x`, `y`).
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

    /// The part of `start ..< start + length` inside `0..<limit`.
    static func clip(_ start: Int, _ length: Int, to limit: Int) -> Range<Int> {
        guard length > 0, start < limit else { return 0..<0 }
        let end = start.addingReportingOverflow(length)
        let upper = end.overflow ? limit : min(end.partialValue, limit)
        let lower = max(start, 0)
        return lower < upper ? lower..<upper : 0..<0
    }

    @inline(__always)
    private static func composite(_ color: Color, over pixels: inout MutableSpan<UInt8>, at start: Int) {
        if color.alpha == 255 {
            pixels[start] = color.red
            pixels[start &+ 1] = color.green
            pixels[start &+ 2] = color.blue
            pixels[start &+ 3] = 255
            return
        }
        if color.alpha == 0 { return }
        // In units of 1/255²: what the new colour covers, and what stays visible of the old one.
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
