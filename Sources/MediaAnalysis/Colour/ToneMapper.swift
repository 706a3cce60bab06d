import Glibc
import Threading

/// Maps coded red, green and blue of any primaries and transfer function to sRGB, by way of light.
///
/// The steps are, in order: coded values to light; for HLG, the display's part of its curve (ITU-R BT.2100, the OOTF of
/// a display of 1000 cd/m²); the matrix of the primaries, after which negative values are outside the target's gamut
/// and set to 0; for HDR the ``ToneCurve``, applied according to the largest of the three components so that a colour
/// keeps its hue; light to sRGB.
///
/// Screens show SDR video as if its values were sRGB. Therefore both curves are the same for SDR, and white, black and
/// all greys stay unchanged.
///
/// All steps use tables that are created once for a source; ``exact(_:)`` computes the same without tables.
package struct ToneMapper: Sendable {
    private let source: TransferFunction
    private let target: TransferFunction
    private let curve: ToneCurve?
    private let matrix: [Double]
    private let weights: [Double]

    private let light: [Float]
    private let rows: (SIMD4<Float>, SIMD4<Float>, SIMD4<Float>)
    private let luminance: SIMD4<Float>
    private let system: [Float]
    private let gain: [Float]
    private let gainSteps: Float
    private let coded: [UInt8]

    /// The number of entries in the table indexed by coded value, minus one.
    static let signalSteps: Float = 8191
    /// The number of entries in the tables indexed by light, minus one.
    private static let lightSteps: Float = 16383
    /// The number of entries in the gain table, minus one.
    private static let curveSteps: Float = 8191

    /// Creates a mapping, or returns `nil` if a source's values are already close enough to sRGB for screens.
    ///
    /// - Parameters:
    ///   - primaries: The primaries of the source.
    ///   - transfer: The transfer function of the source.
    ///   - peak: The peak of the source in cd/m², if it is PQ.
    package init?(primaries: ColorPrimaries, transfer: TransferFunction, peak: Double = ToneCurve.usualPeak) {
        guard primaries != .bt709 || transfer == .linear || transfer.isHDR else { return nil }
        source = transfer
        target = transfer == .bt1886 ? .bt1886 : .sRGB
        curve = transfer.isHDR ? ToneCurve(peak: transfer == .hlg ? ToneCurve.usualPeak : peak) : nil
        let (matrix, weights) = (primaries.matrix(to: .bt709), primaries.luminance)
        (self.matrix, self.weights) = (matrix, weights)

        light = Self.table(Self.signalSteps) { [source] in source.light(of: $0) }
        coded = Self.table(Self.lightSteps) { [target] in target.signal(of: $0 * $0) }.map { Self.byte(Double($0)) }
        system = transfer == .hlg ? Self.table(Self.lightSteps, Self.systemGain) : []
        if let curve {
            let top = curve.peak / curve.white
            gain = Self.table(Self.curveSteps) { $0 == 0 ? 1 : curve($0 * top) / ($0 * top) }
            gainSteps = Self.curveSteps / Float(top)
        } else {
            (gain, gainSteps) = ([], 0)
        }
        func row(_ start: Int) -> SIMD4<Float> {
            SIMD4(Float(matrix[start]), Float(matrix[start + 1]), Float(matrix[start + 2]), 0)
        }
        rows = (row(0), row(3), row(6))
        luminance = SIMD4(Float(weights[0]), Float(weights[1]), Float(weights[2]), 0)
    }

    /// Returns the mapping for a source, cached if recently used, because creating its tables takes milliseconds.
    ///
    /// May be called on any thread.
    static func shared(primaries: ColorPrimaries, transfer: TransferFunction, peak: Double) -> ToneMapper? {
        let key = Key(primaries: primaries, transfer: transfer, peak: peak)
        if let known = recent.withLock({ $0.first { $0.key == key } }) { return known.mapping }
        guard let made = ToneMapper(primaries: primaries, transfer: transfer, peak: peak) else { return nil }
        recent.withLock { $0 = [(key, made)] + $0.prefix(3) }
        return made
    }

    private struct Key: Equatable {
        let primaries: ColorPrimaries
        let transfer: TransferFunction
        let peak: Double
    }

    private static let recent = Mutex<[(key: Key, mapping: ToneMapper)]>([])

    private static func table(_ steps: Float, _ value: (Double) -> Double) -> [Float] {
        (0...Int(steps)).map { Float(value(Double($0) / Double(steps))) }
    }

    private static func byte(_ value: Double) -> UInt8 { UInt8(min(max(value * 255, 0), 255).rounded()) }

    /// Returns the factor for a scene luminance of 0…1 on a display with HLG's nominal peak, relative to white.
    private static func systemGain(_ luminance: Double) -> Double {
        ToneCurve.usualPeak / TransferFunction.referenceWhite * pow(luminance, 0.2)
    }

    /// Maps one pixel without tables, from coded values to sRGB of 0…255.
    package func exact(_ pixel: [Double]) -> [UInt8] {
        var values = pixel.map { source.light(of: $0) }
        if source == .hlg {
            let factor = Self.systemGain(zip(weights, values).reduce(0) { $0 + $1.0 * $1.1 })
            values = values.map { $0 * factor }
        }
        values = (0..<3).map { row in
            max(0, (0..<3).reduce(0) { $0 + matrix[row * 3 + $1] * values[$1] })
        }
        if let curve, let largest = values.max(), largest > 0 {
            let factor = curve(largest) / largest
            values = values.map { $0 * factor }
        }
        return values.map { Self.byte(target.signal(of: $0)) }
    }

    /// Maps one pixel to sRGB, from coded values in the first three lanes, which are clamped to 0…1.
    @inline(__always)
    func map(_ pixel: SIMD4<Float>) -> (red: UInt8, green: UInt8, blue: UInt8) {
        let index = Self.index(pixel, steps: Self.signalSteps)
        var values = SIMD4<Float>(light[index.0], light[index.1], light[index.2], 0)
        if !system.isEmpty {
            values *= system[Self.index((luminance * values).sum(), steps: Self.lightSteps)]
        }
        values = SIMD4((rows.0 * values).sum(), (rows.1 * values).sum(), (rows.2 * values).sum(), 0)
        if !gain.isEmpty {
            let largest = values.max()
            let place = largest * gainSteps
            // Above the peak, everything is white.
            values *= place < Self.curveSteps ? gain[max(0, Int(place + 0.5))] : 1 / largest
        }
        // Indexed by the square root of light, because steps are small in dark areas.
        let out = Self.index(values.squareRoot(), steps: Self.lightSteps)
        return (coded[out.0], coded[out.1], coded[out.2])
    }

    @inline(__always)
    private static func index(_ value: Float, steps: Float) -> Int { Int(min(max(value, 0), 1) * steps + 0.5) }

    @inline(__always)
    private static func index(_ values: SIMD4<Float>, steps: Float) -> (Int, Int, Int) {
        let places = SIMD4<Int32>(values.clamped(lowerBound: .zero, upperBound: .one) * steps + 0.5)
        return (Int(places.x), Int(places.y), Int(places.z))
    }
}

