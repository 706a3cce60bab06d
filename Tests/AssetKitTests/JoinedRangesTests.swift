import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Several time ranges of mixes and of composited frames: each is that part of the whole.
@Suite struct JoinedRangesTests {
    private func time(_ value: Int64, _ scale: Int32) -> MediaTime { MediaTime(value: value, timescale: scale) }
    private func range(_ start: MediaTime, _ end: MediaTime) -> MediaTimeRange {
        MediaTimeRange(start: start, end: end)
    }

    // MARK: Mixes

    /// Two tracks of noise: one of 48 kHz that begins late and ends early, one of another rate, each with a ramp.
    private func mixed(_ folder: TemporaryFolder, otherRate: Int) throws -> (Asset, AudioMix) {
        let noise = Made.noise(48000 * 3).map { $0 / 4 }
        let one = try WrittenSound("one.wav", in: folder, samples: noise, rate: 48000)
        let two = try WrittenSound(
            "two.wav", in: folder, samples: Made.noise(otherRate * 3, from: 7).map { $0 / 4 }, rate: otherRate)
        var composition = Composition()
        for (sound, start) in [(one, time(1, 2)), (two, .zero)] {
            let id = try composition.addTrack(mediaType: .audio)
            try composition.insertTimeRange(
                range(.zero, time(2, 1)), of: sound.track, in: sound.asset, at: start, into: id)
        }
        let asset = Asset(composition: composition)
        let tracks = try asset.loadNow(.tracks)
        var up = AudioMix.InputParameters(track: tracks[0])
        try up.volume.setRamp(from: 0.1, to: 1, timeRange: range(time(1, 3), time(2, 1)))
        var down = AudioMix.InputParameters(track: tracks[1])
        try down.volume.setRamp(from: 1, to: 0, timeRange: range(time(1, 5), time(7, 4)))
        return (asset, AudioMix([up, down]))
    }

    private func output(_ asset: Asset, _ mix: AudioMix) throws -> AudioMixOutput {
        let output = try AudioMixOutput(
            tracks: asset.loadNow(.tracks).filter { $0.mediaType == .audio },
            audioSettings: AudioSettings(sampleFormat: .float32, sampleRate: 48000, channelLayout: .mono))
        output.audioMix = mix
        return output
    }

