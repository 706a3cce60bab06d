import AssetKit
import SystemPackage
import TestSupport
import Testing

/// Limits that hold while an asset is read.
@Suite struct MediaLimitsReadingTests {
    private func reader(_ options: Asset.Options) throws -> (AssetReader, [TrackOutput]) {
        let asset = Asset(path: FilePath(try Fixtures.path("av.mp4")), options: options)
        let reader = try AssetReader(asset: asset)
        let outputs = try asset.loadNow(.tracks).map { TrackOutput(track: $0) }
        for output in outputs { try reader.add(output) }
        try reader.startReading()
        return (reader, outputs)
    }

    @Test func samplesThatWaitAreLimited() throws {
        var options = Asset.Options()
        options.limits.waitingBytes = 4096
        let (reader, outputs) = try reader(options)
        #expect {
            while try outputs[1].nextSampleBuffer() != nil {}
        } throws: { error in
            let error = error as? MediaError
            return error?.code == .limitExceeded && error?.message.contains("waiting-bytes=4096") == true
        }
        #expect(reader.status == .failed)
    }

    @Test func readingEndsWithTheDeadline() throws {
        var options = Asset.Options()
        options.limits.deadline = .now + .seconds(60)
        let (_, early) = try reader(options)
        #expect(try early[0].nextSampleBuffer() != nil)

        let deadline = ContinuousClock.now + .milliseconds(200)
        options.limits.deadline = deadline
        let (late, outputs) = try reader(options)
        #expect(try outputs[0].nextSampleBuffer() != nil)
        while ContinuousClock.now < deadline {}
        #expect { try outputs[0].nextSampleBuffer() } throws: { ($0 as? MediaError)?.code == .timedOut }
        #expect(late.status == .failed)
    }

    @Test func openingEndsWithTheDeadline() throws {
        var options = Asset.Options()
        options.limits.deadline = .now
        let asset = Asset(path: FilePath(try Fixtures.path("av.mp4")), options: options)
        #expect { try asset.loadNow(.duration) } throws: { ($0 as? MediaError)?.code == .timedOut }
    }
}
