import MediaAnalysis
import MediaBase
import Testing

@Suite struct OverviewBuilderTests {
    private func ramp(_ frames: Int) -> [Int16] { (0..<frames).map { Int16(truncatingIfNeeded: $0 * 37) } }

    /// Whatever the length of the spans, the peaks are those of one builder at the spacing that came out.
    @Test(arguments: [1, 7, 8, 9, 100, 1000, 4097], [1, 5, 64, 5000])
    func isWhatOneBuilderGives(frames: Int, step: Int) throws {
        let samples = ramp(frames)
        var overview = try OverviewBuilder(sampleRate: 8000, channels: 1, points: 4)
        for start in stride(from: 0, to: frames, by: step) {
            try overview.append(samples.span.extracting(start..<min(start + step, frames)))
        }
        let peaks = try overview.finish()
        var builder = try PeakBuilder(
            sampleRate: 8000, channels: 1, spacing: Peaks.Spacing(samples: peaks.samplesPerPixel), mode: .split)
        try builder.append(samples.span)
        #expect(try peaks.data == builder.finish().data)
        #expect(peaks.length <= 8 && peaks.length >= min(frames, 4))
        #expect(peaks.meanSquares?.count == peaks.length)
    }

    @Test func silenceOfADayTakesNoTime() throws {
        var overview = try OverviewBuilder(sampleRate: 48000, channels: 2, points: 1000)
        try overview.appendSilence(frames: 24 * 3600 * 48000)
        let click: [Int16] = [100, -100]
        try overview.append(click.span)
        let peaks = try overview.finish()
        #expect(peaks.length >= 1000 && peaks.length <= 2001)
        #expect(
            Array(peaks.data.suffix(4)) == [0, 100, -100, 0] || Array(peaks.data.suffix(4)) == [100, 100, -100, -100])
        #expect(peaks.data.dropLast(4).allSatisfy { $0 == 0 })
    }

    @Test func refusesSizesThatMakeNoSense() {
        #expect(throws: MediaError.self) { try OverviewBuilder(sampleRate: 8000, channels: 1, points: 0) }
        #expect(throws: MediaError.self) { try OverviewBuilder(sampleRate: 0, channels: 1, points: 1) }
    }
}
