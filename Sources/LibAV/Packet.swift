import CFFmpeg
package import MediaBase

/// Owner of one `AVPacket` with a reference to its bytes: a stored (compressed) sample.
///
/// A packet is immutable once it was read, so it may be shared between threads.
package struct Packet: ~Copyable, @unchecked Sendable {
    let pointer: UnsafeMutablePointer<AVPacket>

    /// Creates an empty packet for a demuxer to fill.
    init() throws(MediaError) {
        pointer = try allocated(av_packet_alloc())
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVPacket>? = pointer
        av_packet_free(&pointer)
    }

    /// The index of the packet's stream.
    package var streamIndex: Int { Int(pointer.pointee.stream_index) }
    /// The presentation time in the stream's time base; `nil` if unknown.
    package var pts: Int64? { pointer.pointee.pts == shim_no_pts ? nil : pointer.pointee.pts }
    /// The decode time in the stream's time base; `nil` if unknown.
    package var dts: Int64? { pointer.pointee.dts == shim_no_pts ? nil : pointer.pointee.dts }
    /// The duration in the stream's time base; 0 if unknown.
    package var duration: Int64 { pointer.pointee.duration }
    /// The packet's byte offset in the file; `nil` if unknown.
    package var position: Int64? { pointer.pointee.pos < 0 ? nil : pointer.pointee.pos }
    /// The number of bytes.
    package var size: Int { max(0, Int(pointer.pointee.size)) }
    /// True if decoding can start at this packet.
    package var isKey: Bool { pointer.pointee.flags & AV_PKT_FLAG_KEY != 0 }
    /// True if the demuxer detected damage.
    package var isCorrupt: Bool { pointer.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }
    /// Clears the demuxer's damage flag; call this before the packet is shared.
    func clearCorrupt() { pointer.pointee.flags &= ~AV_PKT_FLAG_CORRUPT }
    /// True if the packet is only decoded for other packets and not shown (before an edit).
    package var isDiscarded: Bool { pointer.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }

    /// The number of samples that the decoder must skip at the packet's start (priming).
    ///
    /// This is the first number of `AV_PKT_DATA_SKIP_SAMPLES`.
    package var skippedSamples: Int { sampleCount(at: 0) }

    /// The number of samples that the decoder must skip at the packet's end (padding).
    ///
    /// This is the second number of `AV_PKT_DATA_SKIP_SAMPLES`.
    package var paddingSamples: Int { sampleCount(at: 4) }

    private func sampleCount(at place: Int) -> Int {
        guard pointer.pointee.side_data_elems > 0 else { return 0 }
        var size = 0
        guard let data = av_packet_get_side_data(pointer, AV_PKT_DATA_SKIP_SAMPLES, &size), size >= place + 4 else {
            return 0
        }
        return (0..<4).reduce(0) { $0 | Int(data[place + $1]) << (8 * $1) }
    }

    /// True if the packet carries a new header or a change of audio or video format for the decoder.
    ///
    /// Checks for `AV_PKT_DATA_NEW_EXTRADATA` and `AV_PKT_DATA_PARAM_CHANGE`.
    package var changesFormat: Bool {
        has(AV_PKT_DATA_NEW_EXTRADATA) || has(AV_PKT_DATA_PARAM_CHANGE)
    }

    private func has(_ kind: AVPacketSideDataType) -> Bool {
        pointer.pointee.side_data_elems > 0 && av_packet_get_side_data(pointer, kind, nil) != nil
    }

    /// Adds a number of ticks to the times; call this before the packet is shared.
    func delay(by ticks: Int64) {
        if let pts { pointer.pointee.pts = pts &+ ticks }
        if let dts { pointer.pointee.dts = dts &+ ticks }
    }

    /// Returns a copy of the first `count` stored bytes, or of all bytes if there are fewer.
    package func prefix(_ count: Int) -> [UInt8] {
        Array(UnsafeBufferPointer(start: pointer.pointee.data, count: min(size, max(0, count))))
    }

    /// A number that identifies the packet when it is read again.
    ///
    /// It combines the packet's size with the checksum of its first and last bytes (`av_adler32_update`).
    package var fingerprint: UInt64 {
        guard let data = pointer.pointee.data else { return 0 }
        let length = min(size, 256)
        let head = av_adler32_update(1, data, length)
        return UInt64(size) << 32 | UInt64(av_adler32_update(head, data + (size - length), length))
    }

    /// Returns the stored byte at an offset; `nil` if the offset is outside the packet.
    package func byte(at place: Int) -> UInt8? {
        guard place >= 0, place < size else { return nil }
        return pointer.pointee.data[place]
    }

    /// Calls a closure with the stored bytes.
    package func withBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
        let buffer = UnsafeRawBufferPointer(start: pointer.pointee.data, count: size)
        return try body(buffer.bytes)
    }
}

