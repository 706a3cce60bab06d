import AssetKit
import MediaBase
import TestSupport
import Testing

/// Expected values follow from the commands in `scripts/fixtures` that made the files.
@Suite struct PacketStatisticsTests {
    private func statistics(_ fixture: String, _ type: MediaType) throws -> PacketStatistics {
        let asset = try Media.asset(fixture, isPrecise: true)
        let track = try Media.track(asset, type)
        return try #require(try asset.packetStatistics()[track.index])
    }

    @Test func framesAreCountedAndMeasured() throws {
        let video = try statistics("h264-bframes.mp4", .video)
        let packets = try FFmpeg.probe([
            "-select_streams", "v:0", "-show_entries", "packet=size,flags", "-of", "csv=p=0",
            try Fixtures.path("h264-bframes.mp4"),
        ])
        #expect(video.packetCount == packets.count)
        #expect(video.byteCount == packets.reduce(0) { $0 + (Int64($1.prefix { $0 != "," }) ?? 0) })
        #expect(video.keyframeCount == packets.count { $0.contains("K") })
        #expect(video.frameDuration.minimum == video.frameDuration.maximum)
        #expect(video.isEven == true && video.gapCount == 0)
    }

    @Test func unevenFramesAreTold() throws {
        let video = try statistics("vfr.mp4", .video)
        let shortest = try #require(video.frameDuration.minimum)
        let longest = try #require(video.frameDuration.maximum)
        #expect(shortest < longest && video.isEven == false)
    }

    @Test func aHoleInTheSoundIsAGap() throws {
        let audio = try statistics("gap.mkv", .audio)
        #expect(audio.gapCount == 1)
        let gap = try #require(audio.gaps.first)
        #expect(gap.duration > MediaTime(value: 1, timescale: 100))
    }

    @Test func ratesCoverTheTrack() throws {
        let audio = try statistics("mpegts-10s.ts", .audio)
        #expect(audio.rates.interval == 1)
        let end = try #require(audio.range?.end)
        #expect(audio.rates.bytes.count == Int(end.seconds.rounded(.up)))
        #expect(audio.rates.bytes.reduce(0, +) == audio.byteCount)
    }
}
