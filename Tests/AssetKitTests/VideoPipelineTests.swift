import AssetKit
import TestSupport
import Testing

/// Pictures through a reader against `golden/frames`: ffprobe's times, and the hashes of ffmpeg's pixels.
@Suite struct VideoPipelineTests {
    private func buffers(_ table: FrameTable, in range: MediaTimeRange? = nil) throws -> [SampleBuffer] {
        let asset = try Media.asset(table.fixture)
        let track = try Media.track(asset, .video, table.track)
        return try Media.all(TrackOutput(track: track, videoSettings: VideoSettings()), of: asset, in: range)
    }

    @Test func hasTables() { #expect(FrameTable.all.count > 30) }

    @Test(arguments: FrameTable.all) func everyPictureComesAtItsTime(_ table: FrameTable) throws {
        let buffers = try buffers(table)
        #expect(buffers.map(\.presentationTime) == table.frames.map(\.time))
        for (index, buffer) in buffers.enumerated() {
            guard let end = table.end(of: index) else { continue }
            #expect(buffer.timeRange.end == end, "\(table) frame \(index)")
        }
        #expect(try #require(buffers.last).duration > .zero)
        #expect(try md5(buffers.compactMap(\.pixelBuffer)) == table.sums())
        #expect(buffers.map(\.isSync) == table.frames.map(\.isKey))
    }

    @Test(arguments: FrameTable.all) func aRangeGivesWhatIsOnScreenInIt(_ table: FrameTable) throws {
        let sums = try table.sums()
        let first = try #require(table.frames.first).time
        let length = try #require(table.frames.last).time - first
        // Places in hundredths of the length: mid-group ones, the start, beyond the end.
        for (from, to) in [(0, 3), (13, 40), (37, 38), (49, 52), (62, 90), (88, 250), (100, 101)] {
            let start = first + length.multiplied(by: Int64(from), dividedBy: 100)
            let end = first + length.multiplied(by: Int64(to), dividedBy: 100)
            let wanted = table.frames.indices.filter { index in
                table.frames[index].time < end && (table.end(of: index).map { $0 > start } ?? true)
            }
            let got = try buffers(table, in: MediaTimeRange(start: start, end: end))
            #expect(got.map(\.presentationTime) == wanted.map { table.frames[$0].time }, "\(table) \(from) to \(to)")
            #expect(try md5(got.compactMap(\.pixelBuffer)) == wanted.map { sums[$0] }, "\(table) \(from) to \(to)")
        }
    }

    @Test(arguments: ["h264-opengop.mp4", "mpegts-10s.ts", "vfr.mp4"])
    func boundsOnFramesAreTheirs(_ fixture: String) throws {
        let table = try FrameTable(fixture)
        let range = MediaTimeRange(start: table.frames[7].time, end: table.frames[9].time)
        #expect(try buffers(table, in: range).map(\.presentationTime) == [table.frames[7].time, table.frames[8].time])
    }

    @Test func emptyRangesHoldNothing() throws {
        let table = try FrameTable("h264-bframes.mp4")
        for start in [0, 1, 2, 99] as [Int64] {
            // 1/100 s after a picture's time: that picture is on screen, but at no moment of an empty range.
            let time = MediaTime(value: start * 100 + 1, timescale: 100)
            #expect(try buffers(table, in: MediaTimeRange(start: time, duration: .zero)).isEmpty)
        }
        let before = MediaTimeRange(
            start: MediaTime(value: -2, timescale: 1), duration: MediaTime(value: 1, timescale: 1))
        #expect(try buffers(table, in: before).isEmpty)
        let after = MediaTimeRange(start: MediaTime(value: 60, timescale: 1), duration: .positiveInfinity)
        #expect(try buffers(table, in: after).isEmpty)
    }

    @Test func pixelsAndSizeAreAsAsked() throws {
        let asset = try Media.asset("h264-bframes.mp4")
        let settings = VideoSettings(pixelFormat: .rgba, dimensions: Dimensions(width: 80, height: 46))
        let output = TrackOutput(track: try Media.track(asset, .video), videoSettings: settings)
        for buffer in try Media.all(output, of: asset) {
            let picture = try #require(buffer.pixelBuffer)
            #expect(picture.pixelFormat == .rgba)
            #expect(picture.dimensions == Dimensions(width: 80, height: 46))
            #expect(picture.packedPlane(0).count == 80 * 46 * 4)
        }
    }
}
