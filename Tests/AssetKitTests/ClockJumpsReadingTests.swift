import AssetKit
import SystemPackage
import TestSupport
import Testing

/// Transport and program streams that were joined byte by byte: all pictures and samples, one after the other.
@Suite struct ClockJumpsReadingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Makes two recordings of 50 numbered pictures, the second of which starts at another time, and joins them.
    private func joined(_ kind: String, secondStart: Int) throws -> (asset: Asset, rows: [[UInt8]]) {
        var bytes: [UInt8] = []
        var rows: [[UInt8]] = []
        for (number, start) in [0, secondStart].enumerated() {
            let name = "\(number).\(kind)"
            let codec = kind == "mpg" ? ["-c:v", "mpeg2video", "-q:v", "2"] : []
            try NumberedPictures.make(
                folder.path(name), source: number + 1, rate: "25", count: 50,
                options: codec + ["-output_ts_offset", "\(start)"])
            bytes += try folder.bytes(name)
            rows += try NumberedPictures.rows(folder.path(name))
        }
        return (Asset(path: FilePath(try folder.write("joined.\(kind)", bytes))), rows)
    }

    @Test(arguments: [0, 20, 3600])
    func picturesFollowEachOther(secondStart: Int) throws {
        let (asset, rows) = try joined("ts", secondStart: secondStart)
        let numbers = rows.map { NumberedPictures.number(of: $0) }
        #expect(numbers == Array(256..<306) + Array(512..<562))
        let track = try Media.track(asset, .video)
        #expect(track.timeRange == MediaTimeRange(start: .zero, duration: MediaTime(value: 4, timescale: 1)))
        #expect(try asset.loadNow(.warnings).contains { $0.hasPrefix("the clock jumps at 00:00:02.000;") })
        let generator = ImageGenerator(asset: asset)
        generator.configuration.requestedTimeToleranceBefore = .zero
        generator.configuration.requestedTimeToleranceAfter = .zero
        for place in [99, 51, 50, 49, 3, 75] {
            let time = MediaTime(value: Int64(place), timescale: 25)
            let image = try generator.pixelBuffer(at: time)
            #expect(image.actualTime == time && Numbered.number(of: image.picture) == numbers[place])
        }
        let output = TrackOutput(track: track, videoSettings: VideoSettings())
        let samples = try Media.all(output, of: asset)
        #expect(samples.map(\.presentationTime) == (0..<100).map { MediaTime(value: $0, timescale: 25) })
    }

    /// Of MPEG-2's pictures in program streams only some have times; libavformat gets those of others wrong after a jump.
    @Test func allPicturesOfProgramStreams() throws {
        let (asset, rows) = try joined("mpg", secondStart: 0)
        let output = TrackOutput(track: try Media.track(asset, .video), videoSettings: VideoSettings())
        let numbers = try Media.all(output, of: asset).compactMap { sample in
            sample.pixelBuffer.map { Numbered.number(of: $0) }
        }
        #expect(numbers == rows.map { NumberedPictures.number(of: $0) })
    }
}
