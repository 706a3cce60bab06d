import MediaAnalysis
import TestSupport
import Testing

@Suite struct PCMSampleTests {
    /// Samples in units of 1/32768 and what the rule makes of them by hand: half to even, clamped, NaN → 0.
    private static let floatingPoint: [(steps: Double, expected: Int16)] = [
        (0, 0), (0.5, 0), (1.5, 2), (2.5, 2), (3.5, 4), (-0.5, 0), (-1.5, -2), (-2.5, -2), (8192, 8192),
        (32766.5, 32766), (32767.5, 32767), (32768, 32767), (-32767.5, -32768), (-32768, -32768),
        (-32768.5, -32768), (200_000, 32767), (-200_000, -32768), (.infinity, 32767), (-.infinity, -32768),
        (.nan, 0), (1e-300, 0), (1e308, 32767), (-1e308, -32768),
    ]

    @Test func floatingPoint() {
        for (steps, expected) in Self.floatingPoint {
            #expect((steps / 32768).int16Value == expected, "\(steps)")
            #expect(Float(steps / 32768).int16Value == expected, "\(steps)")
        }
        #expect(Double.greatestFiniteMagnitude.int16Value == 32767)
        #expect((-Float.greatestFiniteMagnitude).int16Value == -32768)
        #expect(Float.signalingNaN.int16Value == 0 && Double.signalingNaN.int16Value == 0)
    }

    /// By hand: x / 65536, half to even, clamped; a left-justified 24-bit sample's 0x8000 is half a step.
    private static let integers: [(sample: Int32, expected: Int16)] = [
        (0, 0), (0x7FFF, 0), (0x8000, 0), (0x8001, 1), (0x1_8000, 2), (0x2_8000, 2), (-0x8000, 0), (-0x8001, -1),
        (-0x1_8000, -2), (-0x2_8000, -2), (0x7FFF_FFFF, 32767), (0x7FFF_8000, 32767), (0x7FFE_8000, 32766),
        (.min, -32768), (0x7FFF_FF00, 32767), (65536, 1), (-65536, -1),
    ]

    @Test func integer32() {
        for (sample, expected) in Self.integers {
            #expect(sample.int16Value == expected, "\(sample)")
        }
    }

    /// The same in the upper half of 64 bits, and by hand just beside half a step: x / 2^48, half to even.
    @Test func integer64() {
        for (sample, expected) in Self.integers {
            #expect((Int64(sample) << 32).int16Value == expected, "\(sample)")
        }
        let half: Int64 = 1 << 47
        #expect(
            [half, half + 1, half - 1, -half, -half - 1, .max, .min].map(\.int16Value) == [
                0, 1, 0, 0, -1, 32767, -32768,
            ])
        #expect(Int64.fullScale(significantBits: 24) == 0x7FFF_FF00_0000_0000)
        #expect(Int64.fullScale(significantBits: 64) == .max && Int64.min.isClipped(atOrAbove: .max))
    }

    @Test func integer8And16() {
        #expect([UInt8(0), 1, 127, 128, 129, 255].map(\.int16Value) == [-32768, -32512, -256, 0, 256, 32512])
        #expect([Int16.min, -1, 0, 1, .max].map(\.int16Value) == [-32768, -1, 0, 1, 32767])
    }

    @Test func agreesWithScalarOnRandomBits() {
        var generator = SeededGenerator(state: 1)
        var disagreements: [String] = []
        func compare(_ fast: Int16, _ plain: Int16, _ sample: some Any) {
            if fast != plain { disagreements.append("\(sample): \(fast), plainly \(plain)") }
        }
        for _ in 0..<50_000 {
            let bits = generator.next()
            let float = Float(bitPattern: UInt32(truncatingIfNeeded: bits))
            compare(float.int16Value, ScalarSampleKernels.int16(Double(float)), float)
            let double = Double(bitPattern: bits)
            compare(double.int16Value, ScalarSampleKernels.int16(double), double)
            let near = Double(Int64(bitPattern: bits) >> 24) / 0x1p39 * 1.1
            compare(near.int16Value, ScalarSampleKernels.int16(near), near)
            compare(Float(near).int16Value, ScalarSampleKernels.int16(Double(Float(near))), Float(near))
            let half = (Double(Int16(truncatingIfNeeded: bits)) + 0.5) / 32768
            compare(half.int16Value, ScalarSampleKernels.int16(half), half)
            compare(Float(half).int16Value, ScalarSampleKernels.int16(half), Float(half))
            let integer = Int32(truncatingIfNeeded: bits)
            compare(integer.int16Value, ScalarSampleKernels.int16(integer), integer)
            let tie = integer & ~0xFFFF | 0x8000
            compare(tie.int16Value, ScalarSampleKernels.int16(tie), tie)
            let byte = UInt8(truncatingIfNeeded: bits)
            compare(byte.int16Value, ScalarSampleKernels.int16(byte), byte)
        }
        #expect(disagreements.isEmpty)
    }

    @Test func fullScaleThresholds() {
        #expect(Int32.fullScale(significantBits: 24) == 0x7FFF_FF00)
        #expect(Int32.fullScale(significantBits: 32) == .max)
        #expect(Int16.fullScale(significantBits: 16) == .max)
        #expect(Int32.fullScale(significantBits: -5) == 0 && Int32.fullScale(significantBits: 99) == .max)
        #expect(
            [Float(1), -1, 0.999_999_9, .nan, .infinity].map { $0.isClipped(atOrAbove: 1) } == [
                true, true, false, false, true,
            ])
        #expect(
            [Int16.min, -32767, -32766, 32766, 32767].map { $0.isClipped(atOrAbove: .max) } == [
                true, true, false, false, true,
            ])
        #expect(
            [UInt8(0), 1, 2, 128, 254, 255].map { $0.isClipped(atOrAbove: 127) } == [
                true, true, false, false, false, true,
            ])
    }
}
