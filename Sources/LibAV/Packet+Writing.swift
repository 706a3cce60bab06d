import CFFmpeg
package import MediaBase

// Packets made for a muxer.

extension Packet {
    /// A second owner of the same bytes; none are copied.
    package func shared() throws(MediaError) -> Packet {
        let copy = try Packet()
        try AVStatus.check(av_packet_ref(copy.pointer, pointer), "av_packet_ref", doing: "share a packet")
        return copy
    }

    /// Copies the bytes of this packet and of the next one into a packet that has this one's times and flags, and lasts
    /// as long as both.
    package func joined(with next: borrowing Packet) throws(MediaError) -> Packet {
        let joined = try Packet.copying(prefix(size) + next.prefix(next.size))
        try AVStatus.check(
            av_packet_copy_props(joined.pointer, pointer), "av_packet_copy_props", doing: "join two packets")
        joined.pointer.pointee.duration = max(0, duration) &+ max(0, next.duration)
        joined.pointer.pointee.flags |= next.pointer.pointee.flags & AV_PKT_FLAG_CORRUPT
        return joined
    }

    /// A packet with a copy of bytes.
    package static func copying(_ bytes: [UInt8]) throws(MediaError) -> Packet {
        let packet = try Packet()
        guard bytes.count <= Limits.packetBytes else {
            throw MediaError(.limitExceeded, "a sample of \(bytes.count) bytes is too large")
        }
        try AVStatus.check(
            av_new_packet(packet.pointer, Int32(bytes.count)), "av_new_packet", doing: "hold a packet")
        if !bytes.isEmpty, let target = packet.pointer.pointee.data {
            UnsafeMutableRawPointer(target).copyMemory(from: bytes, byteCount: bytes.count)
        }
        return packet
    }

    /// The same bytes with other times; no bytes are copied.
    ///
    /// - Parameters:
    ///   - pts: When it is shown; `nil` for unknown.
    ///   - dts: When it is decoded; `nil` for unknown.
    ///   - duration: How long it is shown; 0 for unknown.
    ///   - isKey: Whether decoding can start here; `nil` leaves it as it is.
    package func retimed(
        pts: Int64?, dts: Int64?, duration: Int64, isKey: Bool? = nil
    ) throws(MediaError) -> Packet {
        let copy = try shared()
        copy.pointer.pointee.pts = pts ?? shim_no_pts
        copy.pointer.pointee.dts = dts ?? shim_no_pts
        copy.pointer.pointee.duration = duration
        if let isKey {
            let others = copy.pointer.pointee.flags & ~AV_PKT_FLAG_KEY
            copy.pointer.pointee.flags = isKey ? others | AV_PKT_FLAG_KEY : others
        }
        return copy
    }
}
