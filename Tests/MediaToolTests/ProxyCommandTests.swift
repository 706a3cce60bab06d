import Foundation
import TestSupport
import Testing

@testable import mediatool

/// What is wanted is ffprobe's and ffmpeg's word about the source.
@Suite struct ProxyCommandTests {
    private struct Report: Decodable {
        struct Check: Decodable {
            var name: String
            var passed: Bool
        }
        struct Track: Decodable {
            var trackIndex: Int
            var codec: String?
            var type: String?
            var copied: Bool?
            var frameCount: Int?
            var reason: String?
        }
        struct Failure: Decodable { var code: String }
        var startTimecode: String?
        var video: Track?
        var audio: [Track]?
        var leftOut: [Track]?
        var changes: [String]?
        var checks: [Check]?
        var error: Failure?
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func proxy(_ arguments: [String]) throws -> Program.Result {
        try Program.run(Program.mediatool, ["proxy"] + arguments, folder: folder.path)
    }

    private func report(_ fixture: String, _ arguments: [String] = [], to name: String = "o.mov") throws -> Report {
        let result = try proxy(["--json", "--quiet", Fixtures.path(fixture), "-o", name] + arguments)
        #expect(result.status == 0, "\(result.error)")
        return try JSONDecoder().decode(Report.self, from: Data(result.bytes))
    }

    /// The presentation times that ffprobe decodes, as it prints them.
    private func times(_ path: String) throws -> [String] {
        try FFmpeg.probe(["-select_streams", "v:0", "-show_entries", "frame=pts_time", "-of", "csv=p=0", path])
            .map { String($0.prefix { $0 != "," }) }
    }

    private func tags(_ path: String, _ entries: String, _ stream: String = "v:0") throws -> [String] {
        try FFmpeg.probe(["-select_streams", stream, "-show_entries", entries, "-of", "csv=p=0", path])
    }

    @Test func presetsAreListed() throws {
        let names = try proxy(["--list-presets"]).output.split(separator: "\n").map { $0.prefix { $0 != " " } }
        #expect(
            Set(["h264-540p", "h264-720p", "h264-1080p", "h264-intra-540p", "prores-proxy", "dnxhr-lb", "web"])
                .isSubset(of: names))
    }

    @Test(arguments: ["h264-bframes.mp4", "vfr.mp4", "mpegts-10s.ts", "h264-aac.mkv"])
    func everyPictureKeepsItsTime(fixture: String) throws {
        let report = try report(fixture, ["--speed", "fastest"])
        // A transport stream's clock begins anywhere; Matroska's times are milliseconds.
        let wanted = try times(Fixtures.path(fixture)).compactMap(Double.init)
        let found = try times(folder.path("o.mov")).compactMap(Double.init)
        let zero = fixture.hasSuffix("ts") ? (wanted.first ?? 0) - (found.first ?? 0) : 0
        #expect(found.count == wanted.count && report.video?.frameCount == wanted.count)
        #expect(zip(wanted, found).allSatisfy { abs($0 - zero - $1) < 0.000_002 })
        #expect(report.checks?.isEmpty == false && report.checks?.allSatisfy(\.passed) == true)
    }

    /// The codecs by ffprobe's names, the pixel formats that their editors expect, and every picture a keyframe or not.
    @Test(arguments: [
        ("h264-540p", "h264,yuv420p", "aac"), ("h264-intra-540p", "h264,yuv420p", "pcm_s16le"),
        ("prores-proxy", "prores,yuv422p10le", "pcm_s16le"), ("web", "h264,yuv420p", "aac"),
    ])
    func presetsAreWhatTheySay(preset: String, video: String, audio: String) throws {
        _ = try report("av.mp4", ["--preset", preset])
        let path = folder.path("o.mov")
        #expect(try tags(path, "stream=codec_name,pix_fmt") == [video])
        #expect(try tags(path, "stream=codec_name", "a:0") == [audio])
        let keys = try tags(path, "packet=flags").map { $0.hasPrefix("K") }
        #expect(keys.allSatisfy(\.self) == (preset == "h264-intra-540p" || preset == "prores-proxy"))
    }

