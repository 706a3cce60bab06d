import MediaAnalysis
import Testing

/// Expected values are worked out by hand.
@Suite struct PictureQualityTests {
    private func quality(_ luma: [UInt8], _ width: Int, _ height: Int) -> PictureQuality {
        PictureQuality(luma: luma.span, width: width, height: height)
    }

    /// Columns of black and of a value in turn.
    private func stripes(_ value: UInt8) -> PictureQuality {
        quality((0..<100).map { $0 % 2 == 0 ? 0 : value }, 10, 10)
    }

    @Test func sharpnessIsTheMeanSquareOfTheLaplacian() {
        // Only the middle one of nine has four neighbours: 4 · 10 − 0.
        #expect(quality([0, 0, 0, 0, 10, 0, 0, 0, 0], 3, 3).sharpness == 1600)
        // A slope has none.
        var slope: [UInt8] = []
        for row in 0..<5 as Range<UInt8> { slope += [0, 40, 80, 120, 160].map { $0 + row } }
        #expect(quality(slope, 5, 5).sharpness == 0)
    }

    @Test func blackIsWhatIsHardlyLit() {
        var luma = [UInt8](repeating: 32, count: 100)
        luma[3] = 255
        luma[4] = 255
        #expect(quality(luma, 10, 10).isBlack)
        luma[5] = 33
        #expect(!quality(luma, 10, 10).isBlack)
    }

    @Test func lightGoesBeforeSharpness() {
        let black = stripes(30)
        let blurred = quality([UInt8](repeating: 90, count: 100), 10, 10)
        let sharp = stripes(90)
        #expect(black.isBlack && black.sharpness > blurred.sharpness)
        #expect(blurred.isBetter(than: black) && !black.isBetter(than: blurred))
        #expect(sharp.isBetter(than: blurred) && !blurred.isBetter(than: sharp) && !sharp.isBetter(than: sharp))
    }

    @Test func picturesWithoutAnInsideAreNoTrap() {
        #expect(quality([], 0, 0).sharpness == 0)
        #expect(quality([1, 2], .max, .max).sharpness == 0)
        #expect(quality([1, 2, 3, 4], 2, 2).sharpness == 0)
    }
}
