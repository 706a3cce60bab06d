import Foundation
import MediaAnalysis
import MediaBase
import Peaks
import Testing

extension SampleStatistics {
    /// Measures interleaved frames through the kernels.
    fileprivate mutating func append(_ samples: Span<Int16>) {
        for channel in channels.indices {
            var plane = [Int16](repeating: 0, count: samples.count / channels.count)
            var span = plane.mutableSpan
            SampleKernels.extract(channel, of: channels.count, from: samples, into: &span)
            add(SampleKernels.levels(of: plane.span), frames: plane.count, clipped: 0, channel: channel)
        }
    }
}

@Suite struct SampleStatisticsTests {
    // By hand: a square wave at ±16384 has peak and RMS 20·log10(0.5) = −6.0206 dB.
    @Test func squareWave() throws {
        var statistics = try SampleStatistics(channels: 2)
        statistics.append(([16384, 0, -16384, 0, 16384, 0, -16384, 0] as [Int16]).span)
        let left = statistics.channels[0]
        #expect(left.peak == 16384 && left.frames == 4 && left.sumOfSquares == 4 * 268_435_456)
        #expect(abs(left.peakDBFS - -6.020599913) < 1e-8 && abs(left.rmsDBFS - -6.020599913) < 1e-8)
        #expect(statistics.channels[1].peakDBFS == -.infinity && statistics.channels[1].rmsDBFS == -.infinity)
    }

    @Test func fullScale() throws {
        var statistics = try SampleStatistics(channels: 1)
        statistics.append(([Int16.min, .min] as [Int16]).span)
        #expect(statistics.channels[0].peak == 32768)
        #expect(statistics.channels[0].peakDBFS == 0 && statistics.channels[0].rmsDBFS == 0)
    }

    @Test func silenceCountsInRMS() throws {
        var statistics = try SampleStatistics(channels: 1)
        statistics.append(([Int16](repeating: .min, count: 10)).span)
        statistics.appendSilence(frames: 990)
        statistics.appendSilence(frames: -5)
        #expect(statistics.channels[0].frames == 1000)
        #expect(abs(statistics.channels[0].rmsDBFS - -20) < 1e-12)
    }

    @Test func nothingMeasured() throws {
        let channel = try SampleStatistics(channels: 1).channels[0]
        #expect(channel.peakDBFS == -.infinity && channel.rmsDBFS == -.infinity && channel.clippedCount == 0)
    }

    @Test func cuttingDoesNotMatter() throws {
        let samples = try Golden.samples(channels: 6)
        var whole = try SampleStatistics(channels: 6)
        whole.append(samples.span)
        var parts = try SampleStatistics(channels: 6)
        var start = 0
        for frames in [1, 100, 7, 4882] {
            parts.append(samples.span.extracting(start * 6..<(start + frames) * 6))
            start += frames
        }
        #expect(whole == parts && start == 4990)
        for channel in 0..<6 {
            let own = stride(from: channel, to: samples.count, by: 6).map { Double(samples[$0]) }
            #expect(whole.channels[channel].sumOfSquares == own.reduce(0) { $0 + $1 * $1 })
            #expect(Double(whole.channels[channel].peak) == own.map(abs).max())
        }
    }

    @Test func partsAddUp() throws {
        let samples = try Golden.samples(channels: 6)
        var whole = try SampleStatistics(channels: 6)
        whole.append(samples.span)
        var first = try SampleStatistics(channels: 6)
        first.append(samples.span.extracting(0..<6 * 1000))
        var second = try SampleStatistics(channels: 6)
        second.append(samples.span.extracting(6 * 1000..<samples.count))
        second.add(first)
        #expect(second == whole)
        second.add(try SampleStatistics(channels: 5))
        #expect(second == whole)
        second.reset()
        #expect(try second == SampleStatistics(channels: 6))
    }

    @Test func channelCountIsChecked() {
        #expect(throws: MediaError.self) { try SampleStatistics(channels: 0) }
        #expect(throws: MediaError.self) { try SampleStatistics(channels: 1025) }
    }
}
