package import MediaBase
internal import TextLayout

/// A picture of many small tiles in rows, from left to right and top to bottom, with an optional header above.
package struct TileSheet: Sendable {
    /// The arrangement of the tiles.
    package struct Layout: Sendable, Hashable {
        /// The number of tiles in a row, 1 or more.
        package var columns: Int
        /// The number of rows, 1 or more.
        package var rows: Int
        /// The size of every tile in pixels.
        package var tile: Dimensions
        /// The number of pixels between tiles, and around all of them.
        package var gap = 0
        /// The height of the header above the tiles and their gaps, in pixels.
        package var headerHeight = 0

        /// Creates a layout without gaps and without a header.
        package init(columns: Int, rows: Int, tile: Dimensions) {
            self.columns = columns
            self.rows = rows
            self.tile = tile
        }

        /// The size of the sheet; a side that overflows is `Int.max`.
        package var size: Dimensions {
            Dimensions(
                width: Self.length(columns, of: tile.width, gap: gap),
                height: Self.sum(Self.length(rows, of: tile.height, gap: gap), headerHeight))
        }

        /// Returns the position of a tile's top-left pixel; tiles are counted from 0.
        package func origin(of index: Int) -> (x: Int, y: Int) {
            (
                x: gap + index % columns * (tile.width + gap),
                y: headerHeight + gap + index / columns * (tile.height + gap)
            )
        }

        private static func length(_ count: Int, of side: Int, gap: Int) -> Int {
            let (inner, overflow) = count.multipliedReportingOverflow(by: sum(side, gap))
            return overflow ? .max : sum(inner, gap)
        }

        private static func sum(_ first: Int, _ second: Int) -> Int {
            let (sum, overflow) = first.addingReportingOverflow(second)
            return overflow ? .max : sum
        }
    }

    /// The arrangement of the tiles.
    package let layout: Layout
    /// The characters of labels and headers that no installed font has, and in whose place boxes were drawn.
    package var missingCharacters: Set<Unicode.Scalar> { canvas.missingCharacters }
    /// The number of tiles added so far.
    package private(set) var count = 0
    private var canvas: Canvas
    /// Black or white, whichever contrasts with the background.
    private let ink: Color

    /// Creates an empty sheet.
    ///
    /// - Throws: The errors of ``Bitmap/init(width:height:filledWith:)``, before allocating any memory.
    package init(_ layout: Layout, background: Color) throws(MediaError) {
        self.layout = layout
        let size = layout.size
        canvas = Canvas(try Bitmap(width: size.width, height: size.height, filledWith: background))
        let light = 2 * Int(background.red) + 7 * Int(background.green) + Int(background.blue)
        ink = light > 1280 || background.alpha < 128 ? .black : .white
    }

    /// Draws the next tile, with an optional label in its bottom-right corner.
    ///
    /// - Returns: The position of the tile's top-left pixel.
    /// - Throws: ``MediaError`` `unsupported` if there is a label and no font is installed.
    package mutating func add(_ tile: Bitmap, label: String? = nil) throws(MediaError) -> (x: Int, y: Int) {
        let origin = layout.origin(of: count)
        count += 1
        canvas.draw(tile, x: origin.x, y: origin.y)
        if let label { try draw(label, on: origin) }
        return origin
    }

    /// Draws a label in the bottom-right corner of a tile; one that is too wide for the tile is shortened.
    private mutating func draw(_ label: String, on origin: (x: Int, y: Int)) throws(MediaError) {
        var style = TextStyle(size: Self.labelSize(width: layout.tile.width), color: .white)
        let margin = Int(style.size / 3)
        style.maximumWidth = layout.tile.width - 2 * margin
        guard style.maximumWidth > 0 else { return }
        let width = min(try TextImage.extents(of: label, style: style).columns.count, style.maximumWidth) + 2 * margin
        let height = min(Int((1.4 * style.size).rounded()), layout.tile.height)
        let right = origin.x + layout.tile.width
        let top = origin.y + layout.tile.height - height
        canvas.fill(
            x: right - width, y: top, width: width, height: height, with: Color(red: 0, green: 0, blue: 0, alpha: 160))
        // Digits, which are 0.73 of the size high, are in the middle.
        let baseline = top + Int(((Double(height) + 0.73 * style.size) / 2).rounded())
        try canvas.drawText(
            label, x: right - margin, baseline: baseline, style: style, anchor: .end, rows: top..<top + height)
    }

    /// Draws lines of text above the tiles; lines that are too wide end in an ellipsis.
    ///
    /// - Throws: ``MediaError`` `unsupported` if no font is installed.
    package mutating func drawHeader(_ lines: [String]) throws(MediaError) {
        var style = TextStyle(size: Self.headerSize(width: layout.size.width), color: ink)
        let margin = Self.headerMargin(sheetWidth: layout.size.width, gap: layout.gap)
        // In line with the first tile.
        let left = layout.gap > 0 ? layout.gap : margin
        style.maximumWidth = layout.size.width - 2 * left
        guard style.maximumWidth > 0 else { return }
        let lineHeight = Self.lineHeight(size: style.size)
        for (index, line) in lines.enumerated() {
            let top = margin + index * lineHeight
            // The tallest scripts reach 1.1 of the size above the baseline, and 0.4 below.
            try canvas.drawText(
                line, x: left, baseline: top + Int((1.1 * style.size).rounded()), style: style,
                rows: top..<top + lineHeight)
        }
    }

    /// Returns the height of a header with the given number of lines, on a sheet of the given width.
    ///
    /// It does not depend on the fonts of the system, and neither do the places of tiles.
    package static func headerHeight(lines: Int, sheetWidth: Int, gap: Int) -> Int {
        guard lines > 0 else { return 0 }
        return headerMargin(sheetWidth: sheetWidth, gap: gap)
            + lines * lineHeight(size: headerSize(width: sheetWidth))
    }

    /// The sheet, cropped to the rows and columns that contain tiles.
    package var bitmap: Bitmap {
        let columns = max(1, min(count, layout.columns))
        let rows = max(1, (count + layout.columns - 1) / layout.columns)
        var used = layout
        (used.rows, used.columns) = (rows, columns)
        return canvas.bitmap.prefix(
            width: layout.headerHeight > 0 ? layout.size.width : used.size.width, height: used.size.height)
    }

    private static func headerMargin(sheetWidth: Int, gap: Int) -> Int {
        max(gap, Int(headerSize(width: sheetWidth) / 2))
    }

    private static func lineHeight(size: Double) -> Int { Int((1.5 * size).rounded()) }

    private static func headerSize(width: Int) -> Double { min(max((Double(width) / 75).rounded(), 12), 48) }

    private static func labelSize(width: Int) -> Double { min(max((Double(width) / 22).rounded(), 10), 48) }
}
