import AssetKit
import MediaBase
import SystemPackage
import TestSupport
import Testing

@testable import Inspection

/// Expected times are ffprobe's, from the golden tables.
@Suite struct FrameTimesTests {
    private func frames(_ name: String) throws -> FrameTimes {
        let asset = Asset(path: FilePath(try Fixtures.path(name)))
        let track = try TrackSelector.standardTrack(of: .video, in: asset.loadNow(.tracks))
        return FrameTimes(asset, track: track, highest: 100_000)
    }

    @Test(arguments: ["h264-bframes.mp4", "h264-opengop.mp4", "mid-gop-edit.mp4", "h264-aac.mkv", "gif.gif"])
    func timesAreThoseOfTheFrames(name: String) throws {
        let golden = try GoldenTable.frames(name).rows.map { try $0.rational("time") }
        var frames = try frames(name)
        for (number, time) in golden.enumerated() {
            let found = try frames.time(of: Int64(number))
            #expect(Rational(found) == Rational(time.numerator, time.denominator), "frame \(number)")
        }
        let error = #expect(throws: MediaError.self) { try frames.time(of: Int64(golden.count)) }
        #expect(error?.code == .outOfRange)
    }

    @Test(arguments: ["h264-bframes.mp4", "h264-opengop.mp4", "mid-gop-edit.mp4", "hevc-10bit.mp4"])
    func storedTimesAreThoseThatDecodingGives(name: String) throws {
        let frames = try frames(name)
        #expect(try frames.storedTimes() == frames.decodedTimes())
    }

    @Test func samplesThatMayBeNoPicturesAreDecoded() throws {
        #expect(try frames("h264-interlaced.mp4").storedTimes() == nil)
        #expect(try frames("h264-opengop.ts").storedTimes() == nil)
    }
}
