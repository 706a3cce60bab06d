package import MediaBase

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
        /// One line of text in the built-in font, with its top-left dot at (`x`, `y`).
        case text(String, x: Int, y: Int, scale: Int)
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
    /// - Throws: ``MediaError`` `invalidArgument` or `limitExceeded` if the size is invalid for a picture.
    package func bitmap() throws(MediaError) -> Bitmap {
        var canvas = Canvas(try Bitmap(width: width, height: height, filledWith: background))
        for layer in layers {
            for shape in layer.shapes { Self.paint(shape, color: layer.color, on: &canvas) }
        }
        return canvas.bitmap
    }

    private static func paint(_ shape: Shape, color: Color, on canvas: inout Canvas) {
        switch shape {
        case .rectangle(let x, let y, let width, let height):
            canvas.fill(x: x, y: y, width: width, height: height, with: color)
        case .outline(let x, let rows):
            for (column, rows) in rows.enumerated() {
                canvas.fill(x: x + column, y: rows.lowerBound, width: 1, height: rows.count, with: color)
            }
        case .roundedBar(let x, let width, let rows):
            canvas.fillRounded(x: x, y: rows.lowerBound, width: width, height: rows.count, with: color)
        case .text(let text, let x, let y, let scale):
            canvas.drawText(text, x: x, y: y, scale: scale, color: color)
        }
    }
}

extension WaveformDrawing {
    /// Returns the drawing as an SVG 1.1 file in UTF-8, with the bitmap's size in pixels.
    ///
    /// Each layer is one path. Edges lie on whole pixels, and letters consist of the built-in font's dots, so that
    /// every renderer shows the same as the bitmap. Only the antialiasing of round ends may differ.
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
            text.add("<path \(Self.fill(layer.color)) \(crisp)d=\"")
            for shape in layer.shapes { text.add(shape) }
            text.add("\"/>\n")
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
        case .text(let text, let x, let y, let scale): addText(text, x, y, scale)
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
