extension Canvas {
    /// Lines in which a row of pixels is measured, to tell how much of a pixel lies inside a curve.
    private static let lines = 8

    /// Fills an upright or lying bar whose ends are as round as its size allows, with smooth edges.
    package mutating func fillRounded(x: Int, y: Int, width: Int, height: Int, with color: Color) {
        guard width > 1, height > 1, width <= 1 << 20, height <= 1 << 20 else {
            return fill(x: x, y: y, width: width, height: height, with: color)
        }
        let radius = Double(min(width, height)) / 2
        let cap = Int(radius.rounded(.up))
        for row in 0..<height where row < cap || row >= height - cap {
            let insets = Self.insets(row: row, height: height, radius: radius)
            let widest = insets.max() ?? 0
            let partial = min(Int(widest.rounded(.up)), width)
            let rest = max(partial, width - partial)
            for column in Array(0..<partial) + Array(rest..<width) {
                let part = Self.coverage(column: column, width: width, insets: insets)
                fill(x: x + column, y: y + row, width: 1, height: 1, with: color.withOpacity(part))
            }
            fill(x: x + partial, y: y + row, width: rest - partial, height: 1, with: color)
        }
        fill(x: x, y: y + cap, width: width, height: height - 2 * cap, with: color)
    }

    /// How far from the sides the curve is, in each line of a row.
    private static func insets(row: Int, height: Int, radius: Double) -> [Double] {
        (0..<lines).map { line in
            let place = Double(row) + (Double(line) + 0.5) / Double(lines)
            let depth = min(place, Double(height) - place)
            guard depth < radius else { return 0 }
            return radius - (radius * radius - (radius - depth) * (radius - depth)).squareRoot()
        }
    }

    /// The part of a pixel that lies between the curves, 0…1.
    private static func coverage(column: Int, width: Int, insets: [Double]) -> Double {
        let covered = insets.reduce(0.0) { sum, inset in
            sum + max(0, min(Double(column) + 1, Double(width) - inset) - max(Double(column), inset))
        }
        return covered / Double(lines)
    }
}
