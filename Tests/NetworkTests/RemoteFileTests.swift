import Foundation
import MediaBase
import Synchronization
import TestSupport
import Testing

@testable import Network

/// Reads from a server that answers as each test wants.
@Suite struct RemoteFileTests {
    /// Bytes that repeat only after a prime number of them.
    private static let content = (0..<300_000).map { UInt8(truncatingIfNeeded: ($0 % 65_521) &* 40_503 >> 7) }

    private var options: NetworkOptions {
        var options = NetworkOptions()
        options.retries = 2
        return options
    }

    private func file(on server: TestServer, _ path: String = "/a.mov", _ options: NetworkOptions? = nil) throws
        -> RemoteFile
    {
        RemoteFile(try NetworkAddress(server.address(path)), options ?? self.options)
    }

    @Test func rangesAreThoseOfTheFile() throws {
        let server = TestServer { .part(of: Self.content, for: $0) }
        defer { server.stop() }
        let file = try file(on: server)
        try file.open()
        #expect(file.size == 300_000)
        for (offset, count) in [(0, 10), (0, 100_000), (65_000, 1000), (299_990, 100), (300_000, 5), (0, 300_000)] {
            let wanted = Array(Self.content.dropFirst(offset).prefix(count))
            #expect(try file.read(at: UInt64(offset), count: count) == wanted)
        }
        // The first bytes came with the opening; nothing is asked for at the end.
        #expect(server.requests.count == 5)
        #expect(server.requests[0].range == 0...65_535)
        #expect(server.requests.dropFirst().allSatisfy { $0.headers["if-range"] == "\"1\"" })
    }

    /// What a broken answer has brought is not asked for again.
    @Test func brokenAnswersGoOnWhereTheyEnded() throws {
        let server = TestServer { request in
            var answer = TestServer.Answer.part(of: Self.content, for: request)
            if request.number == 1 { answer.cutAt = 70_000 }
            if request.number == 2 { answer.cutAt = 0 }
            return answer
        }
        defer { server.stop() }
        let file = try file(on: server)
        #expect(try file.read(at: 100_000, count: 150_000) == Array(Self.content[100_000..<250_000]))
        #expect(server.requests.map(\.range) == [0...65_535, 100_000...249_999, 170_000...249_999, 170_000...249_999])
    }

    @Test(arguments: [(503, 3), (429, 3), (404, 1), (403, 1), (401, 1), (410, 1)])
    func failuresAreRepeatedIfTheyMayPass(status: Int, requests: Int) throws {
        let server = TestServer { _ in .init(status, ["Retry-After: 0"]) }
        defer { server.stop() }
        #expect(throws: MediaError.self) { try file(on: server).open() }
        #expect(server.requests.count == requests)
    }

    @Test func aServerMayRecover() throws {
        let server = TestServer { request in
            request.number < 2 ? .init(503) : .part(of: Self.content, for: request)
        }
        defer { server.stop() }
        #expect(try file(on: server).read(at: 0, count: 5) == Array(Self.content.prefix(5)))
    }

    /// Another entity tag, another size, and a whole file in place of a range.
    @Test(arguments: ["tag", "size", "whole"])
    func aChangedFileIsNoticed(kind: String) throws {
        let server = TestServer { request in
            guard request.number > 0 else { return .part(of: Self.content, for: request) }
            switch kind {
            case "tag":
                var answer = TestServer.Answer.part(of: Self.content, for: request)
                answer.headers[0] = "ETag: \"2\""
                return answer
            case "size": return .part(of: Self.content + [0], for: request)
            default: return .part(of: Self.content, for: request, tag: "\"2\"")
            }
        }
        defer { server.stop() }
        let file = try file(on: server)
        try file.open()
        let error = #expect(throws: MediaError.self) { try file.read(at: 100_000, count: 10) }
        #expect(error?.code == .changed)
    }

    @Test(arguments: [
        "Content-Range: bytes 0-9/300000", "Content-Range: bytes 100000-200000/300000", "Content-Range: nonsense",
        "X: y", "Content-Range: bytes 100000-100009/99",
    ])
    func otherBytesThanAskedForAreRefused(header: String) throws {
        let server = TestServer { request in
            guard request.number > 0 else { return .part(of: Self.content, for: request) }
            return .init(206, ["ETag: \"1\"", header], body: Array(Self.content[0..<10]))
        }
        defer { server.stop() }
        let file = try file(on: server)
        try file.open()
        #expect(throws: MediaError.self) { try file.read(at: 100_000, count: 10) }
        #expect(server.requests.count == 2)
    }

