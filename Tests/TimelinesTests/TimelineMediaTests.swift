import AssetKit
import Foundation
import MediaBase
import SystemPackage
import TestSupport
import Testing

@testable import Timelines

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
        let media = try TimelineMedia(
            folder: FilePath(folder.path("cut")), allowsOutside: allowsOutside)
        return FilePath(try media.source(url).name).lastComponent?.string
    }

    /// Where the media of a reference is found when it is looked for in two folders, from the folder of the test.
    private func found(_ url: String, range: TimelineRange? = nil) throws -> String {
        for path in ["lib/day1/A", "lib/day2/A", "more"] {
            try FileManager.default.createDirectory(atPath: folder.path(path), withIntermediateDirectories: true)
        }
        for (fixture, name) in [
            ("av.mp4", "lib/day1/A/x.mp4"), ("h264-interlaced.mp4", "lib/day2/A/x.mp4"), ("av.mp4", "more/one.mp4"),
            ("av.mp4", "lib/cafe\u{301}.mp4"),
        ] where !FileManager.default.fileExists(atPath: folder.path(name)) {
            try folder.copy(fixture: fixture, as: name)
        }
        let media = try TimelineMedia(
            folder: FilePath(folder.path("cut")), allowsOutside: false,
            mediaFolders: ["lib", "more"].map { FilePath(folder.path($0)) })
        return String(try media.source(url, range: range).name.dropFirst(folder.path.count + 1))
    }

    @Test func namesOfOtherSystemsAreRead() throws {
        #expect(try name("file:a%20b.mp4") == "a b.mp4")
        #expect(try name("file:media/../a%20b.mp4") == "a b.mp4")
        #expect(try name("file:\(folder.path)/cut/a%20b.mp4") == "a b.mp4")
        #expect(try name("media\\ü%20.mp4") == "ü%20.mp4")
        // The same letter in two pieces, as macOS writes names.
        #expect(try name("media/u\u{308}%20.mp4") == "ü%20.mp4")
        #expect(try name("media/u\u{308}%20.mp4", allowsOutside: true) == "ü%20.mp4")
        #expect(try name("file://\(folder.path)/cut/media/u%CC%88%2520.mp4") == "ü%20.mp4")
    }

    @Test func mediaIsFoundByItsName() throws {
        #expect(try found("/Volumes/Card/one.mp4") == "more/one.mp4")
        #expect(try found("C:\\Users\\me\\one.mp4") == "more/one.mp4")
        #expect(try found("\\\\server\\share\\one.mp4") == "more/one.mp4")
        #expect(try found("file://server/share/one.mp4") == "more/one.mp4")
        #expect(try found("file:///D:/one%2Emp4") == "more/one.mp4")
        #expect(try found("caf\u{E9}.mp4").unicodeScalars.contains("\u{301}"))
        // What the path leads to goes first, also below a media folder.
        #expect(try found("a b.mp4") == "cut/a b.mp4")
        #expect(try found("\(folder.path)/lib/day2/A/x.mp4") == "lib/day2/A/x.mp4")
        #expect { try found("none.mp4") } throws: { ($0 as? MediaError)?.code == .notFound }
        #expect { try found("/Volumes/none.mp4") } throws: { ($0 as? MediaError)?.code == .notFound }
    }

    /// av.mp4 lasts 3 s, the other file 2 s.
    @Test func filesOfOneNameAreToldApart() throws {
        #expect(try found("/Volumes/day2/A/x.mp4") == "lib/day2/A/x.mp4")
        #expect(try found("D:\\day1\\A\\x.mp4") == "lib/day1/A/x.mp4")
        let error = #expect(throws: MediaError.self) { try found("x.mp4") }
        #expect(error?.code == .invalidArgument && error?.message.contains("2 files") == true)
        let range = TimelineRange(
            start: .zero, duration: MediaTime(value: 3, timescale: 1), rate: Rational(25))
        #expect(try found("x.mp4", range: range) == "lib/day1/A/x.mp4")
        #expect(try found("/Volumes/day2/A/x.mp4", range: range) == "lib/day1/A/x.mp4")
    }

    @Test func aMediaFolderHasToBeThere() {
        #expect {
            try TimelineMedia(
                folder: FilePath(folder.path("cut")), allowsOutside: false,
                mediaFolders: [FilePath(folder.path("nowhere"))])
        } throws: {
            ($0 as? MediaError)?.code == .notFound
        }
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

    /// Nothing is asked of a host that is not allowed, and the message shows no secrets.
    @Test func theNetworkIsReadOnlyWhereAllowed() throws {
        let url = "https://ann:s3cret@media.example/a.mp4?sig=abc"
        let error = #expect(throws: MediaError.self) { try name(url) }
        #expect(error?.code == .unsupported)
        #expect(error?.path == "https://…@media.example/a.mp4?…")
        // A port on which nobody listens answers at once.
        var opening = Asset.Options()
        opening.network.retries = 0
        let media = try TimelineMedia(
            folder: FilePath(folder.path("cut")), allowsOutside: false, allowedHosts: ["127.0.0.1"], opening: opening)
        let refused = #expect(throws: MediaError.self) { try media.source("http://127.0.0.1:1/a.mp4") }
        #expect(refused?.code == .inputOutput)
        #expect(throws: MediaError.self) { try media.source(url) }
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
