import LibAV
import Testing

@Suite struct StoredSamplesTests {
    private func bytes(_ samples: [Int]) -> [UInt8] {
        var bytes: [UInt8] = []
        for sample in samples {
            for shift in [0, 8, 16] { bytes.append(UInt8(truncatingIfNeeded: sample >> shift)) }
        }
        return bytes + [0]
    }

    /// Each is x / 256 rounded half to even; the magnitude of what rounds to 32768 says so.
    @Test func rounds24Bits() {
        let samples = [
            0, 1, 127, 128, 129, 255, 256, 383, 384, 385, 640, -1, -127, -128, -129, -384, -385, 0x7F_FF7F, -0x80_0000,
            0x7F_FEFF, -0x7F_FF80, 0x12_3456,
        ]
        for count in [samples.count, 8, 7, 16, 17, 18, 19] {
            let part = Array(samples.prefix(count))
            var out = [Int16](repeating: 99, count: count + 1)
            let magnitude =
                part.map { min(32767, Int((Double($0) / 256).rounded(.toNearestOrEven).magnitude)) }.max() ?? 0
            #expect(StoredSamples.round24(bytes(part), into: &out) == magnitude)
            var wanted: [Int16] = part.map { Int16((Double($0) / 256).rounded(.toNearestOrEven)) }
            wanted.append(99)
            #expect(out == wanted)
            var narrow = [Int16](repeating: 99, count: count + 1)
            #expect(StoredSamples.narrowRound24(bytes(part), into: &narrow) == magnitude)
            #expect(narrow == wanted)
        }
        var loud: [Int16] = [0, 0]
        #expect(StoredSamples.round24(bytes([0x7F_FFFF, 5]), into: &loud) == 32767)
        #expect(StoredSamples.round24(bytes([-32767 * 256, 3]), into: &loud) == 32767)
        #expect(StoredSamples.round24(bytes([-300 * 256, 299 * 256]), into: &loud) == 300)
        #expect(StoredSamples.round24(bytes([]), into: &loud) == 0)
    }

    /// Numbers of 24 bits that are not beyond 16, in both ways.
    @Test func bothWaysRoundAlike() {
        let samples = stride(from: -0x80_0000, to: 0x7F_FF80, by: 61).map { $0 }
        var (wide, narrow) = ([Int16](repeating: 0, count: samples.count), [Int16](repeating: 1, count: samples.count))
        let magnitude = StoredSamples.round24(bytes(samples), into: &wide)
        #expect(magnitude == StoredSamples.narrowRound24(bytes(samples), into: &narrow))
        #expect(wide == narrow)
    }
}
