import AssetKit
import Glibc
import Inspection
import MediaBase
import SystemPackage
import TestSupport
import Testing

@Suite struct PassTests {
    /// Keeps the bytes of all samples of its tracks, each with its time.
    private final class Keeper: PassConsumer {
        struct Piece: Equatable {
            let track: Int
            let time: MediaTime
            let bytes: [UInt8]
        }

        let inputs: [PassInput]
        let delay: useconds_t
        let maximum: Int
        let failsAt: Int
        private(set) var pieces: [Piece] = []

        init(_ inputs: [PassInput], delay: useconds_t = 0, maximum: Int = .max, failsAt: Int = .max) {
            self.inputs = inputs
            self.delay = delay
            self.maximum = maximum
            self.failsAt = failsAt
        }

        func take(_ samples: DeliveredSamples<Never>, of track: AssetTrack) throws(MediaError) -> Bool {
            guard case .samples(let buffer) = samples else { return true }
            if delay > 0 { usleep(delay) }
            if pieces.count == failsAt { throw MediaError(.unsupported, "too much") }
            var bytes: [UInt8] = []
            func add(_ span: RawSpan) { span.withUnsafeBytes { bytes += $0 } }
            if let audio = buffer.audioBuffer {
                for plane in 0..<(audio.isPlanar ? audio.channelLayout.channels : 1) {
                    audio.withBytes(plane: plane, add)
                }
            } else if let pixels = buffer.pixelBuffer {
                pixels.withPlane(0) { span, _ in add(span) }
            }
            pieces.append(Piece(track: track.index, time: buffer.presentationTime, bytes: bytes))
            return pieces.count < maximum
        }
    }

    private static func inputs(_ asset: Asset) throws -> (video: PassInput, audio: PassInput) {
        let tracks = try asset.loadNow(.tracks)
        let video = try #require(tracks.first { $0.mediaType == .video })
        let audio = try #require(tracks.first { $0.mediaType == .audio })
        return (PassInput(video, .video(VideoSettings())), PassInput(audio, .audio(AudioSettings())))
    }

    @Test(arguments: ["av.mp4", "h264-aac.mkv", "mpegts-10s.ts", "late-audio.mp4", "late-video.mp4"])
    func whatAConsumerGetsDoesNotDependOnTheOthers(_ fixture: String) throws {
        let asset = Asset(path: FilePath(try Fixtures.path(fixture)))
        let (video, audio) = try Self.inputs(asset)
        func alone(_ inputs: [PassInput]) throws -> [Keeper.Piece] {
            let keeper = Keeper(inputs)
            let pass = Pass(asset)
            pass.join(keeper)
            try pass.run()
            return keeper.pieces
        }
        let pictures = try alone([video])
        let sound = try alone([audio])
        #expect(pictures.count > 20 && sound.count > 20)

        let keepers = [
            Keeper([video]), Keeper([audio]), Keeper([video], delay: 2000), Keeper([audio], maximum: 3),
            Keeper([video, audio]),
        ]
        let pass = Pass(asset)
        for keeper in keepers { pass.join(keeper) }
        try pass.run()
        #expect(keepers[0].pieces == pictures && keepers[2].pieces == pictures)
        #expect(keepers[1].pieces == sound && keepers[3].pieces == Array(sound.prefix(3)))
        #expect(keepers[4].pieces.filter { $0.track == video.track.index } == pictures)
        #expect(keepers[4].pieces.filter { $0.track == audio.track.index } == sound)
        #expect(pass.damage == DamageReport())
    }

    @Test(arguments: [1, 3]) func theFirstFailureEndsThePass(consumers: Int) throws {
        let asset = Asset(path: FilePath(try Fixtures.path("av.mp4")))
        let (video, audio) = try Self.inputs(asset)
        let pass = Pass(asset)
        pass.join(Keeper([video], failsAt: 5))
        let others = (1..<consumers).map { _ in Keeper([audio], delay: 1000) }
        for other in others { pass.join(other) }
        let error = #expect(throws: MediaError.self) { try pass.run() }
        #expect(error?.code == .unsupported)
    }

    @Test func nobodyWaitsForConsumersThatHaveEnough() throws {
        let asset = Asset(path: FilePath(try Fixtures.path("av.mp4")))
        let (video, audio) = try Self.inputs(asset)
        let keepers = [Keeper([video], maximum: 2), Keeper([audio], maximum: 1)]
        let pass = Pass(asset)
        for keeper in keepers { pass.join(keeper) }
        var told = 0.0
        try pass.run { _, seconds in told = max(told, seconds) }
        #expect(keepers.map(\.pieces.count) == [2, 1])
        #expect(told < 2)
    }
}
