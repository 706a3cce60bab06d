import Glibc
import MediaBase
import SystemCalls
import SystemPackage
import Threading

/// A file that a server sends only as a whole, received into a temporary file while its beginning is already read.
///
/// Thread-safe.
final class WholeDownload: Sendable {
    private struct State: Sendable {
        /// The answer's headers, once they have come.
        var start: Transfer.Answer?
        var received: UInt64 = 0
        var end: Result<Void, MediaError>?
        /// True if nobody waits for more.
        var isAbandoned = false
    }

    private let state = Monitor(State())
    /// The file, which is made when the first bytes come.
    private let file = Mutex<FileDescriptor?>(nil)

    /// Creates a download that has not begun.
    init() {}

    deinit { try? file.withLock(\.self)?.close() }

    private func openedFile() throws(Errno) -> FileDescriptor {
        try file.withLock { file throws(Errno) in
            if let file { return file }
            let made = try makeTemporaryFile()
            file = made
            return made
        }
    }

    private static func failure(_ errno: Errno) -> MediaError {
        MediaError(
            .inputOutput, "what the server sends cannot be kept in the temporary folder; name another in TMPDIR",
            cause: "\(errno)")
    }

    /// True if the server sends the whole file.
    var hasBegun: Bool { state.read { $0.start?.status == 200 } }

    /// The size that the server has announced; `nil` if it has not.
    var size: UInt64? { headers["content-length"].flatMap { UInt64($0) } }

    /// The headers of the answer.
    var headers: [String: String] { state.read { $0.start?.headers ?? [:] } }

    /// Notes the headers of an answer.
    func begin(_ answer: Transfer.Answer) { state.update { $0.start = answer } }

    /// Ends the transfer with the next bytes, since nobody waits for them.
    func abandon() { state.update { $0.isAbandoned = true } }

    /// Takes the next bytes; returns false if they cannot be kept.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let received = state.read { $0.isAbandoned ? nil : $0.received }
        guard let received else { return false }
        do throws(Errno) {
            try writeAll(bytes.bindMemory(to: UInt8.self).span, to: openedFile(), at: Int64(clamping: received))
        } catch {
            state.update { $0.end = $0.end ?? .failure(Self.failure(error)) }
            return false
        }
        state.update { $0.received += UInt64(bytes.count) }
        return true
    }

    /// Returns a transfer's answer: when it has ended, or once it is clear that the whole file comes.
    func wait(for transfer: Transfer) -> Transfer.Answer {
        let start = state.wait { state in
            state.start.map { $0.status == 200 ? $0 : Transfer.Answer() }
        }
        guard start.status == 200 else {
            let answer = transfer.wait()
            state.update { $0.start = nil }
            return answer
        }
        let thread = try? WorkerThread { self.finish(transfer.wait()) }
        if let thread { thread.detach() } else { finish(transfer.wait()) }
        return start
    }

    private func finish(_ answer: Transfer.Answer) {
        let announced = size
        state.update { state in
            let isWhole = answer.code == 0 && announced.map { $0 == state.received } ?? true
            let error = MediaError(
                .inputOutput, "the connection to the server was lost, and it sends only the whole file",
                cause: answer.reason)
            state.end = state.end ?? (isWhole ? .success(()) : .failure(error))
        }
    }

    /// Returns bytes, for which it waits; fewer at the end of the file.
    func bytes(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] {
        let end = offset.addingReportingOverflow(UInt64(max(0, count)))
        guard !end.overflow else { return [] }
        let result: Result<UInt64, MediaError> = state.wait { state in
            if state.received >= end.partialValue { return .success(state.received) }
            return state.end.map { end in end.map { state.received } }
        }
        let received = try result.get()
        guard offset < received else { return [] }
        do throws(Errno) {
            return try SystemCalls.read(
                from: openedFile(), at: Int64(clamping: offset), atMost: Int(min(end.partialValue, received) - offset))
        } catch {
            throw Self.failure(error)
        }
    }
}
