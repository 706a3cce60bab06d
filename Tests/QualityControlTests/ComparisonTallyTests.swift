import MediaBase
import Testing

@testable import QualityControl

/// Scores of frames, worked out by hand, and their sums.
@Suite struct ComparisonTallyTests {
    private static func score(_ error: Double, _ similarity: Double) -> VideoComparison.Score {
        VideoComparison.Score(errors: [error, 0], similarities: [similarity, 1], weights: [0.5, 0.5], peak: 255)
    }

    private static func shown(_ second: Int64) -> MediaTimeRange {
        let second = MediaTime(value: second, timescale: 1)
        return MediaTimeRange(start: second, end: second + MediaTime(value: 1, timescale: 1))
    }

    @Test func nothingComparedHasNoScores() {
        let result = ComparisonTally(keepsFrames: true).result
        #expect(result.count == 0 && result.psnr.all == nil && result.psnr.minimum == nil && result.psnr.luma == nil)
        #expect(result.ssim.all == nil && result.ssim.minimum == nil && result.ssim.chroma.isEmpty)
    }

    @Test func framesThatDoNotDifferHaveNoWorst() {
        var tally = ComparisonTally(keepsFrames: false)
        tally.add(Self.score(0, 1), shown: Self.shown(0))
        let result = tally.result
        #expect(result.psnr.all == nil && result.psnr.minimum == nil && result.psnr.worst == nil)
        #expect(result.ssim.all == 1 && result.ssim.minimum == 1 && result.ssim.worst == nil)
        #expect(tally.frames.isEmpty)
    }

    /// Luma errors of 0, 8, 8 and 0 are 4 in the mean; with the other component, of the same size, 2.
    @Test func theFirstOfTheWorstFramesIsNamed() throws {
        var tally = ComparisonTally(keepsFrames: true)
        tally.unpaired = 7
        for (second, error, similarity) in [(0, 0, 1), (1, 8, 0.5), (2, 8, 0.25), (3, 0, 1)] {
            tally.add(Self.score(Double(error), similarity), shown: Self.shown(Int64(second)))
        }
        let result = tally.result
        #expect(result.count == 4 && result.unpaired == 7 && tally.frames.count == 4)
        // 10 log10(255² / 4), / 2, and / 4 for a frame with an error of 8 in one of two components.
        #expect(result.psnr.luma?.text(decimals: 3) == "42.110" && result.psnr.all?.text(decimals: 3) == "45.121")
        #expect(result.psnr.chroma == [nil] && result.psnr.minimum?.text(decimals: 3) == "42.110")
        #expect(result.psnr.worst == Self.shown(1).start && result.psnr.worstFrame == 1)
        #expect(result.ssim.luma == 0.6875 && result.ssim.chroma == [1] && result.ssim.all == 0.84375)
        #expect(result.ssim.minimum == 0.625 && result.ssim.worstEnd == Self.shown(2).end)
        #expect(tally.frames[0].psnr == [.infinity, .infinity, .infinity])
    }
}
