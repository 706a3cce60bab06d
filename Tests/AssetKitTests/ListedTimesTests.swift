import AssetKit
import SystemPackage
import TestSupport
import Testing

/// Until when last samples are shown by the tables of MP4 and CAF, whatever the version of FFmpeg makes of them.
@Suite struct ListedTimesTests {
    /// The durations of a track's samples, by when they are shown.
    private func durations(_ path: String, _ type: MediaType) throws -> [MediaTime: MediaTime] {
        let asset = Asset(path: FilePath(path))
        let output = TrackOutput(track: try Media.track(asset, type))
        let samples = try Media.all(output, of: asset)
        return Dictionary(uniqueKeysWithValues: samples.map { ($0.presentationTime, $0.duration) })
    }

    /// Its durations add up to 261,000 ticks, as decoded; shown, the media lasts 266,400 by its header, or by its edit list alone,
    /// as the version of ffmpeg wrote it.
    @Test func picturesInAnotherOrderEndWithTheMedia() throws {
        let durations = try durations(Fixtures.path("vfr.mp4"), .video)
        let last = try #require(durations.max { $0.key < $1.key })
        #expect(last.key == MediaTime(value: 264_600, timescale: 90_000))
        #expect(last.value == MediaTime(value: 1800, timescale: 90_000))
        #expect(durations.allSatisfy { $0.key + $0.value <= MediaTime(value: 266_400, timescale: 90_000) })
    }

    /// 54 packets of 4096, of which the last is cut by the packet table only where it is heard.
    @Test(.enabled(if: Corpus.folder != nil)) func packetsOfCAFLastAsLongAsTheirTableSays() throws {
        let durations = try durations(try #require(Corpus.path("audiofile/sine20.caf")), .audio)
        let last = try #require(durations.max { $0.key < $1.key })
        #expect(durations.count == 54)
        #expect(last.key == MediaTime(value: 53 * 4096, timescale: 44_100))
        #expect(last.value == MediaTime(value: 4096, timescale: 44_100))
    }
}
