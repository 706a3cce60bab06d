import Foundation

/// The test media that `scripts/fixtures` makes.
public enum Fixtures {
    /// The folder's path, without a final slash.
    public static let folder = Repository.path("fixtures")

    /// The path of a fixture.
    ///
    /// - Throws: ``TestSupportError`` where the fixture has not been made.
    public static func path(_ name: String) throws -> String {
        let path = folder + "/" + name
        guard FileManager.default.fileExists(atPath: path) else {
            throw TestSupportError("no fixture \(name): run scripts/fixtures")
        }
        return path
    }

    /// The content of a fixture.
    public static func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(name))))
    }

    /// Whether the fixture has the bytes for which the files in `golden/` were made.
    ///
    /// Another version of ffmpeg or of an encoder makes other bytes; then recorded hashes say nothing about them, while
    /// recorded times and counts still do.
    public static func isAsRecorded(_ name: String) throws -> Bool {
        let recorded = try String(contentsOfFile: Repository.path("golden/fixtures.sha256"), encoding: .utf8)
        let line = recorded.split(separator: "\n").first { $0.hasSuffix("  " + name) }
        let digest = try Program.run("sha256sum", [path(name)]).output.prefix { $0 != " " }
        return line.map { $0.hasPrefix(digest) } ?? false
    }
}

/// What keeps a test from being carried out, such as a missing fixture.
public struct TestSupportError: Error, CustomStringConvertible {
    /// What is missing, and how to get it.
    public let description: String

    /// Makes an error from its text.
    public init(_ description: String) { self.description = description }
}
