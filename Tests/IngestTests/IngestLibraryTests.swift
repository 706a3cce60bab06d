import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Ingest

/// Folders of ingested files, put together from their manifests.
@Suite struct IngestLibraryTests {
    private static let time = #"{"value": 90, "timescale": 1, "seconds": 90}"#

    private static func manifest(_ name: String, seconds: Double, failed: String = "", verdict: String = "pass")
        -> String
    {
        """
        {"schemaVersion": 1, "input": {"path": "/media/\(name)", "sizeBytes": 1000}, "duration": \(time), "verdict": "\(verdict)",
         "outputs": [{"kind": "poster", "file": "poster.jpg"}, {"kind": "page", "file": "index.html"}],
         "failed": [\(failed)], "warnings": ["one"], "timings": {"reading": 1, "total": \(seconds)}}
        """
    }

    private func library(_ files: [String: String]) throws -> (folder: TemporaryFolder, library: IngestLibrary) {
        let folder = try TemporaryFolder()
        for (name, text) in files {
            let path = URL(fileURLWithPath: folder.path(name))
            try FileManager.default.createDirectory(
                at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: path)
        }
        return (folder, try IngestLibrary(FilePath(folder.path)))
    }

    @Test func statesAndCausesAreCounted() throws {
        let failure = #"{"part": "proxy", "error": {"code": "damaged", "message": "is broken"}}"#
        let error = #"{"input": {"path": "c.mov"}, "error": {"code": "crashed", "message": "the decoder crashed"}}"#
        let (folder, library) = try library([
            "a.mov/manifest.json": Self.manifest("a.mov", seconds: 2),
            "deep/er/b.mov/manifest.json": Self.manifest("b.mov", seconds: 5, failed: failure, verdict: "fail"),
            "c.mov/error.json": error, "d.mov/.state.json": #"{"input": {"path": "d.mov"}}"#,
            "e.mov/error.json": error, "junk/manifest.json": "not JSON", "notes.txt": "", "empty/x": "",
        ])
        _ = folder
        let folders: [String] = library.items.map(\.folder.string)
        #expect(folders == ["a.mov", "c.mov", "d.mov", "deep/er/b.mov", "e.mov"])
        let report = IngestReport(library, at: "lib")
        #expect(report.files == 5)
        #expect(report.complete == 1 && report.incomplete == 1)
        #expect(report.failed == 2 && report.unfinished == 1)
        #expect(report.mediaSeconds == 180 && report.sizeBytes == 2000 && report.workSeconds == 7)
        #expect(report.verdicts == ["pass": 1, "fail": 1])
        let codes: [String] = report.causes.map(\.code)
        let numbers: [Int] = report.causes.map(\.count)
        #expect(codes == ["crashed", "damaged"])
        #expect(numbers == [2, 1])
        #expect(report.causes[1].part == "proxy")
        let failed: [String] = report.causes[1].folders
        #expect(failed == ["deep/er/b.mov"])
        let slow: [String] = report.slowest.map(\.folder)
        #expect(slow == ["deep/er/b.mov", "a.mov"])
    }

    /// Messages that differ in numbers are one cause, others are causes of their own.
    @Test func causesAreToldApartByTheirWords() throws {
        func error(_ message: String) -> String {
            #"{"input": {"path": "x"}, "error": {"code": "damaged", "message": "\#(message)"}}"#
        }
        let (folder, library) = try library([
            "a/error.json": error("cut short at byte 9 of 20"), "b/error.json": error("cut short at byte 1234 of 5000"),
            "c/error.json": error("the header is damaged"),
        ])
        _ = folder
        let causes = IngestReport(library, at: "lib").causes
        let messages: [String] = causes.map(\.message)
        #expect(messages == ["cut short at byte 9 of 20", "the header is damaged"])
        let folders: [[String]] = causes.map(\.folders)
        #expect(folders == [["a", "b"], ["c"]])
        let html = try IngestReport(library, at: "lib").html()
        #expect(html.contains("<td>2</td><td>whole file</td><td>damaged: cut short at byte 9 of 20</td>"))
    }

    @Test func galleryLeadsToThePages() throws {
        let (folder, library) = try library(["50% <b>.mov/manifest.json": Self.manifest("50% <b>.mov", seconds: 1)])
        _ = folder
        let entry = try #require(library.gallery(title: "x").entries.first)
        #expect(entry.folder == "50%25%20%3Cb%3E.mov/")
        #expect(entry.poster == "50%25%20%3Cb%3E.mov/poster.jpg")
        #expect(entry.page == "50%25%20%3Cb%3E.mov/index.html")
        #expect(entry.name == "50% <b>.mov")
        #expect(entry.warnings == 1)
        let html = try IngestReport(library, at: "lib").html()
        #expect(html.contains("50% &lt;b&gt;.mov") && !html.contains("<b>"))
    }
}
