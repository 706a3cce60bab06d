import MediaBase
import Pictures
import TestSupport
import Testing
import TextLayout

/// Text against `pango-view`, and properties that hold for any font.
///
/// `scripts/setup --test` installs fonts with Latin, Arabic, Hebrew, Chinese and Japanese letters, and emoji.
@Suite struct TextImageTests {
    private func style(_ size: Double, _ color: Color = .black) -> TextStyle { TextStyle(size: size, color: color) }

    /// All of a text's ink, in rows of alpha.
    private func image(_ text: String, size: Double = 20) throws -> TextImage {
        try TextImage(text, style: style(size), visible: (columns: -5000..<5000, rows: -5000..<5000))
    }

    /// The alpha of a pixel, relative to the left end of the baseline; 0 where there is no ink.
    private func alpha(_ image: TextImage, _ x: Int, _ y: Int) -> UInt8 {
        guard image.columns.contains(x), image.rows.contains(y) else { return 0 }
        let index = (y - image.rows.lowerBound) * image.columns.count + x - image.columns.lowerBound
        return image.pixels[index * 4 + 3]
    }

    private func ink(_ image: TextImage) -> Int {
        stride(from: 3, to: image.pixels.count, by: 4).count { image.pixels[$0] > 0 }
    }

    /// A text in black on white.
    private func picture(_ text: String, size: Double) throws -> Bitmap {
        let extents = try TextImage.extents(of: text, style: style(size))
        let (columns, rows) = extents.whole
        var canvas = Canvas(try Bitmap(width: columns.count, height: rows.count, filledWith: .white))
        try canvas.drawText(text, x: -columns.lowerBound, baseline: -rows.lowerBound, style: style(size))
        return canvas.bitmap
    }

    /// The rows of a picture without the white around what is in it.
    private func cropped(_ bitmap: Bitmap) -> [[Color]] {
        let columns = (0..<bitmap.width).filter { x in (0..<bitmap.height).contains { bitmap[x, $0] != .white } }
        let rows = (0..<bitmap.height).filter { y in (0..<bitmap.width).contains { bitmap[$0, y] != .white } }
        guard let left = columns.first, let right = columns.last, let top = rows.first, let bottom = rows.last else {
            return []
        }
        return (top...bottom).map { y in (left...right).map { bitmap[$0, y] } }
    }

    private func difference(_ first: Color, _ second: Color) -> Int {
        max(
            abs(Int(first.red) - Int(second.red)), abs(Int(first.green) - Int(second.green)),
            abs(Int(first.blue) - Int(second.blue)))
    }

    @Test(arguments: [
        "interview.mov 00:01:02.345", "会議.mkv", "مقابلة.mkv", "עברית 12", "Cafe\u{301} Z\u{335}a\u{30A}\u{323}",
        "😀 🎬 👩🏽‍🚀 🇩🇪 ❤️", "two\nlines",
    ])
    func pixelsAreThoseOfPangoView(text: String) throws {
        let folder = try TemporaryFolder()
        for size in [11, 16, 20, 47] {
            let made = try Program.run(
                "pango-view",
                [
                    "--no-display", "--backend", "cairo", "--dpi", "72", "--margin", "0", "--antialias", "gray",
                    "--hinting", "slight", "--hint-metrics", "off", "--font", "\(TextStyle.families) \(size)", "--text",
                    text, "-o", folder.path("a.png"),
                ])
            try #require(made.status == 0, "\(made.error)")
            let wanted = try cropped(PNGFile.decode(folder.bytes("a.png")))
            let found = try cropped(picture(text, size: Double(size)))
            try #require(found.count == wanted.count && found.first?.count == wanted.first?.count, "size \(size)")
            let differences = zip(found.joined(), wanted.joined()).map { difference($0, $1) }
            // Blending is rounded once here, by Cairo in two steps.
            #expect(try #require(differences.max()) <= 2, "size \(size)")
        }
    }

    @Test func allInkIsInsideTheMeasuredPlace() throws {
        for text in ["f", "jÅg", "会議", "😀", "A\u{301}\u{301}\u{301}\u{301}", "\u{E123}"] {
            let extents = try TextImage.extents(of: text, style: style(33))
            let image = try image(text, size: 33)
            #expect(image.columns == extents.inkColumns && image.rows == extents.inkRows)
            // The border is a margin: nothing is cut off at it.
            let bytes = image.columns.count * 4
            for row in 0..<image.rows.count {
                let isBorder = row == 0 || row == image.rows.count - 1
                for column in isBorder ? 0..<image.columns.count : 0..<1 {
                    #expect(image.pixels[row * bytes + column * 4 + 3] == 0, "\(text)")
                }
            }
            #expect(ink(image) > 0)
        }
    }

    @Test func sizesScale() throws {
        let small = try TextImage.extents(of: "interview 会議 00:01:02", style: style(50))
        let large = try TextImage.extents(of: "interview 会議 00:01:02", style: style(200))
        #expect(abs(large.columns.count - 4 * small.columns.count) <= large.columns.count / 50)
        #expect(abs(large.inkRows.count - 4 * small.inkRows.count) <= large.inkRows.count / 20)
    }

