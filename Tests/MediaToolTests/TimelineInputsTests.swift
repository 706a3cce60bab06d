import Foundation
import TestSupport
import Testing

@testable import mediatool

/// Timelines as inputs of `waveform` and `thumbs`, against what `export` writes of them.
@Suite struct TimelineInputsTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("media"), withIntermediateDirectories: false)
        for name in ["cuts", "sound"] {
            try FileManager.default.copyItem(
                atPath: Repository.path("golden/timelines/\(name).otio"), toPath: folder.path(name + ".otio"))
        }
    }

    private func run(_ arguments: [String]) throws -> Program.Result {
        try Program.run(Program.mediatool, arguments + ["--force"], folder: folder.path)
    }

    private func points(_ name: String) throws -> [Int] {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path(name)))
        let file = try #require(JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        let header = ["sample_rate", "samples_per_pixel", "length"].compactMap { file[$0] as? Int }
        return try header + #require(file["data"] as? [Int])
    }

    private func makeNoise() throws {
        let input = ["-f", "lavfi", "-i", "anoisesrc=r=48000:d=4:seed=7:a=0.4", "-c:a", "pcm_s16le"]
        _ = try FFmpeg.run(input + [folder.path("media/noise.wav")])
        try NumberedPictures.make(
            folder.path("media/one.mp4"), source: 1, rate: "25", count: 100,
            options: ["-video_track_timescale", "90000"])
    }

    /// Cuts at whole samples and crossfades; the WAV file rounds to 24 bits.
    @Test(arguments: [[], ["--start", "0.3", "--end", "1.5"]])
    func theWaveformIsThatOfTheExportedSound(range: [String]) throws {
        try makeNoise()
        #expect(try run(["export", "sound.otio", "-o", "o.wav", "--quiet"]).status == 0)
        for name in ["sound.otio", "o.wav"] {
            let outputs = ["-o", name + ".json", "--samples-per-pixel", "64", "--json"]
            let result = try run(["waveform", name] + outputs + range)
            #expect(result.status == 0, "\(result.error)")
            #expect(result.output.contains("\"path\": \"\(name)\"") || result.output.contains("\"path\":\"\(name)\""))
        }
        let (timeline, file) = (try points("sound.otio.json"), try points("o.wav.json"))
        #expect(timeline.count == file.count && timeline.count > 100)
        #expect(zip(timeline, file).allSatisfy { abs($0 - $1) <= 1 })
        #expect(timeline.prefix(3) == file.prefix(3) && timeline.contains { $0 > 1000 })
    }

    /// Sound that is only cut is not changed by a bit.
    @Test func theWaveformOfACutIsThatOfItsSource() throws {
        try makeNoise()
        func time(_ value: Int) -> String { #"{"OTIO_SCHEMA":"RationalTime.1","value":\#(value),"rate":48000}"# }
        let clip =
            #"{"OTIO_SCHEMA":"Clip.1","media_reference":{"OTIO_SCHEMA":"ExternalReference.1","target_url":"#
            + #""media/noise.wav"},"source_range":{"OTIO_SCHEMA":"TimeRange.1","start_time":\#(time(48000)),"#
            + #""duration":\#(time(96000))}}"#
        let timeline =
            #"{"OTIO_SCHEMA":"Timeline.1","tracks":{"OTIO_SCHEMA":"Stack.1","children":[{"OTIO_SCHEMA":"Track.1","#
            + #""kind":"Audio","children":[\#(clip)]}]}}"#
        try folder.write("cut", timeline.utf8)
        let level = ["--samples-per-pixel", "100", "-o"]
        #expect(try run(["waveform", "cut"] + level + ["a.json"]).status == 0)
        #expect(
            try run(["waveform", "media/noise.wav", "--start", "1", "--end", "3"] + level + ["b.json"]).status == 0)
        #expect(try points("a.json") == points("b.json"))
        // From standard input, a file of which can be read again, names are those of the working folder.
        let piped = try Program.run(
            Program.mediatool, ["waveform", "-"] + level + ["c.json"], input: Array(timeline.utf8), folder: folder.path)
        #expect(piped.status == 0, "\(piped.error)")
        #expect(try points("c.json") == points("b.json"))
        // What it reads is not written over.
        let result = try run(["waveform", "cut", "-o", "media/noise.wav.json", "-o", "media/../media/noise.wav"])
        #expect(result.status != 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("media/noise.wav"))).count > 300_000)
    }

    @Test func imagesAreTheFramesOfTheTimeline() throws {
        try NumberedPictures.make(
            folder.path("media/one.mp4"), source: 1, rate: "25", count: 100,
            options: ["-video_track_timescale", "90000"])
        try NumberedPictures.make(
            folder.path("media/two.mov"), source: 2, rate: "24000/1001", count: 100,
            options: ["-timecode", "01:00:00:00"])
        try NumberedPictures.make(folder.path("media/three.mkv"), source: 3, rate: "30", count: 100)
        let rows = try GoldenTable("timelines/frames.tsv").rows.filter { $0.fields["timeline"] == "cuts" }
        let rates = ["one.mp4": (1, 25), "two.mov": (2, 24000.0 / 1001), "three.mkv": (3, 30)]
        let frames = Array(stride(from: 0, to: rows.count, by: 7))
        let times = frames.flatMap { ["--at", "\($0)f"] }
        var result = try run(["thumbs", "cuts.otio", "-o", "{frame}.png", "--json"] + times)
        #expect(result.status == 0, "\(result.error)")
        for frame in frames {
            let names = try folder.names().filter { $0.hasSuffix(".png") && Int($0.dropLast(4)) == frame }
            let name = try #require(names.first)
            let row = try #require(try NumberedPictures.rows(folder.path(name)).first)
            let medium = try rows[frame].text("source")
            var wanted = 0
            if let (source, rate) = rates[medium] {
                let seconds = try #require(Double(try rows[frame].text("seconds")))
                wanted = source * 256 + Int((seconds * rate + 1e-4).rounded(.down))
            }
            #expect(NumberedPictures.number(of: row) == wanted, "frame \(frame)")
        }
        // By the timeline's own clock, in any size; and a sheet.
        result = try run(["thumbs", "cuts.otio", "-o", "t.png", "--at", "01:00:00:07", "--width", "96"])
        #expect(result.status == 0, "\(result.error)")
        result = try run(["thumbs", "cuts.otio", "-o", "s.png", "--contact-sheet", "--count", "4"])
        #expect(result.status == 0, "\(result.error)")
        #expect(try run(["thumbs", "cuts.otio", "-o", "s-{index}.png", "--scenes"]).status == 0)
        #expect(try run(["thumbs", "cuts.otio", "--keyframes"]).error.contains("not stored"))
        try FileManager.default.removeItem(atPath: folder.path("media/three.mkv"))
        #expect(try run(["thumbs", "cuts.otio", "--count", "3"]).error.contains("tracks/V1/2 \"three.mkv\""))
        #expect(try run(["thumbs", "cuts.otio", "--count", "3", "--allow-missing"]).status == 0)
    }

    /// Beginnings of what other editing programs write, and what is said of each.
    private static let otherFiles: [(text: String, wanted: String, remedy: String)] = [
        (
            "TITLE: X\r\n\r\n001  AX       V     C        00:00:00:00 00:00:01:00 01:00:00:00 01:00:01:00\r\n",
            "(EDL)", "otioconvert"
        ),
        (
            "000001  TAPE AA/V D 024 01:00:00;00 01:00:01;00 00:00:00;00 00:00:01;00\n", "(EDL)", "otioconvert"
        ),
        ("<?xml version=\"1.0\"?>\n<!DOCTYPE fcpxml>\n<fcpxml version=\"1.10\"/>", "FCPXML", "otioconvert"),
        ("<?xml version=\"1.0\"?>\n<!DOCTYPE xmeml>\n<xmeml version=\"5\"/>", "Final Cut Pro 7", "otioconvert"),
        (
            "PK\u{3}\u{4}\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0content.otio{}", ".otioz",
            "content.otio"
        ),
        ("AAF", "is an AAF", "otioconvert"),
    ]

    /// What other editing programs write is named, with the way to a timeline.
    @Test(arguments: otherFiles)
    func otherEditingFilesAreNamed(text: String, wanted: String, remedy: String) throws {
        var bytes = Array(text.utf8)
        if text == "AAF" {
            bytes = [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1, 0x41, 0x41, 0x46, 0x42, 0x0D, 0x00, 0x4F, 0x4D]
            bytes += [0x06, 0x0E, 0x2B, 0x34, 0x01, 0x01, 0x01, 0xFF] as [UInt8]
            bytes += [UInt8](repeating: 0, count: 4000)
        }
        let path = try folder.write("cut", bytes)
        for arguments in [["probe", path], ["export", path, "-o", "o.mov"], ["thumbs", path, "--at", "0"]] {
            let result = try Program.run(Program.mediatool, arguments, folder: folder.path)
            #expect(result.status == 2 && result.errorLines.count == 1, "\(result.error)")
            #expect(result.error.contains(wanted) && result.error.contains(remedy), "\(result.error)")
        }
    }

    @Test func commandsThatReadNoTimelinesSayWhichDo() throws {
        let result = try Program.run(Program.mediatool, ["probe", "cuts.otio"], folder: folder.path)
        #expect(result.status == 2 && result.error.contains("export, thumbs and waveform read it"), "\(result.error)")
        // Other text is not called so.
        try folder.write("notes", Array("TITLE: a list\n1 2 3\n".utf8))
        let other = try Program.run(Program.mediatool, ["probe", "notes"], folder: folder.path)
        #expect(other.status == 2 && !other.error.contains("EDL"), "\(other.error)")
    }

    /// Media that lies in another folder than the timeline says, in each command.
    @Test func mediaIsLookedForInMediaFolders() throws {
        try makeNoise()
        try FileManager.default.createDirectory(atPath: folder.path("moved"), withIntermediateDirectories: false)
        try FileManager.default.moveItem(atPath: folder.path("media"), toPath: folder.path("moved/media"))
        let commands = [
            ["waveform", "sound.otio", "-o", "a.json"], ["export", "sound.otio", "-o", "a.wav"],
        ]
        for command in commands {
            let missing = try run(command)
            #expect(missing.status == 2 && missing.error.contains("--media-folder"), "\(missing.error)")
            let found = try run(command + ["--media-folder", "media", "--media-folder", "moved"])
            #expect(found.status == 2 && found.error.contains("no such media folder"), "\(found.error)")
            let result = try run(command + ["--media-folder", "moved"])
            #expect(result.status == 0, "\(result.error)")
        }
    }
}
