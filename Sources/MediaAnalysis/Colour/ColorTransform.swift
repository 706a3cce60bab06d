package import MediaBase

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
