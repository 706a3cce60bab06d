import Foundation
import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// Files below a folder, and nothing else, whatever links say.
@Suite struct OpenFolderTests {
    private let folder: TemporaryFolder
    private let home: OpenFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["home/media", "other"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        }
        for name in ["home/a", "home/media/b", "other/secret"] { try folder.write(name, Array(name.utf8)) }
        for (name, target) in [
            ("home/inside", "media/b"), ("home/media/up", "../a"), ("home/out", "../other/secret"),
            ("home/absolute", folder.path("home/a")), ("home/away", folder.path("other/secret")),
            ("home/folder", "media"), ("home/outer", "../other"), ("home/loop", "loop"), ("home/gone", "nothing"),
        ] {
            try FileManager.default.createSymbolicLink(atPath: folder.path(name), withDestinationPath: target)
        }
        home = try OpenFolder(FilePath(folder.path("home")))
    }

    private func content(_ path: FilePath, _ asksKernel: Bool) throws -> String {
        let file = try home.open(path, asksKernel: asksKernel)
        defer { try? file.close() }
        return String(decoding: try readSome(from: file, atMost: 100), as: UTF8.self)
    }

    @Test(arguments: [true, false]) func whatStaysInsideIsOpened(asksKernel: Bool) throws {
        for (path, wanted) in [
            ("a", "home/a"), ("media/b", "home/media/b"), ("media/../a", "home/a"), ("./media/./b", "home/media/b"),
            ("inside", "home/media/b"), ("media/up", "home/a"), ("folder/b", "home/media/b"), ("absolute", "home/a"),
            ("folder/../a", "home/a"),
        ] {
            #expect(try content(FilePath(path), asksKernel) == wanted, "\(path)")
        }
    }

    @Test(arguments: [true, false]) func whatLeadsOutIsNot(asksKernel: Bool) throws {
        for path in [
            "../other/secret", "media/../../other/secret", "out", "away", "outer/secret", "folder/../../other/secret",
            "/etc/hostname",
        ] {
            #expect(throws: Errno.improperLink, "\(path)") { try content(FilePath(path), asksKernel) }
        }
        for path in ["none", "none/a", "gone"] {
            #expect(throws: Errno.noSuchFileOrDirectory) { try content(FilePath(path), asksKernel) }
        }
        #expect(throws: Errno.tooManySymbolicLinkLevels) { try content("loop", asksKernel) }
    }

    /// A file and a link to one outside change places all the time.
    @Test(arguments: [true, false]) func aRaceLeadsNowhereElse(asksKernel: Bool) async throws {
        let names = ["x", "file", "link"].map { folder.path("home/" + $0) }
        try folder.write("home/file", Array("home/file".utf8))
        try FileManager.default.createSymbolicLink(atPath: names[2], withDestinationPath: "../other/secret")
        try FileManager.default.createDirectory(atPath: folder.path("home/d"), withIntermediateDirectories: false)
        try folder.write("home/d/secret", Array("home/d/secret".utf8))
        let outer = (folder.path("home/d"), folder.path("home/outer"), folder.path("home/aside"))
        let isOver = TracedFlag()
        let swapper = Thread {
            while !isOver.isSet {
                for (from, to) in [(names[1], names[0]), (names[2], names[1]), (names[0], names[2])] {
                    rename(from, to)
                }
                for (from, to) in [(outer.0, outer.2), (outer.1, outer.0), (outer.2, outer.1)] { rename(from, to) }
            }
        }
        swapper.start()
        defer { isOver.set() }
        var opened = 0
        for _ in 0..<4000 {
            for path in ["file", "d/secret"] {
                guard let text = try? content(FilePath(path), asksKernel) else { continue }
                opened += 1
                #expect(text != "other/secret")
            }
        }
        #expect(opened > 0)
    }

    @Test func contentsAreThoseOfTheFolderItself() throws {
        let names = try home.contents(of: "", atMost: 100).map {
            ($0.isFolder ? "+" : "") + String(decoding: $0.name, as: UTF8.self)
        }
        #expect(
            names.sorted() == ["+media", "a", "absolute", "away", "folder", "gone", "inside", "loop", "out", "outer"])
        #expect(try home.contents(of: "media", atMost: 100).count == 2)
        #expect(try home.contents(of: "", atMost: 3).count == 3)
        // Links to folders are not followed, as they may lead in a circle.
        for path in ["folder", "outer", ".."] {
            #expect(throws: Errno.self) { try home.contents(of: FilePath(path), atMost: 100) }
        }
    }
}

/// Something that one thread sets and another sees.
private final class TracedFlag: @unchecked Sendable {
    private let lock = NSLock()
    private var value = false

    var isSet: Bool { lock.withLock { value } }

    func set() { lock.withLock { value = true } }
}
