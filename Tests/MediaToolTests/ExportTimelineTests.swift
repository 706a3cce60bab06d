import Foundation
import TestSupport
import Testing

@testable import mediatool

/// Timelines that the `opentimelineio` package wrote, over numbered pictures: `golden/README.md`.
@Suite struct ExportTimelineTests {
    private let folder: TemporaryFolder

    /// Each medium's own number and its pictures a second.
    private static let media: [String: (source: Int, rate: Double)] = [
        "one.mp4": (1, 25), "two.mov": (2, 24000.0 / 1001), "three.mkv": (3, 30),
    ]

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("media"), withIntermediateDirectories: false)
        for name in ["cuts", "dissolves", "sound"] {
            try FileManager.default.copyItem(
                atPath: Repository.path("golden/timelines/\(name).otio"), toPath: folder.path(name + ".otio"))
        }
        try NumberedPictures.make(
            folder.path("media/one.mp4"), source: 1, rate: "25", count: 100,
            options: ["-video_track_timescale", "90000"])
        try NumberedPictures.make(
            folder.path("media/two.mov"), source: 2, rate: "24000/1001", count: 100,
            options: ["-timecode", "01:00:00:00"])
        // Its clock counts milliseconds.
        try NumberedPictures.make(folder.path("media/three.mkv"), source: 3, rate: "30", count: 100)
    }

    private func export(_ arguments: [String]) throws -> Program.Result {
        try Program.run(
            Program.mediatool, ["export"] + arguments + ["--preset", "proRes422LPCM", "--force"], folder: folder.path)
    }

    private func rows(_ name: String, _ arguments: [String] = []) throws -> [[UInt8]] {
        let result = try export([name + ".otio", "-o", "o.mov"] + arguments)
        #expect(result.status == 0, "\(result.error)")
        return try NumberedPictures.rows(folder.path("o.mov"))
    }

    private func golden(_ name: String) throws -> [GoldenTable.Row] {
        try GoldenTable("timelines/frames.tsv").rows.filter { $0.fields["timeline"] == name }
    }

    /// The number of the picture of a medium at a time.
    private static func number(_ name: String, at seconds: Double) throws -> Int {
        guard name != "-" else { return 0 }
        let medium = try #require(media[name])
        return medium.source * 256 + Int((seconds * medium.rate + 1e-4).rounded(.down))
    }

    @Test(arguments: ["cuts", "dissolves"])
    func everyFrameIsTheOneThatTheTimelineSays(name: String) throws {
        let rows = try rows(name)
        let wanted = try golden(name)
        #expect(rows.count == wanted.count)
        for (row, frame) in zip(rows, wanted) where frame.fields["dissolve"] == "0" {
            let seconds = try #require(Double(try frame.text("seconds")))
            let number = try Self.number(frame.text("source"), at: seconds)
            let place = try frame.text("frame")
            #expect(NumberedPictures.number(of: row) == number, "frame \(place)")
        }
    }

    /// The dissolve around the cut at frame 20, from 15 to 23: ffmpeg's luma of both pictures, mixed by time.
    @Test func dissolvesMixByTime() throws {
        let rows = try rows("dissolves")
        let one = try NumberedPictures.rows(folder.path("media/one.mp4"))
        let two = try NumberedPictures.rows(folder.path("media/two.mov"))
        for frame in 15..<23 {
            let part = Double(frame - 15) / 8
            let seconds = Double(frame - 20) / 25
            let second = two[24 + Int((seconds * 24000 / 1001 + 1e-4).rounded(.down))]
            for column in stride(from: 8, to: NumberedPictures.width, by: 16) {
                let (old, new) = (Double(one[10 + frame][column]), Double(second[column]))
                let mixed: Double = old + (new - old) * part
                #expect(abs(Double(rows[frame][column]) - mixed) < 4, "frame \(frame), column \(column)")
            }
        }
        // The fades at both ends go from and to black. The second ends with its clip, at frame 75.025.
        for (frame, part) in [(0, 0.0), (1, 0.25), (2, 0.5), (72, 3.025 / 6), (74, 1.025 / 6)] {
            let white = Double(rows[frame].max() ?? 0)
            #expect(abs(white - part * 255) < 6, "frame \(frame)")
        }
    }

    /// From a wide white picture to a narrow grey one in the middle: what lies beside that goes evenly to black.
    ///
    /// Where pixels are narrower, the grey one covers half of columns 72 and 119.
    @Test(arguments: ["1", "47/48"]) func dissolvesOfOtherShapes(pixels: String) throws {
        for (name, color, size) in [("wide.mov", "white", "192x48"), ("narrow.mov", "gray", "48x48")] {
            let shape = name == "narrow.mov" ? ",setsar=\(pixels)" : ""
            let input = ["-f", "lavfi", "-i", "color=\(color):s=\(size):r=25:d=2" + shape]
            _ = try FFmpeg.run(input + ["-pix_fmt", "yuv422p10le", "-c:v", "prores_ks", folder.path(name)])
        }
        func time(_ value: Int) -> String { #"{"OTIO_SCHEMA":"RationalTime.1","value":\#(value),"rate":25}"# }
        func clip(_ name: String, _ start: Int) -> String {
            #"{"OTIO_SCHEMA":"Clip.1","media_reference":{"OTIO_SCHEMA":"ExternalReference.1","target_url":"\#(name)"},"#
                + #""source_range":{"OTIO_SCHEMA":"TimeRange.1","start_time":\#(time(start)),"duration":\#(time(10))}}"#
        }
        let dissolve =
            #"{"OTIO_SCHEMA":"Transition.1","transition_type":"SMPTE_Dissolve","in_offset":\#(time(4)),"#
            + #""out_offset":\#(time(4))}"#
        let track = #"{"OTIO_SCHEMA":"Track.1","kind":"Video","children":["#
        let timeline =
            #"{"OTIO_SCHEMA":"Timeline.1","tracks":{"OTIO_SCHEMA":"Stack.1","children":[\#(track)"#
            + #"\#(clip("wide.mov", 0)),\#(dissolve),\#(clip("narrow.mov", 10))]}]}}"#
        try folder.write("shapes.otio", timeline.utf8)
        let rows = try rows("shapes")
        #expect(rows.count == 20)
        let grey = Double(rows[19][96])
        for frame in 0..<20 {
            let part = min(max(Double(frame - 6) / 8, 0), 1)
            for column in [8, 64, 69, 123, 128, 184] {
                #expect(abs(Double(rows[frame][column]) - 255 * (1 - part)) < 5, "frame \(frame), column \(column)")
            }
            for column in [76, 96, 116] {
                let mixed = 255 + (grey - 255) * part
                #expect(abs(Double(rows[frame][column]) - mixed) < 5, "frame \(frame), column \(column)")
            }
            for column in [72, 119] {
                // The half that is not covered fades like all beside; the other one lies over it.
                let under = 255 * (1 - part)
                let rest = pixels == "1" ? under : under * (1 - part / 2)
                let mixed = rest + Double(rows[19][column]) * part
                #expect(abs(Double(rows[frame][column]) - mixed) < 5, "frame \(frame), column \(column)")
            }
        }
        #expect(abs(grey - 128) < 4)
    }

    @Test func aPartOfATimelineIsChosenByItsTimecode() throws {
        let all = try rows("cuts")
        let part = try rows("cuts", ["--start", "01:00:00:10", "--end", "01:00:01:05"])
        #expect(part.map { NumberedPictures.number(of: $0) } == all[10..<30].map { NumberedPictures.number(of: $0) })
        let tags = ["-select_streams", "v", "-show_entries", "stream_tags=timecode", "-of", "csv=p=0"]
        #expect(try FFmpeg.probe(tags + [folder.path("o.mov")]) == ["01:00:00:10"])
    }

    @Test func soundLiesToTheSample() throws {
        let noise = folder.path("media/noise.wav")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "anoisesrc=r=48000:d=4:seed=7:a=0.4", "-c:a", "pcm_s16le", noise,
        ])
        let result = try export(["sound.otio", "-o", "o.mov", "--audio-codec", "pcm", "--json", "--quiet"])
        #expect(result.status == 0, "\(result.error)")
        func samples(_ path: String) throws -> [Double] {
            let bytes = try FFmpeg.pcm(path, format: "f64le")
            return bytes.withUnsafeBytes { Array($0.bindMemory(to: Double.self)) }
        }
        let (source, made) = (try samples(noise), try samples(folder.path("o.mov")))
        // 50 frames of 1920 samples: the rest is silent.
        var wanted = [Double](repeating: 0, count: 96000)
        func add(_ range: Range<Int>, at place: Int, volume: (Int) -> Double) {
            for sample in range {
                wanted[place + sample - range.lowerBound] += source[sample] * volume(sample - range.lowerBound)
            }
        }
        add(4801..<28804, at: 0) { _ in 1 }
        // The cut is at sample 45003; each side goes on for 2400 samples.
        add(96000..<118_400, at: 25003) { $0 < 17600 ? 1 : 1 - Double($0 - 17600) / 4800 }
        add(9945..<42345, at: 42603) { min(1, Double($0) / 4800) }
        #expect(made.count == wanted.count)
        #expect(zip(made, wanted).allSatisfy { abs($0 - $1) < 1e-6 })
        #expect(try export(["sound.otio", "-o", "o.mov", "--audio", "copy"]).error.contains("part of a dissolve"))
    }

    /// A timeline of one track of pictures, each clip with its file, first frame and number of frames at 25 a second.
    private func write(_ name: String, _ clips: [(file: String, first: Int, count: Int)]) throws {
        func time(_ value: Int) -> String { #"{"OTIO_SCHEMA":"RationalTime.1","value":\#(value),"rate":25}"# }
        let items = clips.map { clip in
            #"{"OTIO_SCHEMA":"Clip.1","media_reference":{"OTIO_SCHEMA":"ExternalReference.1","target_url":"#
                + #""\#(clip.file)"},"source_range":{"OTIO_SCHEMA":"TimeRange.1","start_time":"#
                + #"\#(time(clip.first)),"duration":\#(time(clip.count))}}"#
        }
        let timeline =
            #"{"OTIO_SCHEMA":"Timeline.1","global_start_time":\#(time(90000)),"tracks":{"OTIO_SCHEMA":"Stack.1","#
            + #""children":[{"OTIO_SCHEMA":"Track.1","kind":"Video","children":[\#(items.joined(separator: ","))]}]}}"#
        try folder.write(name, timeline.utf8)
    }

    /// Sync samples are at every twelfth picture.
    @Test func cutsBetweenSyncSamplesAreCopied() throws {
        try write("copied.otio", [("media/one.mp4", 7, 17), ("media/one.mp4", 60, 24), ("media/one.mp4", 36, 5)])
        let result = try Program.run(
            Program.mediatool, ["export", "copied.otio", "-o", "o.mov", "--copy", "--json"], folder: folder.path)
        #expect(result.status == 0, "\(result.error)")
        let numbers = try NumberedPictures.rows(folder.path("o.mov")).map(NumberedPictures.number(of:))
        #expect(numbers == (Array(7..<24) + Array(60..<84) + Array(36..<41)).map { 256 + $0 })
        let tags = ["-select_streams", "v", "-show_entries", "stream_tags=timecode", "-of", "csv=p=0"]
        #expect(try FFmpeg.probe(tags + [folder.path("o.mov")]) == ["01:00:00:00"])
        let hash = [
            "-select_streams", "v", "-show_data_hash", "MD5", "-show_entries", "packet=data_hash", "-of", "csv=p=0",
        ]
        let known = try Set(FFmpeg.probe(hash + [folder.path("media/one.mp4")]))
        #expect(try known.isSuperset(of: FFmpeg.probe(hash + [folder.path("o.mov")])))

        try write("between.otio", [("media/one.mp4", 0, 12), ("media/one.mp4", 30, 24)])
        try write("other.otio", [("media/one.mp4", 0, 12), ("media/two.mov", 0, 12)])
        for (name, words) in [
            ("between", "segment 2 of track 1, at 0.48 s"), ("other", "segment 2"), ("dissolves", "part of a dissolve"),
            ("cuts", "which has to be rendered"),
        ] {
            let result = try Program.run(
                Program.mediatool, ["export", name + ".otio", "-o", "n.mov", "--copy"], folder: folder.path)
            #expect(result.status == 2 && result.errorLines.count == 1, "\(result.error)")
            #expect(result.error.contains(words), "\(result.error)")
            #expect(try folder.names().contains("n.mov") == false)
        }
    }

    @Test func mediaIsTakenFromTheTimelinesOwnFolder() throws {
        let text = try String(contentsOfFile: folder.path("cuts.otio"), encoding: .utf8)
        func write(_ url: String) throws {
            try folder.write("changed.otio", text.replacing("media/two.mov", with: url).utf8)
        }
        try folder.copy(fixture: "av.mp4", as: "outside.mp4")
        try FileManager.default.createDirectory(atPath: folder.path("inner"), withIntermediateDirectories: false)
        try write("../outside.mp4")
        for name in ["media", "changed.otio"] {
            try FileManager.default.moveItem(atPath: folder.path(name), toPath: folder.path("inner/" + name))
        }
        var result = try export(["inner/changed.otio", "-o", "o.mov"])
        #expect(result.status == 2 && result.error.contains("tracks/V1/1 \"two.mov\": "))
        #expect(result.error.contains("--allow-outside"))
        result = try export(["inner/changed.otio", "-o", "o.mov", "--allow-outside"])
        // The clip counts by a timecode that this file does not have.
        #expect(result.status == 0, "\(result.error)")
        #expect(try folder.names().filter { $0.hasPrefix("o.mov") } == ["o.mov"])
    }

    @Test func missingMediaIsAnErrorOrAGap() throws {
        try FileManager.default.removeItem(atPath: folder.path("media/three.mkv"))
        let result = try export(["cuts.otio", "-o", "o.mov"])
        #expect(result.status == 2 && result.error.contains("tracks/V1/2 \"three.mkv\": media/three.mkv: "))
        #expect(try folder.names().contains("o.mov") == false)
        let rows = try rows("cuts", ["--allow-missing"])
        #expect(NumberedPictures.number(of: rows[25]) == 0 && NumberedPictures.number(of: rows[0]) == 266)
    }

    @Test(arguments: [
        (#""time_scalar": 2.0"#, #""time_scalar": -2.0"#, "-2.0 times its speed"),
        (#""LinearTimeWarp.1""#, #""Effect.1""#, "--ignore-effects"),
        (#""ExternalReference.1""#, #""GeneratorReference.1""#, "GeneratorReference"),
        (#""kind": "Video""#, #""kind": "Text""#, "a track of kind Text"),
        (#""rate": 30.0"#, #""rate": 0.0"#, "rate of 0.0"), (#""Clip.2""#, #""Clip""#, "no OTIO_SCHEMA"),
        (#""value": 12.0"#, #""value": 0.0"#, "has no length"),
        (#""value": 12.0"#, #""value": "a""#, "value is not a number"),
        (#""Timeline.1""#, #""Clip.1""#, "is not a timeline"),
    ])
    func whatCannotBeRenderedIsNamed(old: String, new: String, words: String) throws {
        let text = try String(contentsOfFile: folder.path("cuts.otio"), encoding: .utf8)
        #expect(text.contains(old))
        try folder.write("changed.otio", text.replacing(old, with: new).utf8)
        let result = try export(["changed.otio", "-o", "o.mov"])
        #expect(result.status == 2 && result.errorLines.count == 1 && result.error.contains(words), "\(result.error)")
        #expect(try folder.names().contains("o.mov") == false)
    }

    @Test func theJSONTellsOfTheTimeline() throws {
        struct Report: Decodable {
            struct Timeline: Decodable {
                var clips, dissolves, videoTracks, audioTracks, mediaFiles: Int
            }
            var timeline: Timeline
        }
        let result = try export(["dissolves.otio", "-o", "o.mov", "--json"])
        let timeline = try JSONDecoder().decode(Report.self, from: Data(result.bytes)).timeline
        #expect(timeline.clips == 4 && timeline.dissolves == 3 && timeline.mediaFiles == 3)
        #expect(timeline.videoTracks == 2 && timeline.audioTracks == 0)
    }

    @Test func whatLooksLikeATimelineAndIsNoneIsRefused() throws {
        try folder.write("a.otio", "hello".utf8)
        #expect(try export(["a.otio", "-o", "o.mov"]).error.contains("is not JSON"))
    }
}
