import MediaBase
import Peaks
import Testing

@Suite struct PeaksPartsTests {
    /// Four points of two channels.
    private let peaks: Peaks

    init() throws {
        peaks = try Peaks(
            sampleRate: 8000, spacing: Peaks.Spacing(samples: 10), channels: 2,
            data: [-1, 1, -10, 10, -2, 2, -20, 20, -3, 3, -30, 30, -4, 4, -40, 40])
    }

    // By hand: two points a column; of three columns, each reaches into what the next one begins with.
    @Test func fittedPointsHoldAll() throws {
        #expect(try peaks.fitted(to: 2, frames: 40).data == [-2, 2, -20, 20, -4, 4, -40, 40])
        #expect(try peaks.fitted(to: 2, frames: 40).spacing == Peaks.Spacing(samples: 20))
        #expect(try peaks.fitted(to: 3, frames: 35).data == [-2, 2, -20, 20, -3, 3, -30, 30, -4, 4, -40, 40])
        #expect(try peaks.fitted(to: 3, frames: 35).spacing == Peaks.Spacing(samples: 35, points: 3))
        #expect(try peaks.fitted(to: 100, frames: 3).length == 3)
        #expect(try peaks.points(0..<0).fitted(to: 5, frames: 0).length == 0)
        #expect(throws: MediaError.self) { try peaks.fitted(to: 0, frames: 40) }
    }

    @Test func channelsAndRanges() throws {
        #expect(peaks.channel(1)?.data == [-10, 10, -20, 20, -30, 30, -40, 40] && peaks.channel(1)?.channels == 1)
        #expect(peaks.channel(2) == nil && peaks.channel(-1) == nil)
        #expect(peaks.points(1..<3).data == [-2, 2, -20, 20, -3, 3, -30, 30])
        #expect(peaks.points(3..<9).length == 1 && peaks.points(7..<9).length == 0)
    }

    // By hand: 20 · log10(40 / 32768) = −58.27 dB.
    @Test func peakLevels() throws {
        #expect(abs(peaks.peakDBFS(channel: 1) - -58.268) < 0.001)
        #expect(peaks.peakDBFS(channel: 2) == -.infinity && peaks.points(0..<0).peakDBFS(channel: 0) == -.infinity)
        let full = try Peaks(
            sampleRate: 8000, spacing: Peaks.Spacing(samples: 10), channels: 1, bits: 8, data: [-128, 0])
        #expect(full.peakDBFS(channel: 0) == 0)
    }
}
