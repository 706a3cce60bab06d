import Foundation
import SystemPackage

/// A folder of its own for one test, removed at the end.
final class Scratch {
    let folder: FilePath

    /// Creates a folder in the one for temporary files, or in another one.
    init(in parent: String? = nil) throws {
        let parent = parent.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory
        let url = parent.appending(path: "mediajobs-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        folder = FilePath(url.path())
    }

    deinit { try? FileManager.default.removeItem(atPath: folder.string) }

    func callAsFunction(_ name: String) -> FilePath { folder.appending(name) }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: self(name).string))
    }

    func text(of name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: self(name).string)), as: UTF8.self)
    }

    /// The names in the folder, hidden ones too.
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.string).sorted() }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: self(name).string, withDestinationPath: target)
    }
}
