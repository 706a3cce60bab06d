import Foundation
import TestSupport
import Testing

/// What copies carry besides pictures and sound, by the word of ffmpeg and ffprobe.
@Suite struct ExportCopyTracksTests {
    private struct Time: Decodable { var seconds: Double? }
    private struct Delivered: Decodable { var start: Time }
    private struct Track: Decodable { var delivered: Delivered; var frameCount: Int? }
    private struct Subtitles: Decodable { var codec: String; var language: String? }
    private struct DataTrack: Decodable { var trackIndex: Int; var type: String; var codecTag: String? }
    private struct LeftOut: Decodable { var trackIndex: Int; var type: String; var reason: String }
    private struct Report: Decodable {
        var requested: [String: Time]?
        var video: Track?
        var subtitles: [Subtitles]?
        var data: [DataTrack]?
        var startTimecode: String?
        var leftOut: [LeftOut]
        var warnings: [String]
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func export(_ arguments: [String]) throws -> Program.Result {
        try Program.run(Program.mediatool, ["export", "--force", "--quiet"] + arguments, folder: folder.path)
    }

    private func report(_ arguments: [String]) throws -> Report {
        let result = try export(["--json", "--copy"] + arguments)
        #expect(result.status == 0, "\(result.error)")
        return try JSONDecoder().decode(Report.self, from: Data(result.bytes))
    }

    private func make(_ name: String, _ arguments: [String]) throws -> String {
        let path = folder.path(name)
        _ = try FFmpeg.run(arguments + ["-y", path])
        return path
    }

    /// Six seconds of pictures with sync samples every second, and cues from 0.5 to 1.5, 2 to 4 and 5 to 5.5 s.
    private func subtitled(_ name: String, _ codec: String) throws -> String {
        let cues = """
            1
            00:00:00,500 --> 00:00:01,500
            First

            2
            00:00:02,000 --> 00:00:04,000
            Second

            3
            00:00:05,000 --> 00:00:05,500
            Third
            """
        try Data(cues.utf8).write(to: URL(fileURLWithPath: folder.path("cues.srt")))
        return try make(
            name,
            [
                "-f", "lavfi", "-i", "testsrc2=s=64x48:r=10:d=6", "-i", folder.path("cues.srt"), "-c:v", "libx264",
                "-g",
                "10", "-bf", "0", "-threads", "1", "-c:s", codec, "-metadata:s:s:0", "language=fra",
            ])
    }

    private func cues(_ name: String) throws -> [String] {
        String(decoding: try FFmpeg.run(["-i", folder.path(name), "-map", "0:s:0", "-f", "srt", "-"]), as: UTF8.self)
            .split(separator: "\n").filter { !$0.allSatisfy(\.isNumber) }.map(String.init)
    }

