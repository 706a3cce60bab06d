import AssetKit
import Foundation
import TestSupport
import Testing

/// Mixes against sums in double precision.
@Suite struct AudioMixTests {
    private func time(_ value: Int64, _ scale: Int32) -> MediaTime { MediaTime(value: value, timescale: scale) }
    private func range(_ start: MediaTime, _ end: MediaTime) -> MediaTimeRange {
        MediaTimeRange(start: start, end: end)
    }

    /// All samples of all channels, one after the other, as one unbroken run.
    private func floats(_ output: AudioMixOutput, of asset: Asset, in range: MediaTimeRange? = nil) throws -> [Float] {
        let reader = try AssetReader(asset: asset)
        if let range { reader.timeRange = range }
        try reader.add(output)
        try reader.startReading()
        var list: [Float] = []
        var first: Int64?
        while let buffer = try output.nextSampleBuffer() {
            let sound = try #require(buffer.audioBuffer)
            let place = try #require(buffer.presentationTime.sampleIndex(rate: Int32(sound.sampleRate)))
            first = first ?? place
            #expect(Int(place - (first ?? 0)) == list.count / sound.channelLayout.channels)
            sound.withSamples(of: Float.self) { span in for index in span.indices { list.append(span[index]) } }
        }
        #expect(reader.status == .completed)
        return list
    }

    private func tone(_ frequency: Double, _ rate: Int, _ amplitude: Double, seconds: Double) -> [Float] {
        (0..<Int(seconds * Double(rate))).map {
            Float(amplitude * sin(2 * Double.pi * frequency * Double($0) / Double(rate)))
        }
    }

    @Test func tracksOfTwoRatesWithRampsAndGaps() throws {
        let folder = try TemporaryFolder()
        let low = try WrittenSound("low.wav", in: folder, floats: tone(440, 44100, 0.5, seconds: 3), rate: 44100)
        let noise = Made.noise(48000 * 3).map { $0 / 4 }
        let high = try WrittenSound("high.wav", in: folder, samples: noise, rate: 48000)
        var composition = Composition()
        let first = try composition.addTrack(mediaType: .audio)
        let second = try composition.addTrack(mediaType: .audio)
        try composition.insertTimeRange(
            range(.zero, time(3, 1)), of: low.track, in: low.asset, at: time(1, 4), into: first)
        try composition.insertTimeRange(
            range(time(1, 2), time(3, 2)), of: high.track, in: high.asset, at: .zero, into: second)
        try composition.insertTimeRange(
            range(time(0, 1), time(1, 1)), of: high.track, in: high.asset, at: time(5, 4), into: second)
        let asset = Asset(composition: composition)
        let tracks = try asset.loadNow(.tracks)

        var fade = AudioMix.InputParameters(track: tracks[0])
        try fade.volume.set(0.25, at: .zero)
        try fade.volume.setRamp(from: 0.25, to: 1, timeRange: range(time(1, 2), time(7, 3)))
        try fade.volume.set(0.5, at: time(5, 2))
        var down = AudioMix.InputParameters(track: tracks[1])
        try down.volume.setRamp(from: 1, to: 0, timeRange: range(time(1001, 30000), time(2, 1)))

        func volume(_ moment: Double) -> (Double, Double) {
            let up =
                moment < 0.5
                ? 0.25 : moment < 7.0 / 3 ? 0.25 + 0.75 * (moment - 0.5) / (7.0 / 3 - 0.5) : moment < 2.5 ? 1 : 0.5
            let start = 1001.0 / 30000
            return (up, moment < start ? 1 : moment < 2 ? 1 - (moment - start) / (2 - start) : 0)
        }
        let output = try AudioMixOutput(
            tracks: tracks,
            audioSettings: AudioSettings(sampleFormat: .float32, sampleRate: 48000, channelLayout: .mono))
        output.audioMix = AudioMix([fade, down])
        let got = try floats(output, of: asset)
        #expect(got.count == 48000 * 13 / 4)
        var worst = 0.0
        for (index, value) in got.enumerated() {
            let moment = Double(index) / 48000
            let sources = index - 12000
            // The resampler's edges.
            if abs(sources) < 200 || index > got.count - 200 { continue }
            let low = sources > 0 ? 0.5 * sin(2 * Double.pi * 440 * Double(sources) / 48000) : 0
            var high = 0.0
            if index < 48000 {
                high = Double(noise[24000 + index]) / 32768
            } else if index >= 60000, index < 108000 {
                high = Double(noise[index - 60000]) / 32768
            }
            let (up, down) = volume(moment)
            let error = abs(Double(value) - (low * up + high * down))
            worst = max(worst, error)
        }
        #expect(worst < 1e-6)
        // From any moment the same.
        let part = try AudioMixOutput(
            tracks: tracks,
            audioSettings: AudioSettings(sampleFormat: .float32, sampleRate: 48000, channelLayout: .mono))
        part.audioMix = AudioMix([fade, down])
        let cut = try floats(part, of: asset, in: range(time(7, 9), time(20, 9)))
        let from = 37334
        #expect(cut.count == 106667 - from)
        let isSame = zip(cut, got[from...]).allSatisfy { abs($0 - $1) < 1e-6 }
        #expect(isSame)
    }

