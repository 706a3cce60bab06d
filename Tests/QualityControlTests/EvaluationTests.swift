import AssetKit
import Inspection
import MediaAnalysis
import MediaBase
import SystemPackage
import TestSupport
import Testing

@testable import QualityControl

/// Conditions held against measurements that are written by hand.
@Suite struct EvaluationTests {
    private static func time(_ seconds: Int64) -> MediaTime { MediaTime(value: seconds, timescale: 1) }

    /// 100 s of stereo at -23 LUFS with silence in two places, and 90 s of pictures.
    private static let measurements: Measurements = {
        let channel = Measurements.Channel(
            weight: 1, truePeak: -1.5, truePeakRange: .init(start: time(7), end: time(8)), samplePeak: -2,
            samplePeakRange: nil, rms: -30, dcOffset: -0.25)
        var quiet = channel
        (quiet.truePeak, quiet.samplePeak, quiet.dcOffset) = (nil, nil, 0)
        let sound = Measurements.Sound(
            sampleRate: 48000, start: .zero, duration: time(100), integratedLoudness: -23, loudnessRange: 4.25,
            momentaryMaximum: .init(loudness: -20, start: time(1), end: time(2)), shortTermMaximum: nil,
            truePeak: -1.5, channels: [channel, quiet],
            pairs: [.init(channels: [0, 1], correlation: 0.5, lowest: nil, highestDifference: 0.5)])
        func run(_ start: Int64, _ end: Int64) -> Measurements.Range { .init(start: time(start), end: time(end)) }
        let silence = Measurements.Runs(
            check: "silence", threshold: -60, minimumDuration: 2, channel: nil, count: 3, total: time(13),
            ranges: [run(3, 6), run(94, 100)])
        var pictures = Measurements.Pictures(
            count: 90, start: time(1), lastStart: time(89), end: time(90), sizeChanges: 0)
        pictures.bars = .init(top: 4, bottom: 6, left: 0, right: 0)
        pictures.isVariable = true
        var video = Measurements.Track(trackIndex: 0, runs: [])
        video.pictures = pictures
        video.values["duplicateFrames"] = .number(5, 0, at: [.init(range: run(1, 2), text: "2 of 5 frames")])
        var measurements = Measurements(
            tracks: [video, .init(trackIndex: 1, sound: sound, runs: [silence])], damage: DamageSummary(DamageReport()))
        measurements.damage.packets = 2
        measurements.damage.truncated = true
        measurements.emptyTracks = [2]
        measurements.headerMismatches = [.init(trackIndex: 0, what: "size", container: "1x1", media: "2x2")]
        var reference = ReferenceMeasurements()
        reference.missingSound = "is silent"
        reference.pictures = .init(
            count: 90, unpaired: 3,
            psnr: .init(luma: nil, chroma: [], all: nil, minimum: 21, worst: time(5), worstEnd: time(6), worstFrame: 4),
            ssim: .init(luma: nil, chroma: [], all: 0.5, minimum: nil, worst: nil, worstEnd: nil, worstFrame: nil))
        measurements.reference = reference
        return measurements
    }()

    /// Returns the outcome of a rule in words: `pass`, the reason why it is not applicable, or its violations.
    private static func outcome(_ rule: String, _ measurements: Measurements = measurements) throws -> [String] {
        let policy = try Policy(yaml: "rules:\n  - {id: x, \(rule)}\n", named: "test")
        let report = try ProbeJob(asset: Asset(path: FilePath(Repository.sampleMovie))).run()
        let evaluation = try Evaluation(report: report, measurements: measurements)
        switch evaluation.outcome(of: policy.rules[0].condition) {
        case .passed: return ["pass"]
        case .notApplicable(let reason): return [reason]
        case .failed(let violations, let more):
            return violations.map { fact in
                let track = fact.trackIndex.map { "\($0): " } ?? ""
                let range = fact.range.map { " @\($0.start.seconds)-\($0.end.seconds)" } ?? ""
                return "\(track)\(fact.subject) \(fact.measured), \(fact.wanted)\(range)"
            } + (more > 0 ? ["and \(more)"] : [])
        }
    }

