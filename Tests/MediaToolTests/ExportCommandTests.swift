import Foundation
import TestSupport
import Testing

@testable import mediatool

/// Trims, whose frames and samples are held against ffmpeg's word about the source.
@Suite struct ExportCommandTests {
    private struct Time: Decodable { var seconds: Double? }
    private struct Delivered: Decodable { var start, end: Time; var storedFrom: Time? }
    private struct Track: Decodable {
        var codec: String
        var frameCount: Int?
        var delivered: Delivered
    }
    private struct LeftOut: Decodable { var trackIndex: Int; var type, reason: String }
    private struct Report: Decodable {
        var copied: Bool
        var preset: String
        var video: Track?
        var audio: [Track]
        var leftOut: [LeftOut]
        var warnings: [String]
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func export(_ arguments: [String]) throws -> Program.Result {
        try Program.run(Program.mediatool, ["export"] + arguments, folder: folder.path)
    }

    private func report(_ file: String, _ arguments: [String]) throws -> Report {
        let result = try export([file, "--json", "--quiet"] + arguments)
        #expect(result.status == 0, "\(result.error)")
        return try JSONDecoder().decode(Report.self, from: Data(result.bytes))
    }

    private func numbers(_ name: String) throws -> [Int] {
        try NumberedPictures.rows(folder.path(name)).map { NumberedPictures.number(of: $0) }
    }

    /// Numbered pictures with sound.
    private func source() throws -> String {
        let path = folder.path("in.mov")
        try NumberedPictures.make(folder.path("plain.mp4"), source: 1, rate: "25", count: 60)
        _ = try FFmpeg.run([
            "-i", folder.path("plain.mp4"), "-f", "lavfi", "-i", "anoisesrc=r=48000:d=2.4:seed=1:a=0.3", "-map", "0",
            "-map", "1", "-c:v", "copy", "-c:a", "pcm_s16le", path,
        ])
        return path
    }

    @Test func aPartIsExactToTheFrameAndTheSample() throws {
        let source = try source()
        let report = try report(source, ["-o", "o.mov", "--start", "7f", "--end", "1.5", "--audio-codec", "pcm"])
        #expect(try numbers("o.mov") == Array(263..<294))
        #expect(report.video?.frameCount == 31 && report.video?.codec == "h264")
        let pcm = try FFmpeg.pcm(source)
        // 7 frames of 1920 samples of 2 bytes.
        #expect(try FFmpeg.pcm(folder.path("o.mov")) == Array(pcm[7 * 1920 * 2..<72000 * 2]))
        #expect(report.audio.first?.delivered.start.seconds == 0.28)
        #expect(report.audio.first?.delivered.end.seconds == 1.5)
    }

    /// Copies keep their bytes; QuickTime hides what comes before, Matroska cannot.
    @Test func copiesSayWhatTheyDeliver() throws {
        let source = try source()
        let exact = try report(source, ["-o", "o.mov", "--start", "0.6", "--end", "1.2", "--copy"])
        #expect(exact.copied && exact.preset == "passthrough" && exact.warnings.isEmpty)
        #expect(exact.video?.delivered.start.seconds == 0.6 && exact.video?.delivered.end.seconds == 1.2)
        // A keyframe every 12 pictures: the one at 0.48 is needed.
        #expect(exact.video?.delivered.storedFrom?.seconds == 0.48)
        #expect(try numbers("o.mov") == Array(271..<286) && exact.video?.frameCount == 15)
        let pcm = try FFmpeg.pcm(source)
        // ffmpeg plays on to the end of the last packet.
        #expect(try FFmpeg.pcm(folder.path("o.mov")).starts(with: pcm[28800 * 2..<57600 * 2]))
        let late = try report(source, ["-o", "o.mkv", "--start", "0.6", "--end", "1.2", "--copy"])
        #expect(late.video?.delivered.start.seconds == 0.96 && late.warnings.count == 1)
        #expect(try numbers("o.mkv").count == late.video?.frameCount)
    }

