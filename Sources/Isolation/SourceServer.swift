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
        let sources = OpenSources(open)
        for name in expected {
            let source = sources.expect(name)
            // A worker that asks for it gets the error.
            guard let thread = try? WorkerThread({ try? source.open() }) else { continue }
            thread.detach()
        }
        while let message = try? channel.receive(atMost: longestName) {
            guard let end = message.descriptors.first else { continue }
            let name = String(decoding: message.bytes, as: UTF8.self)
            let (source, number) = sources.connect(to: name)
            let service = SourceService(source, MessageChannel(end)) { sources.forget(name, number) }
            let serve: @Sendable () -> Void = {
                service.run()
                sources.leave(name, number)
            }
            guard let thread = try? WorkerThread(serve) else {
                sources.leave(name, number)
                continue
            }
            thread.detach()
        }
    }
}

/// The sources of a ``SourceServer``: one that several workers read, or one worker twice, is opened once.
///
/// Those that nobody is connected to are closed but for the last few, since each may hold a file. One that has failed is
/// opened again when a worker next asks for it.
private final class OpenSources: Sendable {
    private struct Entry {
        let number: Int
        let source: any ByteSource
        var connections = 0
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// The names of the sources that nobody is connected to any more, in the order in which they were left.
        var idle: [String] = []
        var made = 0
    }

    private static let maximumIdle = 4
    private let open: SourceServer.Opener
    private let state = Mutex(State())

    init(_ open: @escaping SourceServer.Opener) { self.open = open }

    /// Returns a source to which a worker will connect.
    func expect(_ name: String) -> any ByteSource { state.withLock { entry(of: name, in: &$0).source } }

    /// Returns a source for a worker, with its number.
    func connect(to name: String) -> (source: any ByteSource, number: Int) {
        state.withLock { state in
            var entry = entry(of: name, in: &state)
            entry.connections += 1
            state.entries[name] = entry
            state.idle.removeAll { $0 == name }
            return (entry.source, entry.number)
        }
    }

    private func entry(of name: String, in state: inout State) -> Entry {
        if let entry = state.entries[name] { return entry }
        state.made += 1
        let entry = Entry(number: state.made, source: open(name))
        state.entries[name] = entry
        return entry
    }

    /// Notes that a worker has closed its connection.
    func leave(_ name: String, _ number: Int) {
        state.withLock { state in
            guard var entry = state.entries[name], entry.number == number else { return }
            entry.connections -= 1
            state.entries[name] = entry
            guard entry.connections == 0 else { return }
            state.idle.append(name)
            if state.idle.count > Self.maximumIdle { state.entries[state.idle.removeFirst()] = nil }
        }
    }

    /// Forgets a source that has failed.
    func forget(_ name: String, _ number: Int) {
        state.withLock { state in
            guard state.entries[name]?.number == number else { return }
            state.entries[name] = nil
            state.idle.removeAll { $0 == name }
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
    private let noteFailure: @Sendable () -> Void
    /// The number of calls that are being answered.
    private let calls = Monitor(0)

    /// The number of calls that are answered at once: a worker that takes no answers holds no more memory than theirs.
    private static let maximumCalls = 8
    private static let threads = ThreadPool(maximumIdleThreads: maximumCalls)

    init(_ source: any ByteSource, _ channel: MessageChannel, noteFailure: @escaping @Sendable () -> Void) {
        self.source = source
        self.channel = channel
        self.noteFailure = noteFailure
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
            // Before the answer: the worker may ask again at once.
            noteFailure()
            answer = .error(error)
        }
        try? channel.send(answer.message(number))
    }
}
