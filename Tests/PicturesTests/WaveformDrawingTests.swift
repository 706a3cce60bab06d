import MediaBase
import Testing

@testable import Pictures

@Suite struct WaveformDrawingTests {
    private static let ink = Color(red: 1, green: 2, blue: 3)

    private func svg(_ shapes: [WaveformDrawing.Shape], color: Color = ink, background: Color = .white) -> String {
        var drawing = WaveformDrawing(width: 8, height: 6, background: background)
        drawing.add(shapes, color: color)
        return String(decoding: drawing.svg(), as: UTF8.self)
    }

    private func path(_ shapes: [WaveformDrawing.Shape]) -> String? {
        svg(shapes).split(separator: "\n").first { $0.hasPrefix("<path") }
            .flatMap { $0.split(separator: "\"", omittingEmptySubsequences: false).dropLast().last }.map(String.init)
    }

    @Test func theFileIsWhole() {
        #expect(
            svg([.rectangle(x: 1, y: 2, width: 3, height: 4)]) == """
                <svg xmlns="http://www.w3.org/2000/svg" width="8" height="6" viewBox="0 0 8 6">
                <rect width="8" height="6" fill="#ffffff"/>
                <path fill="#010203" shape-rendering="crispEdges" d="M1 2h3v4h-3z"/>
                </svg>

                """)
    }

    @Test func transparencyIsOpacity() {
        let half = svg([.rectangle(x: 0, y: 0, width: 1, height: 1)], color: Self.ink.withOpacity(0.4))
        #expect(half.contains("fill=\"#010203\" fill-opacity=\"0.4\""))
        #expect(!svg([], background: .transparent).contains("<rect"))
        #expect(!svg([.rectangle(x: 0, y: 0, width: 1, height: 1)], color: .transparent).contains("<path"))
    }

    // By hand: columns of rows 1…3, 1…3, 0…1, nothing, 2…4.
    @Test func anOutlineIsOnePathARun() {
        let rows = [1..<4, 1..<4, 0..<2, 0..<0, 2..<5]
        #expect(path([.outline(x: 0, rows: rows)]) == "M0 1h2v-1h1v2h-1v2h-2zM4 2h1v3h-1z")
        #expect(path([.outline(x: 0, rows: [])]) == "")
    }

    @Test func roundedBars() {
        #expect(
            path([.roundedBar(x: 1, width: 2, rows: 0..<6)])
                == "M2.0 0h0.0a1.0 1.0 0 0 1 1.0 1.0v4.0a1.0 1.0 0 0 1 -1.0 1.0h-0.0a1.0 1.0 0 0 1 -1.0 -1.0v-4.0"
                + "a1.0 1.0 0 0 1 1.0 -1.0z")
    }

    @Test func nothingIsRoundInASinglePixel() {
        #expect(
            path([.roundedBar(x: 1, width: 4, rows: 3..<4), .roundedBar(x: 6, width: 1, rows: 0..<4)])
                == "M1 3h4v1h-4zM6 0h1v4h-1z")
    }

    @Test func textIsText() {
        let lines = svg([
            .rectangle(x: 0, y: 0, width: 1, height: 1), .text("0:05", x: 1, baseline: 5, anchor: .start, size: 10),
            .text("a<&>\u{1}", x: 4, baseline: 6, anchor: .middle, size: 20),
        ])
        #expect(
            lines.hasSuffix(
                """
                <path fill="#010203" shape-rendering="crispEdges" d="M0 0h1v1h-1z"/>
                <g fill="#010203" font-family="DejaVu Sans, sans-serif">
                <text x="1" y="5" font-size="10">0:05</text>
                <text x="4" y="6" font-size="20" text-anchor="middle">a&lt;&amp;&gt;\u{FFFD}</text>
                </g>
                </svg>

                """))
        #expect(path([.text("0:05", x: 1, baseline: 5, anchor: .end, size: 10)]) == nil)
    }

    @Test func theBitmapShowsTheLayersInOrder() throws {
        var drawing = WaveformDrawing(width: 3, height: 2, background: .white)
        drawing.add([.outline(x: 0, rows: [0..<2, 0..<0, 1..<2])], color: Self.ink)
        drawing.add([.rectangle(x: 0, y: 1, width: 1, height: 1)], color: .black)
        let bitmap = try drawing.bitmap()
        #expect(bitmap[0, 0] == Self.ink && bitmap[0, 1] == .black && bitmap[1, 0] == .white)
        #expect(bitmap[2, 0] == .white && bitmap[2, 1] == Self.ink)
    }
}
