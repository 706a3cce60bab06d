import Foundation
import TestSupport
import Testing

/// What a file may ask for, and how long it may take, as it is set on the command line.
@Suite struct LimitsTests {
    private struct Result: Decodable {
        struct Failure: Decodable {
            var code, message: String
        }
        var error: Failure?
        var warnings: [String]?
        var tracks: [Track]?
        struct Track: Decodable {
            var audio: Audio?
        }
        struct Audio: Decodable {
            var sampleRate: Int?
        }
    }

    private func decoded(_ result: Program.Result) throws -> Result {
        try JSONDecoder().decode(Result.self, from: Data(result.bytes))
    }

    @Test(arguments: [
        (["probe"], "many-tracks.mp4", "streams=2"), (["thumbs", "--at", "0"], "av.mp4", "pixels=1000"),
        (["waveform"], "pcm-s16-5.1.wav", "channels=5"), (["waveform"], "aac-5.1.m4a", "channels=5"),
        (["proxy", "-o", "proxy.mov"], "av.mp4", "pixels=1000"), (["qc"], "av.mp4", "pixels=1000"),
        (["probe"], "av.mp4", "boxes=10"), (["waveform"], "aac.m4a", "boxes=3"),
    ])
    func goingBeyondIsAnErrorThatNamesTheLimit(command: [String], fixture: String, limit: String) throws {
        let folder = try TemporaryFolder()
        let arguments = try command + ["--json", Fixtures.path(fixture)]
        let refused = try Program.run(Program.mediatool, arguments + ["--limit", limit], folder: folder.path)
        #expect(refused.status == 2, "\(refused.error)")
        #expect(refused.error.contains(limit.prefix { $0 != "=" }), "\(refused.error)")
        if command[0] != "thumbs" {
            #expect(try decoded(refused).error?.code == "limitExceeded")
        }
        #expect(try folder.names() == [])
        // The same without a limit, and within one.
        let wide = limit.prefix { $0 != "=" } + "=2000000"
        let taken = try Program.run(Program.mediatool, arguments + ["--limit", String(wide)], folder: folder.path)
        #expect(taken.status < 2, "\(taken.error)")
    }

    @Test func boxesBeyondTheLimitAreAWarning() throws {
        let arguments = ["probe", "--json", try Fixtures.path("av.mp4")]
        #expect(try decoded(Program.run(Program.mediatool, arguments)).warnings?.isEmpty ?? true)
        let few = try decoded(Program.run(Program.mediatool, arguments + ["--limit", "boxes=20"]))
        #expect(few.error == nil && few.warnings?.contains { $0.contains("boxes=20") } == true)
    }

    @Test func whatIsReadAheadIsLimited() throws {
        let folder = try TemporaryFolder()
        let stream = folder.path("ac3.ts")
        // What only the packets of the sound say, and they are not the first.
        _ = try FFmpeg.run(["-i", Fixtures.path("av.mp4"), "-c:v", "copy", "-c:a", "ac3", "-f", "mpegts", stream])
        let rates = try ["5000000", "64"].map { bytes in
            try decoded(Program.run(Program.mediatool, ["probe", "--json", stream, "--limit", "probe-bytes=" + bytes]))
                .tracks?.compactMap { $0.audio?.sampleRate }
        }
        #expect(rates == [[48000], []])
    }

