/// From luma and chroma to red, green and blue: the matrices of ITU-T H.273, 8.3.
///
/// The samples are 4:4:4, and are the stored ones shifted to another number of bits, as libswscale gives them.
package struct YCbCrMatrix: Sendable {
    /// What 0 of luma, and no colour at all, is stored as.
    let zero: (luma: Double, chroma: Double)
    /// By how much a full step of luma (0 to 1) and of chroma (−1/2 to 1/2) is stored.
    let step: (luma: Double, chroma: Double)
    /// What red, green and blue get of chroma: by Cb and by Cr.
    let red: (cb: Double, cr: Double)
    let green: (cb: Double, cr: Double)
    let blue: (cb: Double, cr: Double)

    /// Makes a matrix.
    ///
    /// - Parameters:
    ///   - name: libavutil's name of it (`av_color_space_name`); those that are not known are taken as BT.709.
    ///   - isFullRange: Whether all numbers are used; else of 8 bits black is 16, white 235 and chroma 16…240.
    ///   - storedBits: Bits of the stored samples, which say where full range ends; brought into 1…16.
    ///   - bits: Bits of the samples that are converted; brought into 8…12.
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

    /// KR and KB of H.273, table 4.
    private static func weights(_ name: String?) -> (red: Double, blue: Double) {
        switch name {
        case "fcc": (0.30, 0.11)
        case "bt470bg", "smpte170m": (0.299, 0.114)
        case "smpte240m": (0.212, 0.087)
        case "bt2020nc", "bt2020c": (0.2627, 0.0593)
        default: (0.2126, 0.0722)
        }
    }

    /// Red, green and blue of 0…1 for one pixel, not clipped.
    package func rgb(luma: Double, cb: Double, cr: Double) -> (red: Double, green: Double, blue: Double) {
        let y = (luma - zero.luma) / step.luma
        let (u, v) = ((cb - zero.chroma) / step.chroma, (cr - zero.chroma) / step.chroma)
        return (
            y + red.cb * u + red.cr * v, y + green.cb * u + green.cr * v, y + blue.cb * u + blue.cr * v
        )
    }

    /// The same in integers, with results of 0…255 by 2^20, rounded by the constant that is added.
    struct Fixed: Sendable {
        let luma: Int32
        let red: (cb: Int32, cr: Int32)
        let green: (cb: Int32, cr: Int32)
        let blue: (cb: Int32, cr: Int32)
        let zero: (luma: Int32, chroma: Int32)
        static let shift: Int32 = 20
    }

    var fixed: Fixed {
        // No product exceeds 2^30: the coefficients are below 2 · 255/219 over the step of a byte, the samples 256 of them.
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
