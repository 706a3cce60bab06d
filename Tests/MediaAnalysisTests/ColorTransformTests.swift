import MediaAnalysis
import MediaBase
import TestSupport
import Testing

/// Colours against `golden/colour`, which another program computes from the standards' equations.
@Suite struct ColorRenderingTests {
    private struct Sample {
        let color: ColorInfo
        let bits: Int
        let peak: Double
        let coded: [Int]
        let wanted: [Double]

        init(_ row: GoldenTable.Row) throws {
            color = ColorInfo(
                primaries: try row.text("primaries"), transfer: try row.text("transfer"),
                matrix: try row.text("matrix"), range: try row.text("range"))
            bits = try row.number("bits")
            let stated = Double(try row.number("peak"))
            peak = stated > 0 ? stated : ToneCurve.usualPeak
            coded = try ["y", "cb", "cr"].map { try row.number($0) }
            wanted = try ["red", "green", "blue"].map { try #require(Double(try row.text($0))) }
        }

        var rendering: ColorTransform { ColorTransform(color, storedBits: bits, peak: peak) }
    }

    private func samples() throws -> [Sample] {
        try GoldenTable("colour/samples.tsv").rows.map { try Sample($0) }
    }

    /// What becomes of one pixel, as libswscale would hand it over: shifted to the bits that are worked with.
    private func rendered(_ sample: Sample) -> [UInt8] {
        let rendering = sample.rendering
        let planes = sample.coded.map { [UInt16(($0 << rendering.bits) >> sample.bits)] }
        let (luma, cb, cr) = (planes[0], planes[1], planes[2])
        var pixel = [UInt8](repeating: 0, count: 4)
        var span = pixel.mutableSpan
        rendering.convert(
            luma: luma.span, cb: cb.span, cr: cr.span, into: &span, at: 0)
        return pixel
    }

    @Test func coloursAreThoseOfTheStandards() throws {
        let samples = try samples()
        #expect(samples.count > 900)
        var worst = 0.0
        for sample in samples {
            let pixel = rendered(sample)
            #expect(pixel[3] == 255)
            let error = zip(pixel, sample.wanted).map { abs(Double($0.0) - $0.1) }.max() ?? 0
            #expect(
                error <= 1.5,
                "\(sample.color), \(sample.bits) bits: \(sample.coded) gave \(pixel), not \(sample.wanted)")
            worst = max(worst, error)
        }
        #expect(worst > 0.4, "half a step is lost by rounding alone")
    }

