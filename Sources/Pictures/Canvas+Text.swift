package import MediaBase
package import TextLayout

extension Canvas {
    /// The side of a text that stands at a given column.
    package enum TextAnchor: Sendable, Hashable {
        /// The left end.
        case start
        /// The middle.
        case middle
        /// The right end.
        case end
    }

    /// Draws text, and adds what no font has to ``missingCharacters``.
    ///
    /// - Parameters:
    ///   - text: One line, or several that end in line feeds; see ``TextLayout/TextImage``.
    ///   - x: The column of the text's `anchor`.
    ///   - baseline: The row below the feet of the first line's letters.
    ///   - style: The look of the text.
    ///   - anchor: The side of the text that stands at `x`.
    ///   - rows: The rows that may be drawn on, so that marks piled on letters do not cover other lines; `nil` for all.
    /// - Throws: ``MediaError`` `unsupported` if no font is installed.
    package mutating func drawText(
        _ text: String, x: Int, baseline: Int, style: TextStyle, anchor: TextAnchor = .start, rows: Range<Int>? = nil
    ) throws(MediaError) {
        // Text farther away is not visible, and cannot make the sums below overflow.
        guard x.magnitude < 1 << 30, baseline.magnitude < 1 << 30 else { return }
        var left = x
        if anchor != .start {
            let columns = try TextImage.extents(of: text, style: style).columns
            left -= anchor == .middle ? columns.count / 2 : columns.count
        }
        let visible = rows.map { $0.clamped(to: 0..<bitmap.height) } ?? 0..<bitmap.height
        let image = try TextImage(
            text, style: style,
            visible: (
                columns: -left..<bitmap.width - left,
                rows: visible.lowerBound - baseline..<visible.upperBound - baseline
            ))
        missingCharacters.formUnion(image.missingCharacters)
        draw(image, x: left, baseline: baseline, opacity: style.color.alpha)
    }

    /// Composites the image of a text, all of which lies inside the picture.
    private mutating func draw(_ image: TextImage, x: Int, baseline: Int, opacity: UInt8) {
        let source = image.pixels.span
        let rowBytes = bitmap.width * 4
        var pixels = bitmap.bytes.mutableSpan
        var from = 0
        for row in image.rows {
            var to = (baseline + row) * rowBytes + (x + image.columns.lowerBound) * 4
            for _ in image.columns {
                if source[from &+ 3] > 0 { Self.composite(source, at: from, opacity, over: &pixels, at: to) }
                from += 4
                to += 4
            }
        }
    }

    /// Composites a pixel whose colours are multiplied by its alpha.
    private static func composite(
        _ source: Span<UInt8>, at from: Int, _ opacity: UInt8, over pixels: inout MutableSpan<UInt8>, at to: Int
    ) {
        // In units of 1/255²: the coverage of the new colour, and the part of the old colour that remains visible.
        let covered = UInt32(source[from &+ 3]) * UInt32(opacity)
        let kept = (UInt32(pixels[to &+ 3]) * (255 * 255 - covered) + 127) / 255
        let total = covered + kept
        guard total > 0 else { return }
        for channel in 0..<3 {
            let sum = UInt32(source[from &+ channel]) * UInt32(opacity) * 255 + UInt32(pixels[to &+ channel]) * kept
            pixels[to &+ channel] = UInt8(truncatingIfNeeded: min((sum + total / 2) / total, 255))
        }
        pixels[to &+ 3] = UInt8(truncatingIfNeeded: (total + 127) / 255)
    }
}

extension Bitmap {
    /// A text on a transparent background, just as large as the text.
    package struct Text: Sendable {
        /// The picture, 1x1 or larger.
        package let picture: Bitmap
        /// The column of the picture's left edge, relative to the left end of the text.
        package let x: Int
        /// The row of the picture's upper edge, relative to the ascent of the first line.
        package let y: Int
        /// The characters that no installed font has.
        package let missingCharacters: Set<Unicode.Scalar>

        /// Draws a text.
        ///
        /// - Throws: ``MediaError`` `unsupported` if no font is installed; `limitExceeded` if there are too many pixels.
        package init(_ text: String, style: TextStyle) throws(MediaError) {
            let extents = try TextImage.extents(of: text, style: style)
            let (columns, rows) = extents.whole
            var canvas = Canvas(try Bitmap(width: max(columns.count, 1), height: max(rows.count, 1)))
            try canvas.drawText(text, x: -columns.lowerBound, baseline: -rows.lowerBound, style: style)
            picture = canvas.bitmap
            missingCharacters = canvas.missingCharacters
            x = columns.lowerBound - extents.columns.lowerBound
            y = rows.lowerBound - extents.rows.lowerBound
        }
    }
}
