import FoundationEssentials
import Hummingbird
import SystemPackage

/// A file with what a client has sent.
struct Upload {
    /// The path of the file.
    let path: FilePath

    private static let maximumBytes = 1 << 30

    /// Writes a request's body into a file of its own.
    init(_ body: RequestBody) async throws {
        path = FilePath(FileManager.default.temporaryDirectory.path).appending(UUID().uuidString)
        let file = try FileDescriptor.open(
            path, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec], permissions: .ownerReadWrite)
        defer { try? file.close() }
        do {
            var count = 0
            for try await part in body {
                count += part.readableBytes
                guard count <= Self.maximumBytes else { throw HTTPError(.contentTooLarge) }
                try file.writeAll(part.readableBytesView)
            }
        } catch {
            remove()
            throw error
        }
    }

    /// Removes the file.
    func remove() { try? FileManager.default.removeItem(atPath: path.string) }
}
