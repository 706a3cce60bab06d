import MediaBase
import Peaks
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

    /// Parts of audio whose length is known are measured apart; the points are those of one builder that did not know.
    @Test(arguments: [1, 8, 100, 1000, 4097], [[], [1], [50, 51], [7, 96, 99]])
    func partsAreJoined(frames: Int, cuts: [Int]) throws {
        let samples = ramp(frames)
        var whole = try OverviewBuilder(sampleRate: 8000, channels: 1, points: 4)
        try whole.append(samples.span)
        let known = Int64(frames * 2 / 3)
        var joined = try OverviewBuilder(sampleRate: 8000, channels: 1, points: 4, atLeast: known)
        var start = 0
        for end in cuts.filter({ $0 < known }) + [Int(known)] {
            var part = try OverviewBuilder(
                sampleRate: 8000, channels: 1, points: 4, atLeast: known, startingAt: Int64(start))
            try part.append(samples.span.extracting(start..<end))
            try joined.append(part)
            start = end
        }
        try joined.append(samples.span.extracting(start..<frames))
        #expect(try joined.finish() == whole.finish())
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
