import MediaBase
import Pictures
import Testing

@Suite struct WaveformRendererTests {
    private static let ink = Color(red: 1, green: 2, blue: 3)
    private static let level = Color(red: 200, green: 2, blue: 3)

    private func style() -> WaveformStyle {
        var style = WaveformStyle()
        style.background = .transparent
        style.colors = [Self.ink]
        style.levelColor = nil
        style.centerLineColor = nil
        return style
    }

    private func rows(_ bitmap: Bitmap) -> [String] {
        (0..<bitmap.height).map { y in
            (0..<bitmap.width).map { x in
                bitmap[x, y] == Self.ink ? "#" : bitmap[x, y] == Self.level ? "+" : "."
            }.joined()
        }
    }

    private func drawn(
        _ minimums: [Float], _ maximums: [Float], levels: [Float]? = nil, height: Int = 8, width: Int? = nil,
        _ style: WaveformStyle
    ) throws -> [String] {
        let renderer = try WaveformRenderer(width: width ?? minimums.count, height: height, style: style)
        return rows(
            try renderer.render([WaveformRenderer.Channel(minimums: minimums, maximums: maximums, levels: levels)]))
    }

    // By hand: eight rows, four a half; silence is one row, full scale all rows.
    @Test func outline() throws {
        #expect(
            try drawn([-1, -0.5, 0, 0, -0.25], [1, 0.5, 0, 0.75, -0.25], style()) == [
                "#....", "#..#.", "##.#.", "##.#.", "###..", "##..#", "#....", "#....",
            ])
    }

    @Test func amplitudeScale() throws {
        var style = style()
        style.scale = .automatic
        #expect(try drawn([-0.25], [0.5], style).joined() == "######..")
        style.scale = .factor(0.5)
        #expect(try drawn([-1], [1], style).joined() == "..####..")
        style.scale = .factor(100)
        #expect(try drawn([-0.25], [0.5], style).joined() == "########")
        style.scale = .automatic
        #expect(try drawn([0], [0], style).joined() == "....#...")
    }

    // By hand: 0.1 is −20 dB, two thirds of a range of 60 dB; 0.001 is its end.
    @Test func decibels() throws {
        var style = style()
        style.amplitude = .decibels(range: 60)
        #expect(try drawn([-0.1], [0.1], height: 12, style).joined() == "..########..")
        #expect(try drawn([-0.001], [0.0005], height: 12, style).joined() == "......#.....")
    }

    @Test func levelsInside() throws {
        var style = style()
        style.levelColor = Self.level
        #expect(try drawn([-1], [1], levels: [0.5], style).joined() == "##++++##")
        #expect(try drawn([-0.25], [0.25], levels: [0.9], style).joined() == "...++...")
    }

    @Test func bars() throws {
        var style = style()
        style.bars = WaveformStyle.Bars(width: 2, gap: 1)
        #expect(
            try drawn([-0.5, -0.25, -1, -0.25, 0], [0.5, 0.25, 1, 0.25, 0], height: 4, style) == [
                "##...", "##.##", "##.##", "##...",
            ])
        style.bars = WaveformStyle.Bars(width: 4, gap: 0, isRounded: true)
        let ones = [Float](repeating: 1, count: 4)
        // The corners are partly covered; all else but what the circle of radius 2 cuts is full.
        #expect(try drawn(ones.map(-), ones, height: 6, style) == ["....", ".##.", "####", "####", ".##.", "...."])
    }

    @Test(arguments: [5, 6, 7, 8])
    func silenceLiesOnTheCenterLine(height: Int) throws {
        var style = style()
        style.centerLineColor = Self.level
        let drawn = try drawn([0], [0], height: height, width: 2, style)
        #expect(drawn.filter { $0 == "#+" }.count == 1 && drawn.filter { $0 == ".." }.count == height - 1)
    }

    @Test func channelsAreStacked() throws {
        var style = style()
        style.channelGap = 1
        let full = WaveformRenderer.Channel(minimums: [-1], maximums: [1])
        let silent = WaveformRenderer.Channel(minimums: [0], maximums: [0])
        let renderer = try WaveformRenderer(width: 1, height: 9, style: style)
        #expect(rows(try renderer.render([full, silent])).joined() == "####...#.")
    }

    @Test func axisTakesTheBottom() throws {
        var style = style()
        style.axisColor = .black
        let renderer = try WaveformRenderer(
            width: 200, height: 60, style: style, axis: TimeAxis(secondsPerPixel: 0.1))
        let ones = [Float](repeating: 1, count: 200)
        let picture = try renderer.render([WaveformRenderer.Channel(minimums: ones.map(-), maximums: ones)])
        let top = 60 - WaveformRenderer.axisHeight(textScale: 1)
        #expect((0..<200).allSatisfy { picture[$0, top - 1] == Self.ink && picture[$0, top] == .black })
        // Labels every 5 s are 50 pixels apart: a tick of four rows below the line.
        #expect(picture[50, top + 4] == .black && picture[51, top + 4] == .transparent)
    }

    /// Labels of any spacing and size keep apart, also from the one at the left edge, which does not lie on its tick.
    @Test(arguments: [1, 2])
    func labelsKeepApart(scale: Int) throws {
        for width in stride(from: 200, through: 900, by: 7) {
            var style = style()
            style.textScale = scale
            let renderer = try WaveformRenderer(
                width: width, height: 60, style: style, axis: TimeAxis(secondsPerPixel: 100 / Double(width)))
            let texts = try renderer.drawing([]).layers.flatMap(\.shapes).compactMap { shape -> Range<Int>? in
                guard case .text(let label, let x, _, let anchor, let size) = shape else { return nil }
                // DejaVu Sans: digits 0.636, a colon 0.337.
                let length = label.reduce(0.0) { $0 + ($1 == ":" ? 0.337 : 0.636) } * Double(size)
                let left = anchor == .middle ? Double(x) - length / 2 : Double(x)
                return Int(left.rounded(.down))..<Int((left + length).rounded(.up))
            }
            #expect(texts.count >= 2)
            #expect(zip(texts, texts.dropFirst()).allSatisfy { $0.upperBound + 2 * scale <= $1.lowerBound })
            #expect(texts.allSatisfy { $0.lowerBound >= 0 && $0.upperBound <= width })
        }
    }

    @Test func parametersAreChecked() throws {
        #expect(throws: MediaError.self) { try WaveformRenderer(width: 0, height: 1) }
        #expect(throws: MediaError.self) { try WaveformRenderer(width: 1 << 20, height: 1 << 20) }
        var style = WaveformStyle()
        style.bars = WaveformStyle.Bars(width: 0, gap: 0)
        #expect(throws: MediaError.self) { try WaveformRenderer(width: 1, height: 1, style: style) }
        style.bars = nil
        style.scale = .factor(.nan)
        #expect(throws: MediaError.self) { try WaveformRenderer(width: 1, height: 1, style: style) }
        let many = [WaveformRenderer.Channel](repeating: .init(minimums: [], maximums: []), count: 9)
        #expect(throws: MediaError.self) { try WaveformRenderer(width: 1, height: 8).render(many) }
        #expect(throws: MediaError.self) {
            try WaveformRenderer(width: 1, height: 8, axis: TimeAxis(secondsPerPixel: 1)).render(Array(many.prefix(1)))
        }
    }
}
