/// A waveform as shapes in whole pixels, laid out once for every kind of picture that shows it.
///
/// The layers are painted one over the other, from the first on. ``bitmap()`` and ``svg()`` show the same.
package struct WaveformDrawing: Sendable, Hashable {
    /// Shapes of one colour that do not overlap.
    package struct Layer: Sendable, Hashable {
        /// The colour, whose alpha composites the whole layer over what is below.
        package var color: Color
        /// What is filled.
        package var shapes: [Shape]
    }

    /// Something that is filled.
    package enum Shape: Sendable, Hashable {
        /// A rectangle by its top left pixel and its size.
        case rectangle(x: Int, y: Int, width: Int, height: Int)
        /// The rows that are filled in each pixel column from `x` on; none where the range is empty.
        case outline(x: Int, rows: [Range<Int>])
        /// A bar with ends as round as its size allows.
        case roundedBar(x: Int, width: Int, rows: Range<Int>)
        /// One line of text in the built-in font, its top left dot at (`x`, `y`).
        case text(String, x: Int, y: Int, scale: Int)
    }

    /// Pixels across.
    package let width: Int
    /// Pixels down.
    package let height: Int
    /// What is behind everything; may be transparent.
    package let background: Color
    /// The layers, the lowest first.
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
