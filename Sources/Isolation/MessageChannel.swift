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
    private let receiving = Mutex([UInt8](repeating: 0, count: MessageChannel.packetBytes))

    /// The size of the largest packet; a Unix socket holds at least two of these.
    private static let packetBytes = 1 << 16
    /// The maximum number of descriptors in a message.
    package static let maximumDescriptors = 16

    private init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    deinit { try? descriptor.close() }

    /// Returns the two ends of a new connection: socketpair(2).
    package static func pair() throws(Errno) -> (MessageChannel, MessageChannel) {
        var ends: [CInt] = [-1, -1]
        let type = CInt(bitPattern: SOCK_SEQPACKET.rawValue) | CInt(bitPattern: SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw Errno(rawValue: errno) }
        return (
            MessageChannel(FileDescriptor(rawValue: ends[0])), MessageChannel(FileDescriptor(rawValue: ends[1]))
        )
    }

    /// Sends a message, and waits while the other end is not receiving.
    ///
    /// - Parameters:
    ///   - bytes: The contents.
    ///   - descriptors: Open descriptors, which the receiver gets copies of; at most ``maximumDescriptors``.
    /// - Throws: `brokenPipe` if the other end is closed.
    package func send(_ bytes: [UInt8], descriptors: [FileDescriptor] = []) throws(Errno) {
        try sending.withLock { _ throws(Errno) in
            var rest = bytes[...]
            var numbers = descriptors.map(\.rawValue)
            repeat {
                let part = rest.prefix(Self.packetBytes - 1)
                rest = rest.dropFirst(part.count)
                // The first byte of a packet says whether another one follows.
                let packet = [rest.isEmpty ? 0 : 1] + part
                guard csb_send(descriptor.rawValue, packet, packet.count, numbers, numbers.count) == packet.count
                else { throw Errno(rawValue: errno) }
                numbers = []
            } while !rest.isEmpty
        }
    }

    /// Waits for the next message and returns it; `nil` if the other end is closed.
    ///
    /// - Parameter maximumBytes: The maximum length of the message.
    package func receive(atMost maximumBytes: Int) throws(Failure) -> Message? {
        try receiving.withLock { packet throws(Failure) in
            var message = Message(bytes: [])
            var isComplete = false
            defer {
                if !isComplete { for descriptor in message.descriptors { try? descriptor.close() } }
            }
            while true {
                var numbers = [CInt](repeating: -1, count: Self.maximumDescriptors)
                var count = numbers.count
                let length = csb_receive(descriptor.rawValue, &packet, packet.count, &numbers, &count)
                guard length >= 0 else { throw errno == EMSGSIZE ? .isInvalid : .system(Errno(rawValue: errno)) }
                message.descriptors += numbers.prefix(count).map { FileDescriptor(rawValue: $0) }
                // A worker that is killed while it sends leaves part of a message.
                guard length > 0 else { return nil }
                guard packet[0] <= 1, message.descriptors.count <= Self.maximumDescriptors,
                    message.bytes.count + length - 1 <= maximumBytes
                else { throw .isInvalid }
                message.bytes += packet[1..<length]
                if packet[0] == 0 {
                    isComplete = true
                    return message
                }
            }
        }
    }
}
