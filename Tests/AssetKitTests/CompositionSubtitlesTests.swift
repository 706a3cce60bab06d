import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Subtitles in compositions: stored samples at the composition's times.
@Suite struct CompositionSubtitlesTests {
    private static let subtitles = """
        1
        00:00:00,500 --> 00:00:01,500
        one

        2
        00:00:02,000 --> 00:00:04,000
        two

        3
        00:00:04,500 --> 00:00:05,000
        three

        """

    /// A film of six seconds with three subtitles.
    private func film(_ name: String, codec: String, in folder: TemporaryFolder) throws -> Asset {
        let text = try folder.write("in.srt", Array(Self.subtitles.utf8))
        let path = folder.path(name)
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=6", "-i", text, "-map", "0", "-map", "1", "-c:v", "libx264",
            "-g", "25", "-c:s", codec, path,
        ])
        return Asset(path: FilePath(path))
    }

    private func time(_ value: Int64, _ scale: Int32 = 1) -> MediaTime { MediaTime(value: value, timescale: scale) }
    private func range(_ start: MediaTime, _ end: MediaTime) -> MediaTimeRange {
        MediaTimeRange(start: start, end: end)
    }

    /// The text of a sample, without the length that tx3g puts before it.
    private func text(_ buffer: SampleBuffer) -> String {
        let bytes = buffer.storedSample?.withBytes { $0.withUnsafeBytes { Array($0) } } ?? []
        return String(decoding: bytes.filter { (97...122).contains($0) }, as: UTF8.self)
    }

    /// From second 3, on which the second subtitle is shown, to 5; then the first two seconds.
    private func edited(_ asset: Asset) throws -> Composition {
        var composition = Composition()
        try composition.insertTimeRange(range(time(3), time(5)), of: asset, at: .zero)
        try composition.insertTimeRange(range(.zero, time(2)), of: asset, at: time(2))
        return composition
    }

    @Test(arguments: [("a.mkv", "subrip"), ("a.mp4", "mov_text")])
    func samplesAreMovedAndCut(name: String, codec: String) throws {
        let folder = try TemporaryFolder()
        let composition = try edited(film(name, codec: codec, in: folder))
        #expect(composition.tracks.map(\.mediaType) == [.video, .subtitle])
        let asset = Asset(composition: composition)
        let track = try Media.track(asset, .subtitle)
        let samples = try Media.all(TrackOutput(track: track), of: asset).filter { !text($0).isEmpty }
        #expect(samples.map(text) == ["two", "three", "one"])
        #expect(
            samples.map(\.timeRange) == [
                range(.zero, time(1)), range(time(3, 2), time(2)), range(time(5, 2), time(7, 2)),
            ])
        // A range of the composition cuts further.
        let part = try Media.all(TrackOutput(track: track), of: asset, in: range(time(1, 2), time(7, 4)))
            .filter { !text($0).isEmpty }
        #expect(part.map(\.timeRange) == [range(time(1, 2), time(1)), range(time(3, 2), time(7, 4))])
        // Twice as fast.
        var fast = composition
        try fast.scaleTimeRange(range(.zero, time(4)), toDuration: time(2))
        let quick = Asset(composition: fast)
        let scaled = try Media.all(TrackOutput(track: Media.track(quick, .subtitle)), of: quick)
            .filter { !text($0).isEmpty }
        #expect(scaled.map(\.presentationTime) == [.zero, time(3, 4), time(5, 4)])
    }

    @Test(arguments: [("a.mkv", "subrip", "out.mkv"), ("a.mp4", "mov_text", "out.mp4")])
    func anExportWritesThem(name: String, codec: String, output: String) async throws {
        let file = try Written(output)
        var composition = Composition()
        let film = try film(name, codec: codec, in: file.folder)
        // At sync samples, so that the pictures can be copied.
        try composition.insertTimeRange(range(time(2), time(5)), of: film, at: .zero)
        try composition.insertTimeRange(range(.zero, time(2)), of: film, at: time(3))
        let session = ExportSession(asset: Asset(composition: composition), preset: .passthrough)
        let type: MediaFileType = output.hasSuffix("mkv") ? .mkv : .mp4
        try await session.export(to: FilePath(file.path), as: type)
        #expect(session.leftOut.isEmpty)
        let text = try FFmpeg.run(["-i", file.path, "-map", "0:s", "-f", "srt", "-"])
        let lines = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        #expect(
            lines == [
                "1", "00:00:00,000 --> 00:00:02,000", "two", "2", "00:00:02,500 --> 00:00:03,000", "three", "3",
                "00:00:03,500 --> 00:00:04,500", "one",
            ])
    }

    @Test func tracksGetTheIDThatIsPreferred() throws {
        var composition = Composition()
        #expect(try composition.addTrack(mediaType: .video, preferredTrackID: 7) == 7)
        #expect(try composition.addTrack(mediaType: .audio, preferredTrackID: 7) == 8)
        #expect(try composition.addTrack(mediaType: .subtitle, preferredTrackID: 2) == 2)
        #expect(try composition.addTrack(mediaType: .audio) == 9)
        #expect(try composition.addTrack(mediaType: .audio, preferredTrackID: 0) == 10)
        #expect(try composition.addTrack(mediaType: .audio, preferredTrackID: .max) == 11)
        #expect(try composition.addTrack(mediaType: .audio, preferredTrackID: Int(Int32.max)) == Int(Int32.max))
        #expect(try composition.addTrack(mediaType: .audio) == 1)
        #expect(try composition.addTrack(mediaType: .audio) == 3)
        #expect(errorCode { try composition.addTrack(mediaType: .attachment) } == .unsupported)
    }
}
