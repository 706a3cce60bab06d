import MediaAnalysis
import Testing

@testable import MediaJobs

@Suite struct WaveformLevelsTests {
    /// By hand: 7 samples; a level that is a multiple of another must have the extrema of its own samples.
    @Test func joinedLevelsAreMeasuredLevels() throws {
        let samples: [Int16] = [1, -2, 3, -4, 5, -6, 7]
        func spacing(_ samples: Int, _ points: Int = 1) throws -> Peaks.Spacing {
            try Peaks.Spacing(samples: samples, points: points)
        }
        var levels = try WaveformLevels(
            [spacing(6), spacing(2), spacing(4), spacing(3), spacing(2), spacing(3, 2)], sampleRate: 8000, channels: 1)
        try levels.append(samples.span)
        let peaks = try levels.finish()
        #expect(try peaks[spacing(2)]?.data == [-2, 1, -4, 3, -6, 5, 7, 7])
        #expect(try peaks[spacing(3)]?.data == [-2, 3, -6, 5, 7, 7])
        #expect(try peaks[spacing(4)]?.data == [-4, 3, -6, 7])
        #expect(try peaks[spacing(6)]?.data == [-6, 5, 7, 7])
        // From 0, 1.5, 3, 4.5 and 6, each rounded down.
        #expect(try peaks[spacing(3, 2)]?.data == [1, 1, -2, 3, -4, -4, -6, 5, 7, 7])
        #expect(peaks.count == 5)
        #expect(peaks.allSatisfy { $0.key == $0.value.spacing })
    }
}
