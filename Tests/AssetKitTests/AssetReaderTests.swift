import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite struct AssetReaderTests {
    private let sound = AudioSettings(sampleFormat: .int16)

    @Test func statusGoesFromUnknownToCompleted() throws {
        let asset = try Media.asset("av.mp4")
        let reader = try AssetReader(asset: asset)
        #expect(reader.status == .unknown)
        let output = TrackOutput(track: try Media.track(asset, .audio), audioSettings: sound)
        let other = TrackOutput(track: try Media.track(asset, .video))
        try reader.add(output)
        try reader.add(other)
        #expect(reader.status == .unknown)
        try reader.startReading()
        #expect(reader.status == .reading)
        _ = try output.remaining()
        #expect(reader.status == .reading)
        _ = try other.remaining()
        #expect(reader.status == .completed)
        #expect(try output.nextSampleBuffer() == nil)
        #expect(try other.nextSampleBuffer() == nil)
        #expect(reader.status == .completed)
        #expect(reader.error == nil)
        #expect(reader.damage.isEmpty)
    }

    @Test func refusesOutputsThatDoNotFit() throws {
        let asset = try Media.asset("av.mp4")
        let reader = try AssetReader(asset: asset)
        let video = try Media.track(asset, .video)
        let audio = try Media.track(asset, .audio)
        func isRefused(_ output: TrackOutput) -> Bool {
            !reader.canAdd(output) && errorCode { try reader.add(output) } == .invalidArgument
        }
        #expect(isRefused(TrackOutput(track: video, audioSettings: sound)))
        #expect(isRefused(TrackOutput(track: audio, videoSettings: VideoSettings())))
        let foreign = try Media.track(Media.asset("h264-onekey.mp4"), .video)
        #expect(isRefused(TrackOutput(track: foreign)))
        let output = TrackOutput(track: audio, audioSettings: sound)
        #expect(reader.canAdd(output))
        try reader.add(output)
        #expect(isRefused(output))
        let second = try AssetReader(asset: asset)
        #expect(!second.canAdd(output))
        #expect(errorCode { try second.add(output) } == .invalidArgument)
        try reader.startReading()
        #expect(isRefused(TrackOutput(track: video)))
        #expect(errorCode { try reader.startReading() } == .invalidArgument)
        #expect(reader.status == .reading)
    }

    @Test func valuesThatMakeNoSenseAreRefused() throws {
        let asset = try Media.asset("av.mp4")
        let reader = try AssetReader(asset: asset)
        let (video, audio) = (try Media.track(asset, .video), try Media.track(asset, .audio))
        var range = VideoSettings()
        range.colorRange = "wide"
        var turned = VideoSettings(pixelFormat: .rgba)
        turned.turn = PictureTransform(matrix: [0, 65536, 0, -65536, 0, 0, 0, 0, 1 << 30])
        let layout = ChannelLayout(channels: 2, name: "bogus")
        let wrong = [
            (
                TrackOutput(track: video, videoSettings: VideoSettings(pixelFormat: PixelFormat(rawValue: "bogus"))),
                "bogus"
            ),
            // Known, but in the memory of a graphics card.
            (
                TrackOutput(track: video, videoSettings: VideoSettings(pixelFormat: PixelFormat(rawValue: "vaapi"))),
                "vaapi"
            ),
            (
                TrackOutput(track: video, videoSettings: VideoSettings(dimensions: Dimensions(width: 0, height: 9))),
                "0x9"
            ),
            (
                TrackOutput(
                    track: video, videoSettings: VideoSettings(dimensions: Dimensions(width: 100_000, height: 90_000))),
                "100000x90000"
            ),
            (
                TrackOutput(track: video, videoSettings: VideoSettings(dimensions: Dimensions(width: .max, height: 2))),
                "x2"
            ),
            (TrackOutput(track: video, videoSettings: turned), "turned"),
            (TrackOutput(track: video, videoSettings: range), "wide"),
            (TrackOutput(track: audio, audioSettings: AudioSettings(sampleRate: -1)), "-1"),
            (TrackOutput(track: audio, audioSettings: AudioSettings(channelLayout: layout)), "bogus"),
        ]
        for (output, value) in wrong {
            #expect(!reader.canAdd(output), "\(value)")
            let error = #expect(throws: MediaError.self) { try reader.add(output) }
            #expect(error?.code == .invalidArgument && error?.message.contains(value) == true, "\(value)")
        }
        let counted = AudioSettings(channelLayout: ChannelLayout(channels: 2, name: "2 channels"))
        #expect(reader.canAdd(TrackOutput(track: audio, audioSettings: counted)))
    }

    @Test func whatIsSetTooLateFailsTheReader() throws {
        let asset = try Media.asset("av.mp4")
        let output = TrackOutput(track: try Media.track(asset, .audio), audioSettings: sound)
        let reader = try Media.start(output, of: asset)
        _ = try output.nextSampleBuffer()
        reader.timeRange = MediaTimeRange(start: .zero, duration: .zero)
        let error = #expect(throws: MediaError.self) { try output.nextSampleBuffer() }
        #expect(error?.code == .invalidArgument && error?.message.hasPrefix("timeRange was set too late") == true)
        #expect(reader.status == .failed)
        #expect(reader.timeRange.duration == .positiveInfinity)
    }

    @Test func textTracksGiveOnlyStoredSamples() throws {
        let asset = try Media.asset("many-tracks.mp4")
        let reader = try AssetReader(asset: asset)
        let track = try Media.track(asset, .subtitle)
        #expect(!reader.canAdd(TrackOutput(track: track, audioSettings: sound)))
        #expect(!reader.canAdd(TrackOutput(track: track, videoSettings: VideoSettings())))
        #expect(reader.canAdd(TrackOutput(track: track)))
    }

    @Test func needsOutputsAndAValidRange() throws {
        let asset = try Media.asset("av.mp4")
        let reader = try AssetReader(asset: asset)
        #expect(errorCode { try reader.startReading() } == .invalidArgument)
        #expect(reader.status == .unknown)
        let output = TrackOutput(track: try Media.track(asset, .audio), audioSettings: sound)
        try reader.add(output)
        let one = MediaTime(value: 1, timescale: 1)
        for range in [MediaTimeRange(start: one, end: .zero), MediaTimeRange(start: .zero, duration: -one), .invalid] {
            reader.timeRange = range
            #expect(errorCode { try reader.startReading() } == .invalidArgument)
        }
        reader.timeRange = MediaTimeRange(start: .zero, duration: one)
        try reader.startReading()
        #expect(try output.remaining().last?.timeRange.end == one)
    }

    @Test func anOutputWithoutAReaderSaysSo() throws {
        let asset = try Media.asset("av.mp4")
        let output = TrackOutput(track: try Media.track(asset, .audio), audioSettings: sound)
        #expect(errorCode { try output.nextSampleBuffer() } == .invalidArgument)
        try AssetReader(asset: asset).add(output)
        #expect(errorCode { try output.nextSampleBuffer() } == .invalidArgument)
    }
}

