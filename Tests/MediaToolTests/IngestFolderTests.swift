import Foundation
import Synchronization
import TestSupport
import Testing

/// What `ingest` does with files that are in its folders before it begins.
@Suite struct IngestFolderTests {
    private func ingest(_ folder: TemporaryFolder, _ arguments: [String]) throws -> Program.Result {
        try Program.run(
            Program.mediatool, ["ingest"] + arguments + ["--without", "proxy,page"], folder: folder.path)
    }

    /// Neither an input nor a file of the user's is replaced or removed because it is called as the record of an error.
    @Test func aFileCalledErrorIsKept() throws {
        let folder = try TemporaryFolder()
        let film = try folder.write("error.json", Fixtures.bytes("av.mp4"))
        #expect(try ingest(folder, ["error.json", "-o", "."]).status == 0)
        #expect(try Data(contentsOf: URL(filePath: film)) == Data(Fixtures.bytes("av.mp4")))

        let others = try TemporaryFolder()
        let note = try others.write("error.json", Array("precious".utf8))
        #expect(try ingest(others, [Fixtures.path("av.mp4"), "-o", "."]).status == 0)
        #expect(try ingest(others, ["missing.mp4", "-o", "."]).status == 2)
        #expect(try Data(contentsOf: URL(filePath: note)) == Data("precious".utf8))
    }

    /// The record of an error goes when the file is read at last.
    @Test func theRecordOfAnErrorGoes() throws {
        let folder = try TemporaryFolder()
        let record = folder.path("library/error.json")
        #expect(try ingest(folder, ["late.mp4", "-o", "library"]).status == 2)
        #expect(FileManager.default.fileExists(atPath: record))
        try folder.write("late.mp4", Fixtures.bytes("av.mp4"))
        #expect(try ingest(folder, ["late.mp4", "-o", "library"]).status == 0)
        #expect(!FileManager.default.fileExists(atPath: record))
    }

    /// `--resume` replaces only what an earlier run has made.
    @Test(arguments: ["manifest.json", "probe.json", "sprite-007.jpg"])
    func foreignFilesAreNotResumed(name: String) throws {
        let folder = try TemporaryFolder()
        let note = try folder.write(name, Array("precious".utf8))
        let result = try ingest(folder, [Fixtures.path("av.mp4"), "-o", ".", "--resume"])
        #expect(result.status == 2 && result.error.contains(name), "\(result.error)")
        #expect(try Data(contentsOf: URL(filePath: note)) == Data("precious".utf8))
        #expect(try ingest(folder, [Fixtures.path("av.mp4"), "-o", ".", "--resume", "--force"]).status == 0)
    }

    /// A file of the same size is another one if nothing tells that it is the same.
    @Test func whatCannotBeToldIsMadeAgain() throws {
        let folder = try TemporaryFolder()
        let film = try Fixtures.bytes("av.mp4")
        let server = TestServer { request in
            var answer = TestServer.Answer.part(of: film, for: request)
            answer.headers.removeAll { $0.hasPrefix("ETag") }
            return answer
        }
        defer { server.stop() }
        func date() throws -> Date? {
            let result = try ingest(folder, [server.address("/av.mp4"), "-o", "library", "--resume"])
            #expect(result.status == 0, "\(result.error)")
            let path = folder.path("library/probe.json")
            return try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
        }
        let first = try #require(try date())
        #expect(try #require(try date()) > first)
    }

    @Test func aFolderIsNotNamedAfterItsParent() throws {
        let folder = try TemporaryFolder()
        let result = try ingest(folder, [Fixtures.path("av.mp4"), "..", "-o", "library"])
        #expect(result.status == 64 && result.error.contains("'..' has no name"), "\(result.error)")
    }

    /// A request that has failed is sent again when the work is done again.
    @Test(arguments: [[], ["--isolate"]])
    func aFailedRequestIsSentAgain(options: [String]) throws {
        let folder = try TemporaryFolder()
        let sound = try Fixtures.bytes("pcm-s16-mono.wav")
        let failures = Mutex(1)
        let server = TestServer { request in
            let fails = failures.withLock { count in
                defer { count -= 1 }
                return count > 0
            }
            return fails ? TestServer.Answer(503) : .part(of: sound, for: request)
        }
        defer { server.stop() }
        let result = try Program.run(
            Program.mediatool,
            ["waveform", server.address("/a.wav"), "-o", folder.path("a.dat"), "--network-retries", "0"]
                + ["--retries", "1"] + options)
        #expect(result.status == 0 && result.error.contains("done again (1 of 1)"), "\(result.error)")
    }
}
