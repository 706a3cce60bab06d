import CSandbox
import Glibc
package import SystemPackage
import Threading

/// One end of a connection between a supervisor and its worker, which carries messages and open descriptors.
///
/// Messages arrive whole and in order: a message is a series of packets on a Unix socket. The receiver limits their
/// size, so that a hostile sender cannot make it take memory. Several threads may use a channel; each message is sent
/// and received undivided.
package final class MessageChannel: Sendable {
    /// A received message.
    package struct Message: Sendable {
        /// The contents.
        package var bytes: [UInt8]
        /// The descriptors that came with the message; the receiver owns them.
        package var descriptors: [FileDescriptor] = []

        /// Closes the descriptors.
        package func close() {
            for descriptor in descriptors { try? descriptor.close() }
        }
    }

    /// The result of looking for a message without waiting.
    package enum Arrival: Sendable {
        /// A message.
        case message(Message)
        /// Nothing, or a part of a message whose rest has not come.
        case none
        /// The other end is closed.
        case end
    }

    /// The reason why no message could be received.
    package enum Failure: Error, Hashable {
        /// The message is longer than the receiver allows, or is not a message of this type.
        case isInvalid
        /// A system call failed.
        case system(Errno)
    }

    /// The descriptor of the socket, for poll(2); the channel owns it.
    package let descriptor: FileDescriptor
    private let sending = Mutex(())
    private let receiving = Mutex(Receiving())

    private struct Receiving: Sendable {
        var packet = [UInt8](repeating: 0, count: MessageChannel.packetBytes)
        /// The parts of the next message that have come.
        var message = Message(bytes: [])
    }

    /// The size of the largest packet; a Unix socket holds at least two of these.
    private static let packetBytes = 1 << 16
    private static let packetsAtOnce = 64
    /// The maximum number of descriptors in a message.
    package static let maximumDescriptors = 16

    /// Creates a channel over one end of a connection, which it then owns.
    package init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    deinit {
        receiving.withLock { $0.message.close() }
        try? descriptor.close()
    }

    /// Returns the two ends of a new connection: socketpair(2).
    package static func pair() throws(Errno) -> (MessageChannel, MessageChannel) {
        var ends: [CInt] = [-1, -1]
        let type = CInt(bitPattern: SOCK_SEQPACKET.rawValue) | CInt(bitPattern: SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw Errno(rawValue: errno) }
        return (
            MessageChannel(FileDescriptor(rawValue: ends[0])), MessageChannel(FileDescriptor(rawValue: ends[1]))
        )
    }

    /// Returns another descriptor of this end, which stays open without the channel: dup(2).
    func duplicate() throws(Errno) -> FileDescriptor {
        do { return try descriptor.duplicate() } catch { throw error as? Errno ?? .ioError }
    }

    /// Refuses everything that the other end sends from now on: shutdown(2).
    package func stopReceiving() { shutdown(descriptor.rawValue, CInt(SHUT_RD)) }

    /// Sends a message, and waits while the other end is not receiving.
    ///
    /// - Parameters:
    ///   - bytes: The contents.
    ///   - descriptors: Open descriptors, which the receiver gets copies of; at most ``maximumDescriptors``.
    ///   - waits: False to throw `resourceTemporarilyUnavailable` in place of waiting; the channel is then unusable.
    /// - Throws: `brokenPipe` if the other end is closed.
    package func send(
        _ bytes: [UInt8], descriptors: [FileDescriptor] = [], waits: Bool = true
    ) throws(Errno) {
        try sending.withLock { _ throws(Errno) in
            var rest = bytes[...]
            var numbers = descriptors.map(\.rawValue)
            repeat {
                let part = rest.prefix(Self.packetBytes - 1)
                rest = rest.dropFirst(part.count)
                // The first byte of a packet says whether another one follows.
                let packet = [rest.isEmpty ? 0 : 1] + part
                let sent = csb_send(
                    descriptor.rawValue, packet, packet.count, numbers, numbers.count, waits ? 1 : 0)
                guard sent == packet.count
                else { throw Errno(rawValue: errno) }
                numbers = []
            } while !rest.isEmpty
        }
    }

    /// Waits for the next message and returns it; `nil` if the other end is closed.
    ///
    /// - Parameter maximumBytes: The maximum length of the message.
    package func receive(atMost maximumBytes: Int) throws(Failure) -> Message? {
        while true {
            switch try receive(atMost: maximumBytes, waits: true) {
            case .message(let message): return message
            case .end: return nil
            case .none: continue
            }
        }
    }

    /// Returns the next message if it has come.
    ///
    /// - Parameter maximumBytes: The maximum length of the message.
    package func receiveAvailable(atMost maximumBytes: Int) throws(Failure) -> Arrival {
        try receive(atMost: maximumBytes, waits: false)
    }

    /// Receives packets until a message is complete, the other end is closed, or none is there.
    private func receive(atMost maximumBytes: Int, waits: Bool) throws(Failure) -> Arrival {
        try receiving.withLock { state throws(Failure) in
            // A hostile sender's packets might never end.
            for _ in 0..<Self.packetsAtOnce {
                var numbers = [CInt](repeating: -1, count: Self.maximumDescriptors)
                var count = numbers.count
                let length = csb_receive(
                    descriptor.rawValue, &state.packet, state.packet.count, &numbers, &count, waits ? 1 : 0)
                guard length >= 0 else {
                    if errno == EAGAIN { return .none }
                    throw errno == EMSGSIZE ? .isInvalid : .system(Errno(rawValue: errno))
                }
                state.message.descriptors += numbers.prefix(count).map { FileDescriptor(rawValue: $0) }
                // A worker that is killed while it sends leaves part of a message.
                guard length > 0 else { return .end }
                // All packets but the last are full.
                guard state.packet[0] == 0 || state.packet[0] == 1 && length == Self.packetBytes,
                    state.message.descriptors.count <= Self.maximumDescriptors,
                    state.message.bytes.count + length - 1 <= maximumBytes
                else { throw .isInvalid }
                state.message.bytes += state.packet[1..<length]
                guard state.packet[0] == 0 else { continue }
                defer { state.message = Message(bytes: []) }
                return .message(state.message)
            }
            return .none
        }
    }
}