    @Test(arguments: [("mov_text", "n.mp4", "o.mov"), ("mov_text", "n.mp4", "o.mp4"), ("subrip", "n.mkv", "o.mkv")])
    func subtitlesAreCopied(codec: String, source: String, output: String) throws {
        let source = try subtitled(source, codec)
        let whole = try report([source, "-o", output])
        #expect(whole.subtitles?.map(\.codec) == [codec] && whole.subtitles?.first?.language == "fra")
        #expect(whole.leftOut.isEmpty && whole.warnings.isEmpty, "\(whole.warnings)")
        #expect(
            try cues(output) == [
                "00:00:00,500 --> 00:00:01,500", "First", "00:00:02,000 --> 00:00:04,000", "Second",
                "00:00:05,000 --> 00:00:05,500", "Third",
            ])
        // A cue that is shown when a part begins or ends is cut there; the part begins at a sync sample.
        #expect(try report([source, "-o", output, "--start", "3", "--end", "5.2"]).video?.frameCount == 22)
        #expect(
            try cues(output) == [
                "00:00:00,000 --> 00:00:01,000", "Second", "00:00:02,000 --> 00:00:02,200", "Third",
            ])
        let frames = try FFmpeg.probe([
            "-select_streams", "v", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of", "csv=p=0",
            folder.path(output),
        ])
        #expect(frames.first.flatMap { Int($0.prefix { $0.isNumber }) } == 22)
    }

    @Test func subtitlesThatTheFileCannotHoldAreTold() throws {
        let source = try subtitled("n.mkv", "subrip")
        let copy = try report([source, "-o", "o.mp4"])
        #expect(copy.subtitles == nil && copy.leftOut.map(\.trackIndex) == [1])
        #expect(copy.leftOut.first?.reason == "mp4 files cannot hold subrip")
        #expect(copy.warnings == ["track 1 (subrip) is left out: mp4 files cannot hold subrip"])
        // A part in which nothing is said.
        let quiet = try report([source, "-o", "o.mkv", "--start", "4.5", "--end", "4.9", "--copy-from", "keyframe"])
        #expect(quiet.leftOut.first?.reason == "it has nothing in this range" && quiet.subtitles == nil)
    }

    private func kinds(_ name: String) throws -> [String] {
        try FFmpeg.probe(["-show_entries", "stream=codec_type,codec_tag_string", "-of", "csv=p=0", folder.path(name)])
            .map { $0.split(separator: ",").joined(separator: " ") }
    }

    @Test func timecodeIsCopiedStatedOrTold() throws {
        let source = try make(
            "t.mov",
            [
                "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=2", "-f", "lavfi", "-i", "sine=d=2", "-c:v", "libx264",
                "-g", "10", "-c:a", "aac", "-timecode", "10:00:00:00",
            ])
        let whole = try report([source, "-o", "o.mp4"])
        #expect(whole.data?.map(\.codecTag) == ["tmcd"] && whole.data?.map(\.trackIndex) == [2])
        #expect(whole.startTimecode == "10:00:00:00" && whole.leftOut.isEmpty && whole.warnings.isEmpty)
        #expect(try kinds("o.mp4") == ["video avc1", "audio mp4a", "data tmcd"])
        // A part has the timecode of its own first frame.
        let part = try report([source, "-o", "o.mov", "--start", "0.4"])
        #expect(part.data == nil && part.startTimecode == "10:00:00:10" && part.leftOut.isEmpty)
        #expect(try kinds("o.mov") == ["video avc1", "audio mp4a", "data tmcd"])
        // Matroska has a tag for it, and a file of sound has nothing.
        let tagged = try report([source, "-o", "o.mkv"])
        #expect(tagged.data == nil && tagged.startTimecode == "10:00:00:00" && tagged.leftOut.isEmpty)
        let sound = try report([source, "-o", "o.m4a"])
        #expect(sound.leftOut.map(\.type) == ["video", "timecode"])
        #expect(sound.leftOut.map(\.reason) == ["m4a files hold no video", "m4a files hold no timecode tracks"])
    }

    @Test func everyVideoTrackIsCopied() throws {
        let source = try Fixtures.path("many-tracks.mp4")
        let whole = try report([source, "-o", "o.mov"])
        #expect(whole.leftOut.isEmpty)
        #expect(try kinds("o.mov").count { $0.hasPrefix("video") } == 2)
        let one = try report([source, "-o", "o.mov", "--video-track", "v:1"])
        #expect(one.leftOut.map(\.trackIndex) == [0])
        #expect(try kinds("o.mov").count { $0.hasPrefix("video") } == 1)
    }

    // MARK: Where a copy begins

    /// As `ffmpeg -ss 2.35 -c copy` does.
    @Test(arguments: ["o.mkv", "o.mov"]) func aCopyBeginsAtTheKeyframe(output: String) throws {
        let source = try subtitled("n.mkv", "subrip")
        let copy = try report([source, "-o", output, "--start", "2.35", "--copy-from", "keyframe"])
        #expect(copy.requested?["start"]?.seconds == 2.35)
        #expect(copy.video?.delivered.start.seconds == 2 && copy.video?.frameCount == 40)
        func sums(_ path: String) throws -> [Substring] {
            let table = try FFmpeg.run(["-i", path, "-map", "0:v", "-fps_mode", "passthrough", "-f", "framemd5", "-"])
            return String(decoding: table, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
                .compactMap { $0.split(separator: ",").last }
        }
        #expect(try sums(folder.path(output)) == Array(try sums(source)[20...]))
        let wrong = try export([source, "-o", output, "--copy-from", "keyframe"])
        #expect(wrong.status == 64, "\(wrong.error)")
    }

    // MARK: What is said of pictures

    /// A configuration record of profile 8.1, put behind the `hvcC` of a file without one.
    @Test(arguments: ["o.mov", "o.mp4", "o.mkv"]) func dolbyVisionStays(output: String) throws {
        let plain = try make(
            "plain.mp4",
            [
                "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=1", "-c:v", "libx265", "-x265-params", "log-level=none",
                "-pix_fmt", "yuv420p10le", "-tag:v", "hvc1",
            ])
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: plain)))
        func place(_ name: String) throws -> Int {
            let name = Array(name.utf8)
            return try #require(bytes.indices.dropLast(4).first { Array(bytes[$0..<$0 + 4]) == name }) - 4
        }
        func size(_ at: Int) -> Int { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
        // Version 1.0, profile 8, level 5, metadata and base layer, compatibility 1.
        let record: [UInt8] =
            [0, 0, 0, 32] + Array("dvvC".utf8) + [1, 0, 8 << 1, 5 << 3 | 0b101, 1 << 4]
            + [UInt8](repeating: 0, count: 19)
        let header = try place("hvcC")
        bytes.insert(contentsOf: record, at: header + size(header))
        for box in ["hvc1", "stsd", "stbl", "minf", "mdia", "trak", "moov"] {
            let at = try place(box)
            let grown = size(at) + record.count
            for byte in 0..<4 { bytes[at + byte] = UInt8(truncatingIfNeeded: grown >> (24 - 8 * byte)) }
        }
        let source = folder.path("dv.mp4")
        try Data(bytes).write(to: URL(fileURLWithPath: source))
        func told(_ path: String) throws -> [String] {
            try FFmpeg.probe(["-show_entries", "stream_side_data", "-of", "default=nw=1", path]).filter {
                $0.hasPrefix("dv_") || $0.contains("_present_flag")
            }
        }
        let wanted = try told(source)
        #expect(wanted.contains("dv_profile=8") && wanted.contains("dv_bl_signal_compatibility_id=1"), "\(wanted)")
        _ = try report([source, "-o", output])
        #expect(try told(folder.path(output)) == wanted)
    }

    /// 64 by 48 pixels of which 60 by 40 are meant to be seen, 2 from the left and 3 from above.
    @Test(arguments: [("o.mkv", true), ("o.mkv", false), ("o.webm", false)])
    func matroskaKeepsCleanApertures(output: String, copies: Bool) throws {
        let plain = try make(
            "plain.mov",
            [
                "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=2,setsar=4/3", "-c:v", "libx264", "-threads", "1",
            ])
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: plain)))
        func place(_ name: String) throws -> Int {
            let name = Array(name.utf8)
            return try #require(bytes.indices.dropLast(4).first { Array(bytes[$0..<$0 + 4]) == name }) - 4
        }
        func size(_ at: Int) -> Int { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
        // ISO/IEC 14496-12, 12.1.4: width, height and both offsets of the centre, as fractions: 0 and −1.
        let numbers: [Int32] = [60, 1, 40, 1, 0, 1, -1, 1]
        let clap: [UInt8] =
            [0, 0, 0, 40] + Array("clap".utf8)
            + numbers.flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * Int32($0))) } }
        let aspect = try place("pasp")
        bytes.insert(contentsOf: clap, at: aspect)
        for box in ["avc1", "stsd", "stbl", "minf", "mdia", "trak", "moov"] {
            let at = try place(box)
            let grown = size(at) + clap.count
            for byte in 0..<4 { bytes[at + byte] = UInt8(truncatingIfNeeded: grown >> (24 - 8 * byte)) }
        }
        let source = folder.path("clap.mov")
        try Data(bytes).write(to: URL(fileURLWithPath: source))
        let result = try export([source, "-o", output] + (copies ? ["--copy"] : ["--speed", "fastest"]))
        #expect(result.status == 0 && !result.error.contains("aperture"), "\(result.error)")
        // RFC 9559: PixelCropLeft, Top, Right and Bottom, and the size of what is left: 60 times 4/3 by 40.
        let made = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path(output))))
        for (id, value) in [(0xCC, 2), (0xBB, 3), (0xDD, 2), (0xAA, 5), (0xB0, 80), (0xBA, 40)] as [(UInt8, UInt8)] {
            let element = [0x54, id, 0x84, 0, 0, 0, value]
            #expect(made[..<2000].indices.contains { Array(made[$0..<$0 + 7]) == element }, "\(id) \(value)")
        }
        // Readers that follow the seek head and the sums find everything: all pictures, the tags, the index.
        let frames = try FFmpeg.probe([
            "-err_detect", "crccheck+explode", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of",
            "default=nokey=1:noprint_wrappers=1", folder.path(output),
        ])
        #expect(frames.first == "50")
        let probed = try Program.run(Program.mediatool, ["probe", "--json", folder.path(output)])
        #expect(probed.output.contains("\"cleanApertureSize\": {\n          \"width\": 80,\n          \"height\": 40"))
        let late = try FFmpeg.probe([
            "-read_intervals", "1.9", "-show_entries", "packet=pts_time", "-of", "csv=p=0", folder.path(output),
        ])
        #expect(!late.isEmpty)
    }
}
