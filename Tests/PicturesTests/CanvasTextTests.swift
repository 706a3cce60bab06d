import MediaBase
import Pictures
import Testing

@Suite struct CanvasTextTests {
    private func drawn(_ text: String, scale: Int = 1) throws -> [String] {
        let size = Canvas.textSize(text, scale: scale)
        var canvas = Canvas(try Bitmap(width: size.width, height: size.height, filledWith: .white))
        canvas.drawText(text, x: 0, y: 0, scale: scale, color: .black)
        return (0..<size.height).map { y in
            (0..<size.width).map { canvas.bitmap[$0, y] == .black ? "#" : "." }.joined()
        }
    }

    @Test func lettersAreDrawnUpright() throws {
        #expect(
            try drawn("L7g") == [
                "#.....#####......",
                "#.........#......",
                "#........#...####",
                "#.......#...#...#",
                "#......#....#...#",
                "#......#....#...#",
                "#####..#.....####",
                "................#",
                ".............###.",
            ])
    }

    @Test func scaleMultipliesDots() throws {
        let small = try drawn("R")
        let large = try drawn("R", scale: 3)
        #expect(large.count == 27)
        for (y, row) in large.enumerated() {
            #expect(row == small[y / 3].map { String(repeating: $0, count: 3) }.joined())
        }
    }

    @Test func everyLetterIsThereAndDifferent() throws {
        let glyphs = (33...126).map { BitmapFont.glyph(of: Character(Unicode.Scalar(UInt8($0)))) }
        #expect(Set(glyphs).count == 94)
        #expect(
            glyphs.allSatisfy { rows in rows.count == 9 && rows.allSatisfy { $0 < 32 } && rows.contains { $0 > 0 } })
        #expect(BitmapFont.glyph(of: " ").allSatisfy { $0 == 0 })
        #expect(BitmapFont.glyph(of: "é") == BitmapFont.glyph(of: "\u{7F}"))
        #expect(BitmapFont.glyph(of: "日").contains(0x1F))
    }

    @Test func widths() {
        #expect(Canvas.textSize("").width == 0)
        #expect(Canvas.textSize("A").width == 5 && Canvas.textSize("AB", scale: 2).width == 22)
        #expect(Canvas.textSize("AB").height == 9)
        #expect(Canvas.fitted("interview.mov", width: 200) == "interview.mov")
        #expect(Canvas.fitted("interview.mov", width: 47) == "interv..")
        #expect(Canvas.fitted("interview.mov", width: 11) == "in")
        #expect(Canvas.fitted("interview.mov", width: -5) == "")
    }
}
