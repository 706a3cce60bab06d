import AssetKit
import SystemPackage
import TestSupport
import Testing

/// Stored samples against `ffprobe -show_packets`.
@Suite struct StoredPipelineTests {
    private struct Packet: Equatable {
        var pts: Int64?
        var dts: Int64?
        var size: Int
        var isKey: Bool
    }

    /// The media time at which the edit list of a fixture begins, in ticks; the picture before it is on screen there.
    private static let editedInsidePictures: [String: Int64] = ["mid-gop-edit.mp4": 4864]

    /// ffprobe's packets of a stream, and the stream's time base.
    private func probed(_ fixture: String, stream: Int) throws -> (packets: [Packet], base: Rational) {
        let path = try Fixtures.path(fixture)
        let base = try FFmpeg.probe(
            ["-select_streams", "\(stream)", "-show_entries", "stream=time_base", "-of", "csv=p=0", path])
        // ffprobe's choice of what an edit list shows depends on its version where the list begins inside a picture.
        let edited = Self.editedInsidePictures[fixture]
        let lines = try FFmpeg.probe(
            (edited == nil ? [] : ["-ignore_editlist", "1"])
                // PCM is cut into packets of one size here, and by ffprobe as its version has it.
                + (fixture.hasSuffix(".wav") ? ["-max_size", "4096"] : [])
                + [
                    "-select_streams", "\(stream)", "-show_entries", "packet=pts,dts,size,flags", "-of", "csv=p=0",
                    path,
                ])
        var packets = lines.map { line in
            let fields = line.split(separator: ",", omittingEmptySubsequences: false)
            return Packet(
                pts: Int64(fields[0]), dts: Int64(fields[1]), size: Int(fields[2]) ?? -1,
                isKey: fields[3].hasPrefix("K"))
        }
        if let edited {
            let onScreen = packets.compactMap(\.pts).filter { $0 <= edited }.max()
            for place in packets.indices {
                let pts = packets[place].pts
                packets[place].pts = pts == onScreen ? 0 : pts.map { $0 - edited }
                packets[place].dts = packets[place].dts.map { $0 - edited }
            }
        }
        return (packets, try #require(base.first.flatMap { Rational($0.filter { $0 != "," }) }))
    }

    /// The container's time that is the presentation's zero, by ffprobe: 0 where the container's own rules say so.
    private func origin(_ fixture: String) throws -> MediaTime {
        if [".mp4", ".mov", ".m4a", ".mkv"].contains(where: fixture.hasSuffix) { return .zero }
        let lines = try FFmpeg.probe(
            ["-show_entries", "stream=time_base,start_pts", "-of", "csv=p=0", Fixtures.path(fixture)])
        let starts = lines.compactMap { line -> MediaTime? in
            let fields = line.split(separator: ",")
            guard fields.count == 2, let base = Rational(String(fields[0])), let ticks = Int64(fields[1]) else {
                return nil
            }
            return MediaTime(value: ticks * base.num, timescale: Int32(clamping: base.den))
        }
        return starts.min() ?? .zero
    }

    static let fixtures = [
        "av.mp4", "h264-opengop.mp4", "late-audio.mp4", "late-video.mp4", "mid-gop-edit.mp4", "fragmented.mp4",
        "many-tracks.mp4", "many-tracks.mkv", "timecode-df.mov", "mp3-lame.mp3", "opus.opus", "artwork.m4a",
        "mjpeg.avi", "pcm-s16-stereo.wav",
    ]

    @Test(arguments: fixtures) func areFFprobesPackets(_ fixture: String) throws {
        let asset = try Media.asset(fixture)
        let origin = try origin(fixture)
        for track in try asset.loadNow(.tracks) {
            let (packets, base) = try probed(fixture, stream: track.index)
            let buffers = try Media.all(TrackOutput(track: track), of: asset)
            let name: Comment = "\(fixture) track \(track.index)"
            func time(_ ticks: Int64?) -> MediaTime? {
                ticks.map { MediaTime(value: $0 * base.num, timescale: Int32(clamping: base.den)) - origin }
            }
            #expect(buffers.count == packets.count, name)
            #expect(buffers.map { $0.storedSample?.size } == packets.map(\.size), name)
            #expect(buffers.map(\.presentationTime) == packets.map { time($0.pts) ?? .indefinite }, name)
            #expect(buffers.map(\.decodeTime) == packets.map { time($0.dts) }, name)
            #expect(buffers.map(\.isSync) == packets.map(\.isKey), name)
        }
    }

    @Test func bytesAreTheFiles() throws {
        let asset = try Media.asset("av.mp4")
        let file = try Fixtures.bytes("av.mp4")
        let buffers = try Media.all(TrackOutput(track: try Media.track(asset, .audio)), of: asset)
        for buffer in buffers {
            let sample = try #require(buffer.storedSample)
            let place = Int(try #require(sample.filePosition))
            sample.withBytes { span in
                #expect(span.withUnsafeBytes { Array($0) } == Array(file[place..<place + sample.size]))
            }
        }
    }

    @Test(arguments: ["av.mp4", "h264-aac.mkv", "mpegts-10s.ts"]) func aRangeKeepsWhatIsShownInIt(_ fixture: String)
        throws
    {
        let asset = try Media.asset(fixture)
        let range = MediaTimeRange(start: MediaTime(value: 7, timescale: 5), end: MediaTime(value: 2, timescale: 1))
        for type in [MediaType.video, .audio] {
            let track = try Media.track(asset, type)
            let all = try Media.all(TrackOutput(track: track), of: asset)
            let part = try Media.all(TrackOutput(track: track), of: asset, in: range)
            let wanted = all.filter { $0.presentationTime < range.end && $0.timeRange.end > range.start }
            let shown = part.filter { !$0.attachments.contains(.isNotShown) }
            #expect(shown.map(\.presentationTime) == wanted.map(\.presentationTime))
            #expect(shown.map { $0.storedSample?.size } == wanted.map { $0.storedSample?.size })
            // What else comes is what lies before the first in the file, from a sync sample on.
            let first = try #require(all.firstIndex { $0.decodeTime == part.first?.decodeTime })
            #expect(part.map { $0.storedSample?.size } == all[first..<first + part.count].map { $0.storedSample?.size })
            if type == .video {
                #expect(part.first?.isSync == true)
                #expect(part.filter { $0.isSync && $0.presentationTime <= range.start }.count == 1)
            }
        }
    }

    /// In the midst of a group of 24 pictures, at a B picture that needs one after it: what comes is enough to decode the
    /// same pictures as without a range.
    @Test func aRangeIsEnoughToDecodeIt() throws {
        let folder = try TemporaryFolder()
        let asset = try Media.asset("h264-bframes.mp4")
        let track = try Media.track(asset, .video)
        let frame = MediaTime(value: 1, timescale: 25)
        for (from, to) in [(38, 41), (37, 45), (26, 27), (60, 61)] as [(Int64, Int64)] {
            let range = MediaTimeRange(start: frame.multiplied(by: from), end: frame.multiplied(by: to))
            let buffers = try Media.all(TrackOutput(track: track), of: asset, in: range)
            #expect(buffers.filter { !$0.attachments.contains(.isNotShown) }.count == Int(to - from))
            let writer = try AssetWriter(path: .init(folder.path("\(from).mov")), fileType: .mov)
            let input = AssetWriterInput(copying: track)
            try writer.add(input)
            try writer.startWriting()
            try writer.startSession(atSourceTime: range.start)
            try writer.endSession(atSourceTime: range.end)
            for buffer in buffers { try input.appendNow(buffer) }
            try writer.finishWritingNow()
            func sums(_ arguments: [String]) throws -> [Substring] {
                let table = try FFmpeg.run(arguments + ["-fps_mode", "passthrough", "-f", "framemd5", "-"])
                return String(decoding: table, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
                    .compactMap { $0.split(separator: ",").last }
            }
            let all = try sums(["-i", Fixtures.path("h264-bframes.mp4"), "-map", "0:v"])
            #expect(try sums(["-i", folder.path("\(from).mov"), "-map", "0:v"]) == Array(all[Int(from)..<Int(to)]))
        }
    }

    @Test func chapterTextIsThere() throws {
        // libavformat discards this track, which it has read for its chapters. Two bytes of length, the text, and an
        // `encd` box of 12 bytes (QuickTime File Format, Text Sample Data).
        let asset = try Media.asset("chapters.mp4")
        let track = try #require(try asset.loadNow(.tracks).last)
        let buffers = try Media.all(TrackOutput(track: track), of: asset)
        #expect(buffers.map { $0.storedSample?.size } == [2 + 9 + 12, 2 + 3 + 12])
        #expect(buffers.map(\.presentationTime) == [.zero, MediaTime(value: 3, timescale: 2)])
    }

    @Test func subtitlesAreText() throws {
        let asset = try Media.asset("many-tracks.mkv")
        let buffers = try Media.all(TrackOutput(track: try Media.track(asset, .subtitle)), of: asset)
        let texts = buffers.compactMap { buffer in
            buffer.storedSample?.withBytes { String(decoding: $0.withUnsafeBytes { Array($0) }, as: UTF8.self) }
        }
        #expect(texts == ["First line", "Second line"])
        #expect(buffers.map(\.duration) == [MediaTime(value: 1, timescale: 1), MediaTime(value: 800, timescale: 1000)])
    }
}