    @Test(arguments: [
        ["probe"], ["waveform"], ["thumbs", "--at", "0"], ["proxy", "-o", "out.mov"], ["qc"],
    ])
    func aSilentPipeIsGivenUp(command: [String]) throws {
        let folder = try TemporaryFolder()
        for head in [0, 2000] {
            let begun = ContinuousClock.now
            let result = try Program.run(
                "sh",
                ["-c", #"f=$1; shift; mkfifo p; (head -c "$0" "$f"; exec sleep 20) >p & "$@" <p; kill $!; rm p"#]
                    + ["\(head)", Fixtures.path("mpegts-10s.ts"), Program.mediatool] + command
                    + ["-", "--json", "--timeout", "0.5"],
                folder: folder.path, seconds: 30)
            #expect(try decoded(result).error?.code == "timedOut", "\(result.error)")
            #expect(ContinuousClock.now - begun < .seconds(15))
        }
        #expect(try folder.names() == [])
    }

    /// Nobody ever writes the policy or the watermark.
    @Test(arguments: [["qc", "--policy", "p", "a.mp4"], ["export", "--watermark", "p", "-o", "b.mp4", "a.mp4"]])
    func aFileThatNeverComesIsGivenUp(command: [String]) throws {
        let folder = try TemporaryFolder()
        _ = try folder.copy(fixture: "av.mp4", as: "a.mp4")
        let begun = ContinuousClock.now
        let result = try Program.run(
            "sh",
            ["-c", #"mkfifo p; "$0" "$@"; s=$?; rm p; exit $s"#, Program.mediatool] + command + ["--timeout", "0.5"],
            folder: folder.path, seconds: 30)
        #expect(result.status == 2)
        #expect(result.errorLines.count == 1 && result.error.contains("time limit"), "\(result.error)")
        #expect(ContinuousClock.now - begun < .seconds(15))
        #expect(try folder.names() == ["a.mp4"])
    }

    /// Twenty days of silence, by one broken time stamp.
    @Test func aWideHoleIsGivenUp() throws {
        let folder = try TemporaryFolder()
        let hole = folder.path("hole.mkv")
        _ = try FFmpeg.run([
            "-i", Fixtures.path("h264-aac.mkv"), "-map", "0", "-c", "copy", "-bsf:a",
            #"setts=ts='if(gt(N\,50)\,TS+2000000000\,TS)'"#, hole,
        ])
        let begun = ContinuousClock.now
        let result = try Program.run(
            Program.mediatool,
            ["proxy", "-o", "out.mov", hole, "--json", "--timeout", "1", "--limit", "duration=1000h"],
            folder: folder.path, seconds: 60)
        #expect(try decoded(result).error?.code == "timedOut", "\(result.error)")
        #expect(ContinuousClock.now - begun < .seconds(20))
        #expect(try folder.names() == ["hole.mkv"])
    }

    /// One picture of 6000 x 4000 in 64 bits takes 183 MB, so half of 1 GB holds too few for eight threads.
    @Test func largePicturesAreDecodedWithFewerThreads() throws {
        let folder = try TemporaryFolder()
        let made = try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i", "color=s=6000x4000:d=0.08:r=25", "-pix_fmt", "rgba64be", "-c:v",
                "png",
                folder.path("large.mov"),
            ])
        #expect(made.status == 0, "\(made.error)")
        let command = ["thumbs", "--at", "0", "--width", "60", "--threads", "8", "-o", "a.png", "large.mov"]
        let result = try Program.run(Program.mediatool, command + ["--limit", "memory=1G"], folder: folder.path)
        #expect(result.status == 0)
        #expect(
            result.errorLines == [
                "mediatool: large.mov: warning: each picture of track 0 takes 183 MB, so it is decoded with 1 thread in place "
                    + "of 8; raise the limit memory to use more"
            ])
        let other = try Program.run(
            Program.mediatool, command + ["--limit", "memory=8G", "--force"], folder: folder.path)
        #expect(other.status == 0 && other.error.isEmpty)
    }

    @Test func timeIsEnoughForWhatIsDoneInIt() throws {
        let result = try Program.run(
            Program.mediatool, ["waveform", "--json", "--timeout", "60", Fixtures.path("aac.m4a")])
        #expect(result.status == 0)
    }

    @Test(arguments: [
        ["--limit", "tracks=3"], ["--limit", "pixels"], ["--limit", "pixels=0"], ["--limit", "pixels=-1"],
        ["--limit", "pixels=99999999999"], ["--limit", "=1"], ["--timeout", "0"], ["--timeout", "-1"],
        ["--timeout", "nan"], ["--timeout", "inf"], ["--timeout", "soon"],
    ])
    func whatMakesNoSenseIsAUsageError(arguments: [String]) throws {
        #expect(try Program.run(Program.mediatool, ["probe", "a.mov"] + arguments).status == 64)
    }
}