/// The compression of HDR light into the range of an SDR display: the EETF of ITU-R BT.2390-11, 5.4.1.
///
/// Light up to a knee stays unchanged. Above it, a Hermite spline in PQ values compresses light so that the content's
/// peak becomes the display's white. The black of the display is taken as 0, like that of the content.
package struct ToneCurve: Sendable, Hashable {
    /// The content's peak in cd/m².
    package let peak: Double
    /// The luminance in cd/m² that becomes white.
    package let white = TransferFunction.referenceWhite

    /// The peak assumed if none is declared: the level at which most content is graded, and HLG's nominal peak.
    package static let usualPeak = 1000.0

    /// Creates the curve for content with a peak in cd/m², which is clamped to ``white``…10,000.
    package init(peak: Double = usualPeak) {
        self.peak = peak.isFinite ? min(max(peak, TransferFunction.referenceWhite), 10_000) : Self.usualPeak
    }

    /// Maps light, where input and output are relative to white; light above the peak becomes 1.
    package func callAsFunction(_ light: Double) -> Double {
        let top = TransferFunction.pqSignal(peak)
        let highest = TransferFunction.pqSignal(white) / top
        let knee = 1.5 * highest - 0.5
        let value = TransferFunction.pqSignal(light * white) / top
        if highest >= 1 || value >= 1 { return min(light, 1) }
        if value < knee { return light }
        let t = (value - knee) / (1 - knee)
        let (t2, t3) = (t * t, t * t * t)
        let bent = (2 * t3 - 3 * t2 + 1) * knee + (t3 - 2 * t2 + t) * (1 - knee) + (3 * t2 - 2 * t3) * highest
        return min(TransferFunction.pqLuminance(bent * top) / white, 1)
    }
}