    private static let values: [(String, [String])] = [
        ("check: audioTracks, min: 2", ["audioTracks 1, at least 2"]),
        ("check: loudness.integrated, min: -23.5, max: -22.5", ["pass"]),
        ("check: loudness.integrated, max: -24", ["1: loudness.integrated -23.0 LUFS, at most -24 LUFS"]),
        ("check: loudness.range, max: 4", ["1: loudness.range 4.3 LU, at most 4 LU"]),
        (
            "check: loudness.momentaryMaximum, max: -21",
            ["1: loudness.momentaryMaximum -20.0 LUFS, at most -21 LUFS @1.0-2.0"]
        ),
        ("check: loudness.shortTermMaximum, max: -99", ["pass"]),
        ("check: loudness.shortTermMaximum, min: -99", ["1: loudness.shortTermMaximum silence, at least -99 LUFS"]),
        ("check: truePeak, max: -2", ["1: truePeak -1.5 dBTP, at most -2 dBTP @7.0-8.0"]),
        ("check: samplePeak, max: -3", ["1: samplePeak -2.0 dBFS, at most -3 dBFS"]),
        ("check: dcOffset, max: 0.01", ["1: dcOffset 0.25000, at most 0.01"]),
        ("check: correlation, min: 0.9", ["1: correlation 0.500, at least 0.9"]),
        ("check: dualMono", ["pass"]), ("check: dualMono, equals: true", ["1: dualMono channels differ, true"]),
        ("check: mutedChannels", ["1: mutedChannels channel 2 of 2, at most 0"]),
        ("check: letterboxRows", ["0: letterboxRows 10 rows, at most 0 rows"]), ("check: letterboxColumns", ["pass"]),
        ("check: duplicateFrames", ["0: duplicateFrames 2 of 5 frames, at most 0 frames @1.0-2.0"]),
        ("check: variableFrameRate", ["0: variableFrameRate variable, false"]),
        ("check: missingFrames", ["the file has no pictures, or none that stay for a usual time"]),
        ("check: fieldMismatch", ["the file has no pictures that move enough to tell"]),
        ("check: startDifference", ["startDifference 1.000 s, at most 0.1 s @0.0-1.0"]),
        ("check: lengthDifference", ["lengthDifference 10.000 s, at most 0.1 s @90.0-100.0"]),
        ("check: headerMismatches", ["0: size 2x2, the container's 1x1"]),
        (
            "check: damage",
            [
                "damage 2 packets in all, at most 0",
                "damage a file that breaks off before its end, at most 0 @100.0-100.0",
                "2: what can be decoded nothing, anything",
            ]
        ),
        ("check: damage, max: 4", ["pass"]),
        ("check: reference.psnr, min: 40", ["pass"]),
        ("check: reference.psnrMinimum, min: 40", ["reference.psnrMinimum 21.00 dB, at least 40 dB @5.0-6.0"]),
        ("check: reference.ssim, min: 0.9", ["reference.ssim 0.500000, at least 0.9"]),
        (
            "check: reference.ssimMinimum, min: 0.9",
            ["the reference has nothing of which reference.ssimMinimum can be measured"]
        ),
        ("check: reference.unpairedFrames", ["reference.unpairedFrames 3 frames, at most 0 frames"]),
        (
            "check: reference.soundOffset, max: 0",
            ["reference.soundOffset not to be found, as the file is silent, at most 0 s"]
        ),
    ]

    @Test(arguments: values)
    func valuesAreTested(rule: String, wanted: [String]) throws { #expect(try Self.outcome(rule) == wanted) }

    private static let stretches: [(String, [String])] = [
        ("", ["1: silence 3.000 s, less than 2 s @3.0-6.0", "1: silence 6.000 s, less than 2 s @94.0-100.0", "and 1"]),
        (", head: 5", ["1: silence 2.000 s, less than 2 s @3.0-5.0"]), (", head: 4.5", ["pass"]),
        (", tail: 3", ["1: silence 3.000 s, less than 2 s @97.0-100.0"]),
        (", threshold: -50", ["the file has no sound of which silence can be measured"]),
    ]

    @Test(arguments: stretches)
    func runsAreCutToTheStretch(parameters: String, wanted: [String]) throws {
        #expect(try Self.outcome("check: silence" + parameters) == wanted)
    }

    private static let conditions: [(String, [String])] = [
        ("field: container.format, equals: mov", ["pass"]),
        ("field: container.format, equals: mp4", ["container.format mov, mp4"]),
        ("field: 'tracks[type=subtitle].codec', equals: x", ["the file has nothing at tracks[type=subtitle].codec"]),
        ("field: 'tracks[type=subtitle].codec', exists: false", ["pass"]),
        (
            "field: 'tracks[type=subtitle].codec', exists: true",
            ["tracks[type=subtitle].codec not there, any value"]
        ),
        ("not: {check: letterboxColumns}", ["the condition met, not met"]), ("not: {check: letterboxRows}", ["pass"]),
        ("not: {check: fieldMismatch}", ["the file has no pictures that move enough to tell"]),
        ("any: [{check: letterboxRows}, {check: letterboxColumns}]", ["pass"]),
        ("any: [{check: fieldMismatch}, {check: audioTracks, min: 2}]", ["audioTracks 1, at least 2"]),
        ("all: [{check: fieldMismatch}, {check: letterboxColumns}]", ["pass"]),
        ("all: [{check: fieldMismatch}]", ["the file has no pictures that move enough to tell"]),
        ("all: [{check: letterboxColumns}, {check: audioTracks, min: 2}]", ["audioTracks 1, at least 2"]),
    ]

    @Test(arguments: conditions)
    func conditionsAreJoined(rule: String, wanted: [String]) throws { #expect(try Self.outcome(rule) == wanted) }

    @Test func nothingMeasuredIsNotApplicable() throws {
        let empty = Measurements(tracks: [], damage: DamageSummary(DamageReport()))
        for check in CheckRegistry.all where check.id != "audioTracks" && check.id != "damage" {
            let test = check.run == nil && check.standardTest == nil ? ", max: 0" : ""
            let outcome = try Self.outcome("check: \(check.id)\(test)", empty)
            #expect(outcome != ["pass"] && outcome.count == 1 && !outcome[0].contains("at most"), "\(outcome)")
        }
        #expect(try Self.outcome("check: audioTracks, min: 1", empty) == ["audioTracks 0, at least 1"])
        #expect(try Self.outcome("check: damage", empty) == ["pass"])
    }
}
