import Foundation
import TestSupport
import Testing

/// Timelines whose clips play at other speeds, exported by the program and heard by ffmpeg.
@Suite struct ExportTimePitchTests {
    private let folder: TemporaryFolder

    /// A timeline of audio clips of one tone of 440 Hz, each of one second on the timeline with its speed.
    init() throws {
        folder = try TemporaryFolder()
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "sine=440:r=48000:d=8", "-c:a", "pcm_s16le", folder.path("tone.wav"),
        ])
    }

    private func write(_ name: String, speeds: [Double]) throws {
        func time(_ value: Int) -> String { #"{"OTIO_SCHEMA":"RationalTime.1","value":\#(value),"rate":25}"# }
        let clips = speeds.map { speed in
            let effect = #"{"OTIO_SCHEMA":"LinearTimeWarp.1","time_scalar":\#(speed)}"#
            return #"{"OTIO_SCHEMA":"Clip.1","media_reference":{"OTIO_SCHEMA":"ExternalReference.1","target_url":"#
                + #""tone.wav"},"source_range":{"OTIO_SCHEMA":"TimeRange.1","start_time":\#(time(25)),"#
                + #""duration":\#(time(25))},"effects":[\#(speed == 1 ? "" : effect)]}"#
        }
        let timeline =
            #"{"OTIO_SCHEMA":"Timeline.1","tracks":{"OTIO_SCHEMA":"Stack.1","children":[{"OTIO_SCHEMA":"Track.1","#
            + #""kind":"Audio","children":[\#(clips.joined(separator: ","))]}]}}"#
        try folder.write(name, timeline.utf8)
    }

    private func export(_ arguments: [String], environment: [String: String] = [:]) throws -> Program.Result {
        try Program.run(
            Program.mediatool, ["export"] + arguments + ["-o", "o.wav", "--force"], folder: folder.path,
            environment: environment)
    }

    /// The frequencies of the seconds of the exported file, by upward zero crossings.
    private func frequencies() throws -> [Double] {
        let bytes = try FFmpeg.pcm(folder.path("o.wav"))
        let samples = bytes.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
        #expect(samples.count % 48000 == 0)
        return stride(from: 0, to: samples.count, by: 48000).map { start in
            Tones.frequency(samples[start..<start + 48000].map { Float($0) }, rate: 48000)
        }
    }

    @Test func linearTimeWarpsKeepThePitch() throws {
        try write("warps.otio", speeds: [1, 2, 0.5, 0.8, 1])
        var result = try export(["warps.otio"])
        #expect(result.status == 0, "\(result.error)")
        var heard = try frequencies()
        #expect(heard.count == 5)
        #expect(heard.allSatisfy { abs($0 / 440 - 1) < 0.005 }, "\(heard)")
        let first = try FFmpeg.pcm(folder.path("o.wav"))
        _ = try export(["warps.otio"])
        #expect(try FFmpeg.pcm(folder.path("o.wav")) == first)

        result = try export(["warps.otio", "--time-pitch", "varispeed"])
        #expect(result.status == 0, "\(result.error)")
        heard = try frequencies()
        for (frequency, speed) in zip(heard, [1, 2, 0.5, 0.8, 1]) {
            #expect(abs(frequency / 440 / speed - 1) < 0.005, "\(heard)")
        }
    }

    /// What the dynamic linker says of the libraries that it looks for.
    @Test func theLibraryIsLoadedOnlyWhereItIsNeeded() throws {
        try write("plain.otio", speeds: [1, 1])
        try write("warp.otio", speeds: [2])
        for (arguments, isLoaded) in [
            (["plain.otio"], false), (["warp.otio", "--time-pitch", "varispeed"], false), (["warp.otio"], true),
        ] {
            let result = try export(arguments + ["--no-sandbox"], environment: ["LD_DEBUG": "libs"])
            #expect(result.status == 0)
            #expect(result.error.contains("find library=libavcodec"))
            #expect(result.error.contains("find library=librubberband") == isLoaded)
        }
    }

    @Test func aMissingLibraryIsAnErrorWithItsRemedy() throws {
        try write("warp.otio", speeds: [2])
        // What cannot be loaded stands in the way of what can.
        for version in [2, 3] { try folder.write("librubberband.so.\(version)", "no library".utf8) }
        let hidden = ["LD_LIBRARY_PATH": folder.path]
        var result = try export(["warp.otio", "--no-sandbox"], environment: hidden)
        #expect(result.status == 2 && result.errorLines.count == 1, "\(result.error)")
        #expect(result.error.contains("librubberband2") && result.error.contains("varispeed"), "\(result.error)")
        #expect(try folder.names().contains("o.wav") == false)
        result = try export(["warp.otio", "--no-sandbox", "--time-pitch", "varispeed"], environment: hidden)
        #expect(result.status == 0, "\(result.error)")
    }
}
