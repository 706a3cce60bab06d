import AssetKit
import Foundation
import MediaBase
import TestSupport
import Testing

/// Compares assets on a server with those on disk.
@Suite struct NetworkAssetTests {
    @Test(arguments: ["av.mp4", "fragmented.mp4", "h264-aac.mkv", "flac-s16-stereo.flac", "h264-opengop.ts"])
    func aFileOnAServerIsReadAsTheFileIs(fixture: String) async throws {
        let bytes = try Fixtures.bytes(fixture)
        let server = TestServer { .part(of: bytes, for: $0) }
        defer { server.stop() }
        let url = try #require(URL(string: server.address("/\(fixture)?signature=s3cret")))
        let (remote, local) = (try Asset(url: url), Asset(path: try Fixtures.path(fixture)))
        #expect(remote.displayName == server.address("/\(fixture)?…"))
        #expect(try await remote.load(.duration) == local.load(.duration))
        let (tracks, expected) = try await (remote.load(.tracks), local.load(.tracks))
        #expect(tracks.map(\.timeRange) == expected.map(\.timeRange))
        for (track, other) in zip(tracks, expected) {
            let samples = try [(remote, track), (local, other)].map { asset, track in
                try Media.all(TrackOutput(track: track), of: asset).map { buffer in
                    "\(buffer.presentationTime) "
                        + "\(buffer.storedSample?.withBytes { $0.withUnsafeBytes { Array($0) } } ?? [])"
                }
            }
            #expect(samples[0] == samples[1] && !samples[0].isEmpty)
        }
    }

    @Test func errorsNameTheAddressWithoutItsQuery() async throws {
        let server = TestServer { _ in .init(404) }
        defer { server.stop() }
        let asset = try Asset(url: try #require(URL(string: server.address("/none.mov?signature=s3cret"))))
        let error = await #expect(throws: MediaError.self) { try await asset.load(.duration) }
        #expect(error?.code == .notFound)
        #expect(error?.path == server.address("/none.mov?…"))
    }

    /// The deadline ends the waiting for a server that does not answer.
    @Test func theDeadlineHolds() async throws {
        let server = TestServer { _ in
            Thread.sleep(forTimeInterval: 20)
            return .init(404)
        }
        defer { server.stop() }
        var options = Asset.Options()
        options.limits.deadline = .now + .milliseconds(200)
        let asset = try Asset(url: try #require(URL(string: server.address("/slow.mov"))), options: options)
        let error = await #expect(throws: MediaError.self) { try await asset.load(.duration) }
        #expect(error?.code == .timedOut)
    }

    /// An S3 URL is the literal key, and the endpoint gets a signed request.
    @Test func objectsAreRequestedWithASignature() async throws {
        let bytes = try Fixtures.bytes("av.mp4")
        let server = TestServer { .part(of: bytes, for: $0) }
        defer { server.stop() }
        var options = Asset.Options()
        options.network.s3.endpoint = server.address("")
        options.network.s3.accessKeyID = "AKID"
        options.network.s3.secretAccessKey = "s3cret"
        let asset = try Asset(url: try #require(URL(string: "s3://masters/A%20roll.mp4")), options: options)
        #expect(asset.displayName == "s3://masters/A roll.mp4")
        #expect(try await !asset.load(.tracks).isEmpty)
        #expect(server.requests.allSatisfy { $0.target == "/masters/A%20roll.mp4" })
        #expect(server.requests.allSatisfy { $0.headers["authorization"]?.hasPrefix("AWS4-HMAC-SHA256") == true })
    }
}
