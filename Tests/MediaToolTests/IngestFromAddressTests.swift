import Foundation
import Synchronization
import TestSupport
import Testing

/// `ingest` of a file on a server.
@Suite struct IngestFromAddressTests {
    /// The entity tag stands for the content where there is no date of a local file.
    @Test(arguments: [[], ["--no-sandbox"]])
    func anotherTagIsAnotherFile(options: [String]) throws {
        let folder = try TemporaryFolder()
        let tag = Mutex("\"1\"")
        let film = try Fixtures.bytes("av.mp4")
        let server = TestServer { request in .part(of: film, for: request, tag: tag.withLock(\.self)) }
        defer { server.stop() }

        /// Runs the command, and returns the tag of the manifest and when each output was made.
        func ingest() throws -> (tag: String?, outputs: [String: Date]) {
            let result = try Program.run(
                Program.mediatool,
                ["ingest", server.address("/av.mp4"), "-o", folder.path("library"), "--resume"]
                    + ["--without", "proxy,page"] + options)
            #expect(result.status == 0, "\(result.error)")
            struct Manifest: Decodable {
                struct Input: Decodable { let entityTag: String? }
                struct Output: Decodable { let file: String }
                let input: Input
                let outputs: [Output]
            }
            let manifest = try JSONDecoder().decode(Manifest.self, from: Data(folder.bytes("library/manifest.json")))
            let dates = try manifest.outputs.map { output in
                let path = folder.path("library/" + output.file)
                let date = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
                return (output.file, try #require(date))
            }
            return (manifest.input.entityTag, Dictionary(uniqueKeysWithValues: dates))
        }

        let first = try ingest()
        #expect(first.tag == "\"1\"" && first.outputs.count > 3)
        #expect(try ingest() == first)
        tag.withLock { $0 = "\"2\"" }
        let other = try ingest()
        #expect(other.tag == "\"2\"" && other.outputs.keys == first.outputs.keys)
        for (file, date) in other.outputs { #expect(date > first.outputs[file] ?? .distantFuture, "\(file)") }
    }
}