    @Test func tablesAgreeWithTheFormula() throws {
        for (primaries, transfer) in [
            (ColorPrimaries.bt2020, TransferFunction.pq), (.bt2020, .hlg), (.bt2020, .bt1886), (.displayP3, .bt1886),
            (.bt709, .pq), (.bt709, .linear),
        ] {
            let mapping = try #require(ToneMapper(primaries: primaries, transfer: transfer, peak: 4000))
            let name = transfer == .pq ? "smpte2084" : transfer == .hlg ? "arib-std-b67" : "\(transfer)"
            let rendering = ColorTransform(
                ColorInfo(
                    primaries: primaries == .bt2020 ? "bt2020" : primaries == .displayP3 ? "smpte432" : "bt709",
                    transfer: name, matrix: "bt709", range: "pc"), storedBits: 16, peak: 4000)
            var state: UInt32 = 1
            for _ in 0..<2000 {
                let values = (0..<3).map { _ in
                    state = state &* 1_664_525 &+ 1_013_904_223
                    return UInt16(truncatingIfNeeded: state >> 16)
                }
                var pixel = [UInt8](repeating: 0, count: 4)
                var span = pixel.mutableSpan
                rendering.convert(rgba: (values + [65535]).span, into: &span, at: 0)
                let exact = mapping.exact(values.map { Double($0) / 65535 })
                let error = zip(pixel, exact).map { abs(Int($0.0) - Int($0.1)) }.max() ?? 0
                // In the dark the steps of the tables show.
                #expect(
                    error <= 2, "\(primaries) \(transfer) \(values): \(pixel), \(exact)")
            }
        }
    }

    @Test func greysOfOrdinaryVideoStay() {
        for primaries in ["bt709", "bt2020", "smpte432", "smpte170m"] {
            let rendering = ColorTransform(
                ColorInfo(primaries: primaries, transfer: "bt709", matrix: "bt709", range: "pc"), storedBits: 8)
            let greys = (0...255).flatMap { (level: Int) -> [UInt16] in
                [UInt16](repeating: UInt16(level * 257), count: 3) + [65535]
            }
            var bytes = [UInt8](repeating: 0, count: greys.count)
            var span = bytes.mutableSpan
            rendering.convert(rgba: greys.span, into: &span, at: 0)
            for level in 0...255 {
                let pixel = bytes[level * 4..<level * 4 + 3]
                #expect(pixel.allSatisfy { abs(Int($0) - level) <= 1 }, "\(primaries): \(level) became \(pixel)")
            }
        }
    }

    @Test func onlyWhatDiffersIsConverted() {
        func keeps(_ primaries: String?, _ transfer: String?, mapsHDR: Bool = true) -> Bool {
            ColorTransform(ColorInfo(primaries: primaries, transfer: transfer), storedBits: 8, mapsHDR: mapsHDR)
                .keepsRGB
        }
        for primaries in [nil, "bt709", "smpte170m", "bt470bg", "smpte240m", "bt470m", "film", "nonsense"] {
            #expect(keeps(primaries, "bt709"))
            #expect(keeps(primaries, nil))
            #expect(!keeps(primaries, "smpte2084"))
            #expect(keeps(primaries, "smpte2084", mapsHDR: false))
        }
        for primaries in ["bt2020", "smpte431", "smpte432"] { #expect(!keeps(primaries, "bt709")) }
        #expect(keeps("bt2020", "arib-std-b67", mapsHDR: false))
        #expect(!keeps("bt2020", "bt2020-10", mapsHDR: false))
    }

    @Test func shortRowsAndOddPlacesAreHarmless() {
        let rendering = ColorTransform(ColorInfo(), storedBits: 8)
        let samples: [UInt16] = [1, 2, 3, 4, 5]
        for (room, start) in [(0, 0), (3, 0), (8, 5), (8, 9), (8, -1), (8, Int.max), (8, Int.min)] {
            var bytes = [UInt8](repeating: 7, count: room)
            var span = bytes.mutableSpan
            rendering.convert(luma: samples.span, cb: samples.span, cr: samples.span, into: &span, at: start)
            rendering.convert(rgba: samples.span, into: &span, at: start)
            rendering.convert(weighted: samples.span, alpha: samples.span, channel: 4, into: &span, at: start)
            if room < 4 || start < 0 || start > 4 { #expect(bytes.allSatisfy { $0 == 7 }) }
        }
    }

    @Test func alphaIsMultipliedAndDividedBack() {
        let rendering = ColorTransform(ColorInfo(), storedBits: 8)
        for alpha: UInt8 in [1, 2, 17, 128, 254, 255] {
            let pixels: [UInt8] = [0, 100, 255, alpha, 1, 200, 254, alpha]
            var planes: [[UInt16]] = []
            for channel in 0..<4 {
                var row: [UInt16] = [0, 0]
                var span = row.mutableSpan
                ColorTransform.weight(pixels.span, channel: channel, into: &span)
                planes.append(row)
            }
            #expect(planes[3] == [UInt16(alpha) * 257, UInt16(alpha) * 257])
            var back = [UInt8](repeating: 0, count: 8)
            for channel in 0..<4 {
                let (samples, weights) = (planes[channel], planes[3])
                var span = back.mutableSpan
                rendering.convert(
                    weighted: samples.span, alpha: weights.span, channel: channel, into: &span, at: 0)
            }
            #expect(back == pixels, "alpha \(alpha)")
        }
    }
}
