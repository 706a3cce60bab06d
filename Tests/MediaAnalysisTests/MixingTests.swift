import MediaAnalysis
import Testing

@Suite struct MixingTests {
    @Test(arguments: [0, 1, 255, 256, 257, 5000]) func gainsGrowEvenly(_ count: Int) {
        let samples = (0..<count).map { Float($0 % 17) / 17 - 0.4 }
        var sums = [Float](repeating: 0.25, count: count + 3)
        let (gain, step) = (0.1, 0.9 / 5000)
        var span = sums.mutableSpan
        SampleKernels.add(samples.span, gain: gain, step: step, to: &span, at: 2)
        for index in sums.indices {
            let place = index - 2
            let added = samples.indices.contains(place) ? Double(samples[place]) * (gain + step * Double(place)) : 0
            #expect(abs(Double(sums[index]) - 0.25 - added) < 1e-6)
        }
    }

    @Test func whatIsTooLoudIsLimited() {
        let samples: [Float] = [0, 1, -1, 1.5, -7, .infinity, -.infinity, .nan, 0.5]
        let bytes = [UInt8](unsafeUninitializedCapacity: 36) { buffer, count in
            var span = UnsafeMutableRawBufferPointer(buffer).mutableBytes
            SampleKernels.writeLimited(samples, into: &span)
            count = 36
        }
        let got = stride(from: 0, to: 36, by: 4).map { place in
            Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << ($1 * 8) })
        }
        #expect(got == [0, 1, -1, 1, -1, 1, -1, 0, 0.5])
    }

    @Test func soundBetweenSamplesIsTheToneItself() {
        func tone(_ place: Double) -> Double {
            var phase = place * 0.31
            phase -= (phase / (2 * .pi)).rounded(.down) * 2 * .pi
            // A parabola would do as well: the sine by its series, so that no other library is asked.
            var (term, sum) = (phase - .pi, phase - .pi)
            for k in 1..<20 {
                term *= -(phase - .pi) * (phase - .pi) / Double(2 * k * (2 * k + 1))
                sum += term
            }
            return -sum
        }
        let samples = (0..<4000).map { Float(tone(Double($0))) }
        for step in [0.37, 1, 1.9] {
            let interpolator = SoundInterpolator(step: step)
            for index in 0..<1000 {
                let place = 200 + Double(index) * step
                #expect(abs(Double(interpolator.value(of: samples.span, at: place)) - tone(place)) < 2e-5)
            }
        }
        let interpolator = SoundInterpolator(step: 1)
        #expect(interpolator.value(of: samples.span, at: .nan) == 0)
        #expect(interpolator.value(of: samples.span, at: -1e300) == 0)
        #expect(interpolator.value(of: samples.span, at: 1e18) == 0)
    }
}
