import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tracks of data, timecode and text: written from bytes, and copied to other files.
///
/// ffprobe reads what was written.
@Suite struct CopiedTracksTests {
    /// Timed metadata with one key, by the QuickTime File Format: the fields of its sample entry, and a sample's bytes.
    private static let keys: [UInt8] =
        [0, 0, 0, 0x28] + Array("keys".utf8) + [0, 0, 0, 0x20, 0, 0, 0, 1, 0, 0, 0, 0x18] + Array("keydmdta".utf8)
        + Array("com.test".utf8)
    private static let metadata = FormatDescription(
        mediaType: .data, codec: "unknown", codecTag: "mebx", extradata: keys)

    private static func sample(_ number: UInt8, at start: Int64, for duration: Int64) throws -> SampleBuffer {
        try SampleBuffer(
            stored: [0, 0, 0, 9 + number, 0, 0, 0, 1] + [UInt8](repeating: number, count: Int(number) + 1),
            formatDescription: metadata, presentationTime: MediaTime(value: start, timescale: 600),
            duration: MediaTime(value: duration, timescale: 600), isSync: true)
    }

    /// Writes the video of a fixture, and four samples of metadata that begin late.
    private func writeMetadata(_ fixture: String = "timecode-25.mov", to file: Written) throws {
        let asset = try Media.asset(fixture)
        let track = try Media.track(asset, .video)
        let video = AssetWriterInput(copying: track)
        let data = AssetWriterInput(mediaType: .data, sourceFormatHint: Self.metadata)
        data.addTrackAssociation(withTrackOf: video, type: "cdsc")
        data.name = "Numbers"
        try file.write(.mov, [video, data]) { _ in
            for buffer in try Media.all(TrackOutput(track: track), of: asset) { try video.appendNow(buffer) }
            video.markAsFinished()
            for (number, times) in [(150, 150), (300, 75), (375, 75), (450, 150)].enumerated() {
                try data.appendNow(Self.sample(UInt8(number), at: Int64(times.0), for: Int64(times.1)))
            }
            data.markAsFinished()
        }
    }

    /// Time, duration, size and digest of the packets of a stream, as ffprobe prints them.
    private static func packets(_ path: String, _ stream: String) throws -> [String] {
        try FFmpeg.probe([
            "-select_streams", stream, "-show_packets", "-show_data_hash", "md5", "-show_entries",
            "packet=pts_time,duration_time,size,data_hash", "-of", "csv=p=0", path,
        ])
    }

    private static func tags(_ path: String) throws -> [String] {
        try FFmpeg.probe(["-show_entries", "stream=codec_tag_string", "-of", "csv=p=0", path]).map {
            String($0.prefix { $0 != "," })
        }
    }

    @Test func dataIsWrittenFromBytes() throws {
        let file = try Written("data.mov")
        try writeMetadata(to: file)
        #expect(try Self.tags(file.path) == ["avc1", "mebx", "tmcd"])
        let times = try file.probe("1", "packet=pts_time,duration_time,size").map { $0.split(separator: ",") }
        #expect(times.map { $0[0] } == ["0.250000", "0.500000", "0.625000", "0.750000"])
        // ffprobe ends the last packet with the media's duration, which does not include the late start.
        #expect(times.map { $0[1] }.dropLast() == ["0.250000", "0.125000", "0.125000"])
        #expect(try file.probe("1", "stream=duration") == ["0.750000"])
        #expect(times.map { $0[2] } == ["9", "10", "11", "12"])
        let (asset, track) = (file.asset, try Media.track(file.asset, .data))
        #expect(track.formatDescriptions.first?.extradata == Self.keys)
        #expect(track.associatedTracks == ["cdsc": [1]] && track.timeRange.start == MediaTime(value: 1, timescale: 4))
        let read = try Media.all(TrackOutput(track: track), of: asset)
        #expect(read.map(\.timeRange.end) == [300, 375, 450, 600].map { MediaTime(value: $0, timescale: 600) })
    }

    @Test(arguments: [MediaFileType.mov, .mp4])
    func dataAndTimecodePassThrough(fileType: MediaFileType) async throws {
        let source = try Written("source.mov")
        try writeMetadata(to: source)
        let file = try Written("copy.\(fileType)")
        let session = ExportSession(asset: source.asset, preset: .passthrough)
        try await session.export(to: FilePath(file.path), as: fileType)
        #expect(session.leftOut.isEmpty)
        #expect(try Self.tags(file.path) == ["avc1", "mebx", "tmcd"])
        for stream in ["0", "1", "2"] {
            #expect(try Self.packets(file.path, stream) == Self.packets(source.path, stream))
        }
        let tracks = try file.asset.loadNow(.tracks)
        #expect(tracks.map(\.associatedTracks) == [["tmcd": [3]], ["cdsc": [1]], [:]])
        #expect(tracks[1].formatDescriptions.first?.extradata == Self.keys)
        #expect(tracks[2].startTimecode == "10:00:00:00")
        #expect(tracks.map(\.timeRange) == (try source.asset.loadNow(.tracks)).map(\.timeRange))
    }

