extension WaveformDrawing {
    /// The drawing as an SVG 1.1 file in UTF-8, of the bitmap's size in pixels.
    ///
    /// A layer is one path. Its edges lie on whole pixels, and letters are made of the built-in font's dots, so that
    /// every engine shows what the bitmap shows; only round ends may differ in the shades at their edges.
    package func svg() -> [UInt8] {
        var text = SVGText()
        text.add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" ")
        text.add("viewBox=\"0 0 \(width) \(height)\">\n")
        if background.alpha > 0 {
            text.add("<rect width=\"\(width)\" height=\"\(height)\" \(Self.fill(background))/>\n")
        }
        for layer in layers where layer.color.alpha > 0 {
            // Without it an engine would shade the edges that a wider display puts between its pixels.
            let crisp = layer.shapes.contains(where: \.isRound) ? "" : "shape-rendering=\"crispEdges\" "
            text.add("<path \(Self.fill(layer.color)) \(crisp)d=\"")
            for shape in layer.shapes { text.add(shape) }
            text.add("\"/>\n")
        }
        text.add("</svg>\n")
        return text.bytes
    }

    /// The colour as attributes; SVG 1.1 knows no colour with alpha in it.
    private static func fill(_ color: Color) -> String {
        let opaque = Color(red: color.red, green: color.green, blue: color.blue)
        guard color.alpha < 255 else { return "fill=\"\(opaque)\"" }
        // Four decimals tell 256 steps apart.
        return "fill=\"\(opaque)\" fill-opacity=\"\((Double(color.alpha) / 255 * 10_000).rounded() / 10_000)\""
    }
}

extension WaveformDrawing.Shape {
    fileprivate var isRound: Bool { if case .roundedBar = self { true } else { false } }
}

/// SVG under way, with the shapes as commands of a path.
private struct SVGText {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ text: String) { bytes.append(contentsOf: text.utf8) }

    mutating func add(_ shape: WaveformDrawing.Shape) {
        switch shape {
        case .rectangle(let x, let y, let width, let height): addRectangle(x, y, width, height)
        case .outline(let x, let rows):
            var start = 0
            while start < rows.count {
                let end = rows[start...].firstIndex(where: \.isEmpty) ?? rows.count
                if end > start { addOutline(x + start, rows[start..<end]) }
                start = end + 1
            }
        case .roundedBar(let x, let width, let rows): addRounded(x, width, rows)
        case .text(let text, let x, let y, let scale): addText(text, x, y, scale)
        }
    }

    private mutating func addRectangle(_ x: Int, _ y: Int, _ width: Int, _ height: Int) {
        guard width > 0, height > 0 else { return }
        add("M\(x) \(y)h\(width)v\(height)h\(-width)z")
    }

    /// Along the upper edges to the right, back along the lower ones; equal neighbours share a step.
    private mutating func addOutline(_ x: Int, _ rows: ArraySlice<Range<Int>>) {
        guard let first = rows.first, let last = rows.last else { return }
        add("M\(x) \(first.lowerBound)")
        addSteps(rows.lazy.map(\.lowerBound), from: first.lowerBound, sign: 1)
        add("v\(last.upperBound - last.lowerBound)")
        addSteps(rows.lazy.reversed().map(\.upperBound), from: last.upperBound, sign: -1)
        add("z")
    }

    private mutating func addSteps(_ edges: some Sequence<Int>, from start: Int, sign: Int) {
        var level = start
        var length = 0
        for edge in edges {
            if edge != level {
                add("h\(length * sign)v\(edge - level)")
                level = edge
                length = 0
            }
            length += 1
        }
        add("h\(length * sign)")
    }

    private mutating func addRounded(_ x: Int, _ width: Int, _ rows: Range<Int>) {
        guard width > 0, !rows.isEmpty else { return }
        let radius = Double(min(width, rows.count)) / 2
        let across = Double(width) - 2 * radius
        let down = Double(rows.count) - 2 * radius
        func arc(_ x: Double, _ y: Double) -> String { "a\(radius) \(radius) 0 0 1 \(x) \(y)" }
        add("M\(Double(x) + radius) \(rows.lowerBound)h\(across)\(arc(radius, radius))v\(down)")
        add("\(arc(-radius, radius))h\(-across)\(arc(-radius, -radius))v\(-down)\(arc(radius, -radius))z")
    }

    private mutating func addText(_ text: String, _ x: Int, _ y: Int, _ scale: Int) {
        for (index, letter) in text.enumerated() {
            let left = x + index * BitmapFont.advance * scale
            for (row, dots) in BitmapFont.glyph(of: letter).enumerated() {
                var column = 0
                while column < BitmapFont.width {
                    let run = (column..<BitmapFont.width).prefix { dots & (0x10 >> UInt8($0)) != 0 }.count
                    addRectangle(left + column * scale, y + row * scale, run * scale, scale)
                    column += max(run, 1)
                }
            }
        }
    }
}
