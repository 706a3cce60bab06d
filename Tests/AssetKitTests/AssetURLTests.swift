import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Assets that are given by a URL.
@Suite struct AssetURLTests {
    private static let fixture = "pcm-s16-mono.wav"

    private func size(_ asset: Asset) throws -> Int64? { try asset.loadNow(.container).sizeBytes }

    /// Names whose characters mean something in URLs, and what is not ASCII.
    @Test(arguments: [
        "plain.wav", "two words.wav", "50%.wav", "%41.wav", "a?b#c.wav", "会議 é.wav", "a+b&c.wav", "a%2Fb.wav",
    ])
    func opensTheFileOfThatName(name: String) throws {
        let folder = try TemporaryFolder()
        let path = try folder.copy(fixture: Self.fixture, as: name)
        let byPath = try size(Asset(path: FilePath(path)))
        #expect(try size(Asset(url: URL(fileURLWithPath: path))) == byPath && byPath != nil)
        #expect(try Asset(url: URL(fileURLWithPath: path)).displayName == path)
    }

    @Test func relativeOnesHaveABase() throws {
        let folder = try TemporaryFolder()
        _ = try folder.copy(fixture: Self.fixture, as: "a b.wav")
        let base = URL(fileURLWithPath: folder.path, isDirectory: true)
        let url = try #require(URL(string: "a%20b.wav", relativeTo: base))
        #expect(try size(Asset(url: url)) != nil)
    }

    @Test func bytesThatAreNoTextAreKept() throws {
        let folder = try TemporaryFolder()
        let source = try folder.copy(fixture: Self.fixture, as: "plain.wav")
        let odd: [UInt8] = Array((folder.path + "/odd").utf8) + [0xFF, 0x80] + Array(".wav".utf8)
        let isMade = odd.map { CChar(bitPattern: $0) }.withUnsafeBufferPointer { bytes in
            link(source, Array(bytes) + [0]) == 0
        }
        #expect(isMade)
        let url = try #require(URL(string: "file://\(folder.path)/odd%FF%80.wav"))
        #expect(try size(Asset(url: url)) != nil)
    }

    @Test(arguments: [
        ("ftp://user:secret@example.com/a.mp4?token=1", MediaError.Code.unsupported),
        ("s3://bucket", .invalidArgument),
        ("file://server/share/a.mp4", .unsupported), ("a.mp4", .unsupported), ("file:///a%00b", .invalidArgument),
    ])
    func othersAreRefused(text: String, code: MediaError.Code) throws {
        let url = try #require(URL(string: text))
        do throws(MediaError) {
            _ = try Asset(url: url)
            Issue.record("\(text) was taken")
        } catch {
            #expect(error.code == code)
            #expect(!"\(error)".contains("secret") && !"\(error)".contains("token"))
        }
    }

    @Test func thisMachineMayBeNamed() throws {
        let path = try Fixtures.path(Self.fixture)
        let url = try #require(URL(string: "file://localhost" + path))
        #expect(try size(Asset(url: url)) != nil)
    }
}