    @Test func theSumIsLimitedAndNeverWraps() throws {
        let folder = try TemporaryFolder()
        let loud = try WrittenSound(
            "loud.wav", in: folder, samples: (0..<48000).map { $0 / 100 % 2 == 0 ? 32767 : -32768 }, rate: 48000)
        var composition = Composition()
        for _ in 0..<2 {
            let id = try composition.addTrack(mediaType: .audio)
            try composition.insertTimeRange(
                range(.zero, time(1, 1)), of: loud.track, in: loud.asset, at: .zero, into: id)
        }
        let asset = Asset(composition: composition)
        let tracks = try asset.loadNow(.tracks)
        let got = try floats(AudioMixOutput(tracks: tracks), of: asset)
        #expect(got.count == 48000)
        let isLimited = got.enumerated().allSatisfy { $0.element == ($0.offset / 100 % 2 == 0 ? 1 : -1) }
        #expect(isLimited)
        let whole = try AudioMixOutput(tracks: tracks, audioSettings: AudioSettings(sampleFormat: .int16))
        let reader = try AssetReader(asset: asset)
        try reader.add(whole)
        try reader.startReading()
        var samples: [Int16] = []
        while let buffer = try whole.nextSampleBuffer() {
            buffer.audioBuffer?.withSamples(of: Int16.self) { span in
                for index in span.indices { samples.append(span[index]) }
            }
        }
        let isWhole = samples.enumerated().allSatisfy { $0.element == ($0.offset / 100 % 2 == 0 ? 32767 : -32768) }
        #expect(isWhole)
        #expect(samples.count == 48000)
    }

    @Test func aFilesTracksAreMixedAsTheyLie() throws {
        // Sound that begins 1.25 s late: the mix begins at zero.
        let asset = try Media.asset("late-audio.mp4")
        let track = try Media.track(asset, .audio)
        let output = try AudioMixOutput(tracks: [track])
        let got = try floats(output, of: asset)
        let alone = try Media.all(
            TrackOutput(track: track, audioSettings: AudioSettings(sampleFormat: .float32)), of: asset)
        let channels = try #require(track.formatDescriptions.first?.audio?.channels)
        let start = try #require(alone.first?.presentationTime)
        let rate = Int32(try #require(alone.first?.audioBuffer?.sampleRate))
        #expect(start > time(1, 1))
        let late = Int(try #require(start.sampleIndex(rate: rate))) * channels
        let isSilent = got.prefix(late).allSatisfy { $0 == 0 }
        #expect(isSilent)
        var wanted: [Float] = []
        for buffer in alone {
            buffer.audioBuffer?.withSamples(of: Float.self) { span in
                for index in span.indices { wanted.append(max(-1, min(1, span[index]))) }
            }
        }
        let isEqual = Array(got.dropFirst(late)) == wanted
        #expect(isEqual)
    }

    @Test func refusesWhatMakesNoSense() throws {
        let asset = try Media.asset("av.mp4")
        let (sound, video) = (try Media.track(asset, .audio), try Media.track(asset, .video))
        #expect(errorCode { try AudioMixOutput(tracks: []) } == .invalidArgument)
        #expect(errorCode { try AudioMixOutput(tracks: [sound, video]) } == .invalidArgument)
        var parameters = AudioMix.InputParameters(track: sound)
        let second = range(.zero, time(1, 1))
        #expect(errorCode { try parameters.volume.set(-1, at: .zero) } == .invalidArgument)
        #expect(errorCode { try parameters.volume.set(.nan, at: .zero) } == .invalidArgument)
        #expect(errorCode { try parameters.volume.set(1, at: .indefinite) } == .invalidArgument)
        #expect(
            errorCode { try parameters.volume.setRamp(from: 0, to: 1, timeRange: range(.zero, .zero)) }
                == .invalidArgument)
        try parameters.volume.setRamp(from: 0, to: 1, timeRange: second)
        #expect(
            errorCode { try parameters.volume.setRamp(from: 0, to: 1, timeRange: range(time(1, 2), time(2, 1))) }
                == .invalidArgument)
        #expect(errorCode { try parameters.volume.set(1, at: time(1, 2)) } == .invalidArgument)
        try parameters.volume.setRamp(from: 1, to: 0, timeRange: range(time(1, 1), time(2, 1)))
        #expect(parameters.volume.value(at: time(1, 4)) == 0.25)
        #expect(parameters.volume.value(at: time(1, 1)) == 1)
        #expect(parameters.volume.value(at: time(3, 2)) == 0.5)
        #expect(parameters.volume.value(at: time(9, 1)) == 0)
    }
}
