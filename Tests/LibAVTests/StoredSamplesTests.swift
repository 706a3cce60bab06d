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
            StoredSamples.round24(bytes(part), into: &out)
            var wanted: [Int16] = part.map { Int16((Double($0) / 256).rounded(.toNearestOrEven)) }
            wanted.append(99)
            #expect(out == wanted)
            var narrow = [Int16](repeating: 99, count: count + 1)
            StoredSamples.narrowRound24(bytes(part), into: &narrow)
            #expect(narrow == wanted)
        }
        var loud: [Int16] = [0, 0]
        StoredSamples.round24(bytes([0x7F_FFFF, 5]), into: &loud)
        #expect(StoredSamples.magnitude(of: loud) == 32767)
        #expect(StoredSamples.magnitude(of: [-32767, 3]) == 32767)
        #expect(StoredSamples.magnitude(of: [-300, 299]) == 300)
        #expect(StoredSamples.magnitude(of: []) == 0)
    }

    /// Numbers of 24 bits that are not beyond 16, in both ways.
    @Test func bothWaysRoundAlike() {
        let samples = stride(from: -0x80_0000, to: 0x7F_FF80, by: 61).map { $0 }
        var (wide, narrow) = ([Int16](repeating: 0, count: samples.count), [Int16](repeating: 1, count: samples.count))
        StoredSamples.round24(bytes(samples), into: &wide)
        StoredSamples.narrowRound24(bytes(samples), into: &narrow)
        #expect(wide == narrow)
    }

    @Test func splitsStereo() {
        let samples = (0..<41).map { Int16($0) }
        var (left, right) = ([Int16](repeating: -1, count: 20), [Int16](repeating: -1, count: 22))
        StoredSamples.split(samples, into: &left, &right)
        let even: [Int16] = samples.filter { $0 % 2 == 0 && $0 < 40 }
        let odd: [Int16] = samples.filter { $0 % 2 == 1 }
        #expect(left == even)
        #expect(Array(right.prefix(20)) == odd)
        #expect(Array(right.suffix(2)) == [-1, -1])
    }
}
