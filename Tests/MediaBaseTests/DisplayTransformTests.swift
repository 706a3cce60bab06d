import MediaBase
import Testing

@Suite struct DisplayTransformTests {
    private static let one: Int32 = 1 << 16

    /// a, b, c, d: a quarter turn clockwise brings (p, q) to (-q, p).
    @Test(arguments: [
        ([1, 0, 0, 1], 0, false), ([0, 1, -1, 0], 90, false), ([-1, 0, 0, -1], 180, false),
        ([0, -1, 1, 0], 270, false),
        ([-1, 0, 0, 1], 0, true), ([1, 0, 0, -1], 180, true), ([0, -1, -1, 0], 90, true), ([0, 1, 1, 0], 270, true),
    ])
    func quarterTurns(numbers: [Int32], rotation: Int, isMirrored: Bool) {
        let scaled = numbers.map { $0 * Self.one }
        let transform = DisplayTransform(
            matrix: [scaled[0], scaled[1], 0, scaled[2], scaled[3], 0, 0, 0, 1 << 30])
        #expect(transform.rotation == rotation && transform.isMirrored == isMirrored && transform.isQuarterTurn)
        let size = Dimensions(width: 320, height: 180)
        #expect(transform.apply(to: size) == (rotation % 180 == 0 ? size : Dimensions(width: 180, height: 320)))
    }

    /// Zeros (what is no number in floating point), extremes, the bits of NaN, and too few numbers.
    @Test(arguments: [
        [Int32](repeating: 0, count: 9), [Int32](repeating: .min, count: 9), [Int32](repeating: .max, count: 9),
        [Int32](repeating: 0x7FC0_0000, count: 9), [1, 1, 0, 0, 0, 0, 0, 0, 0], [], [1],
    ])
    func whatIsNoQuarterTurnTurnsNothing(matrix: [Int32]) {
        let transform = DisplayTransform(matrix: matrix)
        #expect(transform.rotation == 0 && !transform.isMirrored && !transform.isQuarterTurn)
        let size = Dimensions(width: 320, height: 180)
        #expect(transform.apply(to: size) == size)
    }
}
