/// Red, green, blue and white of a picture as CIE 1931 chromaticities, and the way from one set to another.
package struct ColorPrimaries: Sendable, Hashable {
    /// A chromaticity.
    package struct Chromaticity: Sendable, Hashable {
        let x: Double
        let y: Double
    }

    let red: Chromaticity
    let green: Chromaticity
    let blue: Chromaticity

    private init(_ red: (Double, Double), _ green: (Double, Double), _ blue: (Double, Double)) {
        self.red = Chromaticity(x: red.0, y: red.1)
        self.green = Chromaticity(x: green.0, y: green.1)
        self.blue = Chromaticity(x: blue.0, y: blue.1)
    }

    /// The white of all of them: D65.
    static let white = Chromaticity(x: 0.3127, y: 0.3290)
    /// ITU-R BT.709 and sRGB.
    package static let bt709 = ColorPrimaries((0.640, 0.330), (0.300, 0.600), (0.150, 0.060))
    /// ITU-R BT.2020 and BT.2100.
    package static let bt2020 = ColorPrimaries((0.708, 0.292), (0.170, 0.797), (0.131, 0.046))
    /// Display P3 (SMPTE EG 432-1).
    package static let displayP3 = ColorPrimaries((0.680, 0.320), (0.265, 0.690), (0.150, 0.060))

    /// Those that pictures are converted from, by libavutil's name (`av_color_primaries_name`).
    ///
    /// All others are taken as those of BT.709, as players do: the primaries of BT.601 are so near that a picture is
    /// seen as meant, and files say them more often than they are true. SMPTE RP 431 has P3's primaries with a white of
    /// its own, which becomes the display's white.
    package init(name: String?) {
        switch name {
        case "bt2020": self = .bt2020
        case "smpte431", "smpte432": self = .displayP3
        default: self = .bt709
        }
    }

    /// Nine numbers, row by row, that turn linear RGB of these primaries into linear RGB of others.
    package func matrix(to other: ColorPrimaries) -> [Double] {
        self == other ? [1, 0, 0, 0, 1, 0, 0, 0, 1] : other.toXYZ.inverted.times(toXYZ).rows
    }

    /// How much red, green and blue add to luminance.
    package var luminance: [Double] { Array(toXYZ.rows[3..<6]) }

    /// Linear RGB to CIE XYZ with a luminance of 1 for white: SMPTE RP 177.
    private var toXYZ: Matrix3 {
        func column(_ point: Chromaticity) -> [Double] { [point.x / point.y, 1, (1 - point.x - point.y) / point.y] }
        let columns = [column(red), column(green), column(blue)]
        let unscaled = Matrix3(rows: (0..<3).flatMap { row in columns.map { $0[row] } })
        let scale = unscaled.inverted.times(column(Self.white))
        return Matrix3(rows: (0..<9).map { unscaled.rows[$0] * scale[$0 % 3] })
    }
}

/// A matrix of three rows.
private struct Matrix3 {
    let rows: [Double]

    func times(_ column: [Double]) -> [Double] {
        (0..<3).map { row in
            let products = (0..<3).map { rows[row * 3 + $0] * column[$0] }
            return products.reduce(0, +)
        }
    }

    func times(_ other: Matrix3) -> Matrix3 {
        let columns = (0..<3).map { column in times((0..<3).map { other.rows[$0 * 3 + column] }) }
        return Matrix3(rows: (0..<9).map { columns[$0 % 3][$0 / 3] })
    }

    /// By cofactors; the matrices here are far from singular.
    var inverted: Matrix3 {
        func minor(_ row: Int, _ column: Int) -> Double {
            let (r1, r2) = ((row + 1) % 3 * 3, (row + 2) % 3 * 3)
            let (c1, c2) = ((column + 1) % 3, (column + 2) % 3)
            return rows[r1 + c1] * rows[r2 + c2] - rows[r1 + c2] * rows[r2 + c1]
        }
        let determinant = rows[0] * minor(0, 0) + rows[1] * minor(0, 1) + rows[2] * minor(0, 2)
        return Matrix3(rows: (0..<9).map { minor($0 % 3, $0 / 3) / determinant })
    }
}
