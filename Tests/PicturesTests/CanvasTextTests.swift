import MediaBase
import Pictures
import Testing
import TextLayout

@Suite struct CanvasTextTests {
    private func drawn(
        _ text: String, x: Int = 5, on background: Color = .white, _ color: Color = .black,
        anchor: Canvas.TextAnchor = .start, rows: Range<Int>? = nil
    ) throws -> Bitmap {
        var canvas = Canvas(try Bitmap(width: 60, height: 30, filledWith: background))
        try canvas.drawText(
            text, x: x, baseline: 20, style: TextStyle(size: 16, color: color), anchor: anchor, rows: rows)
        return canvas.bitmap
    }

    /// The columns and rows in which something was drawn.
    private func ink(_ bitmap: Bitmap, _ background: Color = .white) -> (
        columns: ClosedRange<Int>, rows: ClosedRange<Int>
    )? {
        let columns = (0..<bitmap.width).filter { x in (0..<bitmap.height).contains { bitmap[x, $0] != background } }
        let rows = (0..<bitmap.height).filter { y in (0..<bitmap.width).contains { bitmap[$0, y] != background } }
        guard let left = columns.first, let right = columns.last, let top = rows.first, let bottom = rows.last else {
            return nil
        }
        return (left...right, top...bottom)
    }

    @Test func lettersStandOnTheBaseline() throws {
        let place = try #require(ink(try drawn("H")))
        // Hinting puts the feet on the edge of a row; capitals are 0.73 of the size.
        #expect(place.rows == 8...19)
        #expect(try #require(ink(try drawn("g"))).rows.upperBound > 19)
    }

    @Test func anchors() throws {
        let start = try #require(ink(try drawn("HOH", x: 30)))
        let middle = try #require(ink(try drawn("HOH", x: 30, anchor: .middle)))
        let end = try #require(ink(try drawn("HOH", x: 30, anchor: .end)))
        #expect(start.columns.lowerBound >= 30 && end.columns.upperBound < 30)
        #expect(abs(middle.columns.lowerBound + middle.columns.upperBound - 59) <= 2)
    }

    // By hand, source over: full cover by a colour of alpha 102 (0.4) of white on black is 102.
    @Test func alphaIsTheOpacityOfTheWhole() throws {
        let full = try drawn("H", on: .black, .white)
        let weak = try drawn("H", on: .black, .white.withOpacity(0.4))
        for (strong, faint) in zip(full.bytes, weak.bytes) where strong < 255 || faint < 255 {
            #expect(abs(Int(faint) - Int((Double(strong) * 0.4).rounded())) <= 1)
        }
        #expect(weak.bytes.contains(102))
    }

    @Test func aTransparentBackgroundTakesTheColour() throws {
        let color = Color(red: 200, green: 100, blue: 40)
        let bitmap = try drawn("H", on: .transparent, color)
        let solid = try #require(ink(bitmap, .transparent))
        #expect(bitmap[solid.columns.lowerBound + 1, 14] == color)
        for x in solid.columns {
            for y in solid.rows where bitmap[x, y].alpha > 128 {
                #expect(abs(Int(bitmap[x, y].red) - 200) <= 2 && abs(Int(bitmap[x, y].blue) - 40) <= 2)
            }
        }
    }

    @Test func rowsAreClipped() throws {
        #expect(try #require(ink(try drawn("g", rows: 0..<20))).rows.upperBound == 19)
        for rows in [25..<30, 40..<50] { #expect(ink(try drawn("g", rows: rows)) == nil) }
    }

    @Test func farAwayIsHarmless() throws {
        for number in [Int.min, -(1 << 31), -1000, 1000, 1 << 31, Int.max] {
            for anchor in [Canvas.TextAnchor.start, .middle, .end] {
                #expect(ink(try drawn("Wg", x: number, anchor: anchor)) == nil)
            }
        }
    }

    @Test func missingCharactersAreKept() throws {
        var canvas = Canvas(try Bitmap(width: 9, height: 9))
        for text in ["a", "\u{E001}", "\u{E002}\u{E001}"] {
            try canvas.drawText(text, x: 0, baseline: 9, style: TextStyle(size: 9, color: .black))
        }
        #expect(canvas.missingCharacters == ["\u{E001}", "\u{E002}"])
    }

    @Test func aTextByItselfIsAsLargeAsIts() throws {
        let text = try Bitmap.Text("jÅ", style: TextStyle(size: 40, color: .white))
        let place = try #require(ink(text.picture, .transparent))
        #expect(place.columns.upperBound < text.picture.width && place.rows.upperBound < text.picture.height)
        #expect(text.missingCharacters.isEmpty && text.x <= 0 && text.y <= 0)
        let blank = try Bitmap.Text("", style: TextStyle(size: 40, color: .white))
        #expect(ink(blank.picture, .transparent) == nil)
    }
}
