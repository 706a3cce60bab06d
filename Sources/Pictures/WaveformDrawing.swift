package import MediaBase
internal import TextLayout

/// A waveform as shapes in whole pixels, laid out once for every kind of picture that shows it.
///
/// The layers are painted over each other, the first layer first. ``bitmap()`` and ``svg()`` show the same content.
package struct WaveformDrawing: Sendable, Hashable {
    /// A group of shapes of one colour that do not overlap.
    package struct Layer: Sendable, Hashable {
        /// The colour; its alpha composites the whole layer over the layers below.
        package var color: Color
        /// The filled shapes.
        package var shapes: [Shape]
    }

    /// A filled shape.
    package enum Shape: Sendable, Hashable {
        /// A rectangle, given by its top-left pixel and its size.
        case rectangle(x: Int, y: Int, width: Int, height: Int)
        /// The filled rows of each pixel column from `x` on; an empty range fills no rows.
        case outline(x: Int, rows: [Range<Int>])
        /// A bar with ends as round as its size allows.
        case roundedBar(x: Int, width: Int, rows: Range<Int>)
        /// One line of text, given by the column of its anchor, its baseline and the size of the font in pixels.
        case text(String, x: Int, baseline: Int, anchor: Canvas.TextAnchor, size: Int)
    }

    /// The width in pixels.
    package let width: Int
    /// The height in pixels.
    package let height: Int
    /// The background colour, which may be transparent.
    package let background: Color
    /// The layers, from bottom to top.
    package var layers: [Layer] = []

    init(width: Int, height: Int, background: Color) {
        self.width = width
        self.height = height
        self.background = background
    }

    mutating func add(_ shapes: [Shape], color: Color) {
        if !shapes.isEmpty { layers.append(Layer(color: color, shapes: shapes)) }
    }
}

extension WaveformDrawing {
    /// Returns the drawing as a bitmap.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` or `limitExceeded` if the size is invalid for a picture;
    ///   `unsupported` if it has text and no font is installed.
    package func bitmap() throws(MediaError) -> Bitmap {
        var canvas = Canvas(try Bitmap(width: width, height: height, filledWith: background))
        for layer in layers {
            for shape in layer.shapes { try Self.paint(shape, color: layer.color, on: &canvas) }
        }
        return canvas.bitmap
    }

    private static func paint(_ shape: Shape, color: Color, on canvas: inout Canvas) throws(MediaError) {
        switch shape {
        case .rectangle(let x, let y, let width, let height):
            canvas.fill(x: x, y: y, width: width, height: height, with: color)
        case .outline(let x, let rows):
            for (column, rows) in rows.enumerated() {
                canvas.fill(x: x + column, y: rows.lowerBound, width: 1, height: rows.count, with: color)
            }
        case .roundedBar(let x, let width, let rows):
            canvas.fillRounded(x: x, y: rows.lowerBound, width: width, height: rows.count, with: color)
        case .text(let text, let x, let baseline, let anchor, let size):
            try canvas.drawText(
                text, x: x, baseline: baseline, style: TextStyle(size: Double(size), color: color), anchor: anchor)
        }
    }
}

extension WaveformDrawing {
    /// Returns the drawing as an SVG 1.1 file in UTF-8, with the bitmap's size in pixels.
    ///
    /// Each layer is one path, followed by its texts. Edges lie on whole pixels, so that every renderer shows the same
    /// as the bitmap; only the antialiasing of round ends may differ, and text, which names the font families and is
    /// drawn with those of the viewer. No font is needed to write the file.
    package func svg() -> [UInt8] {
        var text = SVGText()
        text.add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" ")
        text.add("viewBox=\"0 0 \(width) \(height)\">\n")
        if background.alpha > 0 {
            text.add("<rect width=\"\(width)\" height=\"\(height)\" \(Self.fill(background))/>\n")
        }
        for layer in layers where layer.color.alpha > 0 {
            // Without this attribute, a renderer would blur edges that fall between its pixels on a larger display.
            let crisp = layer.shapes.contains(where: \.isRound) ? "" : "shape-rendering=\"crispEdges\" "
            let shapes = layer.shapes.filter { !$0.isText }
            if !shapes.isEmpty {
                text.add("<path \(Self.fill(layer.color)) \(crisp)d=\"")
                for shape in shapes { text.add(shape) }
                text.add("\"/>\n")
            }
            guard shapes.count < layer.shapes.count else { continue }
            text.add("<g \(Self.fill(layer.color)) font-family=\"\(TextStyle.families)\">\n")
            for shape in layer.shapes where shape.isText { text.add(shape) }
            text.add("</g>\n")
        }
        text.add("</svg>\n")
        return text.bytes
    }

    /// Returns the fill attributes for a colour; SVG 1.1 has no colours with alpha.
    private static func fill(_ color: Color) -> String {
        let opaque = Color(red: color.red, green: color.green, blue: color.blue)
        guard color.alpha < 255 else { return "fill=\"\(opaque)\"" }
        // Four decimals distinguish 256 steps.
        return "fill=\"\(opaque)\" fill-opacity=\"\((Double(color.alpha) / 255 * 10_000).rounded() / 10_000)\""
    }
}

extension WaveformDrawing.Shape {
    fileprivate var isRound: Bool { if case .roundedBar = self { true } else { false } }
    fileprivate var isText: Bool { if case .text = self { true } else { false } }
}

/// An SVG text being written, with the shapes as path commands.
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
        case .text(let text, let x, let baseline, let anchor, let size):
            add("<text x=\"\(x)\" y=\"\(baseline)\" font-size=\"\(size)\"")
            // The start is the default.
            if anchor != .start { add(" text-anchor=\"\(anchor == .middle ? "middle" : "end")\"") }
            add(">\(Self.escaped(text))</text>\n")
        }
    }

    private mutating func addRectangle(_ x: Int, _ y: Int, _ width: Int, _ height: Int) {
        guard width > 0, height > 0 else { return }
        add("M\(x) \(y)h\(width)v\(height)h\(-width)z")
    }

    /// Adds a path along the upper edges to the right and back along the lower edges; equal neighbours share a step.
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
        guard width > 1, rows.count > 1 else { return addRectangle(x, rows.lowerBound, width, rows.count) }
        let radius = Double(min(width, rows.count)) / 2
        let across = Double(width) - 2 * radius
        let down = Double(rows.count) - 2 * radius
        func arc(_ x: Double, _ y: Double) -> String { "a\(radius) \(radius) 0 0 1 \(x) \(y)" }
        add("M\(Double(x) + radius) \(rows.lowerBound)h\(across)\(arc(radius, radius))v\(down)")
        add("\(arc(-radius, radius))h\(-across)\(arc(-radius, -radius))v\(-down)\(arc(radius, -radius))z")
    }

    /// Returns text as the content of an element; characters that XML does not have become U+FFFD.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\t", "\n", "\r", "\u{20}"..."\u{FFFD}", "\u{10000}"...: escaped.unicodeScalars.append(scalar)
            default: escaped.unicodeScalars.append("\u{FFFD}")
            }
        }
        return escaped
    }
}
