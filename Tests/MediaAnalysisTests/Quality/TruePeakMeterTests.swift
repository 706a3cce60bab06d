import Foundation
import MediaAnalysis
import Testing

/// The signals of EBU Tech 3341 for the true peak, within +0.2 and −0.4 dB.
@Suite struct TruePeakMeterTests {
    private func decibels(_ samples: [Float], rate: Int = 48_000, chunk: Int = 1000) -> Double {
        var meter = TruePeakMeter(sampleRate: rate)
        for start in stride(from: 0, to: samples.count, by: chunk) {
            meter.append(samples.span.extracting(start..<min(start + chunk, samples.count)))
        }
        meter.finish()
        return meter.decibels
    }

    private func sine(_ amplitude: Double, divisor: Double, degrees: Double, count: Int = 9600) -> [Float] {
        (0..<count).map {
            Float(amplitude * sin(2 * Double.pi * Double($0) / divisor + degrees * Double.pi / 180))
        }
    }

    /// Signals 15 to 19; fades over 10 ms at both ends keep the edges from being peaks.
    @Test(arguments: [
        (0.5, 4.0, 0.0, -6.0), (0.5, 4.0, 45.0, -6.0), (0.5, 6.0, 60.0, -6.0), (0.5, 8.0, 67.5, -6.0),
        (1.41, 4.0, 45.0, 3.0),
    ])
    func sinesWhosePeaksLieBetweenSamples(amplitude: Double, divisor: Double, degrees: Double, wanted: Double) {
        var samples = sine(amplitude, divisor: divisor, degrees: degrees)
        for index in 0..<480 {
            samples[index] *= Float(index) / 480
            samples[samples.count - 1 - index] *= Float(index) / 480
        }
        let found = decibels(samples)
        #expect(found <= wanted + 0.2 && found >= wanted - 0.4, "\(found)")
    }

    /// Signals 20 to 23: a sound made at four times the rate, with one period at full scale, taken at each offset.
    @Test(arguments: 0..<4)
    func aPulseWhereverTheSamplesFall(offset: Int) {
        let count = 2000
        var fine = (0..<count * 4).map { 0.5 * sin(2 * Double.pi * Double($0) / 24) }
        for index in count * 2..<count * 2 + 24 { fine[index] *= 2 }
        // Brought down through an ideal low-pass at half of the lower rate.
        let reach = 200
        let kernel = (-reach...reach).map { place -> Double in
            let x = Double(place) / 4
            let window = 0.5 * (1 + cos(Double.pi * Double(place) / Double(reach + 1)))
            return (place == 0 ? 1 : sin(Double.pi * x) / (Double.pi * x)) * window / 4
        }
        let middle = count * 2
        let samples = stride(from: middle - 600 + offset, to: middle + 600, by: 4).map { place -> Float in
            var sum = 0.0
            for (index, weight) in kernel.enumerated() { sum += weight * fine[place + index - reach] }
            return Float(sum)
        }
        // The ideal low-pass itself takes some of the peak's edges; what is left of it is the true peak wanted.
        let wanted =
            20
            * log10(
                (middle - 600..<middle + 600).map { place -> Double in
                    var sum = 0.0
                    for (index, weight) in kernel.enumerated() { sum += weight * fine[place + index - reach] }
                    return abs(sum)
                }.max() ?? 0)
        let found = decibels(samples)
        #expect(found <= wanted + 0.2 && found >= wanted - 0.4, "\(found), wanted \(wanted)")
        #expect(found <= 0.2 && found >= -0.4, "\(found)")
    }

    @Test func skippingStretchesAndCuttingIntoSpansChangeNothing() {
        var state: UInt64 = 7
        let samples = (0..<6011).map { index -> Float in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let noise = Float(Int16(truncatingIfNeeded: state >> 40)) / 32768
            return noise * (0.2 + 0.8 * Float(index % 3000) / 3000)
        }
        let wanted = plainTruePeak(samples)
        for chunk in [1, 7, 16, 33, 1000, samples.count] {
            #expect(abs(pow(10, decibels(samples, chunk: chunk) / 20) - Double(wanted)) < 1e-5)
        }
    }

    @Test func partsSideBySideAreTheWhole() {
        let samples = sine(0.8, divisor: 5.3, degrees: 17, count: 10_000)
        var whole = TruePeakMeter(sampleRate: 48_000)
        whole.append(samples.span)
        whole.finish()
        for seam in [1, 15, 16, 17, 5003, 9999] {
            var first = TruePeakMeter(sampleRate: 48_000)
            first.append(samples.span.extracting(0..<seam))
            first.finishPart()
            var second = TruePeakMeter(sampleRate: 48_000)
            second.warmUp(samples.span.extracting(max(0, seam - 100)..<seam))
            second.append(samples.span.extracting(seam..<samples.count))
            second.finish()
            first.add(second)
            #expect(first.truePeak == whole.truePeak)
        }
    }