    /// A composited picture that the start cuts keeps its part, and the next one its place.
    @Test(arguments: [["--size", "32x16"], ["--frame-rate", "30"]])
    func aStartBetweenTwoFramesIsExact(options: [String]) throws {
        let report = try report(try source(), ["-o", "o.mov", "--start", "0.617", "--end", "1.5"] + options)
        #expect(report.video?.delivered.start.seconds == 0.617 && report.video?.delivered.end.seconds == 1.5)
        let times = try FFmpeg.probe([
            "-select_streams", "v", "-show_entries", "packet=pts_time", "-of", "csv=p=0", folder.path("o.mov"),
        ]).compactMap { Double($0.trimmingCharacters(in: [","])) }.sorted()
        let grid = options.contains("30") ? 19 / 30.0 : 0.64
        #expect(times.first == 0 && abs((times.dropFirst().first ?? 0) - (grid - 0.617)) < 1e-6, "\(times.prefix(3))")
    }

    @Test func whatIsNotKeptOfPicturesIsAWarning() throws {
        let path = folder.path("deep.mov")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc=s=64x64:d=0.4,format=yuva444p10le", "-c:v", "prores_ks", "-profile:v",
            "4444", "-vf", "setfield=tff", "-flags", "+ildct", "-field_order", "tt", path,
        ])
        let report = try report(path, ["-o", "o.webm"])
        #expect(report.warnings.contains { $0.contains("transparency was left out") })
        #expect(report.warnings.contains { $0.contains("vp9 has no fields") })
        #expect(report.warnings.contains { $0.contains("bits a component became 8") })
    }

    @Test(arguments: [
        ("hevc-10bit.mp4", "hevcHighestQuality", "hevc,Main 10,yuv420p10le"),
        ("av.mp4", "hevcHighestQuality", "hevc,Main,yuv420p"), ("hevc-10bit.mp4", "hevc1920x1080", "hevc,Main,yuv420p"),
    ])
    func hevcOfTheHighestQualityKeepsTenBits(fixture: String, preset: String, made: String) throws {
        let report = try report(Fixtures.path(fixture), ["-o", "o.mov", "--preset", preset])
        let found = try FFmpeg.probe([
            "-select_streams", "v", "-show_entries", "stream=codec_name,profile,pix_fmt", "-of", "csv=p=0",
            folder.path("o.mov"),
        ])
        #expect(found == [made])
        #expect(report.warnings.contains { $0.contains("10 bits a component became 8") } == (preset == "hevc1920x1080"))
    }

    /// x265 writes the values among the coded pictures alone; ffmpeg's word is that of our container.
    @Test(arguments: [["proxy"], ["export"], ["export", "--preset", "hevc1920x1080"]])
    func brightnessThatOnlyThePicturesTellIsKept(command: [String]) throws {
        let path = folder.path("pq.mp4")
        let display = "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)"
        let tags = FFmpeg.colorTags(matrix: "bt2020nc", primaries: "bt2020", transfer: "smpte2084")
        _ = try FFmpeg.run(
            [
                "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=1,format=yuv420p10le", "-c:v", "libx265", "-preset",
                "ultrafast", "-x265-params", "log-level=error:master-display=\(display):max-cll=900,400:hdr10=1",
                "-tag:v", "hvc1",
            ] + tags + [path])
        let entries = ["-show_entries", "stream_side_data=max_luminance,min_luminance,red_x,max_content,max_average"]
        #expect(try FFmpeg.probe(entries + ["-of", "default=nw=1", path]) == [])
        let result = try Program.run(
            Program.mediatool, command + [path, "-o", "o.mov", "--start", "0.5", "--quiet"], folder: folder.path)
        #expect(result.status == 0, "\(result.error)")
        let found = try FFmpeg.probe(entries + ["-of", "default=nw=1:nk=1", folder.path("o.mov")])
        #expect(Set(found) == ["900", "400", "34000/50000", "50/10000", "10000000/10000"], "\(found)")
    }

    @Test(arguments: [
        (["--audio", "copy", "--audio-codec", "pcm"], 64), (["--audio", "none", "--audio-bitrate", "64k"], 64),
        (["--video-track", "0", "-o", "z.wav"], 2),
    ])
    func whatCannotBeDeliveredIsRefused(options: [String], status: Int) throws {
        let output = options.contains("-o") ? [] : ["-o", "o.mov"]
        #expect(try Int(export([source()] + options + output).status) == status)
    }

    /// Sound that begins at 1.2 s.
    @Test func tracksWithNothingInTheRangeAreLeftOut() throws {
        try folder.copy(fixture: "late-audio.mp4", as: "late.mp4")
        for arguments in [["--start", "0.3", "--end", "0.7", "--copy"], ["--start", "0", "--end", "0.2"]] {
            let report = try report(folder.path("late.mp4"), ["-o", "o.mov", "--force"] + arguments)
            #expect(report.video?.frameCount ?? 0 > 4 && report.audio.isEmpty)
            #expect(report.leftOut.map(\.trackIndex) == [1])
            #expect(report.leftOut.first?.type == "audio")
            #expect(report.leftOut.first?.reason == "it has nothing in this range")
        }
        let result = try export([folder.path("late.mp4"), "-o", "o.mkv", "--start", "0.3", "--end", "0.7", "--copy"])
        #expect(result.status == 2 && result.error.contains("copy to .mov or .mp4"), "\(result.error)")
    }

    @Test func picturesThatBeginLateInTheSourceAreNoWarning() throws {
        let path = folder.path("late.mkv")
        try NumberedPictures.make(folder.path("plain.mp4"), source: 1, rate: "25", count: 60)
        _ = try FFmpeg.run([
            "-itsoffset", "1", "-i", folder.path("plain.mp4"), "-f", "lavfi", "-i", "anoisesrc=r=48000:d=3:seed=1",
            "-map", "0", "-map", "1", "-c:v", "copy", "-c:a", "pcm_s16le", path,
        ])
        let report = try report(path, ["-o", "o.mkv", "--start", "0.5", "--end", "2", "--copy"])
        #expect(report.warnings == [] && report.video?.delivered.start.seconds == 1)
    }

    @Test func framesGetAnotherRateAndSize() throws {
        _ = try report(
            try source(), ["-o", "o.mov", "--preset", "proRes422LPCM", "--frame-rate", "50", "--size", "192x96"])
        let stream = try FFmpeg.probe([
            "-select_streams", "v", "-show_entries", "stream=width,height,r_frame_rate,nb_frames", "-of", "csv=p=0",
            folder.path("o.mov"),
        ])
        #expect(stream == ["192,96,50/1,120"])
    }

    @Test func soundAloneBecomesWhatTheNameSays() throws {
        let source = try source()
        for (name, codec) in [("o.wav", "pcm_s16le"), ("o.m4a", "aac"), ("o.flac", "flac")] {
            let report = try report(source, ["-o", name])
            #expect(report.video == nil && report.audio.map(\.codec) == [codec])
        }
        #expect(try FFmpeg.pcm(folder.path("o.wav")) == FFmpeg.pcm(source))
    }

    @Test func aWatermarkLiesOverTheFrames() throws {
        let mark = folder.path("mark.png")
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "color=c=white:s=16x8", "-frames:v", "1", mark])
        _ = try report(
            try source(),
            [
                "-o", "o.mov", "--preset", "proRes422LPCM", "--end", "0.2", "--watermark", mark, "--watermark-place",
                "4,2",
            ])
        let pixels = try FFmpeg.run([
            "-i", folder.path("o.mov"), "-frames:v", "1", "-pix_fmt", "gray", "-f", "rawvideo", "-",
        ])
        // Picture 256 has one bar, the ninth.
        #expect(pixels[5 * 192 + 10] > 230 && pixels[5 * 192 + 30] < 20 && pixels[14 * 192 + 10] < 20)
    }

    /// Encoders have logs of their own, and some of them print past libav's.
    @Test(arguments: [
        ("highestQuality", "o.mov"), ("hevcHighestQuality", "o.mp4"), ("vp9HighestQuality", "o.webm"),
        ("proRes422LPCM", "o.mov"), ("lowQuality", "o.mp4"),
    ])
    func encodersPrintNothing(preset: String, output: String) throws {
        let result = try Program.run(
            Program.mediatool, ["export", try source(), "-o", output, "--preset", preset, "--end", "0.4", "--quiet"],
            folder: folder.path)
        #expect(result.status == 0 && result.error == "", "\(result.error)")
    }

    /// libvpx counts in 10⁷ ticks a second, and refuses to be told of more than 10⁹.
    @Test(arguments: ["14112000", "1000000007", "2147483647"], ["o.mp4", "o.webm"])
    func timesOfVP9StayExact(timescale: String, output: String) throws {
        let source = folder.path("fine.mp4")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=s=64x48:r=30000/1001:d=1", "-c:v", "mpeg4", "-video_track_timescale",
            timescale,
            source,
        ])
        let arguments = ["export", source, "-o", output, "--preset", "vp9HighestQuality", "--quiet"]
        let result = try Program.run(Program.mediatool, arguments, folder: folder.path)
        #expect(result.status == 0, "\(result.error)")
        func ticks(_ path: String) throws -> [Int] {
            try FFmpeg.probe(["-select_streams", "v", "-show_entries", "packet=pts", "-of", "csv=p=0", path])
                .compactMap { Int($0.prefix { $0 != "," }) }.sorted()
        }
        let (wanted, found) = (try ticks(source), try ticks(folder.path(output)))
        #expect(wanted.count == 30)
        if output.hasSuffix("mp4") {
            #expect(found == wanted)
        } else {
            let scale = Double(timescale) ?? 1
            #expect(found == wanted.map { Int((Double($0) * 1000 / scale).rounded()) })
        }
    }

    @Test func existingFilesAndInputsAreKept() throws {
        let source = try source()
        try folder.write("o.mov", [1, 2, 3])
        #expect(try export([source, "-o", "o.mov"]).status == 2)
        #expect(try folder.bytes("o.mov") == [1, 2, 3])
        #expect(try export([source, "-o", "in.mov", "--force"]).status == 2)
        #expect(try export([source, "-o", "o.mov", "--force", "--end", "0.2"]).status == 0)
        #expect(try folder.names() == ["in.mov", "o.mov", "plain.mp4"])
        let mark = try FFmpeg.run([
            "-f", "lavfi", "-i", "color=c=white:s=16x8", "-frames:v", "1", "-c:v", "png", "-f", "image2pipe", "-",
        ])
        try folder.write("mark.mov", mark)
        #expect(try export([source, "-o", "mark.mov", "--watermark", "mark.mov", "--force"]).status == 2)
        #expect(try folder.bytes("mark.mov") == mark)
    }

    @Test(arguments: [
        ["--copy", "--crf", "20"], ["--copy", "--preset", "1280x720"], ["--size", "100"], ["--size", "101x100"],
        ["--size", "64xfoox64"], ["--watermark", "a.png", "--watermark-place", "1,q,1"],
        ["--frame-rate", "0"], ["--preset", "best"], ["--watermark-place", "1,1"], ["--start", "2", "--end", "1"],
        ["--copy", "--watermark", "a.png"],
    ])
    func contradictionsAreUsageErrors(arguments: [String]) throws {
        #expect(try export(["a.mov", "-o", "o.mov"] + arguments).status == 64)
    }

    @Test func outputsOfUnknownTypesAreUsageErrors() throws {
        for name in ["o.jpg", "o", "-"] { #expect(try export(["a.mov", "-o", name]).status == 64) }
        #expect(try export(["a.mov"]).status == 64)
    }
}
