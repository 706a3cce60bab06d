import Glibc
package import MediaBase
import SystemCalls
package import SystemPackage
import Threading

/// The process that reads byte sources for workers, which have no sockets: the only one that reaches the network.
///
/// A supervisor starts it before its workers, and connects a worker with one source at a time. Of what a worker asks there,
/// the process answers only what concerns that source.
package final class SourceServer {
    private let process: WorkerProcess

    /// Returns the source of a name, which a policy allowed; called in the process, on any thread.
    package typealias Opener = @Sendable (_ name: String) -> any ByteSource

    /// Starts the process: fork(2).
    ///
    /// The other threads of the calling process may only wait.
    /// - Parameters:
    ///   - expected: The names of sources that are opened at once, while the first workers start.
    ///   - open: Returns a source.
    /// - Throws: The error of the system if no process can be started.
    package init(expecting expected: [String] = [], _ open: @escaping Opener) throws(Errno) {
        process = try WorkerProcess.start(limits: ResourceLimits(), isRestricted: false) { channel in
            Self.serve(channel, expected, open)
            return 0
        }
    }

    /// Returns a connection to the source of a name, for a worker: an end of a ``MessageChannel``.
    func connect(to name: String) throws(Errno) -> FileDescriptor {
        let (mine, theirs) = try MessageChannel.pair()
        try process.channel.send(Array(name.utf8), descriptors: [theirs.descriptor], waits: false)
        return try mine.duplicate()
    }

    private static let longestName = 1 << 16

    private static func serve(_ channel: MessageChannel, _ expected: [String], _ open: @escaping Opener) {
        // Sources that several workers read, or one worker twice, are opened once.
        var sources: [String: any ByteSource] = [:]
        for name in expected {
            let source = open(name)
            sources[name] = source
            // A worker that asks for it gets the error.
            guard let thread = try? WorkerThread({ try? source.open() }) else { continue }
            thread.detach()
        }
        while let message = try? channel.receive(atMost: longestName) {
            guard let end = message.descriptors.first else { continue }
            let name = String(decoding: message.bytes, as: UTF8.self)
            let source = sources[name] ?? open(name)
            sources[name] = source
            let service = SourceService(source, MessageChannel(end))
            guard let thread = try? WorkerThread({ service.run() }) else { continue }
            thread.detach()
        }
    }
}

/// A request of a worker to a source.
enum SourceCall {
    /// Opens the source; the answer is its size.
    case open
    /// Reads bytes.
    case read(offset: UInt64, count: Int)

    /// The longest message of a call.
    static let maximumBytes = 1 << 10
    /// The most bytes that are read by one call.
    static let maximumCount = 32 << 20

    /// Writes the call with the number by which its answer is known.
    func message(_ number: Int) -> [UInt8] {
        var writer = MessageWriter()
        writer.write(number)
        switch self {
        case .open: writer.write(0)
        case .read(let offset, let count):
            writer.write(1)
            writer.write(Int(truncatingIfNeeded: offset))
            writer.write(count)
        }
        return writer.bytes
    }

    /// Reads a call, which may be hostile.
    init(_ message: [UInt8], number: inout Int) throws(MessageReader.Invalid) {
        var reader = MessageReader(message)
        number = try reader.number()
        switch try reader.number() {
        case 0: self = .open
        case 1:
            let offset = UInt64(bitPattern: Int64(try reader.number()))
            self = .read(offset: offset, count: min(max(0, try reader.number()), Self.maximumCount))
        default: throw MessageReader.Invalid()
        }
    }
}

/// The answer to a ``SourceCall``.
enum SourceAnswer: Sendable {
    /// The source is open.
    case open(size: UInt64?, entityTag: String?)
    /// The bytes.
    case bytes([UInt8])
    /// It failed.
    case error(MediaError)

    /// The longest message of an answer.
    static let maximumBytes = SourceCall.maximumCount + 1 << 10

    /// Writes the answer to the call of a number.
    func message(_ number: Int) -> [UInt8] {
        var writer = MessageWriter()
        writer.write(number)
        switch self {
        case .open(let size, let entityTag):
            writer.write(0)
            writer.write(size) { $0.write(Int(truncatingIfNeeded: $1)) }
            writer.write(entityTag) { $0.write($1) }
        case .bytes(let bytes):
            writer.write(1)
            writer.write(bytes)
        case .error(let error):
            writer.write(2)
            writer.write(error)
        }
        return writer.bytes
    }

    /// Reads an answer.
    init(_ message: [UInt8], number: inout Int) throws(MessageReader.Invalid) {
        var reader = MessageReader(message)
        number = try reader.number()
        switch try reader.number() {
        case 0:
            let size = try reader.optionalNumber().map { UInt64(bitPattern: Int64($0)) }
            let entityTag = try reader.optional { reader throws(MessageReader.Invalid) in try reader.text() }
            self = .open(size: size, entityTag: entityTag)
        case 1: self = .bytes(try reader.bytes())
        case 2: self = .error(try reader.error())
        default: throw MessageReader.Invalid()
        }
    }
}

/// Serves one connection to a source.
private final class SourceService: Sendable {
    private let source: any ByteSource
    private let channel: MessageChannel
    /// The number of calls that are being answered.
    private let calls = Monitor(0)

    /// The number of calls that are answered at once: a worker that takes no answers holds no more memory than theirs.
    private static let maximumCalls = 8
    private static let threads = ThreadPool(maximumIdleThreads: maximumCalls)

    init(_ source: any ByteSource, _ channel: MessageChannel) {
        self.source = source
        self.channel = channel
    }

    /// Answers calls, several at once, until the worker has closed its end or sends nonsense.
    func run() {
        while let message = try? channel.receive(atMost: SourceCall.maximumBytes) {
            message.close()
            var number = 0
            guard let call = try? SourceCall(message.bytes, number: &number) else { return channel.stopReceiving() }
            calls.wait { (count: inout Int) -> Void? in
                guard count < Self.maximumCalls else { return nil }
                count += 1
                return ()
            }
            Self.threads.run { [number] in
                self.answer(call, number)
                self.calls.update { $0 -= 1 }
            }
        }
    }

    private func answer(_ call: SourceCall, _ number: Int) {
        let answer: SourceAnswer
        do throws(MediaError) {
            switch call {
            case .open:
                try source.open()
                answer = .open(size: source.size, entityTag: source.entityTag)
            case .read(let offset, let count):
                answer = .bytes(Array(try source.read(at: offset, count: count).prefix(count)))
            }
        } catch {
            answer = .error(error)
        }
        try? channel.send(answer.message(number))
    }
}
