import CFFmpeg
import Glibc
package import MediaBase
import SystemPackage

/// Keeps the bytes of packets that wait long in an unlinked temporary file instead of in memory.
///
/// The file lies where ``SpoolFile`` puts it, and begins anew when nothing in it is wanted any more. One thread uses it
/// at a time.
package final class PacketSpill: @unchecked Sendable {
    private var file: SpoolFile?
    private var end: Int64 = 0
    private var count = 0

    /// Nothing is opened before the first packet comes.
    package init() {}

    /// A packet whose bytes lie in the file; all else that belongs to it stays in memory.
    package final class Entry: Sendable {
        fileprivate let shell: Packet
        fileprivate let offset: Int64
        /// How many bytes it has.
        package let size: Int

        fileprivate init(_ shell: consuming Packet, offset: Int64, size: Int) {
            self.shell = shell
            self.offset = offset
            self.size = size
        }
    }

    /// Puts the bytes of a packet into the file.
    package func store(_ packet: borrowing Packet) throws(MediaError) -> Entry {
        let spool: SpoolFile
        if let file { spool = file } else { spool = try SpoolFile() }
        file = spool
        let shell = try Packet()
        try AVStatus.check(
            av_packet_copy_props(shell.pointer, packet.pointer), "av_packet_copy_props", doing: "keep a packet")
        let entry = Entry(shell, offset: end, size: packet.size)
        var done = 0
        while done < packet.size, let data = packet.pointer.pointee.data {
            let written = pwrite(spool.descriptor.rawValue, data + done, packet.size - done, Int(end) + done)
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw Self.failure(errno) }
            done += written
        }
        end += Int64(packet.size)
        count += 1
        return entry
    }

    /// Takes a packet back out of the file.
    package func load(_ entry: Entry) throws(MediaError) -> Packet {
        guard let file else { throw MediaError(.inputOutput, "the temporary file is gone") }
        let packet = try Packet()
        try AVStatus.check(
            av_new_packet(packet.pointer, Int32(clamping: entry.size)), "av_new_packet", doing: "hold a packet")
        try AVStatus.check(
            av_packet_copy_props(packet.pointer, entry.shell.pointer), "av_packet_copy_props", doing: "keep a packet")
        var done = 0
        while done < entry.size, let data = packet.pointer.pointee.data {
            let read = pread(file.descriptor.rawValue, data + done, entry.size - done, Int(entry.offset) + done)
            if read < 0, errno == EINTR { continue }
            guard read > 0 else { throw Self.failure(errno) }
            done += read
        }
        count -= 1
        if count == 0 {
            end = 0
            _ = ftruncate(file.descriptor.rawValue, 0)
        }
        return packet
    }

    private static func failure(_ code: CInt) -> MediaError {
        MediaError(
            .inputOutput,
            "packets that wait for another track cannot be kept in the temporary folder; name another in TMPDIR",
            cause: "\(Errno(rawValue: code))")
    }
}
