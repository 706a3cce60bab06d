import Foundation
import TestSupport
import Testing

/// The programs below `docs/Examples`, run on the sample movie and looked at by ffmpeg.
@Suite struct ExamplesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ example: String, _ arguments: [String]) throws -> Program.Result {
        try Program.run(Program.besideTests(example), arguments, folder: folder.path)
    }

    private func gray(_ name: String, _ filter: String) throws -> [UInt8] {
        try FFmpeg.run([
            "-i", folder.path(name), "-vf", filter, "-fps_mode", "passthrough", "-pix_fmt", "rgb24", "-f", "rawvideo",
            "-",
        ])
    }

    @Test func twoClipsAreJoined() throws {
        for (name, color) in [("one.mp4", "white"), ("two.mp4", "gray")] {
            _ = try FFmpeg.run([
                "-f", "lavfi", "-i", "color=c=\(color):s=160x90:r=25:d=1", "-c:v", "libx264", folder.path(name),
            ])
        }
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "sine=440:r=44100:d=3", folder.path("music.wav")])
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "color=c=red:s=20x10", "-frames:v", "1", folder.path("mark.png")])
        let result = try run("ExampleJoinClips", ["one.mp4", "two.mp4", "music.wav", "mark.png", "out.mov"])
        #expect(result.status == 0, "\(result.output)\(result.error)")
        let streams = try FFmpeg.probe([
            "-show_entries", "stream=codec_name,width,height,r_frame_rate,duration", "-of", "csv=p=0",
            folder.path("out.mov"),
        ])
        #expect(streams.first?.hasPrefix("h264,160,90,30/1,2.000000") == true)
        #expect(streams.last?.hasPrefix("aac,") == true)
        // The first clip is half gone in the middle of its second; the second is there at once.
        let middles = try gray("out.mov", "crop=2:2:120:60,scale=1:1")
        #expect(middles.count == 60 * 3)
        #expect(abs(Int(middles[15 * 3]) - 128) < 8 && abs(Int(middles[45 * 3]) - 128) < 8)
        #expect(middles[0] > 245 && middles[29 * 3] < 16)
        // The watermark covers half: red over what fades.
        let marks = try gray("out.mov", "crop=4:2:16:12,scale=1:1")
        #expect(abs(Int(marks[29 * 3]) - 130) < 12 && marks[29 * 3 + 1] < 24)
        // The index comes first.
        let bytes = Data(try folder.bytes("out.mov"))
        let index = try #require(bytes.range(of: Data("moov".utf8)))
        let media = try #require(bytes.range(of: Data("mdat".utf8)))
        #expect(index.lowerBound < media.lowerBound)
    }

    @Test func portraitAndLandscapeAreNotJoined() throws {
        let result = try run(
            "ExampleJoinClips",
            [Fixtures.path("rotated-90.mov"), Fixtures.path("av.mp4"), Fixtures.path("av.mp4"), "none.png", "out.mov"])
        #expect(result.status == 2 && result.output.contains("portrait"))
        #expect(try folder.names().isEmpty)
    }

    @Test func theVolumeFalls() throws {
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "sine=440:r=48000:d=2", folder.path("in.wav")])
        let result = try run("ExampleVolumeRamp", ["in.wav", "out.m4a"])
        #expect(result.status == 0, "\(result.error)")
        func peak(_ path: String, _ start: String) throws -> Int {
            try FFmpeg.run(["-ss", start, "-t", "0.1", "-i", folder.path(path), "-f", "s8", "-"])
                .map { Int(Int8(bitPattern: $0).magnitude) }.max() ?? 0
        }
        let full = try peak("in.wav", "0")
        #expect(abs(try peak("out.m4a", "0") - full) <= 3)
        #expect(abs(try peak("out.m4a", "0.95") - full / 2) <= 3)
        #expect(try peak("out.m4a", "1.85") <= 4)
    }

    @Test func theGroundIsRed() throws {
        let result = try run("ExampleRedBackground", [Fixtures.path("av.mp4"), "out.mov"])
        #expect(result.status == 0, "\(result.error)")
        let corner = try gray("out.mov", "crop=8:8:2:2,scale=1:1").prefix(3)
        // ffmpeg may take the matrix of small pictures for another.
        #expect(corner[0] > 220 && corner[1] < 16 && corner[2] < 16)
        let middle = try gray("out.mov", "crop=8:8:76:40,scale=1:1").prefix(3)
        #expect(middle[1] > 16 || middle[2] > 16 || middle[0] < 240)
    }

    /// A movie that lies in an archive is read there.
    @Test func aMemberOfAnArchiveIsRead() throws {
        let (note, film) = (folder.path("note.txt"), folder.path("film.mp4"))
        try Data("not media".utf8).write(to: URL(fileURLWithPath: note))
        try FileManager.default.copyItem(atPath: Fixtures.path("av.mp4"), toPath: film)
        let packed = try Program.run(
            "/usr/bin/tar", ["--format=ustar", "-cf", "films.tar", "note.txt", "film.mp4"], folder: folder.path)
        #expect(packed.status == 0, "\(packed.error)")
        let result = try run("ExampleArchiveMember", ["films.tar", "film.mp4"])
        #expect(result.status == 0, "\(result.error)")
        let durations = try FFmpeg.probe(["-show_entries", "stream=codec_type", "-of", "csv=p=0", film])
        #expect(result.output.split(separator: "\n").count == durations.count)
        #expect(result.output.hasPrefix("0 video"))
        #expect(try run("ExampleArchiveMember", ["films.tar", "note.txt"]).status != 0)
        #expect(try run("ExampleArchiveMember", ["films.tar", "none"]).status == 2)
    }
}