    /// A server without ranges is asked once, and the file is whole.
    @Test func aWholeFileIsReadOnce() throws {
        let server = TestServer { _ in .init(200, body: Self.content) }
        defer { server.stop() }
        let notes = Mutex(0)
        let file = RemoteFile(try NetworkAddress(server.address("/a")), options) { notes.withLock { $0 += 1 } }
        try file.open()
        #expect(file.size == 300_000)
        #expect(try file.read(at: 250_000, count: 100_000) == Array(Self.content[250_000...]))
        #expect(try file.read(at: 0, count: 10) == Array(Self.content.prefix(10)))
        #expect(server.requests.count == 1)
        #expect(notes.withLock { $0 } == 1)
    }

    @Test func aWholeFileThatBreaksOffIsAnError() throws {
        let server = TestServer { _ in .init(200, body: Self.content, cutAt: 100_000) }
        defer { server.stop() }
        let file = try file(on: server)
        try file.open()
        #expect(try file.read(at: 0, count: 50_000) == Array(Self.content.prefix(50_000)))
        let error = #expect(throws: MediaError.self) { try file.read(at: 200_000, count: 10) }
        #expect(error?.code == .inputOutput)
    }

    /// Headers, names and passwords go to the server that was named, and to no other.
    @Test func secretsStayWithTheServerThatWasNamed() throws {
        let target = TestServer { .part(of: Self.content, for: $0) }
        defer { target.stop() }
        let server = TestServer { request in
            request.target == "/a.mov"
                ? .init(302, ["Location: /b.mov"]) : .init(307, ["Location: \(target.address("/c"))"])
        }
        defer { server.stop() }
        var options = options
        options.headers = ["X-Secret: t0ken"]
        let address = server.address("/a.mov").replacing("127.0.0.1", with: "ann:s3cret@127.0.0.1")
        let file = RemoteFile(try NetworkAddress(address), options)
        #expect(try file.read(at: 0, count: 10) == Array(Self.content.prefix(10)))
        #expect(server.requests.map(\.target) == ["/a.mov", "/b.mov"])
        // YW5uOnMzY3JldA== is ann:s3cret.
        #expect(server.requests.allSatisfy { $0.headers["authorization"] == "Basic YW5uOnMzY3JldA==" })
        #expect(server.requests.allSatisfy { $0.headers["x-secret"] == "t0ken" })
        #expect(target.requests.count == 1)
        #expect(target.requests[0].headers["authorization"] == nil && target.requests[0].headers["x-secret"] == nil)
        // Further ranges go to the target at once.
        _ = try file.read(at: 100_000, count: 10)
        #expect(server.requests.count == 2 && target.requests.count == 2)
    }

    @Test(arguments: ["/a.mov", "ftp://127.0.0.1/x", "file:///etc/passwd"])
    func endlessAndOtherRedirectionsAreRefused(location: String) throws {
        let server = TestServer { _ in .init(302, ["Location: \(location)"]) }
        defer { server.stop() }
        #expect(throws: MediaError.self) { try file(on: server).open() }
        #expect(server.requests.count <= 11)
    }

    @Test func aServerThatIsNotThere() throws {
        var options = options
        options.retries = 0
        let file = RemoteFile(try NetworkAddress("http://127.0.0.1:1/x"), options)
        let error = #expect(throws: MediaError.self) { try file.open() }
        #expect(error?.code == .inputOutput)
    }

    @Test func severalThreadsReadAtOnce() async throws {
        let server = TestServer { .part(of: Self.content, for: $0) }
        defer { server.stop() }
        let file = try file(on: server)
        let areRight = try await withThrowingTaskGroup(of: Bool.self) { group in
            for start in stride(from: 0, to: 280_000, by: 20_000) {
                group.addTask {
                    try file.read(at: UInt64(start), count: 20_000) == Array(Self.content[start..<start + 20_000])
                }
            }
            return try await group.reduce(true) { $0 && $1 }
        }
        #expect(areRight)
    }
}
