import Foundation
import MediaBase
import SystemPackage
import TestSupport
import Testing

@testable import MediaJobs

@Suite struct TimelineMediaTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let inside = folder.path("cut")
        try FileManager.default.createDirectory(atPath: inside + "/media", withIntermediateDirectories: true)
        for name in ["outside.mp4", "cut/a b.mp4", "cut/media/ü%20.mp4"] {
            try folder.copy(fixture: "av.mp4", as: name)
        }
        try FileManager.default.createSymbolicLink(
            atPath: inside + "/link.mp4", withDestinationPath: folder.path("outside.mp4"))
    }

    private func name(_ url: String, allowsOutside: Bool = false) throws -> String? {
        let media = TimelineMedia(
            folder: FilePath(folder.path("cut")), allowsOutside: allowsOutside)
        return try media.source(url).path.lastComponent?.string
    }

    @Test func namesAreDecoded() throws {
        #expect(try name("a%20b.mp4") == "a b.mp4")
        #expect(try name("a b.mp4") == "a b.mp4")
        #expect(try name("media/../a%20b.mp4") == "a b.mp4")
        // A file of that very name goes first, but not in a URL.
        #expect(try name("media/ü%20.mp4") == "ü%20.mp4")
        #expect(try name("file://\(folder.path)/cut/media/%C3%BC%2520.mp4") == "ü%20.mp4")
        #expect(try name("FILE://localhost\(folder.path)/cut/a%20b.mp4") == "a b.mp4")
    }

    @Test func whatLeadsOutIsRefusedUnlessAllowed() throws {
        for url in [
            "../outside.mp4", "%2e%2e/outside.mp4", "file://\(folder.path)/outside.mp4",
            folder.path("outside.mp4"), "link.mp4", "media/../../outside.mp4",
        ] {
            #expect { try name(url) } throws: { ($0 as? MediaError)?.code == .nestedFileRefused }
            #expect(try name(url, allowsOutside: true) != nil)
        }
        // Whether something is there is nobody's business either.
        #expect { try name("../none.mp4") } throws: { ($0 as? MediaError)?.code == .nestedFileRefused }
    }

    @Test(arguments: [
        ("http://example.org/a.mp4", MediaError.Code.unsupported), ("file://server/a.mp4", .unsupported),
        ("s3://bucket/a", .unsupported), ("none.mp4", .notFound), ("media", .notAFile), ("a%00b", .damaged),
    ])
    func whatIsNoLocalFileIsRefused(url: String, code: MediaError.Code) {
        #expect { try name(url, allowsOutside: true) } throws: { ($0 as? MediaError)?.code == code }
    }
}
