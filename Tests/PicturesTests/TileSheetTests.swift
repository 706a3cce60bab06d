import MediaBase
import Pictures
import Testing

/// Expected places are worked out by hand.
@Suite struct TileSheetTests {
    private let tile = Dimensions(width: 8, height: 6)

    @Test func placesWithoutGaps() {
        let layout = TileSheet.Layout(columns: 3, rows: 2, tile: tile)
        #expect(layout.size == Dimensions(width: 24, height: 12))
        #expect((0..<6).map { layout.origin(of: $0).x } == [0, 8, 16, 0, 8, 16])
        #expect((0..<6).map { layout.origin(of: $0).y } == [0, 0, 0, 6, 6, 6])
    }

    @Test func placesWithGapsAndHeader() {
        var layout = TileSheet.Layout(columns: 2, rows: 2, tile: tile)
        (layout.gap, layout.headerHeight) = (3, 20)
        #expect(layout.size == Dimensions(width: 3 + 8 + 3 + 8 + 3, height: 20 + 3 + 6 + 3 + 6 + 3))
        #expect(layout.origin(of: 3) == (x: 14, y: 32))
    }

    @Test func sizesThatNoPictureHasAreNoTrap() {
        let layout = TileSheet.Layout(columns: .max, rows: .max, tile: Dimensions(width: .max, height: 3))
        #expect(layout.size == Dimensions(width: .max, height: .max))
        #expect(throws: MediaError.self) { try TileSheet(layout, background: .black) }
    }

    @Test func tilesAreDrawnInOrderAndEmptyRowsLeftOut() throws {
        var sheet = try TileSheet(TileSheet.Layout(columns: 2, rows: 9, tile: tile), background: .black)
        for value in [50, 100, 150] as [UInt8] {
            let color = Color(red: value, green: value, blue: value)
            _ = try sheet.add(Bitmap(width: 8, height: 6, filledWith: color))
        }
        let picture = sheet.bitmap
        #expect(picture.width == 16 && picture.height == 12)
        #expect([picture[0, 0].red, picture[8, 5].red, picture[7, 6].red, picture[8, 6].red] == [50, 100, 150, 0])
    }

    @Test func oneRowIsNoWiderThanItsTiles() throws {
        var sheet = try TileSheet(TileSheet.Layout(columns: 5, rows: 5, tile: tile), background: .black)
        _ = try sheet.add(Bitmap(width: 8, height: 6))
        #expect(sheet.bitmap.width == 8 && sheet.bitmap.height == 6)
    }

    @Test func labelsLieInTheLowerRightCorner() throws {
        let size = Dimensions(width: 100, height: 40)
        var sheet = try TileSheet(TileSheet.Layout(columns: 1, rows: 1, tile: size), background: .black)
        _ = try sheet.add(Bitmap(width: 100, height: 40, filledWith: .white), label: "1")
        let picture = sheet.bitmap
        #expect(picture[0, 0] == .white && picture[99, 0] == .white && picture[0, 39] == .white)
        #expect(picture[99, 39] != .white)
    }

    @Test func headersStandOutFromTheBackground() throws {
        for (background, ink) in [(Color.white, Color.black), (.black, .white)] {
            var layout = TileSheet.Layout(columns: 1, rows: 1, tile: Dimensions(width: 200, height: 10))
            layout.headerHeight = TileSheet.headerHeight(lines: 2, sheetWidth: 200, gap: 0)
            var sheet = try TileSheet(layout, background: background)
            try sheet.drawHeader(["IIII", String(repeating: "W", count: 500)])
            _ = try sheet.add(Bitmap(width: 200, height: 10, filledWith: background))
            let picture = sheet.bitmap
            let colors = Set((0..<picture.height).flatMap { y in (0..<picture.width).map { picture[$0, y] } })
            // The edges of letters are between the two.
            #expect(colors.isSuperset(of: [background, ink]))
            #expect(colors.allSatisfy { $0.red == $0.green && $0.green == $0.blue && $0.alpha == 255 })
            // The line that is too long ends before the margin.
            #expect((0..<layout.headerHeight).allSatisfy { picture[197, $0] == background })
        }
    }
}
