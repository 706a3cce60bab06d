import AssetKit
import TestSupport
import Testing

@Suite struct AudioBufferTests {
    private func buffer(_ settings: AudioSettings) throws -> AudioBuffer {
        let asset = try Media.asset("pcm-s16-stereo.wav")
        let output = TrackOutput(track: try Media.track(asset, .audio), audioSettings: settings)
        let reader = try Media.start(output, of: asset)
        let buffer = try #require(try output.nextSampleBuffer())
        withExtendedLifetime(reader) {}
        return try #require(buffer.audioBuffer)
    }

    @Test func interleavedSoundHasOnePlane() throws {
        let sound = try buffer(AudioSettings(sampleFormat: .int16))
        #expect(sound.channelLayout.channels == 2)
        #expect(sound.sampleRate == 48_000)
        #expect(sound.withBytes { $0.byteCount } == sound.sampleCount * 4)
        #expect(sound.withSamples(of: Int16.self) { $0.count } == sound.sampleCount * 2)
        for plane in [1, -1, 8, Int.max] { #expect(sound.withBytes(plane: plane) { $0.byteCount } == 0) }
    }

    @Test func planarSoundHasAPlaneAChannel() throws {
        let sound = try buffer(AudioSettings(sampleFormat: .float32, isPlanar: true))
        for plane in [0, 1] {
            #expect(sound.withSamples(of: Float.self, plane: plane) { $0.count } == sound.sampleCount)
        }
        #expect(sound.withSamples(of: Float.self, plane: 2) { $0.count } == 0)
    }

    @Test func anotherTypeIsEmpty() throws {
        let whole = try buffer(AudioSettings(sampleFormat: .int32))
        #expect(whole.withSamples(of: Int32.self) { $0.count } > 0)
        // Of the same size, but other numbers.
        #expect(whole.withSamples(of: Float.self) { $0.count } == 0)
        #expect(whole.withSamples(of: UInt32.self) { $0.count } == 0)
        #expect(whole.withSamples(of: Int16.self) { $0.count } == 0)
    }
}