    @Test func lettersFromRightToLeftStandInThatOrder() throws {
        // Letters of Hebrew do not join: the first of two is the right half of the text.
        let (first, second, both) = (try image("א"), try image("ב"), try image("אב"))
        let width = try TextImage.extents(of: "ב", style: style(20)).columns.count
        for y in -20..<10 {
            for x in 2..<width - 2 { #expect(alpha(both, x, y) == alpha(second, x, y)) }
            for x in 2..<30 { #expect(alpha(both, width + x, y) == alpha(first, x, y)) }
        }
        // Letters of Arabic do, and are then narrower than by themselves.
        let alone = try TextImage.extents(of: "ب", style: style(20)).columns.count
        #expect(try TextImage.extents(of: "ببب", style: style(20)).columns.count < 3 * alone)
    }

    @Test func accentsStandOnTheirLetters() throws {
        let (one, two) = (try image("é"), try image("e\u{301}"))
        #expect(one.columns == two.columns && one.rows == two.rows && one.pixels == two.pixels)
        let (bare, dotted) = (try image("x"), try image("x\u{323}"))
        #expect(dotted.rows.upperBound > bare.rows.upperBound)
        #expect(
            try TextImage.extents(of: "x", style: style(20)).columns
                == TextImage.extents(of: "x\u{323}", style: style(20)).columns)
    }

    @Test func emojiHaveTheirOwnColours() throws {
        func isColoured(_ text: String) throws -> Bool {
            let pixels = try image(text).pixels
            return stride(from: 0, to: pixels.count, by: 4).contains { abs(Int(pixels[$0]) - Int(pixels[$0 + 2])) > 64 }
        }
        for emoji in ["😀", "🇩🇪"] { #expect(try isColoured(emoji)) }
        #expect(try !isColoured("x"))
        // One picture for a sequence, not one for each of its parts.
        let astronaut = try TextImage.extents(of: "👩🏽‍🚀", style: style(20)).columns
        #expect(try astronaut == TextImage.extents(of: "🚀", style: style(20)).columns)
    }

    @Test func missingGlyphsAreNamed() throws {
        #expect(try image("会議 مقابلة é 😀👩🏽‍🚀 ﬁ…").missingCharacters.isEmpty)
        // No font has characters of the private use area, nor those that are not assigned.
        let image = try image("a\u{E123}b\u{E123}\u{3FFFD}")
        #expect(image.missingCharacters == ["\u{E123}", "\u{3FFFD}"])
        #expect(ink(image) > ink(try self.image("ab")))
        let warning = MissingGlyphs.warning(["会", "\u{301}", "\u{E123}"])
        #expect(warning.hasPrefix("no installed font has U+0301, 会 (U+4F1A), U+E123; boxes are drawn instead."))
        let many = (0..<13).compactMap { Unicode.Scalar(0xE100 + $0) }
        #expect(MissingGlyphs.warning(Set(many)).contains("U+E109 and 3 more characters; boxes"))
    }

    @Test func longLinesEndInAnEllipsis() throws {
        let text = "a name that is too long for its place"
        let whole = try image(text)
        var short = style(20)
        short.maximumWidth = 120
        let image = try TextImage(text, style: short, visible: (columns: -99..<999, rows: -99..<99))
        #expect(image.columns.upperBound <= 121 && whole.columns.upperBound > 200)
        // The first letters are the same.
        for y in -20..<10 { for x in 0..<60 { #expect(alpha(image, x, y) == alpha(whole, x, y)) } }
        short.maximumWidth = 0
        #expect(try TextImage.extents(of: text, style: short).columns.count <= 20)
        // From right to left it is shortened at the left, and still begins at 0.
        short.maximumWidth = 60
        #expect(try TextImage.extents(of: "מקום צר מדי לשם", style: short).columns.lowerBound == 0)
    }

    @Test func controlCharactersAreReplaced() throws {
        let (found, wanted) = (try image("a\0b\u{7}\rc\u{2028}"), try image("a\u{FFFD}b\u{FFFD}\u{FFFD}c\u{FFFD}"))
        #expect(found.pixels == wanted.pixels && found.columns == wanted.columns)
        #expect(try image("a\nb").rows.count > image("ab").rows.count + 15)
    }

    @Test func textOfAnyLengthAndSizeIsBounded() throws {
        let long = String(repeating: "W會😀\n", count: 100_000)
        #expect(try TextImage.extents(of: long, style: style(20)).rows.count < 1 << 15)
        let wide = try TextImage.extents(of: String(repeating: "﷽", count: 100_000), style: style(1e9))
        #expect(wide.columns.count <= TextStyle.maximumWidth && wide.rows.count < 1 << 15)
        #expect(
            try TextImage.extents(of: "e" + String(repeating: "\u{301}", count: 9999), style: style(.nan)).rows.count
                < 99)
        for blank in ["", " ", "\u{200D}", "\n"] { #expect(try image(blank).pixels.isEmpty) }
    }

    @Test func threadsDoNotDisturbEachOther() async throws {
        let texts = ["00:01:02.345", "会議.mkv", "مقابلة", "😀🎬", "e\u{301}\u{E123}"]
        let wanted = try texts.map { try image($0) }
        let isSame = try await withThrowingTaskGroup(of: Bool.self) { group in
            for round in 0..<64 {
                group.addTask {
                    let number = round % texts.count
                    let found = try self.image(texts[number])
                    return found.pixels == wanted[number].pixels
                        && found.missingCharacters == wanted[number].missingCharacters
                }
            }
            return try await group.reduce(true) { $0 && $1 }
        }
        #expect(isSame)
    }
}