    /// From a later start, the timecode of the first frame is written anew, and samples of data are cut there.
    @Test func aPartHasItsOwnTimecode() async throws {
        let source = try Written("source.mov")
        try writeMetadata(to: source)
        let file = try Written("part.mov")
        let session = ExportSession(asset: source.asset, preset: .passthrough)
        session.timeRange = MediaTimeRange(
            start: MediaTime(value: 2, timescale: 5), end: MediaTime(value: 7, timescale: 10))
        try await session.export(to: FilePath(file.path), as: .mov)
        #expect(session.leftOut.isEmpty)
        #expect(try Self.tags(file.path) == ["avc1", "mebx", "tmcd"])
        #expect(try file.asset.loadNow(.container).startTimecode == "10:00:00:10")
        let packets = try file.probe("1", "packet=pts_time,size")
        #expect(packets == ["0.000000,9", "0.100000,10", "0.225000,11"])
    }

    @Test(arguments: [MediaFileType.mkv, .mp4, .mov])
    func subtitlesPassThroughOrAreTold(fileType: MediaFileType) async throws {
        let source = try Fixtures.path("many-tracks.mp4")
        let file = try Written("copy.\(fileType)")
        let session = ExportSession(asset: try Media.asset("many-tracks.mp4"), preset: .passthrough)
        try await session.export(to: FilePath(file.path), as: fileType)
        let count = try FFmpeg.probe([
            "-select_streams", "s", "-show_entries", "stream=index", "-of", "csv=p=0", source,
        ]).count
        guard fileType.canHold(codec: "mov_text", mediaType: .subtitle) else {
            #expect(session.leftOut.map(\.mediaType) == Array(repeating: .subtitle, count: count))
            #expect(session.leftOut.allSatisfy { $0.reason == "mkv files cannot hold mov_text" })
            return
        }
        #expect(session.leftOut.isEmpty)
        for place in 0..<count {
            #expect(try Self.packets(file.path, "s:\(place)") == Self.packets(source, "s:\(place)"))
        }
    }

    @Test func whatFilesCannotHoldIsTold() async throws {
        let source = try Written("source.mov")
        try writeMetadata(to: source)
        let file = try Written("copy.mkv")
        let session = ExportSession(asset: source.asset, preset: .passthrough)
        try await session.export(to: FilePath(file.path), as: .mkv)
        // Matroska states the timecode in a tag.
        #expect(session.leftOut.map(\.description) == ["track 1 (data) is left out: mkv files hold no data tracks"])
        #expect(try file.asset.loadNow(.container).startTimecode == "10:00:00:00")
        let encoded = try Written("small.mov")
        let other = ExportSession(asset: source.asset, preset: .lowQuality)
        try await other.export(to: FilePath(encoded.path), as: .mov)
        #expect(other.leftOut.map(\.track.index) == [1])
        #expect(other.leftOut.first?.reason == "a preset that encodes writes video and audio only")
    }

    @Test func writersTakeWhatTheirFilesHold() throws {
        let timecode = try Media.track(Media.asset("timecode-25.mov"), .timecode)
        let cases = [(MediaFileType.mov, true), (.mp4, true), (.m4a, false), (.mkv, false), (.wav, false)]
        for (fileType, holds) in cases {
            let writer = try Written("f.\(fileType)").writer(fileType)
            #expect(writer.canAdd(AssetWriterInput(copying: timecode)) == holds)
            #expect(writer.canAdd(AssetWriterInput(mediaType: .data, sourceFormatHint: Self.metadata)) == holds)
        }
        let file = try Written("none.mov")
        let input = AssetWriterInput(mediaType: .data)
        let error = #expect(throws: MediaError.self) {
            try file.write(.mov, [input]) { _ in
                let unnamed = FormatDescription(mediaType: .data, codec: "unknown")
                try input.appendNow(
                    SampleBuffer(
                        stored: [1], formatDescription: unnamed, presentationTime: .zero,
                        duration: MediaTime(value: 1, timescale: 25), isSync: true))
            }
        }
        #expect(error?.message.contains("codec tag") == true)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }
}
