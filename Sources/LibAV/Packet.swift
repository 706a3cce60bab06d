import CFFmpeg
package import MediaBase

/// Owner of one `AVPacket` with a reference to its bytes: a stored (compressed) sample.
///
/// Nothing changes a packet once it was read, so it may be shared between threads.
package struct Packet: ~Copyable, @unchecked Sendable {
    let pointer: UnsafeMutablePointer<AVPacket>

    /// An empty packet for a demuxer to fill.
    init() throws(MediaError) {
        guard let pointer = av_packet_alloc() else { throw MediaError(.outOfResources, "out of memory") }
        self.pointer = pointer
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVPacket>? = pointer
        av_packet_free(&pointer)
    }

    /// The index of the stream that it is of.
    package var streamIndex: Int { Int(pointer.pointee.stream_index) }
    /// When it is to be shown, in the stream's time base; `nil` where unknown.
    package var pts: Int64? { pointer.pointee.pts == shim_no_pts ? nil : pointer.pointee.pts }
    /// When it is to be decoded, in the stream's time base; `nil` where unknown.
    package var dts: Int64? { pointer.pointee.dts == shim_no_pts ? nil : pointer.pointee.dts }
    /// How long it is shown, in the stream's time base; 0 where unknown.
    package var duration: Int64 { pointer.pointee.duration }
    /// Where it lies in the file; `nil` where unknown.
    package var position: Int64? { pointer.pointee.pos < 0 ? nil : pointer.pointee.pos }
    /// How many bytes it has.
    package var size: Int { max(0, Int(pointer.pointee.size)) }
    /// Whether decoding can start here.
    package var isKey: Bool { pointer.pointee.flags & AV_PKT_FLAG_KEY != 0 }
    /// Whether the demuxer saw damage.
    package var isCorrupt: Bool { pointer.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }
    /// Takes back what the demuxer says of damage; before anybody else has the packet.
    func clearCorrupt() { pointer.pointee.flags &= ~AV_PKT_FLAG_CORRUPT }
    /// Whether it is decoded only for the sake of others, and not shown (before an edit).
    package var isDiscarded: Bool { pointer.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }

    /// How many samples from the packet's first on the decoder is told to leave out (priming): the first number of
    /// `AV_PKT_DATA_SKIP_SAMPLES`.
    package var skippedSamples: Int { sampleCount(at: 0) }

    /// How many samples at the packet's end the decoder is told to leave out (padding): the second number of
    /// `AV_PKT_DATA_SKIP_SAMPLES`.
    package var paddingSamples: Int { sampleCount(at: 4) }

    private func sampleCount(at place: Int) -> Int {
        guard pointer.pointee.side_data_elems > 0 else { return 0 }
        var size = 0
        guard let data = av_packet_get_side_data(pointer, AV_PKT_DATA_SKIP_SAMPLES, &size), size >= place + 4 else {
            return 0
        }
        return (0..<4).reduce(0) { $0 | Int(data[place + $1]) << (8 * $1) }
    }

    /// Whether it brings what the decoder must know from here on: a new header, or another form of sound or picture
    /// (`AV_PKT_DATA_NEW_EXTRADATA`, `AV_PKT_DATA_PARAM_CHANGE`).
    package var changesFormat: Bool {
        has(AV_PKT_DATA_NEW_EXTRADATA) || has(AV_PKT_DATA_PARAM_CHANGE)
    }

    private func has(_ kind: AVPacketSideDataType) -> Bool {
        pointer.pointee.side_data_elems > 0 && av_packet_get_side_data(pointer, kind, nil) != nil
    }

    /// A copy of the first `count` stored bytes, or of all where there are fewer.
    package func prefix(_ count: Int) -> [UInt8] {
        Array(UnsafeBufferPointer(start: pointer.pointee.data, count: min(size, max(0, count))))
    }

    /// A number by which the packet is known again when it is read once more: its size with the checksum of its first and
    /// last bytes (`av_adler32_update`).
    package var fingerprint: UInt64 {
        guard let data = pointer.pointee.data else { return 0 }
        let length = min(size, 256)
        let head = av_adler32_update(1, data, length)
        return UInt64(size) << 32 | UInt64(av_adler32_update(head, data + (size - length), length))
    }

    /// The stored byte at a place; `nil` outside.
    package func byte(at place: Int) -> UInt8? {
        guard place >= 0, place < size else { return nil }
        return pointer.pointee.data[place]
    }

    /// Lends the stored bytes.
    package func withBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
        let buffer = UnsafeRawBufferPointer(start: pointer.pointee.data, count: size)
        return try body(buffer.bytes)
    }
}

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

// How long Opus lasts, by the packets themselves.

extension Packet {
    /// Gives a packet of Opus in Matroska the duration of all its samples, padding included.
    ///
    /// ffmpeg writes it without the padding from version 9 on, and with it before; the demuxer tells what is written.
    func countPadding(in stream: UnsafeMutablePointer<AVStream>) {
        guard stream.pointee.codecpar.pointee.codec_id == AV_CODEC_ID_OPUS else { return }
        let samples = Self.opusSamples(prefix(2))
        guard samples > 0 else { return }
        pointer.pointee.duration = av_rescale_q(
            Int64(samples), AVRational(num: 1, den: 48_000), stream.pointee.time_base)
    }

    /// How many samples of 48 kHz a packet of Opus holds, by its first two bytes (RFC 6716, 3.1 and 3.2); 0 where they do
    /// not tell.
    package static func opusSamples(_ head: [UInt8]) -> Int {
        guard let first = head.first else { return 0 }
        let configuration = Int(first >> 3)
        let frame =
            switch configuration {
            case ..<12: [480, 960, 1920, 2880][configuration & 3]
            case ..<16: [480, 960][configuration & 1]
            default: [120, 240, 480, 960][configuration & 3]
            }
        switch first & 3 {
        case 0: return frame
        case 1, 2: return 2 * frame
        default: return head.count > 1 ? Int(head[1] & 0x3F) * frame : 0
        }
    }
}
