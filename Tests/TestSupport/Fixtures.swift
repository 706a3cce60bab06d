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

    /// Whether the fixture has the bytes that a golden table was made from, so that the table's hashes speak of it.
    ///
    /// They always are where `scripts/fixtures` has made the tables that other versions of ffmpeg need (``GoldenTable``).
    ///
    /// - Parameter digest: The SHA-256 of the fixture that the row or the table of `golden/` was made from.
    public static func isAsRecorded(_ name: String, _ digest: String) throws -> Bool {
        try Program.run("sha256sum", [path(name)]).output.prefix { $0 != " " } == digest
    }
}

/// What keeps a test from being carried out, such as a missing fixture.
public struct TestSupportError: Error, CustomStringConvertible {
    /// What is missing, and how to get it.
    public let description: String

    /// Makes an error from its text.
    public init(_ description: String) { self.description = description }
}
