import Glibc

/// Between coded values and light, for the transfer characteristics that matter for showing pictures.
///
/// Coded values run from 0 to 1. Light is relative to what is white on the display: 1 is the white of ordinary video,
/// and ``referenceWhite`` cd/m² of HDR.
package enum TransferFunction: Sendable, Hashable {
    /// Ordinary video (BT.601, BT.709, BT.2020 with 10 or 12 bits) as a display shows it: ITU-R BT.1886, a gamma of 2.4.
    case bt1886
    /// IEC 61966-2-1, what pictures on the web and screens use.
    case sRGB
    /// Values that are proportional to light.
    case linear
    /// The perceptual quantizer of SMPTE ST 2084, absolute up to 10,000 cd/m².
    case pq
    /// Hybrid log-gamma of ARIB STD-B67 and ITU-R BT.2100; gives the scene's light, 1 being its peak.
    case hlg

    /// The luminance in cd/m² that diffuse white has in HDR, and that becomes white in SDR: ITU-R BT.2408.
    package static let referenceWhite = 203.0

    /// By libavutil's name (`av_color_transfer_name`); unknown names are ordinary video.
    package init(name: String?) {
        switch name {
        case "smpte2084": self = .pq
        case "arib-std-b67": self = .hlg
        case "linear": self = .linear
        default: self = .bt1886
        }
    }

    /// Whether values stand for more light than ordinary video has.
    package var isHDR: Bool { self == .pq || self == .hlg }

    /// The light of a coded value; values outside 0…1 are taken as 0 or 1.
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

    /// The coded value of light, the inverse of ``light(of:)``; light outside what can be coded is clipped.
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

    /// The luminance in cd/m² of a PQ value of 0…1.
    static func pqLuminance(_ signal: Double) -> Double {
        let root = pow(max(signal, 0), 1 / m2)
        return 10_000 * pow(max(root - c1, 0) / (c2 - c3 * root), 1 / m1)
    }

    /// The PQ value of a luminance in cd/m², at most 1.
    static func pqSignal(_ luminance: Double) -> Double {
        let root = pow(min(max(luminance, 0), 10_000) / 10_000, m1)
        return pow((c1 + c2 * root) / (1 + c3 * root), m2)
    }
}
