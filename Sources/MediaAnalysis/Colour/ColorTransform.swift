import Glibc
package import MediaBase
import Threading

/// Converts rows of decoded and scaled samples to 8-bit RGBA in sRGB with straight alpha.
package struct ColorTransform: Sendable {
    /// The bits of the samples that are converted: 12 if more than 10 bits are stored, otherwise 10.
    ///
    /// In an 8-bit picture, 10 bits cannot be distinguished from more.
    package let bits: Int
    private let matrix: YCbCrMatrix.Fixed
    private let exactMatrix: YCbCrMatrix
    private let light: ToneMapper?

    /// Creates a transform for the pictures of one source.
    ///
    /// - Parameters:
    ///   - color: The meaning of the samples; see ``MediaBase/ColorInfo/assumed(for:)`` for unknown values.
    ///   - storedBits: The bits of the stored samples.
    ///   - peak: The content's peak in cd/m², if its transfer function is PQ.
    ///   - mapsHDR: True to map PQ and HLG to SDR; otherwise their coded values stay as they are.
    package init(_ color: ColorInfo, storedBits: Int, peak: Double = ToneCurve.usualPeak, mapsHDR: Bool = true) {
        bits = storedBits > 10 ? 12 : 10
        exactMatrix = YCbCrMatrix(
            name: color.matrix, isFullRange: color.range == "pc", storedBits: storedBits, bits: bits)
        matrix = exactMatrix.fixed
        let transfer = TransferFunction(name: color.transfer)
        let isKept = transfer.isHDR && !mapsHDR
        light =
            isKept
            ? nil
            : ToneMapper.shared(
                primaries: ColorPrimaries(name: color.primaries), transfer: transfer, peak: peak)
    }

    /// True if RGB values stay as they are.
    package var keepsRGB: Bool { light == nil }

    /// Writes a row of RGBA from luma and chroma of ``bits`` bits, 4:4:4; alpha is 255.
    ///
    /// - Parameters:
    ///   - pixels: The RGBA of a picture; receives as many pixels as all spans have and as fit.
    ///   - start: The offset of the row's first byte.
    package func convert(
        luma: Span<UInt16>, cb: Span<UInt16>, cr: Span<UInt16>, into pixels: inout MutableSpan<UInt8>, at start: Int
    ) {
        guard start >= 0, start <= pixels.count else { return }
        let count = min(luma.count, cb.count, cr.count, (pixels.count - start) / 4)
        let (luma, cb, cr) = (luma.extracting(first: count), cb.extracting(first: count), cr.extracting(first: count))
        if let light {
            mapped(luma, cb, cr, &pixels, start, light)
        } else {
            plain(luma, cb, cr, &pixels, start)
        }
    }

    private func plain(
        _ luma: Span<UInt16>, _ cb: Span<UInt16>, _ cr: Span<UInt16>, _ row: inout MutableSpan<UInt8>,
        _ start: Int
    ) {
        let matrix = matrix
        @inline(__always) func byte(_ sum: Int32) -> UInt8 {
            UInt8(truncatingIfNeeded: min(max(sum &>> YCbCrMatrix.Fixed.shift, 0), 255))
        }
        for x in 0..<luma.count {
            let y = (Int32(luma[x]) &- matrix.zero.luma) &* matrix.luma &+ (1 &<< (YCbCrMatrix.Fixed.shift &- 1))
            let (u, v) = (Int32(cb[x]) &- matrix.zero.chroma, Int32(cr[x]) &- matrix.zero.chroma)
            let place = start &+ x &* 4
            row[place] = byte(y &+ u &* matrix.red.cb &+ v &* matrix.red.cr)
            row[place &+ 1] = byte(y &+ u &* matrix.green.cb &+ v &* matrix.green.cr)
            row[place &+ 2] = byte(y &+ u &* matrix.blue.cb &+ v &* matrix.blue.cr)
            row[place &+ 3] = 255
        }
    }

    private func mapped(
        _ luma: Span<UInt16>, _ cb: Span<UInt16>, _ cr: Span<UInt16>, _ row: inout MutableSpan<UInt8>,
        _ start: Int, _ light: ToneMapper
    ) {
        let matrix = exactMatrix
        let perLuma = Float(1 / matrix.step.luma)
        let perChroma = 1 / matrix.step.chroma
        func lanes(_ red: Double, _ green: Double, _ blue: Double) -> SIMD4<Float> {
            SIMD4(Float(red * perChroma), Float(green * perChroma), Float(blue * perChroma), 0)
        }
        let ofCb = lanes(matrix.red.cb, matrix.green.cb, matrix.blue.cb)
        let ofCr = lanes(matrix.red.cr, matrix.green.cr, matrix.blue.cr)
        let (zero, middle) = (Float(matrix.zero.luma), Float(matrix.zero.chroma))
        for x in 0..<luma.count {
            let y = SIMD4<Float>(repeating: (Float(luma[x]) - zero) * perLuma)
            let pixel = light.map(y + ofCb * (Float(cb[x]) - middle) + ofCr * (Float(cr[x]) - middle))
            let place = start &+ x &* 4
            row[place] = pixel.red
            row[place &+ 1] = pixel.green
            row[place &+ 2] = pixel.blue
            row[place &+ 3] = 255
        }
    }

    /// Writes a row of 8-bit RGBA from 16-bit RGBA.
    ///
    /// - Parameters:
    ///   - samples: Four values per pixel.
    ///   - pixels: The RGBA of a picture; receives as many pixels as there are samples for and as fit.
    ///   - start: The offset of the row's first byte.
    package func convert(rgba samples: Span<UInt16>, into pixels: inout MutableSpan<UInt8>, at start: Int) {
        guard start >= 0, start <= pixels.count else { return }
        for pixel in 0..<min(samples.count, pixels.count - start) / 4 {
            let (from, place) = (pixel &* 4, start &+ pixel &* 4)
            let (red, green, blue) = (samples[from], samples[from &+ 1], samples[from &+ 2])
            if let light {
                let out = light.map(SIMD4(Float(red), Float(green), Float(blue), 0) * (1 / 65535))
                pixels[place] = out.red
                pixels[place &+ 1] = out.green
                pixels[place &+ 2] = out.blue
            } else {
                pixels[place] = Self.byte(red, of: 65535)
                pixels[place &+ 1] = Self.byte(green, of: 65535)
                pixels[place &+ 2] = Self.byte(blue, of: 65535)
            }
            pixels[place &+ 3] = Self.byte(samples[from &+ 3], of: 65535)
        }
    }

    /// Returns `value / whole` as a byte, rounded half up, at most 255; 0 if `whole` is 0.
    @inline(__always)
    private static func byte(_ value: UInt16, of whole: UInt16) -> UInt8 {
        guard whole > 0 else { return 0 }
        let scaled = (UInt32(value) &* 255 &+ UInt32(whole) / 2) / UInt32(whole)
        return UInt8(truncatingIfNeeded: min(scaled, 255))
    }
}

