import Foundation
import TestSupport
import Testing

/// What ends up in the outputs of `export`, by the word of ffmpeg and ffprobe.
@Suite struct ExportOutputsTests {
    private struct Report: Decodable {
        struct Video: Decodable { var codec: String; var frameCount: Int; var encodedSize: Size }
        struct Size: Decodable { var width, height: Int }
        struct Audio: Decodable { var codec: String }
        var preset: String
        var startTimecode: String?
        var video: Video?
        var audio: [Audio]
        var warnings: [String]
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func export(_ arguments: [String]) throws -> Program.Result {
        try Program.run(Program.mediatool, ["export", "--force"] + arguments, folder: folder.path)
    }

    private func report(_ file: String, _ arguments: [String]) throws -> Report {
        let result = try export([file, "--json", "--quiet"] + arguments)
        #expect(result.status == 0, "\(result.error)")
        return try JSONDecoder().decode(Report.self, from: Data(result.bytes))
    }

    private func probe(_ name: String, _ stream: String, _ entries: String) throws -> [String] {
        try FFmpeg.probe([
            "-select_streams", stream, "-show_entries", entries, "-of", "csv=p=0", folder.path(name),
        ])
    }

    private func numbers(_ name: String) throws -> [Int] {
        try NumberedPictures.rows(folder.path(name)).map { NumberedPictures.number(of: $0) }
    }

    /// 60 numbered pictures of 25 a second, with sound that lasts for some seconds.
    private func source(_ name: String, sound: Double) throws -> String {
        let path = folder.path(name)
        try NumberedPictures.make(folder.path("plain.mp4"), source: 1, rate: "25", count: 60)
        _ = try FFmpeg.run([
            "-i", folder.path("plain.mp4"), "-f", "lavfi", "-i", "anoisesrc=r=48000:d=\(sound):seed=1:a=0.3", "-map",
            "0", "-map", "1", "-c:v", "copy", "-c:a", name.hasSuffix("mkv") ? "flac" : "aac", path,
        ])
        return path
    }

    // MARK: Composited frames

    /// Sound goes on by less than a frame, by many, and in a file whose header tells of no track where it ends.
    @Test(arguments: [("in.mp4", 2.41), ("in.mp4", 3), ("in.mkv", 3)])
    func framesOfAFileEndWithItsPictures(name: String, sound: Double) throws {
        let source = try source(name, sound: sound)
        let settings = ["-o", "o.mov", "--preset", "proRes422LPCM"]
        for arguments in [["--frame-rate", "25"], ["--size", "192x48"]] {
            let report = try report(source, settings + arguments)
            #expect(report.video?.frameCount == 60, "\(arguments)")
            #expect(try numbers("o.mov") == Array(256..<316), "\(arguments)")
        }
        #expect(try report(source, settings + ["--frame-rate", "50"]).video?.frameCount == 120)
    }

    /// 76 pictures last 2.5358… s, and the edit list says 2.536.
    @Test func roundedEndsMakeNoFrame() throws {
        let path = folder.path("ntsc.mp4")
        try NumberedPictures.make(path, source: 1, rate: "30000/1001", count: 76)
        let report = try report(path, ["-o", "o.mov", "--preset", "proRes422LPCM", "--size", "192x48"])
        #expect(report.video?.frameCount == 76)
        #expect(try numbers("o.mov") == Array(256..<332))
    }

    /// A timeline lasts as long as its longest track; sound that hangs over by less than a frame adds none.
    @Test(arguments: [(2.41, 60), (2.51, 63)]) func framesOfATimelineEndWithIt(sound: Double, count: Int) throws {
        _ = try source("in.mp4", sound: sound)
        let clip =
            #"{"OTIO_SCHEMA":"Clip.1","media_reference":{"OTIO_SCHEMA":"ExternalReference.1","target_url":"in.mp4"}}"#
        let tracks = ["Video", "Audio"].map {
            #"{"OTIO_SCHEMA":"Track.1","kind":"\#($0)","children":[\#(clip)]}"#
        }
        let timeline =
            #"{"OTIO_SCHEMA":"Timeline.1","tracks":{"OTIO_SCHEMA":"Stack.1","#
            + #""children":[\#(tracks.joined(separator: ","))]}}"#
        try folder.write("cut.otio", timeline.utf8)
        let report = try report("cut.otio", ["-o", "o.mov", "--preset", "proRes422LPCM"])
        #expect(report.video?.frameCount == count)
        #expect(try numbers("o.mov") == Array(256..<316) + [Int](repeating: 0, count: count - 60))
        // No sample of the sound is cut.
        let samples = try FFmpeg.pcm(folder.path("o.mov"), format: "s16le").count / 2
        #expect(samples >= Int(sound * 48000))
        let still = try Program.run(
            Program.mediatool, ["thumbs", "cut.otio", "--at", "end", "-o", "end.png"], folder: folder.path)
        #expect(still.status == 0, "\(still.error)")
        let last = try NumberedPictures.rows(folder.path("end.png")).first
        #expect(last.map { NumberedPictures.number(of: $0) } == (count == 60 ? 315 : 0))
    }

    @Test func theTimecodeStaysWithTheRate() throws {
        let source = try Fixtures.path("timecode-df.mov")
        #expect(try report(source, ["-o", "o.mov", "--size", "80x46"]).startTimecode == "01:00:00;00")
        #expect(try probe("o.mov", "v", "stream_tags=timecode") == ["01:00:00;00"])
        let part = try report(source, ["-o", "o.mp4", "--size", "80x46", "--start", "7f"])
        #expect(part.startTimecode == "01:00:00;07" && part.warnings.isEmpty)
        let changed = try report(source, ["-o", "o.mov", "--frame-rate", "25"])
        #expect(changed.startTimecode == nil && changed.warnings.count == 1)
        #expect(changed.warnings.first?.contains("01:00:00;00") == true)
    }

