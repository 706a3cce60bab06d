import Foundation
import Peaks
import TestSupport
import Testing

/// Silence that a few bytes ask for: an edit list, or a time stamp that is far out.
@Suite struct LongSilenceTests {
    private struct Result: Decodable {
        struct Failure: Decodable {
            var code, message: String
        }
        var error: Failure?
        var samples, lateStart, holes: Int64?
    }

    private static let commands = [
        ["waveform", "-o", "out.dat"], ["qc"], ["export", "-o", "out.wav"], ["export", "--copy", "-o", "out.mov"],
    ]

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ arguments: [String]) throws -> Program.Result {
        try Program.run(Program.mediatool, arguments, folder: folder.path, seconds: 60)
    }

    private func decoded(_ result: Program.Result) throws -> Result {
        try JSONDecoder().decode(Result.self, from: Data(result.bytes))
    }

    /// A tenth of a second of 48 kHz that begins so many hours late.
    private func late(hours: Int) throws -> String {
        let path = folder.path("late-\(hours).mov")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "sine=1000:sample_rate=48000:duration=0.1", "-c:a", "pcm_s16le",
            folder.path("short.wav"),
        ])
        _ = try FFmpeg.run(["-itsoffset", "\(hours * 3600)", "-i", folder.path("short.wav"), "-c", "copy", path])
        return path
    }

    /// Sound of a second with a hole in its middle, of which the header does not know.
    private func gap(seconds: Int) throws -> String {
        let path = folder.path("gap-\(seconds).mkv")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "sine=1000:sample_rate=48000:duration=1", "-af",
            "asetpts=if(gt(N\\,20480)\\,PTS+\(seconds)/TB\\,PTS)", "-c:a", "pcm_s16le", path,
        ])
        return path
    }

    /// By hand: 24 hours are 86400 * 48000 / 4096 = 1012500 points of zeros; what follows are the points of the short file.
    @Test(arguments: ["dat", "json", "csv"]) func aDayOfSilenceHasItsPoints(format: String) throws {
        let late = try late(hours: 24)
        let outputs = ["-o", "late.\(format)", "--samples-per-pixel", "4096", "--bits", "8"]
        let measured = try run(["waveform", late, "--json"] + outputs)
        #expect(measured.status == 0, "\(measured.error)")
        #expect(try decoded(measured).lateStart == 86400 * 48000)
        #expect(try decoded(measured).samples == 86400 * 48000 + 4800)
        _ = try run([
            "waveform", folder.path("short.wav"), "-o", "short.\(format)", "--samples-per-pixel", "4096", "--bits", "8",
        ])
        let (long, short) = (try folder.bytes("late.\(format)"), try folder.bytes("short.\(format)"))
        switch format {
        case "dat":
            #expect(long.count == 20 + 2 * 1_012_500 + short.count - 20)
            #expect(long[20..<20 + 2 * 1_012_500].allSatisfy { $0 == 0 })
            #expect(long.suffix(short.count - 20) == short.dropFirst(20))
        case "csv":
            let lines = String(decoding: long, as: UTF8.self).split(separator: "\n")
            #expect(lines.count == 1_012_502 && lines.prefix(1_012_500).allSatisfy { $0 == "0,0" })
            #expect(lines.suffix(2).joined(separator: "\n") + "\n" == String(decoding: short, as: UTF8.self))
        default:
            struct Peaks: Decodable {
                var length: Int
                var data: [Int]
            }
            let (late, early) = try (
                JSONDecoder().decode(Peaks.self, from: Data(long)), JSONDecoder().decode(Peaks.self, from: Data(short))
            )
            #expect(late.length == 1_012_502 && late.data.count == 2 * 1_012_502)
            #expect(late.data.prefix(2_025_000).allSatisfy { $0 == 0 })
            #expect(Array(late.data.suffix(4)) == early.data)
        }
    }

    /// A picture and the numbers need no point of it.
    @Test func aWeekOfSilenceTakesNoTime() throws {
        let late = try late(hours: 160)
        let begun = ContinuousClock.now
        let result = try run(["waveform", late, "--json", "-o", "a.png", "-o", "a.svg"])
        #expect(try decoded(result).samples == 160 * 3600 * 48000 + 4800)
        let checked = try run(["qc", late, "--json", "--timeout", "20"])
        #expect(checked.status == 0, "\(checked.error)")
        #expect(ContinuousClock.now - begun < .seconds(40))
    }

    @Test(arguments: commands)
    func aPresentationThatIsTooLongIsRefused(command: [String]) throws {
        let late = try late(hours: 200)
        let refused = try run(command + [late, "--json"])
        #expect(refused.status == 2)
        #expect(try decoded(refused).error?.code == "limitExceeded")
        #expect(try decoded(refused).error?.message.contains("duration=168h") == true)
        #expect(try folder.names() == ["late-200.mov", "short.wav"])
    }

    @Test func theLimitIsSetInHoursOrSeconds() throws {
        let late = try late(hours: 2)
        for (limit, status) in [("duration=1h", 2), ("duration=7199", 2), ("duration=3h", 0), ("duration=7201", 0)] {
            let result = try run(["waveform", late, "--json", "--limit", limit])
            #expect(result.status == Int32(status), "\(limit): \(result.error)")
        }
        // What is not read does not count.
        let part = try run(["waveform", late, "--json", "--limit", "duration=1h", "--start", "7200"])
        #expect(part.status == 0, "\(part.error)")
    }

    /// What only the samples say is found while they are read.
    @Test(arguments: commands)
    func aHoleThatIsTooWideIsRefused(command: [String]) throws {
        let gap = try gap(seconds: 7200)
        let begun = ContinuousClock.now
        let refused = try run(command + [gap, "--json", "--limit", "duration=1h"])
        #expect(try decoded(refused).error?.code == "limitExceeded", "\(refused.error)")
        #expect(ContinuousClock.now - begun < .seconds(20))
        #expect(try folder.names() == ["gap-7200.mkv"])
    }

    /// A gap of a timeline is made of nothing, too.
    @Test(arguments: [["waveform", "-o", "out.dat"], ["export", "-o", "out.wav", "--limit", "output-bytes=1000G"]])
    func aGapOfATimelineIsGivenUp(command: [String]) throws {
        func range(_ seconds: Double) -> String {
            #"{"OTIO_SCHEMA":"TimeRange.1","start_time":{"OTIO_SCHEMA":"RationalTime.1","rate":10,"value":0},"duration":"#
                + #"{"OTIO_SCHEMA":"RationalTime.1","rate":10,"value":\#(seconds * 10)}}"#
        }
        _ = try late(hours: 1)
        for (hours, code) in [(150, "timedOut"), (200, "limitExceeded")] {
            let gap = #"{"OTIO_SCHEMA":"Gap.1","source_range":\#(range(Double(hours) * 3600))}"#
            let media = #"{"OTIO_SCHEMA":"ExternalReference.1","target_url":"short.wav"}"#
            let clip = #"{"OTIO_SCHEMA":"Clip.1","source_range":\#(range(0.1)),"media_reference":\#(media)}"#
            let track = #"{"OTIO_SCHEMA":"Track.1","kind":"Audio","children":[\#(gap),\#(clip)]}"#
            let stack = #"{"OTIO_SCHEMA":"Stack.1","children":[\#(track)]}"#
            let timeline = try folder.write(
                "gap.otio", #"{"OTIO_SCHEMA":"Timeline.1","tracks":\#(stack)}"#.utf8)
            let begun = ContinuousClock.now
            let result = try run(command + [timeline, "--json", "--timeout", "2"])
            #expect(try decoded(result).error?.code == code, "\(result.error)")
            #expect(ContinuousClock.now - begun < .seconds(20))
            #expect(try folder.names() == ["gap.otio", "late-1.mov", "short.wav"])
        }
    }

    @Test func aHoleIsCounted() throws {
        let gap = try gap(seconds: 360_000)
        // The silence is a warning of the standard policy.
        let checked = try run(["qc", gap, "--json", "--timeout", "30"])
        #expect(checked.status == 0, "\(checked.error)")
        let result = try run([
            "waveform", gap, "--json", "-o", "a.dat", "--samples-per-pixel", "65536", "--timeout",
            "30",
        ])
        #expect(try decoded(result).holes == 360_000 * 48000, "\(result.error)")
    }
}
