import MediaAnalysis
import Testing

@testable import MediaJobs

@Suite struct WaveformLevelsTests {
    /// By hand: 7 samples; a level that is a multiple of another must have the extrema of its own samples.
    @Test func joinedLevelsAreMeasuredLevels() throws {
        let samples: [Int16] = [1, -2, 3, -4, 5, -6, 7]
        var levels = try WaveformLevels([6, 2, 4, 3, 2], sampleRate: 8000, channels: 1)
        try levels.append(samples.span)
        let peaks = try levels.finish()
        #expect(peaks[2]?.data == [-2, 1, -4, 3, -6, 5, 7, 7])
        #expect(peaks[3]?.data == [-2, 3, -6, 5, 7, 7])
        #expect(peaks[4]?.data == [-4, 3, -6, 7])
        #expect(peaks[6]?.data == [-6, 5, 7, 7])
        #expect(peaks.count == 4)
        #expect(peaks.allSatisfy { $0.key == $0.value.samplesPerPixel })
    }
}
