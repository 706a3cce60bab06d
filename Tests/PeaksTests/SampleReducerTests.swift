import MediaAnalysis
import MediaBase
import Peaks
import TestSupport
import Testing

@Suite struct SampleReducerTests {
    @Test func mixesAndMeasuresInterleavedFrames() throws {
        var distiller = try SampleReducer(channels: 2, mode: .mixed, significantBits: 16)
        let sound = distiller.distill(([100, -101, .max, .max, .min, 0, 7] as [Int16]).span)
        #expect(sound.frames == 3 && sound.samples == [0, 32767, -16384])
        #expect(sound.statistics.channels.map(\.peak) == [32768, 32767])
        #expect(sound.statistics.channels.map(\.clippedCount) == [2, 1])
        #expect(sound.statistics.channels.map(\.frames) == [3, 3])
        let again = distiller.distill(([1, 3] as [Int16]).span)
        #expect(again.samples == [2] && again.statistics.channels.map(\.peak) == [1, 3])
    }

    @Test func planesGiveWhatInterleavedFramesGive() throws {
        var generator = SeededGenerator(state: 3)
        for channels in [1, 2, 3, 6] {
            let frames = 777
            let samples = (0..<frames * channels).map { _ in
                Float(Int32(truncatingIfNeeded: generator.next())) / 2_000_000_000
            }
            for mode in [.mixed, .split, .single(channels - 1)] as [PeakBuilder.ChannelMode] {
                var first = try SampleReducer(channels: channels, mode: mode, significantBits: 64)
                let interleaved = first.distill(samples.span)
                var second = try SampleReducer(channels: channels, mode: mode, significantBits: 64)
                for channel in 0..<channels {
                    let plane = stride(from: channel, to: samples.count, by: channels).map { samples[$0] }
                    second.take(plane.span, channel: channel)
                }
                second.addPlanes(frames: frames)
                let planar = second.finish()
                #expect(interleaved.samples == planar.samples)
                #expect(interleaved.statistics == planar.statistics)
                #expect(interleaved.samples.count == frames * (mode == .split ? channels : 1))
                let wanted = samples.map { ScalarSampleKernels.int16(Double($0)) }
                if mode == .split { #expect(interleaved.samples == wanted) }
                let clipped = stride(from: 0, to: samples.count, by: channels).count { abs(samples[$0]) >= 1 }
                #expect(interleaved.statistics.channels[0].clippedCount == Int64(clipped) && clipped > 0)
            }
        }
    }

    /// Blocks of different lengths that are added up are as one block.
    @Test(arguments: [1, 2, 3, 6]) func blocksAddUp(_ channels: Int) throws {
        var generator = SeededGenerator(state: 5)
        let samples = (0..<900 * channels).map { _ in Int16(truncatingIfNeeded: generator.next()) }
        for mode in [.mixed, .split, .single(channels - 1)] as [PeakBuilder.ChannelMode] {
            var distiller = try SampleReducer(channels: channels, mode: mode, significantBits: 16)
            let whole = distiller.distill(samples.span)
            for cuts in [[0, 500, 503, 900], [0, 1, 899, 900]] {
                for (from, to) in zip(cuts, cuts.dropFirst()) {
                    distiller.add(samples.span.extracting(from * channels..<to * channels))
                }
                let parts = distiller.finish()
                #expect(parts.frames == 900 && parts.samples == whole.samples)
                #expect(parts.statistics == whole.statistics)
            }
        }
    }

    @Test func clippingBeforeConversion() throws {
        var distiller = try SampleReducer(channels: 2, mode: .mixed, significantBits: 64)
        let sound = distiller.distill(([1, 0.5, -1.5, .nan, 0.999_99, .infinity] as [Float]).span)
        #expect(sound.statistics.channels.map(\.clippedCount) == [2, 1])
        distiller.take(([1.0, -1.0, 0.9] as [Double]).span, channel: 1)
        distiller.take(([1.0] as [Double]).span, channel: 2)
        distiller.addPlanes(frames: 3)
        #expect(distiller.finish().statistics.channels.map(\.clippedCount) == [0, 2])
    }

    @Test func clippingOf24And12Bits() throws {
        var distiller = try SampleReducer(channels: 1, mode: .mixed, significantBits: 24)
        let sound = distiller.distill(([0x7FFF_FF00, 0x7FFF_FE00, -0x7FFF_FF00, .min] as [Int32]).span)
        #expect(sound.statistics.channels[0].clippedCount == 3)
        var small = try SampleReducer(channels: 1, mode: .mixed, significantBits: 12)
        let twelve = small.distill(([32752, 32736, -32752, .min] as [Int16]).span)
        #expect(twelve.statistics.channels[0].clippedCount == 3)
    }

    @Test func refusesWhatDoesNotExist() {
        #expect(throws: MediaError.self) { try SampleReducer(channels: 0, mode: .mixed, significantBits: 16) }
        #expect(throws: MediaError.self) { try SampleReducer(channels: 2, mode: .single(2), significantBits: 16) }
    }
}

extension SampleReducer {
    /// Distills interleaved frames alone.
    fileprivate mutating func distill<Sample: PCMSample>(_ samples: Span<Sample>) -> ReducedSamples {
        add(samples)
        return finish()
    }
}