    /// What the output still delivers: runs of samples, each with the number of its first sample.
    private func runs(_ output: AudioMixOutput) throws -> [(first: Int, samples: [Float])] {
        var runs: [(first: Int, samples: [Float])] = []
        while let buffer = try output.nextSampleBuffer() {
            let sound = try #require(buffer.audioBuffer)
            let place = Int(try #require(buffer.presentationTime.sampleIndex(rate: 48000)))
            if runs.last.map({ $0.first + $0.samples.count }) != place { runs.append((place, [])) }
            sound.withSamples(of: Float.self) { span in
                for index in span.indices { runs[runs.count - 1].samples.append(span[index]) }
            }
        }
        return runs
    }

    /// The first and the last sample of a range at 48 kHz: from the start rounded up to before the end rounded up.
    private func samples(_ range: MediaTimeRange) -> Range<Int> {
        func number(_ time: MediaTime) -> Int { Int(time.sampleIndex(rate: 48000, rounding: .up) ?? -1) }
        return number(range.start)..<number(range.end)
    }

    @Test(arguments: [48000, 44100], [false, true]) func partsOfAMix(otherRate: Int, hasRamps: Bool) throws {
        let folder = try TemporaryFolder()
        let (asset, ramps) = try mixed(folder, otherRate: otherRate)
        let mix = hasRamps ? ramps : AudioMix()
        let single = try output(asset, mix)
        let first = try AssetReader(asset: asset)
        try first.add(single)
        try first.startReading()
        let whole = try #require(try runs(single).first).samples
        #expect(whole.count == 48000 * 5 / 2 && first.status == .completed)

        let mixed = try output(asset, mix)
        mixed.supportsRandomAccess = true
        let reader = try AssetReader(asset: asset)
        reader.timeRange = range(time(1, 4), time(1, 2))
        try reader.add(mixed)
        try reader.startReading()
        // Backward, forward, two that follow each other, one from no whole sample on, one in which one track has ended.
        let calls = [
            [range(time(1, 4), time(1, 2))], [range(.zero, time(1, 10))],
            [range(time(1, 1), time(11, 10)), range(time(11, 10), time(6, 5)), range(time(7, 5), time(3, 2))],
            [range(time(1001, 30000), time(2002, 30000))], [range(time(11, 5), time(10, 1))], [],
        ]
        for (place, ranges) in calls.enumerated() {
            if place > 0 { try mixed.reset(forReadingTimeRanges: ranges) }
            let found = try runs(mixed)
            let wanted = ranges.map { samples($0).clamped(to: 0..<whole.count) }
            #expect(found.flatMap(\.samples).count == wanted.map(\.count).reduce(0, +))
            #expect(found.first?.first == wanted.first?.lowerBound)
            // What is neither resampled nor multiplied is the same to the bit. The sums of a resampler and of a ramp depend
            // on where they begin by less than a bit of 20.
            let limit: Float = otherRate == 48000 && !hasRamps ? 0 : 1e-6
            for run in found {
                let part = whole[run.first..<run.first + run.samples.count]
                #expect(zip(part, run.samples).allSatisfy { abs($0 - $1) <= limit })
            }
            #expect(try mixed.nextSampleBuffer() == nil)
            #expect(reader.status == .reading)
        }
        mixed.markConfigurationAsFinal()
        #expect(reader.status == .completed)
        #expect(errorCode { try mixed.reset(forReadingTimeRanges: [range(.zero, time(1, 1))]) } == .invalidArgument)
    }

    /// A lossy track of a file, alone in its mix.
    @Test func partsOfAFilesTrack() throws {
        let asset = try Media.asset("av.mp4")
        func sound(_ output: AudioMixOutput, _ reader: AssetReader) throws -> [Float] {
            try runs(output).flatMap(\.samples)
        }
        let (single, mixed) = (try output(asset, AudioMix()), try output(asset, AudioMix()))
        mixed.supportsRandomAccess = true
        let readers = [try AssetReader(asset: asset), try AssetReader(asset: asset)]
        for (reader, output) in zip(readers, [single, mixed]) {
            try reader.add(output)
            try reader.startReading()
        }
        let whole = try sound(single, readers[0])
        #expect(try sound(mixed, readers[1]) == whole)
        let part = range(time(1, 2), time(3, 4))
        try mixed.reset(forReadingTimeRanges: [part])
        #expect(try sound(mixed, readers[1]) == Array(whole[samples(part)]))
    }

    /// What is marked as final while ranges are still to come delivers these.
    @Test func finalOutputsDeliverWhatWasPlanned() throws {
        let folder = try TemporaryFolder()
        let (asset, mix) = try mixed(folder, otherRate: 48000)
        let mixed = try output(asset, mix)
        mixed.supportsRandomAccess = true
        let reader = try AssetReader(asset: asset)
        reader.timeRange = range(.zero, time(1, 10))
        try reader.add(mixed)
        try reader.startReading()
        let plan = [range(time(1, 2), time(3, 5)), range(time(4, 5), time(9, 10))]
        #expect(errorCode { try mixed.reset(forReadingTimeRanges: plan) } == .invalidArgument)
        _ = try runs(mixed)
        for wrong in [[plan[1], plan[0]], [.invalid], [plan[0], plan[0]]] {
            #expect(errorCode { try mixed.reset(forReadingTimeRanges: wrong) } == .invalidArgument)
        }
        try mixed.reset(forReadingTimeRanges: plan)
        #expect(errorCode { try mixed.reset(forReadingTimeRanges: plan) } == .invalidArgument)
        mixed.markConfigurationAsFinal()
        #expect(reader.status == .reading)
        #expect(try runs(mixed).map(\.first) == [24000, 38400])
        #expect(reader.status == .completed)

        let plain = try output(asset, mix)
        let other = try AssetReader(asset: asset)
        try other.add(plain)
        try other.startReading()
        _ = try runs(plain)
        #expect(errorCode { try plain.reset(forReadingTimeRanges: plan) } == .invalidArgument)
        #expect(other.status == .completed)
    }

    @Test func cancellingEndsThem() throws {
        let folder = try TemporaryFolder()
        let (asset, mix) = try mixed(folder, otherRate: 48000)
        let mixed = try output(asset, mix)
        mixed.supportsRandomAccess = true
        let reader = try AssetReader(asset: asset)
        try reader.add(mixed)
        try reader.startReading()
        _ = try runs(mixed)
        try mixed.reset(forReadingTimeRanges: [range(.zero, time(1, 1))])
        _ = try mixed.nextSampleBuffer()
        reader.cancelReading()
        #expect(errorCode { while try mixed.nextSampleBuffer() != nil {} } == .cancelled)
    }

    // MARK: Composited frames

    /// Two tracks whose frames have grey values of their own, the upper one fading out.
    private func composited(_ folder: TemporaryFolder) throws -> (Asset, VideoComposition) {
        var composition = Composition()
        for (name, filter) in [("one.mov", "geq=lum=4*N:cb=128:cr=128"), ("two.mov", "geq=lum=X+N:cb=100+N:cr=128")] {
            let path = folder.path(name)
            _ = try FFmpeg.run([
                "-f", "lavfi", "-i", "color=c=black:s=64x48:r=25:d=2", "-vf", filter, "-c:v", "libx264", "-qp", "0",
                "-g", "10", "-bf", "2", path,
            ])
            let asset = Asset(path: FilePath(path))
            let id = try composition.addTrack(mediaType: .video)
            try composition.insertTimeRange(
                range(.zero, time(2, 1)), of: Media.track(asset, .video), in: asset, at: .zero, into: id)
        }
        let asset = Asset(composition: composition)
        let tracks = try asset.loadNow(.tracks)
        var upper = VideoComposition.Layer(track: tracks[1])
        try upper.opacity.setRamp(from: 1, to: 0, timeRange: range(time(1, 5), time(9, 5)))
        let instruction = VideoComposition.Instruction(
            timeRange: range(.zero, time(2, 1)), layers: [upper, VideoComposition.Layer(track: tracks[0])])
        return (
            asset,
            VideoComposition(
                renderSize: Dimensions(width: 64, height: 48), frameDuration: time(1, 25), instructions: [instruction])
        )
    }

    private func frames(_ output: VideoCompositionOutput) throws -> [(time: MediaTime, bytes: [UInt8])] {
        var frames: [(time: MediaTime, bytes: [UInt8])] = []
        while let buffer = try output.nextSampleBuffer() {
            frames.append((buffer.presentationTime, try #require(buffer.pixelBuffer).packedPlane(0)))
        }
        return frames
    }

    @Test func partsOfCompositedVideo() throws {
        let folder = try TemporaryFolder()
        let (asset, composition) = try composited(folder)
        let tracks = try asset.loadNow(.tracks)
        let single = try VideoCompositionOutput(tracks: tracks, videoComposition: composition)
        let first = try AssetReader(asset: asset)
        try first.add(single)
        try first.startReading()
        let whole = try frames(single)
        #expect(whole.map(\.time) == (0..<50).map { time($0, 25) })
        #expect(Set(whole.map(\.bytes)).count == 50)

        let output = try VideoCompositionOutput(tracks: tracks, videoComposition: composition)
        output.supportsRandomAccess = true
        let reader = try AssetReader(asset: asset)
        reader.timeRange = range(time(10, 25), time(14, 25))
        try reader.add(output)
        try reader.startReading()
        let calls = [
            [range(time(10, 25), time(14, 25))], [range(.zero, time(3, 25))],
            [range(time(5, 25), time(7, 25)), range(time(7, 25), time(8, 25)), range(time(33, 25), time(34, 25))],
            // From within a frame to within another.
            [range(time(21, 50), time(27, 50))], [range(time(48, 25), time(9, 1))], [],
        ]
        let numbers = [Array(10..<14), [0, 1, 2], [5, 6, 7, 33], [10, 11, 12, 13], [48, 49], []]
        for (place, ranges) in calls.enumerated() {
            if place > 0 { try output.reset(forReadingTimeRanges: ranges) }
            let found = try frames(output)
            #expect(found.map(\.time) == numbers[place].map { time(Int64($0), 25) })
            #expect(found.map(\.bytes) == numbers[place].map { whole[$0].bytes })
            #expect(try output.nextSampleBuffer() == nil)
            #expect(reader.status == .reading)
        }
        try output.reset(forReadingTimeRanges: [range(time(1, 25), time(2, 25)), range(time(4, 25), time(5, 25))])
        output.markConfigurationAsFinal()
        #expect(try frames(output).map(\.bytes) == [whole[1].bytes, whole[4].bytes])
        #expect(reader.status == .completed)
        #expect(errorCode { try output.reset(forReadingTimeRanges: []) } == .invalidArgument)
    }
}