    /// One sample stands out at 5000, and a quarter period between two samples at 7002 and 7003 does more between them.
    @Test(arguments: [false, true]) func peaksHaveAPlace(isBetween: Bool) {
        var samples = sine(0.05, divisor: 37, degrees: 0, count: 10_000)
        samples[5000] = 0.6
        if isBetween { (samples[7002], samples[7003]) = (0.58, 0.58) }
        for seam in [16, 4990, 5000, 5001, 6999, 7003, 7010] {
            var first = TruePeakMeter(sampleRate: 48_000)
            first.append(samples.span.extracting(0..<seam))
            first.finishPart()
            var second = TruePeakMeter(sampleRate: 48_000, startingAt: Int64(seam))
            second.warmUp(samples.span.extracting(max(0, seam - 100)..<seam))
            second.append(samples.span.extracting(seam..<samples.count))
            second.finish()
            second.add(first)
            #expect(second.samplePeakPlace == 5000)
            #expect(second.truePeakPlace == (isBetween ? 7002 : 5000))
        }
        #expect(TruePeakMeter(sampleRate: 48_000).truePeakPlace == nil)
    }

    @Test func highRatesAreOversampledLess() {
        let samples = sine(0.5, divisor: 4, degrees: 45)
        #expect(abs(decibels(samples, rate: 96_000) - -6.02) < 0.4)
        // The samples themselves.
        #expect(abs(decibels(samples, rate: 192_000) - -9.03) < 0.01)
    }

    @Test func silenceHasNoPeak() {
        #expect(decibels([Float](repeating: 0, count: 100)) == -.infinity)
        #expect(decibels([]) == -.infinity)
    }

    /// The same filter said plainly: every place between samples, with silence before and after.
    private func plainTruePeak(_ samples: [Float]) -> Float {
        let padded = [Float](repeating: 0, count: 12) + samples + [Float](repeating: 0, count: 12)
        var highest = samples.map(\.magnitude).max() ?? 0
        for phase in 1..<4 {
            let kernel = (0..<12).map { tap -> Double in
                let place = Double(tap * 4 + phase) - 24
                return sin(place * Double.pi / 4) / (place * Double.pi / 4) * 0.5 * (1 + cos(Double.pi * place / 24))
            }
            for end in 11..<padded.count {
                var sum = 0.0
                for tap in 0..<12 { sum += kernel[tap] * Double(padded[end - tap]) }
                highest = max(highest, Float(abs(sum)))
            }
        }
        return highest
    }
}

@Suite struct SoundPlanesTests {
    @Test func everyFormatHasFullScaleAtOne() throws {
        var planes = try PlanarSamples(channels: 2)
        let halves: [Float] = [-1, 0.5]
        func check() {
            #expect(planes.frames == 1 && planes.planes[0][0] == halves[0] && planes.planes[1][0] == halves[1])
        }
        planes.fill([UInt8(0), 192].span)
        check()
        planes.fill([Int16.min, 16384].span)
        check()
        planes.fill([Int32.min, 1 << 30].span)
        check()
        planes.fill([Int64.min, 1 << 62].span)
        check()
        planes.fill([Float(-1), 0.5].span)
        check()
        planes.fill([-1.0, 0.5].span)
        check()
        planes.fill([Int16.min].span, channel: 0)
        planes.fill([Int16(16384)].span, channel: 1)
        check()
    }

    @Test func whatIsNoNumberIsHarmless() throws {
        var planes = try PlanarSamples(channels: 1)
        planes.fill([Float.nan, .infinity, -.infinity, 1e38].span)
        #expect(Array(planes.planes[0].prefix(4)) == [0, 0x1p40, -0x1p40, 0x1p40])
        planes.fill([Double.nan, .infinity, -1e300].span)
        #expect(Array(planes.planes[0].prefix(3)) == [0, 0x1p40, -0x1p40])
        planes.fillSilence(frames: 2)
        #expect(planes.frames == 2 && planes.planes[0].prefix(2) == [0, 0])
        #expect(throws: (any Error).self) { try PlanarSamples(channels: 0) }
        #expect(throws: (any Error).self) { try PlanarSamples(channels: 1025) }
    }
}
