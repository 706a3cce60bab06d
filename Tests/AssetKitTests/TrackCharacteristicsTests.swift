import AssetKit
import TestSupport
import Testing

/// What tracks are for, and media types in detail, of files that ffmpeg marks.
@Suite struct TrackCharacteristicsTests {
    private func tracks(_ folder: TemporaryFolder, _ name: String, _ arguments: [String]) throws -> [AssetTrack] {
        let path = folder.path(name)
        _ = try FFmpeg.run(arguments + [path])
        return try Asset(path: path).loadNow(.tracks)
    }

    private func characteristics(_ track: AssetTrack) -> Set<MediaCharacteristic> {
        Set(MediaCharacteristic.allCases.filter { track.has($0) })
    }

    /// Matroska keeps each of these flags (RFC 9559, 5.1.4.1.5 to 5.1.4.1.11).
    @Test func matroskasFlags() throws {
        let folder = try TemporaryFolder()
        let subtitles = folder.path("one.srt")
        try folder.write("one.srt", "1\n00:00:00,000 --> 00:00:00,500\nOne\n".utf8)
        let marks = ["default", "visual_impaired", "comment", "dub", "original"]
        var arguments = [
            "-f", "lavfi", "-i", "testsrc2=s=64x64:r=10:d=0.5", "-f", "lavfi", "-i", "sine=d=0.5", "-i", subtitles,
        ]
        arguments += ["-map", "0:v"] + marks.flatMap { _ in ["-map", "1:a"] } + ["-map", "2:s", "-map", "2:s"]
        arguments += ["-c:v", "ffv1", "-c:a", "pcm_s16le", "-c:s", "srt", "-disposition:v:0", "0"]
        for (place, mark) in marks.enumerated() { arguments += ["-disposition:a:\(place)", mark] }
        arguments += ["-disposition:s:0", "forced", "-disposition:s:1", "hearing_impaired"]
        let found = try tracks(folder, "marks.mkv", arguments).map(characteristics)
        #expect(
            found == [
                [.visual, .frameBased],
                [.audible, .isMainProgramContent], [.audible, .describesVideoForAccessibility],
                [.audible, .isAuxiliaryContent], [.audible, .dubbedTranslation], [.audible, .isOriginalContent],
                [.visual, .legible, .containsOnlyForcedSubtitles],
                [.visual, .legible, .transcribesSpokenDialogForAccessibility],
            ])
    }

    @Test func pictures() throws {
        let folder = try TemporaryFolder()
        func video(_ name: String, _ arguments: [String]) throws -> Set<MediaCharacteristic> {
            let input = ["-f", "lavfi", "-i", "testsrc2=s=64x64:r=10:d=0.5"]
            return characteristics(try tracks(folder, name, input + arguments)[0]).subtracting([.isMainProgramContent])
        }
        func bt2020(_ transfer: String) -> [String] {
            FFmpeg.colorTags(
                after: "format=yuv420p10le", matrix: "bt2020nc", primaries: "bt2020", transfer: transfer, range: "tv")
        }
        let hdr: [String] = ["-c:v", "libx265", "-pix_fmt", "yuv420p10le", "-x265-params", "log-level=none"]
        #expect(try video("pq.mp4", hdr + bt2020("smpte2084")) == [.visual, .frameBased, .containsHDRVideo])
        #expect(try video("hlg.mkv", hdr + bt2020("arib-std-b67")) == [.visual, .frameBased, .containsHDRVideo])
        #expect(try video("sdr.mp4", hdr) == [.visual, .frameBased])
        #expect(
            try video("alpha.mov", ["-vf", "format=rgba", "-c:v", "qtrle"])
                == [.visual, .frameBased, .containsAlphaChannel])
        // A cover is seen, but does not consist of frames.
        let covers = try Media.asset("artwork.m4a").loadNow(.tracks).filter(\.isAttachedPicture)
        #expect(!covers.isEmpty && covers.allSatisfy { $0.has(.visual) && !$0.has(.frameBased) })
    }

    @Test func detailedMediaTypes() async throws {
        let folder = try TemporaryFolder()
        try folder.write("one.srt", "1\n00:00:00,000 --> 00:00:00,500\nOne\n".utf8)
        let made = try tracks(
            folder, "text.mp4", ["-i", folder.path("one.srt"), "-c:s", "mov_text"])
        #expect(made.map(\.mediaType) == [.subtitle] && made.map(\.detailedMediaType) == [.subtitle])
        // QuickTime text differs from 3GPP's by the code of its description.
        var movie = try folder.bytes("text.mp4")
        while let place = movie.firstRange(of: Array("tx3g".utf8)) {
            movie.replaceSubrange(place, with: Array("text".utf8))
        }
        let quickTime = Asset(bytes: movie)
        let text = try quickTime.loadNow(.tracks)
        #expect(text.map(\.mediaType) == [.subtitle] && text.map(\.detailedMediaType) == [.text])
        #expect(try await quickTime.loadTracks(withMediaType: .text) == text)
        #expect(try await quickTime.loadTracks(withMediaType: .subtitle) == text)
        var captions = try folder.bytes("text.mp4")
        while let place = captions.firstRange(of: Array("tx3g".utf8)) {
            captions.replaceSubrange(place, with: Array("c608".utf8))
        }
        let asset = Asset(bytes: captions)
        #expect(try asset.loadNow(.tracks).map(\.detailedMediaType) == [.closedCaption])
        #expect(try Media.asset("timecode-25.mov").loadNow(.tracks).last?.detailedMediaType == .timecode)
    }
}
