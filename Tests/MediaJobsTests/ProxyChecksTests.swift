import AssetKit
import MediaBase
import SystemPackage
import TestSupport
import Testing

@testable import MediaJobs

/// Which comparisons discard a proxy, and which only tell of a difference.
@Suite struct ProxyChecksTests {
    private func checks() throws -> ProxyChecks {
        let asset = Asset(path: FilePath(try Fixtures.path("av.mp4")))
        let preset = try #require(ProxyPreset(named: "h264-540p"))
        let plan = try ProxyPlan(ProxyRequest(preset: preset), asset: asset, fileType: .mov)
        return ProxyChecks(plan, TranscodeRecord(range: plan.range), proxy: asset)
    }

    @Test func nothingWrongIsNoFailure() throws {
        var checks = try checks()
        checks.compare("frameCount", 3, 3) { "\($0)" }
        checks.compare("dates", "a", "a") { $0 }
        #expect(checks.failure == nil && checks.differences.isEmpty && checks.checks.count == 2)
    }

    @Test(arguments: [
        "tracks", "frameCount", "frameTimes", "duration", "displayShape", "pixelAspect", "cleanAperture", "rotation",
        "startTimecode", "audioChannels", "audioStart", "audioEnd", "indexFirst",
    ])
    func whatMakesACopyUselessFails(name: String) throws {
        var checks = try checks()
        checks.compare(name, 3, 4) { "\($0)" }
        checks.compare("dates", "a", "b") { $0 }
        let failure = try #require(checks.failure)
        #expect(failure.code == .verificationFailed)
        #expect(failure.failedChecks == [MediaError.FailedCheck(name: name, wanted: "3", found: "4")])
        #expect(failure.message.contains("wanted 3, found 4"))
    }

    @Test(arguments: ["channelLayout", "color", "hdr", "language", "name", "dates", "metadata", "chapters"])
    func whatIsMerelyDifferentIsTold(name: String) throws {
        var checks = try checks()
        checks.compare(name, "x", "y") { $0 }
        #expect(checks.failure == nil)
        #expect(checks.differences == [MediaError.FailedCheck(name: name, wanted: "x", found: "y")])
    }
}
