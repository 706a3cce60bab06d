package import MediaBase

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
    package mutating func add(_ tile: Bitmap, label: String? = nil) -> (x: Int, y: Int) {
        let origin = layout.origin(of: count)
        count += 1
        canvas.draw(tile, x: origin.x, y: origin.y)
        guard let label else { return origin }
        let scale = Self.labelScale(width: layout.tile.width)
        let size = Canvas.textSize(label, scale: scale)
        let (width, height) = (size.width + 4 * scale, (BitmapFont.height + 2) * scale)
        let (left, top) = (
            origin.x + max(0, layout.tile.width - width), origin.y + max(0, layout.tile.height - height)
        )
        canvas.fill(
            x: left, y: top, width: min(width, layout.tile.width), height: min(height, layout.tile.height),
            with: Color(red: 0, green: 0, blue: 0, alpha: 160))
        canvas.drawText(label, x: left + 2 * scale, y: top + 2 * scale, scale: scale, color: .white)
        return origin
    }

    /// Draws lines of text above the tiles; lines that are too wide are truncated.
    package mutating func drawHeader(_ lines: [String]) {
        let scale = Self.headerScale(width: layout.size.width)
        let margin = max(layout.gap, 4 * scale)
        for (index, line) in lines.enumerated() {
            let text = Canvas.fitted(line, width: layout.size.width - 2 * margin, scale: scale)
            canvas.drawText(text, x: margin, y: margin + index * Self.lineHeight * scale, scale: scale, color: ink)
        }
    }

    /// Returns the height of a header with the given number of lines, on a sheet of the given width.
    package static func headerHeight(lines: Int, sheetWidth: Int, gap: Int) -> Int {
        guard lines > 0 else { return 0 }
        let scale = headerScale(width: sheetWidth)
        return max(gap, 4 * scale) + lines * lineHeight * scale
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

    private static let lineHeight = BitmapFont.height + 3

    private static func headerScale(width: Int) -> Int { min(max(width / 480, 1), 8) }

    private static func labelScale(width: Int) -> Int { min(max(width / 160, 1), 8) }
}
