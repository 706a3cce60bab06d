import CFFmpeg
import MediaBase

/// Owner of one `AVPacket` with a reference to its bytes: a stored (compressed) sample.
///
/// Nothing changes a packet once it was read, so it may be shared between threads.
package struct Packet: ~Copyable, @unchecked Sendable {
    let pointer: UnsafeMutablePointer<AVPacket>
    /// Where the empty packet goes in the end; `nil` for nowhere.
    private let shelf: Shelf<AVPacket>?

    /// An empty packet for a demuxer to fill.
    init() throws(MediaError) {
        guard let pointer = av_packet_alloc() else { throw MediaError(.outOfResources, "out of memory") }
        self.pointer = pointer
        shelf = nil
    }

    /// An empty packet from a shelf, to which it returns.
    init(from shelf: Shelf<AVPacket>) throws(MediaError) {
        guard let pointer = shelf.take() else { throw MediaError(.outOfResources, "out of memory") }
        self.pointer = pointer
        self.shelf = shelf
    }

    deinit {
        if let shelf { return shelf.put(pointer) }
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
