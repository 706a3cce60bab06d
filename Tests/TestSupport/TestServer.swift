import Glibc
import Synchronization

/// A server of HTTP/1.1 on a port of this machine, for tests that decide each answer.
///
/// It answers one request a connection, and counts them. It stands beside the real servers of `scripts/check network`.
public final class TestServer: Sendable {
    /// A request.
    public struct Request: Sendable {
        /// The path with the query.
        public let target: String
        /// The headers, with names in lower case.
        public let headers: [String: String]
        /// The number of the request, from 0.
        public let number: Int

        /// The first and last offset of the range that is asked for.
        public var range: ClosedRange<Int>? {
            let parts = headers["range"]?.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) } ?? []
            return parts.count == 2 && parts[0] <= parts[1] ? parts[0]...parts[1] : nil
        }
    }

    /// An answer.
    public struct Answer: Sendable {
        /// The status.
        public var status: Int
        /// The headers; `Content-Length` is added.
        public var headers: [String]
        /// The body.
        public var body: [UInt8]
        /// The number of bytes of the body that are sent before the connection is closed; `nil` for all.
        public var cutAt: Int?

        /// Creates an answer.
        public init(_ status: Int, _ headers: [String] = [], body: [UInt8] = [], cutAt: Int? = nil) {
            (self.status, self.headers, self.body, self.cutAt) = (status, headers, body, cutAt)
        }

        /// The part of a file that a request asks for, as RFC 9110 has it.
        public static func part(of file: [UInt8], for request: Request, tag: String = "\"1\"") -> Answer {
            guard let range = request.range, range.lowerBound < file.count,
                request.headers["if-range"].map({ $0 == tag }) ?? true
            else { return Answer(200, ["ETag: \(tag)"], body: file) }
            let last = min(range.upperBound, file.count - 1)
            return Answer(
                206, ["ETag: \(tag)", "Content-Range: bytes \(range.lowerBound)-\(last)/\(file.count)"],
                body: Array(file[range.lowerBound...last]))
        }
    }

    /// The port.
    public let port: Int
    private let listener: CInt
    private let answer: @Sendable (Request) -> Answer
    private let seen = Mutex<[Request]>([])

    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// - Parameter answer: Returns the answer to a request; called on any thread.
    public init(_ answer: @escaping @Sendable (Request) -> Answer) {
        self.answer = answer
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutableBytes(of: &address) { bytes in
            let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            _ = bind(listener, pointer, length)
            _ = listen(listener, 64)
            _ = getsockname(listener, pointer, &length)
        }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        let thread = Unmanaged.passRetained(self)
        var created = pthread_t()
        pthread_create(
            &created, nil,
            { argument in
                if let argument { Unmanaged<TestServer>.fromOpaque(argument).takeRetainedValue().serve() }
                return nil
            }, thread.toOpaque())
        pthread_detach(created)
    }

    /// The requests so far.
    public var requests: [Request] { seen.withLock(\.self) }

    /// Returns the address of a path.
    public func address(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Ends the server.
    public func stop() { shutdown(listener, CInt(SHUT_RDWR)) }

    private func serve() {
        while case let connection = accept(listener, nil, nil), connection >= 0 {
            let task = Unmanaged.passRetained(Connection(server: self, socket: connection))
            var created = pthread_t()
            pthread_create(
                &created, nil,
                { argument in
                    if let argument { Unmanaged<Connection>.fromOpaque(argument).takeRetainedValue().serve() }
                    return nil
                }, task.toOpaque())
            pthread_detach(created)
        }
        close(listener)
    }

    fileprivate func answer(target: String, headers: [String: String]) -> Answer {
        let request = seen.withLock { seen in
            let request = Request(target: target, headers: headers, number: seen.count)
            seen.append(request)
            return request
        }
        return answer(request)
    }
}

private final class Connection: Sendable {
    let server: TestServer
    let socket: CInt

    init(server: TestServer, socket: CInt) { (self.server, self.socket) = (server, socket) }

    func serve() {
        defer { close(socket) }
        var head: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            head += buffer.prefix(count)
        }
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = String(line[colon...].dropFirst(2))
        }
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3 else { return }
        let answer = server.answer(target: String(words[1]), headers: headers)
        let start = "HTTP/1.1 \(answer.status) X\r\nContent-Length: \(answer.body.count)\r\nConnection: close\r\n"
        let bytes =
            Array((start + answer.headers.map { $0 + "\r\n" }.joined() + "\r\n").utf8)
            + answer.body.prefix(answer.cutAt ?? answer.body.count)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
        shutdown(socket, CInt(SHUT_WR))
        // Otherwise what the client still sends would reset the connection before it has read the answer.
        while recv(socket, &buffer, buffer.count, 0) > 0 {}
    }
}
