import Bitstreams
import LibAV
import MediaBase
import SystemPackage
import TestSupport
import Testing

@testable import AssetKit

/// What is told of pictures by their header alone, against what libavcodec finds out by decoding.
@Suite struct PictureFactsTests {
    private static let names = [
        "av.mp4", "h264-aac.mkv", "h264-bframes.mp4", "h264-opengop.mp4", "anamorphic.mp4", "rotated-90.mov",
        "mid-gop-edit.mp4", "late-video.mp4", "h264-interlaced.mp4", "vfr.mp4", "many-tracks.mp4", "fragmented.mp4",
    ]

    private func asset(_ name: String, isForDescription: Bool) throws -> Asset {
        var options = Asset.Options()
        options.isForDescription = isForDescription
        return Asset(path: FilePath(try Fixtures.path(name)), options: options)
    }

    @Test(arguments: names) func headersSayWhatDecodingDoes(name: String) throws {
        let described = try asset(name, isForDescription: true).loadNow(.tracks)
        let wanted = try asset(name, isForDescription: false).loadNow(.tracks)
        func comparable(_ track: AssetTrack) -> [FormatDescription] {
            track.formatDescriptions.map {
                var format = $0
                // How far pictures are reordered matters to decoders alone.
                format.video?.reorders = false
                return format
            }
        }
        #expect(described.map(comparable) == wanted.map(comparable))
        #expect(described.map(\.timeRange) == wanted.map(\.timeRange))
        #expect(described.map(\.nominalFrameRate) == wanted.map(\.nominalFrameRate))
        #expect(described.map(\.averageFrameRate) == wanted.map(\.averageFrameRate))
    }

    @Test func whatIsDescribedCanBeRead() throws {
        let file = try asset("h264-bframes.mp4", isForDescription: true)
        _ = try file.loadNow(.tracks)
        let reading = try file.takeFile(Cancellation())
        #expect(reading.isReadyForReading && reading.stream(0)?.format.video?.reorders == true)
    }

    @Test func onlyWhatIsPlainIsTold() throws {
        let format = try #require(
            try asset("h264-bframes.mp4", isForDescription: false).loadNow(.tracks).first?.formatDescriptions.first)
        let facts = try #require(PictureFacts(format, sample: []))
        #expect(facts.video.pixelFormat?.rawValue == "yuv420p" && facts.profile == 100)
        let sets = ParameterSets(format.extradata, isHEVC: false)
        let unit = try #require(sets.units.first { ($0.first ?? 0) & 0x1F == 7 })
        func sample(_ unit: some Collection<UInt8>) -> [UInt8] {
            [0, 0, 0, UInt8(truncatingIfNeeded: unit.count)] + unit
        }
        // The same parameter set in the sample is no reason to doubt; another one is.
        #expect(PictureFacts(format, sample: sample(unit)) != nil)
        #expect(PictureFacts(format, sample: sample(unit.dropLast())) == nil)
        var other = format
        other.video?.encodedSize = Dimensions(width: 16, height: 16)
        #expect(PictureFacts(other, sample: []) == nil)
        other = format
        other.extradata = Array(format.extradata.prefix(10))
        #expect(PictureFacts(other, sample: []) == nil)
        other.codec = "hevc"
        #expect(PictureFacts(other, sample: []) == nil)
    }
}
