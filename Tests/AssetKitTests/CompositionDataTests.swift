import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tracks of timecode and data in compositions: stored samples at the composition's times.
@Suite struct CompositionDataTests {
    private func time(_ value: Int64, _ scale: Int32 = 25) -> MediaTime { MediaTime(value: value, timescale: scale) }
    private func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: time(start), end: time(end))
    }

    private static let key = MetadataIdentifier(keySpace: .quickTimeMetadata, key: "com.example.number")

    /// The video and timecode of a fixture of 25 frames a second that begins at 10:00:00:00, with a number for each of the
    /// first 20 frames.
    private func source(_ file: Written) throws -> Asset {
        let asset = try Media.asset("timecode-25.mov")
        let format = try FormatDescription(metadata: [MetadataSpecification(Self.key, dataType: .uint8)])
        let data = AssetWriterInput(mediaType: .data, sourceFormatHint: format)
        let adaptor = try InputMetadataAdaptor(input: data)
        let (video, timecode) = (try Media.track(asset, .video), try Media.track(asset, .timecode))
        let inputs = [AssetWriterInput(copying: video), data, AssetWriterInput(copying: timecode)]
        inputs[0].addTrackAssociation(withTrackOf: inputs[2], type: "tmcd")
        data.addTrackAssociation(withTrackOf: inputs[0], type: "cdsc")
        try file.write(.mov, inputs) { _ in
            for (track, input) in [(video, inputs[0]), (timecode, inputs[2])] {
                for buffer in try Media.all(TrackOutput(track: track), of: asset) { try input.appendNow(buffer) }
                input.markAsFinished()
            }
            for place in 0..<20 {
                let item = MetadataItem(Self.key, .integer(Int64(place)))
                try adaptor.appendNow(
                    TimedMetadataGroup(items: [item], timeRange: range(Int64(place), Int64(place) + 1)))
            }
            data.markAsFinished()
        }
        return file.asset
    }

    /// From frame 12 to 20, then the first four frames; the video is written again so that it can be cut anywhere.
    private func edited(_ asset: Asset) throws -> Composition {
        var composition = Composition()
        for type in [MediaType.video, .data, .timecode] {
            let id = try composition.addTrack(mediaType: type)
            let track = try Media.track(asset, type)
            try composition.insertTimeRange(range(12, 20), of: track, at: .zero, into: id)
            try composition.insertTimeRange(range(0, 4), of: track, at: time(8), into: id)
        }
        return composition
    }

    private func counters(_ buffers: [SampleBuffer]) -> [[UInt8]] {
        buffers.compactMap { $0.storedSample?.withBytes { $0.withUnsafeBytes { Array($0) } } }
    }

    /// 10:00:00:12 is frame 900,012 (0x0DBBAC), and 10:00:00:00 frame 900,000 (0x0DBBA0).
    private static let cut: [[UInt8]] = [[0, 0x0D, 0xBB, 0xAC], [0, 0x0D, 0xBB, 0xA0]]

    @Test func samplesAreMovedCutAndCounted() throws {
        let file = try Written("source.mov")
        let asset = Asset(composition: try edited(source(file)))
        #expect(try asset.loadNow(.tracks).map(\.associatedTracks) == [["tmcd": [3]], ["cdsc": [1]], [:]])
        let timecode = try Media.all(TrackOutput(track: Media.track(asset, .timecode)), of: asset)
        #expect(timecode.map(\.timeRange) == [range(0, 8), range(8, 12)])
        #expect(counters(timecode) == Self.cut)
        // A range of the composition counts from where it begins.
        let part = try Media.all(TrackOutput(track: Media.track(asset, .timecode)), of: asset, in: range(3, 10))
        #expect(counters(part) == [[0, 0x0D, 0xBB, 0xAF], Self.cut[1]])
        let groups = try asset.timedMetadataGroupsNow(of: Media.track(asset, .data)).remaining()
        #expect(groups.flatMap { $0.items.map(\.value) } == (Array(12..<20) + Array(0..<4)).map { .integer($0) })
        #expect(groups.map(\.timeRange) == (0..<12).map { range($0, $0 + 1) })
    }

    @Test(arguments: [MediaFileType.mov, .mp4]) func passthroughWritesThem(fileType: MediaFileType) async throws {
        let file = try Written("source.mov")
        let source = try source(file)
        var composition = Composition()
        for type in [MediaType.video, .data, .timecode] {
            let id = try composition.addTrack(mediaType: type)
            // Stored video begins with a sync sample; the others begin later.
            let part = type == .video ? range(0, 20) : range(5, 15)
            let start = type == .video ? MediaTime.zero : time(5)
            try composition.insertTimeRange(part, of: Media.track(source, type), at: start, into: id)
        }
        let copy = try Written("copy.\(fileType)")
        let session = ExportSession(asset: Asset(composition: composition), preset: .passthrough)
        try await session.export(to: FilePath(copy.path), as: fileType)
        #expect(session.leftOut.isEmpty)
        #expect(try copy.probe("0", "stream=codec_tag_string").first == "avc1")
        // ffprobe's bytes of the timecode's sample: frame 900,005.
        let hash = try FFmpeg.probe([
            "-select_streams", "2", "-show_packets", "-show_data_hash", "crc32", "-show_entries",
            "packet=pts_time,data_hash", "-of", "csv=p=0", copy.path,
        ])
        #expect(hash.count == 1 && hash.first?.hasPrefix("0.200000,") == true)
        let tracks = try copy.asset.loadNow(.tracks)
        #expect(tracks.map(\.associatedTracks) == [["tmcd": [3]], ["cdsc": [1]], [:]])
        #expect(tracks[2].startTimecode == "10:00:00:05")
        let groups = try copy.asset.timedMetadataGroupsNow(of: tracks[1]).remaining()
        #expect(groups.map(\.timeRange) == (5..<15).map { range($0, $0 + 1) })
        #expect(groups.flatMap { $0.items.map(\.value) } == (5..<15).map { .integer($0) })
        // Matroska has no place for them.
        let other = try Written("copy.mkv")
        let telling = ExportSession(asset: Asset(composition: composition), preset: .passthrough)
        try await telling.export(to: FilePath(other.path), as: .mkv)
        #expect(telling.leftOut.map(\.mediaType) == [.data, .timecode])
    }

    @Test func whatCannotBeJoinedIsTold() throws {
        let file = try Written("source.mov")
        let source = try source(file)
        let other = TimedMetadataFile(
            fields: TimedMetadataFile.table(TimedMetadataFile.key(1, "mdtaother", 65)),
            samples: [(TimedMetadataFile.box(1, [5]), 600)])
        let (asset, track) = try other.opened()
        var composition = Composition()
        let id = try composition.addTrack(mediaType: .data)
        try composition.insertTimeRange(range(0, 4), of: Media.track(source, .data), at: .zero, into: id)
        try composition.insertTimeRange(range(0, 4), of: track, in: asset, at: time(4), into: id)
        let joined = Asset(composition: composition)
        let output = TrackOutput(track: try Media.track(joined, .data))
        #expect(errorCode { try Media.all(output, of: joined) } == .unsupported)
        // Timecode has one speed.
        var fast = try edited(source)
        try fast.scaleTimeRange(range(0, 8), toDuration: time(4))
        let faster = Asset(composition: fast)
        let timecode = TrackOutput(track: try Media.track(faster, .timecode))
        #expect(errorCode { try Media.all(timecode, of: faster) } == .unsupported)
        let groups = try faster.timedMetadataGroupsNow(of: Media.track(faster, .data)).remaining()
        #expect(groups.first?.timeRange.duration == MediaTime(value: 1, timescale: 50))
    }
}
