import Glibc

/// The primaries and white point of a picture as CIE 1931 chromaticities, and the conversion between such sets.
package struct ColorPrimaries: Sendable, Hashable {
    /// A point (x, y) of the CIE 1931 chromaticity diagram.
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

    /// The white point of all sets: D65.
    static let white = Chromaticity(x: 0.3127, y: 0.3290)
    /// The primaries of ITU-R BT.709 and sRGB.
    package static let bt709 = ColorPrimaries((0.640, 0.330), (0.300, 0.600), (0.150, 0.060))
    /// The primaries of ITU-R BT.2020 and BT.2100.
    package static let bt2020 = ColorPrimaries((0.708, 0.292), (0.170, 0.797), (0.131, 0.046))
    /// The primaries of Display P3 (SMPTE EG 432-1).
    package static let displayP3 = ColorPrimaries((0.680, 0.320), (0.265, 0.690), (0.150, 0.060))

    /// Creates the primaries of a source picture from libavutil's name (`av_color_primaries_name`).
    ///
    /// All other names are treated as BT.709, as players do: the primaries of BT.601 are so close that a picture looks
    /// as intended, and files declare them more often than they are true. SMPTE RP 431 has the primaries of P3 with a
    /// different white point, which becomes the display's white.
    package init(name: String?) {
        switch name {
        case "bt2020": self = .bt2020
        case "smpte431", "smpte432": self = .displayP3
        default: self = .bt709
        }
    }

    /// Returns nine numbers, row by row, that convert linear RGB of these primaries to linear RGB of others.
    package func matrix(to other: ColorPrimaries) -> [Double] {
        self == other ? [1, 0, 0, 0, 1, 0, 0, 0, 1] : other.toXYZ.inverted.times(toXYZ).rows
    }

    /// The contributions of red, green and blue to luminance.
    package var luminance: [Double] { Array(toXYZ.rows[3..<6]) }

    /// The matrix from linear RGB to CIE XYZ, with a luminance of 1 for white: SMPTE RP 177.
    private var toXYZ: Matrix3 {
        func column(_ point: Chromaticity) -> [Double] { [point.x / point.y, 1, (1 - point.x - point.y) / point.y] }
        let columns = [column(red), column(green), column(blue)]
        let unscaled = Matrix3(rows: (0..<3).flatMap { row in columns.map { $0[row] } })
        let scale = unscaled.inverted.times(column(Self.white))
        return Matrix3(rows: (0..<9).map { unscaled.rows[$0] * scale[$0 % 3] })
    }
}

/// A 3 × 3 matrix, stored row by row.
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

    /// The inverse, computed by cofactors; the matrices here are far from singular.
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

/// Converts between coded values and light, for the transfer characteristics that matter when displaying pictures.
///
/// Coded values range from 0 to 1. Light is relative to the display's white: 1 is the white of SDR video, and
/// ``referenceWhite`` cd/m² of HDR.
package enum TransferFunction: Sendable, Hashable {
    /// SDR video (BT.601, BT.709, BT.2020 with 10 or 12 bits) as displays show it: ITU-R BT.1886, a gamma of 2.4.
    case bt1886
    /// IEC 61966-2-1, used by pictures on the web and by screens.
    case sRGB
    /// Values proportional to light.
    case linear
    /// The perceptual quantizer of SMPTE ST 2084, absolute up to 10,000 cd/m².
    case pq
    /// Hybrid log-gamma of ARIB STD-B67 and ITU-R BT.2100; returns scene light, with its peak at 1.
    case hlg

    /// The luminance in cd/m² of diffuse white in HDR, which becomes white in SDR: ITU-R BT.2408.
    package static let referenceWhite = 203.0

    /// Creates the function from libavutil's name (`av_color_transfer_name`); unknown names are treated as SDR video.
    package init(name: String?) {
        switch name {
        case "smpte2084": self = .pq
        case "arib-std-b67": self = .hlg
        case "linear": self = .linear
        default: self = .bt1886
        }
    }

    /// True if values represent more light than SDR video does.
    package var isHDR: Bool { self == .pq || self == .hlg }

    /// Returns the light of a coded value, which is clamped to 0…1.
    package func light(of signal: Double) -> Double {
        let value = min(max(signal, 0), 1)
        switch self {
        case .bt1886: return pow(value, 2.4)
        case .sRGB: return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        case .linear: return value
        case .pq: return Self.pqLuminance(value) / Self.referenceWhite
        case .hlg: return value <= 0.5 ? value * value / 3 : (exp((value - Self.hlgC) / Self.hlgA) + Self.hlgB) / 12
        }
    }

    /// Returns the coded value of light, the inverse of ``light(of:)``; light outside the coded range is clipped.
    package func signal(of light: Double) -> Double {
        let value = max(light, 0)
        switch self {
        case .bt1886: return min(pow(value, 1 / 2.4), 1)
        case .sRGB: return min(value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055, 1)
        case .linear: return min(value, 1)
        case .pq: return Self.pqSignal(value * Self.referenceWhite)
        case .hlg:
            return min(value <= 1 / 12 ? sqrt(3 * value) : Self.hlgA * log(12 * value - Self.hlgB) + Self.hlgC, 1)
        }
    }

    // The constants of ITU-R BT.2100, table 5.
    private static let hlgA = 0.17883277
    private static let hlgB = 1 - 4 * hlgA
    private static let hlgC = 0.5 - hlgA * log(4 * hlgA)
}