// MARK: - Alpha

extension ColorTransform {
    /// Extracts one channel from a row of RGBA as 16-bit values multiplied by alpha: 255 of 255 becomes 65535.
    ///
    /// - Parameters:
    ///   - pixels: Four values per pixel.
    ///   - channel: 0 to 3; alpha itself (3) is not multiplied. Other values write nothing.
    ///   - row: Receives as many values as there are pixels for and as fit.
    package static func weight(_ pixels: Span<UInt8>, channel: Int, into row: inout MutableSpan<UInt16>) {
        guard (0...3).contains(channel) else { return }
        for x in 0..<min(pixels.count / 4, row.count) {
            let alpha = channel == 3 ? 255 : UInt32(pixels[x &* 4 &+ 3])
            row[x] = UInt16(truncatingIfNeeded: (UInt32(pixels[x &* 4 &+ channel]) &* alpha &* 257 &+ 127) / 255)
        }
    }

    /// Writes one channel of a row of RGBA from values multiplied by alpha, which are divided by alpha again.
    ///
    /// - Parameters:
    ///   - samples: The channel in 16 bits.
    ///   - alpha: The alpha in 16 bits.
    ///   - channel: 0 to 3; alpha itself (3) is not divided. Other values write nothing.
    ///   - pixels: The RGBA of a picture; receives as many values as there are samples for and as fit.
    ///   - start: The offset of the row's first byte.
    package func convert(
        weighted samples: Span<UInt16>, alpha: Span<UInt16>, channel: Int, into pixels: inout MutableSpan<UInt8>,
        at start: Int
    ) {
        guard (0...3).contains(channel), start >= 0, start <= pixels.count else { return }
        for x in 0..<min(samples.count, alpha.count, (pixels.count - start) / 4) {
            pixels[start &+ x &* 4 &+ channel] = Self.byte(samples[x], of: channel == 3 ? 65535 : alpha[x])
        }
    }

    /// Converts pixels from the source's red, green and blue to sRGB, in place.
    ///
    /// - Parameter range: The bytes to convert; whole pixels within the span.
    package func map(_ pixels: inout MutableSpan<UInt8>, in range: Range<Int>) {
        guard let light, range.lowerBound >= 0, range.upperBound <= pixels.count else { return }
        for place in stride(from: range.lowerBound, to: range.upperBound - 3, by: 4) {
            let pixel = SIMD4(Float(pixels[place]), Float(pixels[place + 1]), Float(pixels[place + 2]), 0)
            let out = light.map(pixel * (1 / 255))
            pixels[place] = out.red
            pixels[place + 1] = out.green
            pixels[place + 2] = out.blue
        }
    }
}

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