// MARK: - Cancelling

extension AssetReaderTests {
    @Test func cancellingBeforeTheStart() throws {
        let asset = try Media.asset("av.mp4")
        let reader = try AssetReader(asset: asset)
        let output = TrackOutput(track: try Media.track(asset, .audio), audioSettings: sound)
        try reader.add(output)
        reader.cancelReading()
        reader.cancelReading()
        #expect(reader.status == .cancelled)
        #expect(errorCode { try reader.startReading() } == .cancelled)
        #expect(reader.status == .cancelled)
    }

    @Test func cancellingMidWayEndsAllOutputs() throws {
        let asset = try Media.asset("av.mp4")
        let reader = try AssetReader(asset: asset)
        let output = TrackOutput(track: try Media.track(asset, .audio), audioSettings: sound)
        let other = TrackOutput(track: try Media.track(asset, .video), videoSettings: VideoSettings())
        try reader.add(output)
        try reader.add(other)
        try reader.startReading()
        #expect(try output.nextSampleBuffer() != nil)
        #expect(try other.nextSampleBuffer() != nil)
        try Background { reader.cancelReading() }.value()
        reader.cancelReading()
        #expect(errorCode { try output.nextSampleBuffer() } == .cancelled)
        #expect(errorCode { try other.nextSampleBuffer() } == .cancelled)
        #expect(errorCode { try output.nextSampleBuffer() } == .cancelled)
        #expect(reader.status == .cancelled)
        #expect(reader.error == nil)
    }

    @Test func cancellingAfterTheEndChangesNothing() throws {
        let asset = try Media.asset("pcm-s16-mono.wav")
        let output = TrackOutput(track: try Media.track(asset, .audio), audioSettings: sound)
        let reader = try Media.start(output, of: asset)
        _ = try output.remaining()
        reader.cancelReading()
        #expect(reader.status == .completed)
        #expect(try output.nextSampleBuffer() == nil)
    }

    @Test func cancellingWhileAnotherThreadPulls() throws {
        for delay in [0, 200, 2000, 10_000] as [UInt32] {
            let asset = try Media.asset("av.mp4")
            let output = TrackOutput(track: try Media.track(asset, .video), videoSettings: VideoSettings())
            let reader = try Media.start(output, of: asset)
            let pulling = Background { errorCode { try output.remaining() } }
            usleep(delay)
            reader.cancelReading()
            let code = try pulling.value(within: 10)
            #expect(code == .cancelled || (code == nil && reader.status == .completed))
        }
    }

    @Test func cancellingASilentPipe() throws {
        // The header and most of the sound, then nothing: a pull blocks until it is cancelled.
        let (reading, writing) = try FileDescriptor.pipe()
        defer { try? reading.close() }
        let bytes = try Fixtures.bytes("pcm-s16be.aiff").prefix(500_000)
        let feeding = Background { try writing.writeAll(bytes) }
        let asset = Asset(descriptor: reading)
        let track = try Background { try Media.track(asset, .audio) }.value(within: 10)
        let output = TrackOutput(track: track, audioSettings: sound)
        let reader = try Media.start(output, of: asset)
        let pulling = Background { errorCode { try output.remaining() } }
        _ = try feeding.value()
        usleep(200_000)
        let begun = Date()
        reader.cancelReading()
        #expect(try pulling.value(within: 5) == .cancelled)
        #expect(Date().timeIntervalSince(begun) < 1)
        #expect(reader.status == .cancelled)
        try writing.close()
    }

    @Test func cancellingAFailedReaderLeavesItFailed() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("noise.mp4", Damage.noiseInMedia("av.mp4"))
        let asset = Asset(path: FilePath(path))
        let output = TrackOutput(track: try Media.track(asset, .video), videoSettings: VideoSettings())
        let reader = try Media.start(output, of: asset)
        let code = errorCode { try output.remaining() }
        try #require(code == .damaged)
        reader.cancelReading()
        #expect(reader.status == .failed)
        #expect(reader.error?.code == .damaged)
        #expect(reader.error?.path == path)
        #expect(errorCode { try output.nextSampleBuffer() } == .damaged)
    }
}
