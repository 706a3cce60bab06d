import Foundation

/// A folder of its own for one test, removed with all its content when the last reference goes.
public final class TemporaryFolder: Sendable {
    /// The folder's path, without a final slash.
    public let path: String

    /// Makes the folder.
    public init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("mediatool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        path = folder.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of something in the folder, which need not exist.
    public func path(_ name: String) -> String { path + "/" + name }

    /// Writes a file into the folder and gives its path.
    @discardableResult
    public func write(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }

    /// Copies a fixture into the folder, under a name of its own where one is given, and gives the copy's path.
    @discardableResult
    public func copy(fixture: String, as name: String? = nil) throws -> String {
        let copy = path(name ?? fixture)
        try FileManager.default.copyItem(atPath: Fixtures.path(fixture), toPath: copy)
        return copy
    }

    /// The content of a file of the folder.
    public func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(name))))
    }

    /// The names of all there is in the folder, hidden files too, in order.
    public func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }
}