extension TransferFunction {
    // The constants of ITU-R BT.2100, table 4.
    private static let m1 = 2610.0 / 16384
    private static let m2 = 2523.0 / 4096 * 128
    private static let c1 = 3424.0 / 4096
    private static let c2 = 2413.0 / 4096 * 32
    private static let c3 = 2392.0 / 4096 * 32

    /// Returns the luminance in cd/m² of a PQ value of 0…1.
    static func pqLuminance(_ signal: Double) -> Double {
        let root = pow(max(signal, 0), 1 / m2)
        return 10_000 * pow(max(root - c1, 0) / (c2 - c3 * root), 1 / m1)
    }

    /// Returns the PQ value of a luminance in cd/m², at most 1.
    static func pqSignal(_ luminance: Double) -> Double {
        let root = pow(min(max(luminance, 0), 10_000) / 10_000, m1)
        return pow((c1 + c2 * root) / (1 + c3 * root), m2)
    }
}

/// Converts luma and chroma to red, green and blue: the matrices of ITU-T H.273, 8.3.
///
/// The samples are 4:4:4. They are the stored samples shifted to another number of bits, as libswscale delivers them.
package struct YCbCrMatrix: Sendable {
    /// The stored values of zero luma and of neutral chroma.
    let zero: (luma: Double, chroma: Double)
    /// The stored size of a full step of luma (0 to 1) and of chroma (−1/2 to 1/2).
    let step: (luma: Double, chroma: Double)
    /// The contributions of Cb and Cr to red, green and blue.
    let red: (cb: Double, cr: Double)
    let green: (cb: Double, cr: Double)
    let blue: (cb: Double, cr: Double)

    /// Creates a matrix.
    ///
    /// - Parameters:
    ///   - name: libavutil's name (`av_color_space_name`); unknown names are treated as BT.709.
    ///   - isFullRange: True if all codes are used; otherwise, in 8 bits, black is 16, white 235 and chroma 16…240.
    ///   - storedBits: The bits of the stored samples, which determine the end of full range; clamped to 1…16.
    ///   - bits: The bits of the samples that are converted; clamped to 8…12.
    package init(name: String?, isFullRange: Bool, storedBits: Int, bits: Int) {
        let stored = Double(1 << min(max(storedBits, 1), 16))
        let all = Double(1 << min(max(bits, 8), 12))
        let (full, byte) = ((stored - 1) / stored * all, all / 256)
        zero = (isFullRange ? 0 : 16 * byte, all / 2)
        step = isFullRange ? (full, full) : (219 * byte, 224 * byte)
        if name == "ycgco" {
            (red, green, blue) = ((-1, 1), (1, 0), (-1, -1))
            return
        }
        let (kr, kb) = Self.weights(name)
        let kg = 1 - kr - kb
        red = (0, 2 * (1 - kr))
        green = (-2 * (1 - kb) * kb / kg, -2 * (1 - kr) * kr / kg)
        blue = (2 * (1 - kb), 0)
    }

    /// Returns KR and KB of H.273, table 4.
    private static func weights(_ name: String?) -> (red: Double, blue: Double) {
        switch name {
        case "fcc": (0.30, 0.11)
        case "bt470bg", "smpte170m": (0.299, 0.114)
        case "smpte240m": (0.212, 0.087)
        case "bt2020nc", "bt2020c": (0.2627, 0.0593)
        default: (0.2126, 0.0722)
        }
    }

    /// Returns the red, green and blue of one pixel, nominally 0…1, not clipped.
    @inline(__always)
    package func rgb(luma: Double, cb: Double, cr: Double) -> (red: Double, green: Double, blue: Double) {
        let y = (luma - zero.luma) / step.luma
        let (u, v) = ((cb - zero.chroma) / step.chroma, (cr - zero.chroma) / step.chroma)
        return (
            y + red.cb * u + red.cr * v, y + green.cb * u + green.cr * v, y + blue.cb * u + blue.cr * v
        )
    }

    /// The matrix in integers, with results of 0…255 times 2^20, rounded by the constant that is added.
    struct Fixed: Sendable {
        let luma: Int32
        let red: (cb: Int32, cr: Int32)
        let green: (cb: Int32, cr: Int32)
        let blue: (cb: Int32, cr: Int32)
        let zero: (luma: Int32, chroma: Int32)
        static let shift: Int32 = 20
    }

    var fixed: Fixed {
        // No product exceeds 2^30: a coefficient is below 2^20 · 2 · 255/219 divided by the size of an 8-bit step, and
        // a sample is at most 256 such steps.
        func coefficient(_ value: Double, by step: Double) -> Int32 {
            Int32(exactly: (value * 255 / step * Double(1 << Fixed.shift)).rounded()) ?? 0
        }
        func pair(_ values: (cb: Double, cr: Double)) -> (Int32, Int32) {
            (coefficient(values.cb, by: step.chroma), coefficient(values.cr, by: step.chroma))
        }
        return Fixed(
            luma: coefficient(1, by: step.luma), red: pair(red), green: pair(green), blue: pair(blue),
            zero: (Int32(exactly: zero.luma) ?? 0, Int32(exactly: zero.chroma) ?? 0))
    }
}
