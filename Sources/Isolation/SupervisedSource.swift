package import MediaBase
import SystemPackage
import Threading

/// A byte source that is read by another process for this one, which is in a sandbox: a connection to a ``SourceServer``.
///
/// Thread-safe; several reads are under way at once.
package final class SupervisedSource: ByteSource {
    private let connect: @Sendable () throws(MediaError) -> MessageChannel
    private let connection = Mutex<MessageChannel?>(nil)
    private let state = Monitor(State())

    private struct State: Sendable {
        var size: UInt64?
        var entityTag: String?
        /// The number of the last call.
        var last = 0
        var answers: [Int: Result<SourceAnswer, MediaError>] = [:]
        /// True if one of the waiting threads receives the answers for all.
        var isReceiving = false
        var failure: MediaError?
    }

    /// Creates a source.
    ///
    /// - Parameter connect: Returns the connection to the source; called once, at the first reading.
    init(_ connect: @escaping @Sendable () throws(MediaError) -> MessageChannel) { self.connect = connect }

    /// The size, after ``open()``.
    package var size: UInt64? { state.read { $0.size } }

    /// The entity tag, after ``open()``.
    package var entityTag: String? { state.read { $0.entityTag } }

    /// Opens the source.
    package func open() throws(MediaError) {
        guard case .open(let size, let entityTag) = try answer(to: .open) else { throw Self.nonsense }
        state.update { ($0.size, $0.entityTag) = (size, entityTag) }
    }

    /// Reads bytes; fewer at the end.
    package func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] {
        guard case .bytes(let bytes) = try answer(to: .read(offset: offset, count: count)) else { throw Self.nonsense }
        return bytes
    }

    private static let nonsense = MediaError(.inputOutput, "the process that reads the network sent nonsense")

    /// Sends a call and waits for its answer.
    private func answer(to call: SourceCall) throws(MediaError) -> SourceAnswer {
        let channel = try connection.withLock { connection throws(MediaError) in
            if let connection { return connection }
            let made = try connect()
            connection = made
            return made
        }
        let number = state.updateQuietly { state in
            state.last += 1
            return state.last
        }
        do throws(Errno) {
            try channel.send(call.message(number))
        } catch {
            throw MediaError(.inputOutput, "the process that reads the network has ended", cause: "\(error)")
        }
        while true {
            // Either the answer has come, or this thread receives the next one, for whomever it is.
            let found: Result<SourceAnswer, MediaError>?? = state.wait { state in
                if let answer = state.answers.removeValue(forKey: number) { return .some(answer) }
                if let failure = state.failure { return .some(.failure(failure)) }
                guard !state.isReceiving else { return nil }
                state.isReceiving = true
                return .some(nil)
            }
            if case .some(.some(let answer)) = found { return try answer.get() }
            receive(from: channel)
        }
    }

    private func receive(from channel: MessageChannel) {
        var number = 0
        var answer: Result<SourceAnswer, MediaError>?
        if let message = try? channel.receive(atMost: SourceAnswer.maximumBytes),
            let found = try? SourceAnswer(message.bytes, number: &number)
        {
            if case .error(let error) = found { answer = .failure(error) } else { answer = .success(found) }
        }
        state.update { state in
            state.isReceiving = false
            if let answer {
                state.answers[number] = answer
            } else {
                state.failure = MediaError(.inputOutput, "the process that reads the network has ended")
            }
        }
    }
}
