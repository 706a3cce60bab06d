package import MediaBase
internal import Threading

/// The place of a text in pixels, relative to the left end of its first baseline; rows are counted downwards.
package struct TextExtents: Sendable, Hashable {
    /// The columns that the text takes in a line of text.
    package let columns: Range<Int>
    /// The rows from the ascent of the first line to the descent of the last one.
    package let rows: Range<Int>
    /// The columns in which something is drawn; empty for blank text.
    package let inkColumns: Range<Int>
    /// The rows in which something is drawn; empty for blank text.
    package let inkRows: Range<Int>

    /// The smallest rectangle with the text's own place and everything that is drawn.
    package var whole: (columns: Range<Int>, rows: Range<Int>) {
        func joined(_ first: Range<Int>, _ second: Range<Int>) -> Range<Int> {
            second.isEmpty
                ? first : min(first.lowerBound, second.lowerBound)..<max(first.upperBound, second.upperBound)
        }
        return (joined(columns, inkColumns), joined(rows, inkRows))
    }
}

/// A text drawn by Pango and Cairo: any script, either direction, emoji in colour.
///
/// Fonts are looked for when the first text of a process is laid out, which takes about 15 ms. All functions can be
/// called on any thread, and wait for each other.
package struct TextImage: Sendable {
    /// The columns of the image, relative to the left end of the text's first baseline.
    package let columns: Range<Int>
    /// The rows of the image.
    package let rows: Range<Int>
    /// The red, green, blue and alpha of each pixel, the colours multiplied by alpha; top row first, tightly packed.
    package let pixels: [UInt8]
    /// The characters for which no font has a glyph, and in whose place boxes are drawn.
    package let missingCharacters: Set<Unicode.Scalar>

    private static let fonts = Mutex<FontCollection?>(nil)

    /// Lays out a text with the process's fonts, while no other thread does.
    private static func withLayout<Value: Sendable>(
        of text: String, style: TextStyle, _ body: @Sendable (borrowing LaidOutText) throws(MediaError) -> Value
    ) throws(MediaError) -> Value {
        try fonts.withLock { fonts throws(MediaError) in
            if fonts == nil { fonts = try FontCollection.load() }
            guard let value = try fonts?.layout(text, style: style).use(body) else {
                throw MediaError(.outOfResources, "there is no memory to draw text")
            }
            return value
        }
    }

    /// Returns the place that a text takes.
    ///
    /// - Parameters:
    ///   - text: One line, or several that end in line feeds. A text of thousands of characters is cut.
    ///   - style: The look of the text.
    /// - Throws: ``MediaError`` `unsupported` if no font is installed.
    package static func extents(of text: String, style: TextStyle) throws(MediaError) -> TextExtents {
        try withLayout(of: text, style: style) { layout throws(MediaError) in layout.extents }
    }

    /// Draws the part of a text that is visible.
    ///
    /// - Parameters:
    ///   - text: One line, or several that end in line feeds. A text of thousands of characters is cut.
    ///   - style: The look of the text; the colour's alpha is ignored.
    ///   - visible: The columns and rows of the part, relative to the left end of the text's first baseline.
    /// - Throws: ``MediaError`` `unsupported` if no font is installed; `outOfResources`.
    package init(
        _ text: String, style: TextStyle, visible: (columns: Range<Int>, rows: Range<Int>)
    ) throws(MediaError) {
        // Cairo's images have sides of 32,767 pixels at most.
        @Sendable func part(_ ink: Range<Int>, _ visible: Range<Int>) -> Range<Int> {
            let part = ink.clamped(to: visible)
            return part.lowerBound..<min(part.upperBound, part.lowerBound + 32_767)
        }
        self = try Self.withLayout(of: text, style: style) { layout throws(MediaError) in
            let extents = layout.extents
            let columns = part(extents.inkColumns, visible.columns)
            let rows = part(extents.inkRows, visible.rows)
            let isBlank = columns.isEmpty || rows.isEmpty
            return TextImage(
                columns: columns, rows: rows,
                pixels: isBlank ? [] : try layout.pixels(columns: columns, rows: rows, color: style.color),
                missingCharacters: layout.missingCharacters)
        }
    }

    private init(columns: Range<Int>, rows: Range<Int>, pixels: [UInt8], missingCharacters: Set<Unicode.Scalar>) {
        self.columns = columns
        self.rows = rows
        self.pixels = pixels
        self.missingCharacters = missingCharacters
    }
}

extension LaidOutText {
    /// Calls the closure with the layout, which ends afterwards.
    fileprivate consuming func use<Value>(
        _ body: (borrowing LaidOutText) throws(MediaError) -> Value
    ) throws(MediaError) -> Value {
        try body(self)
    }
}