// Packets created for a muxer.

extension Packet {
    /// Returns a second owner of the same bytes, without copying them.
    package func shared() throws(MediaError) -> Packet {
        let copy = try Packet()
        try AVStatus.check(av_packet_ref(copy.pointer, pointer), "av_packet_ref", doing: "share a packet")
        return copy
    }

    /// Returns a packet with a copy of this packet's bytes, followed by the next one's.
    ///
    /// The result has this packet's times and flags, and the duration of both packets.
    package func joined(with next: borrowing Packet) throws(MediaError) -> Packet {
        let joined = try Packet.copying(prefix(size) + next.prefix(next.size))
        try AVStatus.check(
            av_packet_copy_props(joined.pointer, pointer), "av_packet_copy_props", doing: "join two packets")
        joined.pointer.pointee.duration = max(0, duration) &+ max(0, next.duration)
        joined.pointer.pointee.flags |= next.pointer.pointee.flags & AV_PKT_FLAG_CORRUPT
        return joined
    }

    /// Returns a packet with a copy of the given bytes.
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

    /// Returns a packet with the same bytes and other times; no bytes are copied.
    ///
    /// - Parameters:
    ///   - pts: The presentation time; `nil` for unknown.
    ///   - dts: The decode time; `nil` for unknown.
    ///   - duration: The duration; 0 for unknown.
    ///   - isKey: Whether decoding can start at the packet; `nil` keeps the flag unchanged.
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

// The durations of Opus and ALAC, computed from the packets themselves.

extension Packet {
    /// Sets the duration of a Matroska packet of Opus to that of all its samples, including padding.
    ///
    /// ffmpeg stores the duration without the padding from version 9 on, and with it before. The demuxer reports the
    /// stored value.
    func countPadding(in stream: UnsafeMutablePointer<AVStream>) {
        guard stream.pointee.codecpar.pointee.codec_id == AV_CODEC_ID_OPUS else { return }
        let samples = Self.opusSamples(prefix(2))
        guard samples > 0 else { return }
        pointer.pointee.duration = av_rescale_q(
            Int64(samples), AVRational(num: 1, den: 48_000), stream.pointee.time_base)
    }

    /// Returns the number of 48 kHz samples in an Opus packet from its first two bytes (RFC 6716, 3.1 and 3.2).
    ///
    /// Returns 0 if the bytes do not determine the number.
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
    /// Sets the duration of a packet of Apple Lossless, for which libavformat knows none in Matroska and CAF.
    ///
    /// Only a packet with fewer samples than the header says states their number.
    func countALAC(in stream: UnsafeMutablePointer<AVStream>) {
        guard let parameters = stream.pointee.codecpar, parameters.pointee.codec_id == AV_CODEC_ID_ALAC,
            parameters.pointee.sample_rate > 0
        else { return }
        let extradata = UnsafeBufferPointer(
            start: parameters.pointee.extradata, count: max(0, Int(parameters.pointee.extradata_size)))
        // The configuration, which starts with the number of samples, follows the 12 bytes of a box.
        let whole = extradata.count >= 16 ? Int(clamping: Array(extradata[12..<16]).bigEndian) : 0
        pointer.pointee.duration = av_rescale_q(
            Int64(Self.alacSamples(prefix(7)) ?? whole), AVRational(num: 1, den: parameters.pointee.sample_rate),
            stream.pointee.time_base)
    }

    /// Returns the number of samples that the first seven bytes of an Apple Lossless packet state; `nil` if they state
    /// none.
    ///
    /// A flag in bit 19 says if the number follows, in 32 bits from bit 23 on.
    package static func alacSamples(_ head: [UInt8]) -> Int? {
        guard head.count >= 7, head[2] & 0x10 != 0 else { return nil }
        return Int(head[2..<7].bigEndian >> 1 & 0xFFFF_FFFF)
    }
}
