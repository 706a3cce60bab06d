import Foundation
import TestSupport
import Testing

@testable import mediatool

/// What a file says of itself is in its proxy to the letter; ffprobe reads both, or the bytes are looked at.
@Suite struct ProxyDifferencesTests {
    private struct Report: Decodable {
        struct Entry: Decodable {
            var name: String
            var trackIndex: Int?
            var wanted: String
            var found: String
        }
        struct LeftOut: Decodable { var trackIndex: Int; var type, reason: String }
        struct Failure: Decodable { var code, message: String; var failedChecks: [Entry]? }
        var changes: [String]?
        var differences: [Entry]?
        var leftOut: [LeftOut]?
        var error: Failure?
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func proxy(_ source: String, _ options: [String] = [], to name: String = "o.mov") throws -> (
        report: Report, result: Program.Result
    ) {
        let result = try Program.run(
            Program.mediatool, ["proxy", source, "-o", name, "--json", "--force"] + options, folder: folder.path)
        return (try JSONDecoder().decode(Report.self, from: Data(result.bytes)), result)
    }

    private func movie(_ name: String, _ options: [String]) throws -> String {
        let path = folder.path(name)
        _ = try FFmpeg.run(
            [
                "-f", "lavfi", "-i", "testsrc2=s=128x96:d=0.4:r=25", "-f", "lavfi", "-i", "sine=d=0.4:r=48000", "-map",
                "0", "-map", "1", "-c:v", "mpeg4",
            ] + options + [path])
        return path
    }

    private func tags(_ name: String, _ entries: String, _ stream: [String] = []) throws -> [String] {
        try FFmpeg.probe(stream + ["-show_entries", entries, "-of", "csv=p=0", folder.path(name)])
            .filter { !$0.isEmpty }
    }

