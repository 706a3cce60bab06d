import AssetKit
import MediaBase
import SystemPackage
import TestSupport
import Testing

@testable import MediaJobs

/// The checks of a finished file, most of them with a file that is checked as if it were its own copy.
@Suite struct TranscodeChecksTests {
    private let path: FilePath

    init() throws { path = FilePath(try Fixtures.path("av.mp4")) }

    private func plan(_ preset: TranscodeRequest.Preset) throws -> TranscodePlan {
        try TranscodePlan(TranscodeRequest(preset: preset), file: Asset(path: path), fileType: .mp4)
    }

    private func checks(_ preset: TranscodeRequest.Preset = .proxy(ProxyPreset.all[0])) throws -> TranscodeChecks {
        let plan = try plan(preset)
        return try TranscodeChecks(plan, TranscodeRecord(range: plan.range), inputs: [], made: plan.asset)
    }

    /// Checks a file against a record of its own decoded samples, without the first frames of the video.
    private func checks(_ preset: TranscodeRequest.Preset, dropping dropped: Int) throws -> TranscodeChecks {
        let plan = try plan(preset)
        let record = TranscodeRecord(range: plan.range, keepsTimes: true)
        var inputs: [AssetWriterInput] = []
        for (number, track) in plan.tracks.enumerated() {
            let source = try #require(track.sources.first)
            var settings = TrackOutput.Settings.audio(AudioSettings())
            if track.isVideo { settings = .video(VideoSettings()) }
            let output = try plan.asset.samplesNow(of: source, as: settings)
            var count = 0
            while let sample = try output.nextSampleBuffer() {
                if !track.isVideo || count >= dropped { record.add(sample, to: number) }
                count += 1
            }
            switch track {
            case .video(_, .encode(let settings), _): inputs.append(AssetWriterInput(videoSettings: settings))
            case .audio(_, .encode(let settings)): inputs.append(AssetWriterInput(audioSettings: settings))
            default: Issue.record("\(track) is not encoded")
            }
        }
        return try TranscodeChecks(plan, record, inputs: inputs, made: plan.asset)
    }

    @Test func equalValuesPass() throws {
        var checks = try checks()
        checks.compare("frameCount", 3, 3) { "\($0)" }
        checks.compare("dates", "a", "a") { $0 }
        #expect(checks.failure == nil && checks.differences.isEmpty && checks.checks.count == 2)
    }

    @Test(arguments: [
        "tracks", "frameCount", "frameTimes", "duration", "displayShape", "pixelAspect", "cleanAperture", "rotation",
        "startTimecode", "audioChannels", "audioStart", "audioEnd", "indexFirst",
    ])
    func aDifferenceThatMakesAProxyUselessIsAFailure(name: String) throws {
        var checks = try checks()
        checks.compare(name, 3, 4) { "\($0)" }
        checks.compare("dates", "a", "b") { $0 }
        let failure = try #require(checks.failure)
        #expect(failure.code == .verificationFailed)
        #expect(failure.failedChecks == [MediaError.FailedCheck(name: name, wanted: "3", found: "4")])
        #expect(failure.message.contains("wanted 3, found 4"))
    }

    @Test(arguments: ["channelLayout", "color", "hdr", "language", "name", "dates", "metadata", "chapters"])
    func aDifferenceInDescriptionIsReported(name: String) throws {
        var checks = try checks()
        checks.compare(name, "x", "y") { $0 }
        #expect(checks.failure == nil)
        #expect(checks.differences == [MediaError.FailedCheck(name: name, wanted: "x", found: "y")])
    }

    @Test func aFileWithoutDecodedSamplesIsDamaged() throws {
        for (preset, message) in [
            (TranscodeRequest.Preset.proxy(ProxyPreset.all[0]), "not one picture can be decoded"),
            (.export(nil), "there is nothing to be decoded in this range"),
        ] {
            let error = #expect(throws: MediaError.self) {
                var checks = try checks(preset)
                try checks.run(.init())
            }
            #expect(error?.code == .damaged && error?.message == message)
        }
    }

    /// The names in their order; that of a proxy is part of its JSON.
    @Test func bothKindsOfOutputAreChecked() throws {
        var export = try checks(.export(nil), dropping: 0)
        try export.run(.init())
        #expect(export.checks.map(\.name) == ["tracks", "frameCount"] && export.checks.allSatisfy(\.passed))
        var proxy = try checks(.proxy(ProxyPreset.all[0]), dropping: 0)
        try proxy.run(.init())
        #expect(
            proxy.checks.map(\.name).filter { !["color", "hdr", "dates"].contains($0) } == [
                "tracks", "frameCount", "frameTimes", "duration", "displayShape", "cleanAperture", "rotation",
                "startTimecode", "language", "name", "audioChannels", "channelLayout", "audioStart", "audioEnd",
                "language", "name",
                "metadata", "chapters", "indexFirst",
            ])
    }

    @Test func aMissingFrameIsFound() throws {
        for (preset, beginning) in [
            (TranscodeRequest.Preset.export(nil), "the file was not kept, because its frameCount"),
            (.proxy(ProxyPreset.all[0]), "the proxy was not kept, because its frameCount"),
        ] {
            let error = #expect(throws: MediaError.self) {
                var checks = try checks(preset, dropping: 2)
                try checks.run(.init())
            }
            #expect(error?.code == .verificationFailed)
            #expect(error?.message.hasPrefix(beginning) == true, "\(String(describing: error))")
            let isListed = error?.failedChecks.first?.name == "frameCount"
            #expect(isListed == (preset != .export(nil)))
        }
    }
}