    @Test func dnxhrIsWritten() throws {
        let path = folder.path("a.mov")
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "testsrc2=s=320x180:d=0.4:r=25", "-c:v", "mjpeg", path])
        let result = try proxy([path, "-o", "o.mov", "--preset", "dnxhr-lb", "--json", "--quiet"])
        #expect(result.status == 0, "\(result.error)")
        #expect(try tags(folder.path("o.mov"), "stream=codec_name,profile,pix_fmt") == ["dnxhd,DNXHR LB,yuv422p"])
        // Motion JPEG has full range, DNxHR limited: white is 235.
        let white = try FFmpeg.run([
            "-i", folder.path("o.mov"), "-frames:v", "1", "-vf", "extractplanes=y", "-f", "rawvideo", "-",
        ])
        #expect(white.max() ?? 0 <= 240)
    }

    /// Memory that an encoder reads before it writes it would make a file depend on what ran earlier.
    @Test(arguments: [
        ["proxy", "--preset", "web"], ["proxy", "--preset", "h264-intra-540p"], ["proxy", "--preset", "prores-proxy"],
        ["export", "--preset", "hevcHighestQuality", "--speed", "fastest"],
        ["export", "--preset", "vp9HighestQuality", "--speed", "fastest"],
    ])
    func theBytesDoNotDependOnWhatTheMemoryHeld(command: [String]) throws {
        // glibc fills memory with such a byte when it is allocated and freed.
        let made = try [0, 1, 85].map { (filler: Int) throws -> [UInt8] in
            let name = command.contains("vp9HighestQuality") ? "\(filler).webm" : "\(filler).mov"
            let result = try Program.run(
                Program.mediatool, command + [Fixtures.path("h264-bframes.mp4"), "-o", name], folder: folder.path,
                environment: ["MALLOC_PERTURB_": "\(filler)"])
            try #require(result.status == 0, "\(result.error)")
            return try folder.bytes(name)
        }
        let isSame = made.allSatisfy { $0 == made[0] }
        #expect(isSame)
    }

    @Test func aTrimCutsToTheFrameAndMovesTheTimecode() throws {
        let report = try report("timecode-df.mov", ["--start", "7f", "--end", "15f"])
        #expect(report.video?.frameCount == 8)
        // 30000/1001 frames a second: the file starts at 01:00:00;00.
        #expect(report.startTimecode == "01:00:00;07")
        #expect(try tags(folder.path("o.mov"), "stream_tags=timecode").first == "01:00:00;07")
    }

    @Test func rotationIsKeptOrBakedIn() throws {
        _ = try report("rotated-90.mov")
        let side = "stream=width,height:stream_side_data=rotation"
        let stored = try tags(Fixtures.path("rotated-90.mov"), side).first
        #expect(try tags(folder.path("o.mov"), side).first == stored)
        _ = try report("rotated-90.mov", ["--bake-rotation"], to: "baked.mov")
        let baked = try tags(folder.path("baked.mov"), "stream=width,height").first
        #expect(baked == stored?.split(separator: ",").prefix(2).reversed().joined(separator: ","))
        #expect(try tags(folder.path("baked.mov"), "stream_side_data=rotation").joined().isEmpty)
    }

    @Test func soundIsCopiedChosenOrLeftOut() throws {
        var made = try report("many-tracks.mp4", ["--audio", "copy"])
        let sources = try FFmpeg.probe([
            "-select_streams", "a", "-show_entries", "stream=codec_name", "-of", "csv=p=0",
            Fixtures.path("many-tracks.mp4"),
        ])
        #expect(made.audio?.map(\.codec) == sources && made.audio?.allSatisfy { $0.copied == true } == true)
        made = try report("many-tracks.mp4", ["--audio-tracks", "a:1", "--audio-codec", "alac"], to: "one.mov")
        #expect(made.audio?.map(\.codec) == ["alac"])
        made = try report("many-tracks.mp4", ["--audio", "none"], to: "silent.mov")
        #expect(made.audio?.isEmpty == true)
        #expect(made.leftOut?.filter { $0.type == "audio" }.count == sources.count)
        #expect(made.leftOut?.allSatisfy { $0.reason?.isEmpty == false } == true)
    }

    /// The preset has PCM, which hardly a player reads in MPEG-4 files.
    @Test func soundThatIsNotThePresetsIsTold() throws {
        let preset = ["--preset", "h264-intra-540p"]
        var made = try report("av.mp4", preset, to: "o.mp4")
        #expect(made.audio?.map(\.codec) == ["aac"])
        #expect(made.changes?.contains { $0.contains("aac instead of the preset's pcm") } == true)
        let told = try proxy([Fixtures.path("av.mp4"), "-o", "p.mp4"] + preset)
        #expect(told.status == 0 && told.error.contains("warning: sound became aac"))
        for options in [["--audio-codec", "aac"], ["--audio", "copy"], ["--audio", "none"]] {
            made = try report("av.mp4", preset + options, to: "o\(options[1]).mp4")
            #expect(made.changes == [])
        }
        #expect(try report("av.mp4", preset).changes == [])
    }

    /// Some encoders refuse bit rates that others take.
    @Test(arguments: [
        (["--audio-bitrate", "1"], "aac", "--audio-bitrate"), (["--bitrate", "1"], "h264", "--bitrate"),
        (["--audio-codec", "pcm", "--audio-bitrate", "64k", "--bitrate", "500k"], "pcm", "--audio-bitrate"),
    ])
    func bitRatesThatAreRefusedNameTheirOption(options: [String], codec: String, name: String) throws {
        for command in ["proxy", "export"] {
            let result = try Program.run(
                Program.mediatool, [command, Fixtures.path("av.mp4"), "-o", "o.mov"] + options, folder: folder.path)
            #expect(result.status == 2 && result.errorLines.count == 1)
            #expect(result.error.contains("\(codec) takes no bit rate of"), "\(result.error)")
            #expect(result.error.contains("give another \(name), or none"))
            #expect(try folder.names().isEmpty)
        }
    }

    @Test func picturesAreNeverMadeLarger() throws {
        _ = try report("h264-bframes.mp4", ["--height", "1000"])
        let size = try tags(Fixtures.path("h264-bframes.mp4"), "stream=width,height")
        #expect(try tags(folder.path("o.mov"), "stream=width,height") == size)
        _ = try report("h264-bframes.mp4", ["--height", "60"], to: "small.mp4")
        #expect(try tags(folder.path("small.mp4"), "stream=height") == ["60"])
    }

    @Test(arguments: [
        [], ["-o", "o.avi"], ["-o", "-"], ["-o", "o.mov", "--crf", "60"], ["-o", "o.mov", "--preset", "none"],
        ["-o", "o.mov", "--preset", "prores-proxy", "--crf", "20"], ["-o", "o.mov", "--start", "2", "--end", "1"],
    ])
    func senselessArgumentsAreUsageErrors(arguments: [String]) throws {
        let result = try proxy([Fixtures.path("av.mp4")] + arguments)
        #expect(result.status == 64)
        #expect(result.error.split(separator: "\n").count == 1)
        #expect(try folder.names().isEmpty)
    }

    @Test func inputsAndOtherFilesAreLeftAlone() throws {
        let copy = try folder.copy(fixture: "av.mp4", as: "a.mp4")
        let before = try folder.bytes("a.mp4")
        try FileManager.default.createSymbolicLink(atPath: folder.path("l.mp4"), withDestinationPath: copy)
        try FileManager.default.linkItem(atPath: copy, toPath: folder.path("h.mp4"))
        for name in ["a.mp4", "l.mp4", "h.mp4"] {
            let result = try proxy([copy, "-o", name, "--force"])
            #expect(result.status == 2)
            #expect(result.error.split(separator: "\n").count == 1 && result.error.contains("input"))
        }
        _ = try folder.write("o.mov", [1, 2, 3])
        #expect(try proxy([copy, "-o", "o.mov"]).status == 2)
        #expect(try folder.bytes("o.mov") == [1, 2, 3])
        #expect(try proxy([copy, "-o", "no/such/o.mov"]).status == 2)
        #expect(try folder.names().sorted() == ["a.mp4", "h.mp4", "l.mp4", "o.mov"])
        #expect(try folder.bytes("a.mp4") == before)
    }

    @Test func aFileWithoutPicturesIsAnError() throws {
        let result = try proxy([Fixtures.path("aac.m4a"), "-o", "o.mov", "--json"])
        #expect(result.status == 2)
        #expect(try JSONDecoder().decode(Report.self, from: Data(result.bytes)).error?.code == "noSuchTrack")
        #expect(try folder.names().isEmpty)
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func aSignalLeavesNothing(signal: Int32) throws {
        for delay in [60_000, 150_000, 400_000] as [UInt32] {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: Program.mediatool)
            process.arguments = [
                "proxy", Repository.sampleMovie, "-o", folder.path("o.mov"), "--quiet", "--speed", "slow",
            ]
            process.standardError = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            usleep(delay)
            kill(process.processIdentifier, signal)
            process.waitUntilExit()
            let isDone = process.terminationStatus == 0
            #expect(isDone || process.terminationStatus == 128 + signal)
            try #expect(folder.names() == (isDone ? ["o.mov"] : []))
            try? FileManager.default.removeItem(atPath: folder.path("o.mov"))
        }
    }
}