    /// Writes a date into all boxes of a type: seconds since 1904, after version and flags.
    private func setDate(_ seconds: UInt32, in types: [String], of path: String) throws {
        var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        for type in types {
            let name = Array(type.utf8)
            for place in 0..<bytes.count - 16 where Array(bytes[place..<place + 4]) == name {
                for shift in 0..<4 { bytes[place + 8 + shift] = UInt8(truncatingIfNeeded: seconds >> (24 - 8 * shift)) }
            }
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    @Test(arguments: ["o.mov", "o.mp4"])
    func datesOfTracksAreTheirOwn(output: String) throws {
        let path = try movie("in.mov", ["-metadata", "creation_time=2008-05-12T20:59:27Z", "-bitexact"])
        // 2020-05-11T14:18:35 is 1589206715 s after 1970, which is 2082844800 s after 1904.
        try setDate(1_589_206_715 + 2_082_844_800, in: ["mdhd"], of: path)
        let (report, result) = try proxy(path, to: output)
        #expect(result.status == 0 && report.differences?.isEmpty == true, "\(result.error)")
        #expect(try tags(output, "format_tags=creation_time") == ["2008-05-12T20:59:27.000000Z"])
        let tracks = try tags(output, "stream_tags=creation_time")
        #expect(tracks == Array(repeating: "2020-05-11T14:18:35.000000Z", count: 2))
    }

    /// Of no seconds after 1970 libavformat writes none.
    @Test func theFirstDayOf1970IsADate() throws {
        let path = try movie("in.mov", [])
        try setDate(2_082_844_800, in: ["mvhd", "tkhd", "mdhd"], of: path)
        let (report, result) = try proxy(path)
        #expect(result.status == 0 && report.differences?.isEmpty == true, "\(result.error)")
        let dates = try tags("o.mov", "format_tags=creation_time") + tags("o.mov", "stream_tags=creation_time")
        #expect(dates == Array(repeating: "1970-01-01T00:00:00.000000Z", count: 3))
    }

    @Test(arguments: ["+40.6800-74.4999/", "+48.8789+002.3376+048.928/"], ["o.mov", "o.mp4"])
    func placesAreKeptToTheLetter(place: String, output: String) throws {
        let path = try movie("in.mov", ["-metadata", "location=\(place)", "-metadata", "com.example.key=one"])
        #expect(try tags("in.mov", "format_tags=location").first == place)
        for options in [[], ["--start", "0.08"]] {
            let (report, result) = try proxy(path, options, to: output)
            #expect(result.status == 0 && report.differences?.isEmpty == true, "\(result.error)")
            #expect(try tags(output, "format_tags=location").first == place)
        }
        let exported = try Program.run(
            Program.mediatool, ["export", path, "-o", output, "--force", "--quiet"], folder: folder.path)
        #expect(exported.status == 0)
        #expect(try tags(output, "format_tags=location").first == place)
    }

    /// QuickTime's user data has no atom for a description; it has a named key.
    @Test(arguments: [("o.mov", "com.apple.quicktime.description"), ("o.mp4", "description")])
    func tagsOfMatroskaAreKept(output: String, key: String) throws {
        let path = try movie("in.mkv", ["-metadata", "DESCRIPTION=Words on it", "-metadata", "title=Name"])
        let (report, result) = try proxy(path, to: output)
        #expect(result.status == 0 && report.differences?.isEmpty == true, "\(result.error)")
        #expect(try tags(output, "format_tags=\(key)") == ["Words on it"])
        #expect(try tags(output, "format_tags=title") == ["Name"])
    }

    /// A cover is metadata, and no track that a proxy or a copy has too many.
    @Test(arguments: ["o.mov", "o.mp4"]) func coversAreKept(output: String) throws {
        let picture = folder.path("cover.png")
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "testsrc=s=16x16", "-frames:v", "1", picture])
        let source = folder.path("covered.mp4")
        _ = try FFmpeg.run([
            "-i", try movie("in.mp4", ["-metadata", "title=Name"]), "-i", picture, "-map", "0", "-map", "1", "-c",
            "copy",
            "-disposition:v:1", "attached_pic", source,
        ])
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: picture)))
        func cover() throws -> [UInt8] {
            try FFmpeg.run(["-i", folder.path(output), "-map", "0:v:1", "-c", "copy", "-f", "image2pipe", "-"])
        }
        let (report, result) = try proxy(source, to: output)
        #expect(result.status == 0 && report.differences?.isEmpty == true, "\(result.error)")
        #expect(report.leftOut?.isEmpty == true)
        #expect(try cover() == bytes)
        for options in [[], ["--copy"]] {
            let exported = try Program.run(
                Program.mediatool, ["export", source, "-o", output, "--force"] + options, folder: folder.path)
            #expect(exported.status == 0 && !exported.error.contains("artwork"), "\(exported.error)")
            #expect(try cover() == bytes)
        }
        let lost = try Program.run(
            Program.mediatool, ["export", source, "-o", "o.webm", "--force"], folder: folder.path)
        #expect(lost.status == 0, "\(lost.error)")
        #expect(lost.error.contains("the metadata artwork (\(bytes.count) bytes) is lost: webm files"), "\(lost.error)")
    }

    /// H.264 has 16 bits for each number of a ratio, libavformat reads 15 of them; `pasp` has 32.
    @Test func anOddShapeIsKeptExactly() throws {
        let path = try movie("in.mov", ["-aspect", "2:1"])
        // ffmpeg would round it.
        var bytes = try folder.bytes("in.mov")
        let place = try #require((0..<bytes.count - 12).first { Array(bytes[$0..<$0 + 4]) == Array("pasp".utf8) })
        bytes.replaceSubrange(place + 4..<place + 12, with: [0, 1, 0x6C, 0x17, 0, 1, 0, 0])
        _ = try folder.write("in.mov", bytes)
        let (report, result) = try proxy(path)
        #expect(result.status == 0 && report.differences?.isEmpty == true, "\(result.error)")
        bytes = try folder.bytes("o.mov")
        let written = try #require((0..<bytes.count - 12).first { Array(bytes[$0..<$0 + 4]) == Array("pasp".utf8) })
        func number(_ place: Int) -> Int { bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        let size = try #require(tags("o.mov", "stream=width,height", ["-select_streams", "v"]).first).split(
            separator: ",")
        let width = try #require(Int(size[0]))
        // As wide as 128 pixels of 93207 / 65536, and as high as before.
        #expect(width * number(written + 4) * 65536 == 128 * 93207 * number(written + 8) && size[1] == "96")
    }

    @Test func surroundAtTheSidesIsReadBack() throws {
        let sound = ["-filter_complex", "[1]aformat=channel_layouts=mono,pan=5.1(side)|FL=c0|SR=c0[a]"]
        let path = folder.path("in.mkv")
        _ = try FFmpeg.run(
            ["-f", "lavfi", "-i", "testsrc2=s=128x96:d=0.4:r=25", "-f", "lavfi", "-i", "sine=d=0.4:r=48000"] + sound + [
                "-map", "0", "-map", "[a]", "-c:v", "mpeg4", "-c:a", "ac3", "-b:a", "640k", path,
            ])
        #expect(try tags("in.mkv", "stream=channel_layout", ["-select_streams", "a"]) == ["5.1(side)"])
        for (output, options, wanted) in [
            ("o.mov", [], "5.1"), ("o.mp4", [], "5.1"), ("p.mov", ["--audio-codec", "pcm"], "5.1(side)"),
        ] {
            let (report, result) = try proxy(path, options, to: output)
            #expect(result.status == 0 && report.differences?.isEmpty == true, "\(result.error)")
            #expect(try tags(output, "stream=channel_layout", ["-select_streams", "a"]) == [wanted])
            #expect(report.changes?.contains { $0.contains("5.1(side) became 5.1") } == (wanted == "5.1"))
        }
        // The channels stay where they are: left in front, and right of the surround.
        let levels = try FFmpeg.run(["-i", folder.path("o.mov"), "-map", "0:a", "-f", "s16le", "-"])
        let samples = levels.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
        for channel in 0..<6 {
            let loudest = stride(from: channel, to: samples.count, by: 6).map { abs(Int(samples[$0])) }.max() ?? 0
            #expect((loudest > 1000) == [0, 5].contains(channel))
        }
    }

    @Test func soundThatCannotBeDecodedIsLeftOut() throws {
        let whole = folder.path("whole.mkv")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=s=128x96:d=1:r=25", "-f", "lavfi", "-i", "sine=d=1:r=48000", "-map", "0",
            "-map",
            "1", "-map", "1", "-c:v", "mpeg4", "-c:a", "ac3", whole,
        ])
        let path = folder.path("in.mkv")
        _ = try FFmpeg.run(["-i", whole, "-map", "0", "-c", "copy", "-bsf:a:1", "noise=amount=1", path])
        for command in ["proxy", "export"] {
            let result = try Program.run(
                Program.mediatool, [command, path, "-o", "o.mov", "--json", "--force"], folder: folder.path)
            #expect(result.status == 0, "\(result.error)")
            let report = try JSONDecoder().decode(Report.self, from: Data(result.bytes))
            #expect(report.leftOut?.map(\.trackIndex) == [2] && report.leftOut?.first?.type == "audio")
            #expect(report.leftOut?.first?.reason.contains("can be decoded") == true)
            #expect(result.error.contains("warning: track 2 (audio) was left out"), "\(result.error)")
            #expect(try tags("o.mov", "stream=codec_type") == ["video", "audio"])
            let strict = try Program.run(
                Program.mediatool, [command, path, "-o", "s.mov", "--strict"], folder: folder.path)
            #expect(strict.status == 2 && strict.error.contains("track 2"), "\(strict.error)")
            #expect(try !folder.names().contains("s.mov"))
        }
        #expect(try proxy(path, ["--audio", "none"]).result.status == 0)
    }

    /// The header's word, as mkvinfo reads it; ffmpeg's reader lets the tag stand in its place.
    @Test func theLanguageOfAMatroskaTrackIsTheHeaders() throws {
        let path = try movie("in.mkv", ["-metadata:s:v", "language=fre", "-metadata:s:a", "language=ger"])
        // The name of a tag that stands for as many bytes.
        let options = ["-metadata:s:v", "LANGUAGEX=zzz", "-metadata:s:a", "LANGUAGEX=zzz"]
        let tagged = folder.path("tagged.mkv")
        _ = try FFmpeg.run(["-i", path, "-map", "0", "-c", "copy"] + options + [tagged])
        var bytes = try folder.bytes("tagged.mkv")
        let name = Array("LANGUAGEX".utf8)
        for place in 0..<bytes.count - 9 where Array(bytes[place..<place + 9]) == name { bytes[place + 8] = 0 }
        _ = try folder.write("tagged.mkv", bytes)
        #expect(try tags("tagged.mkv", "stream_tags=language").allSatisfy { $0 == "zzz" })
        let (report, result) = try proxy(tagged)
        #expect(result.status == 0 && report.differences?.isEmpty == true, "\(result.error)")
        #expect(try tags("o.mov", "stream_tags=language", ["-select_streams", "v"]) == ["fre"])
        #expect(try tags("o.mov", "stream_tags=language", ["-select_streams", "a"]) == ["ger"])
    }

    /// 720 by 512 coded pixels of which the sample entry states 486 rows: the first 26 are the vertical blanking.
    @Test func theApertureOfIMXLiesBelowTheBlanking() throws {
        let plain = folder.path("plain.mov")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "color=c=black:s=720x512:r=30000/1001:d=0.1,format=yuv422p", "-vf",
            "geq=lum='16+Y*219/511':cb=128:cr=128",
            "-c:v", "mpeg2video", "-intra_vlc", "1", "-g", "1", "-b:v", "50M", "-minrate", "50M", "-maxrate", "50M",
            "-bufsize", "2000000", "-qmin", "1", "-qmax", "3", "-vtag", "mx5n", plain,
        ])
        var bytes = try folder.bytes("plain.mov")
        let entry = try #require((0..<bytes.count - 40).first { Array(bytes[$0..<$0 + 4]) == Array("mx5n".utf8) })
        // Its height, behind 28 bytes of other fields.
        #expect(Array(bytes[entry + 30..<entry + 32]) == [1, 0xE6])
        // 704 by 480 in the middle; the index lies at the end, so that nothing behind it moves.
        let numbers: [UInt32] = [704, 1, 480, 1, 0, 1, 0, 1]
        var aperture: [UInt8] = [0, 0, 0, 40] + Array("clap".utf8)
        for number in numbers { aperture += (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
        func size(_ place: Int) -> Int { bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        func grow(_ place: Int) {
            let grown = size(place) + 40
            for shift in 0..<4 { bytes[place + shift] = UInt8(truncatingIfNeeded: grown >> (24 - 8 * shift)) }
        }
        for type in ["moov", "trak", "mdia", "minf", "stbl", "stsd"] {
            let name = Array(type.utf8)
            let place = try #require((0..<entry).last { Array(bytes[$0..<$0 + 4]) == name })
            grow(place - 4)
        }
        let end = entry - 4 + size(entry - 4)
        grow(entry - 4)
        bytes.insert(contentsOf: aperture, at: end)
        _ = try folder.write("in.mov", bytes)

        let probe = try Program.run(Program.mediatool, ["probe", folder.path("in.mov"), "--json"])
        #expect(probe.status == 0)
        let text = probe.output.filter { !$0.isWhitespace }
        #expect(text.contains("\"y\":{\"num\":29,\"den\":1}"), "\(probe.output)")
        let thumbs = try Program.run(
            Program.mediatool, ["thumbs", folder.path("in.mov"), "--at", "0", "-o", folder.path("t.png"), "--force"])
        #expect(thumbs.status == 0, "\(thumbs.error)")
        let image = try FFmpeg.run(["-i", folder.path("t.png"), "-pix_fmt", "gray", "-f", "rawvideo", "-"])
        // Row 29 has 16 + 29 * 219 / 511 = 28.4, which is 14.5 of 255; the last one, 508, is 254 of 255.
        #expect(abs(Int(image.first ?? 0) - 14) <= 2 && abs(Int(image.last ?? 0) - 253) <= 2)
        let (report, result) = try proxy(folder.path("in.mov"), ["--preset", "prores-proxy"])
        #expect(result.status == 0 && report.differences?.isEmpty == true, "\(result.error)")
        let copy = try Program.run(Program.mediatool, ["probe", folder.path("o.mov"), "--json"])
        #expect(copy.output.filter { !$0.isWhitespace }.contains("\"y\":29"), "\(copy.output)")
        // A copy states the rows that the file did, and so has its aperture.
        let copied = try Program.run(
            Program.mediatool, ["export", "--copy", folder.path("in.mov"), "-o", folder.path("copy.mov")])
        #expect(copied.status == 0 && copied.error.isEmpty, "\(copied.error)")
        let made = try folder.bytes("copy.mov")
        #expect(made.indices.contains { made[$0...].starts(with: aperture) })
    }
}
