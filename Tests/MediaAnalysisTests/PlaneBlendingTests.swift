import MediaAnalysis
import Testing

@Suite struct PlaneBlendingTests {
    private func row(_ values: [UInt8], _ change: (inout MutableSpan<UInt8>) -> Void) -> [UInt8] {
        var values = values
        var span = values.mutableSpan
        change(&span)
        return values
    }

    @Test func weightsMixAndRound() {
        let (old, new): ([UInt8], [UInt8]) = ([0, 255, 16, 100], [255, 0, 235, 101])
        for (weight, wanted) in [
            (UInt32(0), old), (65536, new), (32768, [128, 128, 126, 101]), (16384, [64, 191, 71, 100]),
        ] {
            #expect(row(old) { PlaneBlending.blend(new.span, weight: weight, into: &$0) } == wanted)
        }
    }

    @Test func eachSampleHasItsWeight() {
        let weights: [UInt16] = [65535, 0, 32768]
        let source: [UInt8] = [200, 200, 200]
        let mixed = row([100, 100, 100, 100]) {
            PlaneBlending.blend(source.span, weights: weights.span, scale: 65536, into: &$0, at: 1)
        }
        #expect(mixed == [100, 200, 100, 150])
        let half = row([100, 100]) {
            PlaneBlending.blend(source.span, weights: weights.span, scale: 32768, into: &$0, at: 1)
        }
        #expect(half == [100, 150])
    }

    @Test func rowsAreCopiedAndFilled() {
        let source: [UInt8] = [1, 2, 3]
        #expect(row([9, 9]) { PlaneBlending.copy(source.span, into: &$0) } == [1, 2])
        #expect(row([9, 9]) { PlaneBlending.fill(&$0, with: 16) } == [16, 16])
    }
}
