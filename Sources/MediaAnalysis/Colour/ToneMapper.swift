import Glibc
import Threading

/// From coded red, green and blue of any primaries and transfer function to sRGB, by way of light.
///
/// In order: coded values to light; for HLG the display's part of its curve (ITU-R BT.2100, the OOTF of a display of
/// 1000 cd/m²); the primaries' matrix, what is negative then being outside the target's colours and set to 0; for HDR
/// the ``ToneCurve``, by the largest of the three so that a colour keeps its hue; light to sRGB.
///
/// Ordinary video is shown on screens as if its values were sRGB, so for it both curves are the same and white, black
/// and all greys stay what they are.
///
/// Everything goes through tables, made once for a source; ``exact(_:)`` says the same without them.
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

    /// Entries of the table by coded value, less one.
    static let signalSteps: Float = 8191
    /// Entries of the tables by light, less one.
    private static let lightSteps: Float = 16383
    /// Entries of the tables of gains, less one.
    private static let curveSteps: Float = 8191

    /// Makes a mapping; `nil` where the values of a source are sRGB's already, as near as screens care.
    ///
    /// - Parameters:
    ///   - primaries: The source's.
    ///   - transfer: The source's.
    ///   - peak: The source's peak in cd/m², where it is PQ.
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

    /// The mapping for a source, kept from the last time if it was asked for lately: its tables take milliseconds.
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

    /// What a scene's luminance of 0…1 is multiplied by for a display with HLG's nominal peak, relative to white.
    private static func systemGain(_ luminance: Double) -> Double {
        ToneCurve.usualPeak / TransferFunction.referenceWhite * pow(luminance, 0.2)
    }

    /// What becomes of one pixel, without tables; coded values in, sRGB of 0…255 out.
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

    /// What becomes of one pixel: coded values of 0…1 in the first three lanes (others are brought there), sRGB out.
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
            // Beyond the peak everything is white.
            values *= place < Self.curveSteps ? gain[max(0, Int(place + 0.5))] : 1 / largest
        }
        // By the root of light, because dark steps are small.
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

/// How the light of HDR is brought into the range of an ordinary display: the EETF of ITU-R BT.2390-11, 5.4.1.
///
/// Up to a knee light stays as it is; above it a Hermite spline in PQ values bends it so that the content's peak
/// becomes the display's white. The display's black is taken as 0, as the content's is.
package struct ToneCurve: Sendable, Hashable {
    /// The content's peak in cd/m².
    package let peak: Double
    /// What becomes white, in cd/m².
    package let white = TransferFunction.referenceWhite

    /// What is taken as the peak where nothing says so: what most content is graded on, and HLG's nominal peak.
    package static let usualPeak = 1000.0

    /// The curve for content with a peak in cd/m², which is brought into what PQ can code.
    package init(peak: Double = usualPeak) {
        self.peak = peak.isFinite ? min(max(peak, TransferFunction.referenceWhite), 10_000) : Self.usualPeak
    }

    /// What light becomes, both relative to white; light above the peak becomes 1.
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
