extension Canvas {
    /// The size in pixels that text takes, without a gap after its last letter.
    ///
    /// - Parameters:
    ///   - text: One line; see ``drawText(_:x:y:scale:color:)``.
    ///   - scale: Pixels a font dot, 1…64; others are clamped.
    package static func textSize(_ text: String, scale: Int = 1) -> (width: Int, height: Int) {
        let scale = clamped(scale)
        let letters = text.count
        return (max(letters * BitmapFont.advance - BitmapFont.gap, 0) * scale, BitmapFont.height * scale)
    }

    /// The longest beginning of `text`, with `..` in place of what is cut, that is at most `width` pixels wide.
    package static func fitted(_ text: String, width: Int, scale: Int = 1) -> String {
        if textSize(text, scale: scale).width <= width { return text }
        let letters = max(width / clamped(scale) + BitmapFont.gap, 0) / BitmapFont.advance
        return letters < 3 ? String(text.prefix(letters)) : text.prefix(letters - 2) + ".."
    }

    /// Draws one line of text in the built-in font, its top left dot at (`x`, `y`).
    ///
    /// Letters outside ASCII 32…126 are drawn as an empty box. A line is ``BitmapFont/height`` dots high: seven
    /// above the baseline and two for descenders.
    package mutating func drawText(_ text: String, x: Int, y: Int, scale: Int = 1, color: Color) {
        let scale = Self.clamped(scale)
        var left = x
        for letter in text {
            // Right of the picture nothing follows, and the sum below cannot overflow.
            guard left < bitmap.width else { return }
            if left > -BitmapFont.advance * scale {
                draw(BitmapFont.glyph(of: letter), x: left, y: y, scale: scale, color: color)
            }
            left += BitmapFont.advance * scale
        }
    }

    private mutating func draw(_ rows: [UInt8], x: Int, y: Int, scale: Int, color: Color) {
        guard y < bitmap.height, y > -BitmapFont.height * scale else { return }
        for (row, dots) in rows.enumerated() {
            for column in 0..<BitmapFont.width where dots & (0x10 >> UInt8(column)) != 0 {
                fill(x: x + column * scale, y: y + row * scale, width: scale, height: scale, with: color)
            }
        }
    }

    private static func clamped(_ scale: Int) -> Int { min(max(scale, 1), 64) }
}