    // MARK: Types of files

    /// A sample of full scale at two places of 96000, and where they are after decoding.
    private func clicks(_ name: String) throws -> [Int] {
        let pcm = try FFmpeg.run(["-i", folder.path(name), "-ar", "48000", "-f", "s16le", "-"])
        let samples = stride(from: 0, to: pcm.count - 1, by: 2).map {
            abs(Int(Int16(truncatingIfNeeded: Int(pcm[$0]) | Int(pcm[$0 + 1]) << 8)))
        }
        return [samples[..<12000], samples[12000...]].map { part in
            part.indices.max { part[$0] < part[$1] } ?? -1
        }
    }

    private func clicksFile() throws -> String {
        let path = folder.path("clicks.wav")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "aevalsrc='0.9*(between(n,6000,6002)+between(n,18000,18002))':s=48000:d=2", "-c:a",
            "pcm_s16le", path,
        ])
        return path
    }

    @Test(arguments: ["o.ogg", "o.opus", "o.oga", "o.mka"]) func soundOfOpusLiesWhereItWas(name: String) throws {
        let report = try report(try clicksFile(), ["-o", name])
        #expect(report.audio.map(\.codec) == ["opus"])
        let found = try clicks(name)
        #expect(zip(found, [6001, 18001]).allSatisfy { abs($0 - $1) <= 1 }, "\(found)")
    }

    @Test func oggHoldsFLACAndCopies() throws {
        let source = try clicksFile()
        #expect(try report(source, ["-o", "o.ogg", "--audio-codec", "flac"]).audio.map(\.codec) == ["flac"])
        #expect(try FFmpeg.pcm(folder.path("o.ogg")) == FFmpeg.pcm(source))
        for (fixture, codec) in [("vorbis.ogg", "vorbis"), ("opus.opus", "opus"), ("flac-s16-stereo.flac", "flac")] {
            let file = try Fixtures.path(fixture)
            #expect(try report(file, ["-o", "c.ogg", "--copy"]).audio.map(\.codec) == [codec])
            #expect(try probe("c.ogg", "a", "stream=codec_name") == [codec])
            // Copies of the others lack the packet that begins before zero.
            if codec == "flac" { #expect(try FFmpeg.pcm(folder.path("c.ogg")) == FFmpeg.pcm(file)) }
        }
        #expect(try export([try Fixtures.path("aac.m4a"), "-o", "n.ogg", "--copy"]).error.contains("cannot hold aac"))
    }

    /// Its clock counts milliseconds.
    @Test func primingInMatroskaLiesBeforeZero() throws {
        _ = try report(try clicksFile(), ["-o", "o.mka", "--audio-codec", "aac"])
        #expect(try probe("o.mka", "a", "packet=pts_time").first?.hasPrefix("-0.021") == true)
        // The first picture stays at zero, whichever packet comes first.
        let film = try source("in.mp4", sound: 2.41)
        for arguments in [["--audio-codec", "aac"], ["--audio-codec", "opus"], ["--preset", "vp9HighestQuality"]] {
            _ = try report(film, ["-o", "o.mkv", "--end", "0.4", "--speed", "fastest"] + arguments)
            #expect(try probe("o.mkv", "v", "packet=pts_time").first?.hasPrefix("0.000") == true, "\(arguments)")
        }
    }

    @Test func webmIsVP9AndOpus() throws {
        let report = try report(try Fixtures.path("av.mp4"), ["-o", "o.webm", "--speed", "fastest", "--height", "45"])
        #expect(report.preset == "vp9HighestQuality" && report.video?.codec == "vp9")
        #expect(report.audio.map(\.codec) == ["opus"])
        // Rows are even, and not more than were asked for.
        #expect(report.video?.encodedSize.height == 44)
        #expect(try probe("o.webm", "v", "packet=pts_time").first?.hasPrefix("0.000") == true)
        let frames = try FFmpeg.run(["-i", folder.path("o.webm"), "-f", "framecrc", "-map", "0:v", "-"])
        #expect(frames.split(separator: UInt8(ascii: "\n")).count { $0.first != UInt8(ascii: "#") } == 75)
        #expect(try export(["--list-presets"]).output.contains("VP9 in the source's size; Opus"))
    }

    // MARK: Ends

    @Test func anEndBehindThePicturesIsAWarning() throws {
        let file = try Fixtures.path("av.mp4")
        let words = "the pictures end at 3.0 s, before '--end' (10.0 s)"
        for arguments in [[], ["--copy"], ["--size", "80x46"]] {
            let result = try export([file, "-o", "o.mov", "--start", "2", "--end", "10"] + arguments)
            #expect(result.status == 0 && result.error.contains(words), "\(result.error)")
            #expect(try report(file, ["-o", "o.mov", "--start", "2", "--end", "3"] + arguments).warnings == [])
        }
        for command in [["proxy", "-o", "p.mov"], ["thumbs", "--count", "1", "-o", "p.png"]] {
            let result = try Program.run(
                Program.mediatool, command + [file, "--start", "2", "--end", "10"], folder: folder.path)
            #expect(result.status == 0 && result.error.contains(words), "\(result.error)")
            let whole = try Program.run(
                Program.mediatool, command + [file, "--start", "2", "--end", "end", "--force"], folder: folder.path)
            #expect(whole.status == 0 && !whole.error.contains("--end"), "\(whole.error)")
        }
        let sound = try export([file, "-o", "o.wav", "--end", "10"])
        #expect(sound.status == 0 && sound.error.contains("the sound ends at 3.0"), "\(sound.error)")
    }
}
