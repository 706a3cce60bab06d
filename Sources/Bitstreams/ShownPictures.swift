/// Tells of VP8, VP9 and AV1 which samples hold only pictures that others refer to, and that are never shown.
package enum ShownPictures {
    /// Whether a codec has samples that are never shown.
    package static func canHide(codec: String) -> Bool { ["vp8", "vp9", "av1"].contains(codec) }

    /// Whether a sample gives a picture to show; `true` where its headers do not tell.
    ///
    /// - Parameters:
    ///   - codec: libavcodec's name of the codec.
    ///   - size: How many bytes the sample has.
    ///   - byte: The byte at a place of the sample; `nil` outside of it.
    package static func holdsOne(codec: String, size: Int, byte: (Int) -> UInt8?) -> Bool {
        switch codec {
        // RFC 6386, 9.1: key frame, version, show_frame; a sample without bytes repeats the picture before.
        case "vp8": byte(0).map { $0 & 0x10 != 0 } ?? true
        case "vp9": holdsVP9(size, byte)
        case "av1": holdsAV1(size, byte)
        default: true
        }
    }

    /// VP9 Bitstream & Decoding Process Specification, Annex B: several frames with an index at the sample's end.
    private static func holdsVP9(_ size: Int, _ byte: (Int) -> UInt8?) -> Bool {
        guard let first = byte(0), let marker = byte(size - 1) else { return true }
        let (count, width) = (Int(marker & 7) + 1, Int(marker >> 3 & 3) + 1)
        let end = size - (2 + count * width)
        guard marker & 0xE0 == 0xC0, end > 0, byte(end) == marker else { return isShownVP9(first) }
        var start = 0
        for frame in 0..<count where start < end {
            if let header = byte(start), isShownVP9(header) { return true }
            start += (0..<width).reduce(0) { $0 | Int(byte(end + 1 + frame * width + $1) ?? 0) << (8 * $1) }
        }
        return false
    }

    /// The uncompressed header's first byte (6.2): marker, profile, show_existing_frame, frame_type, show_frame.
    private static func isShownVP9(_ header: UInt8) -> Bool {
        guard header >> 6 == 2 else { return true }
        // Profile 3 has a reserved bit behind it.
        let bits = header & 0x30 == 0x30 ? header << 1 : header
        return bits & 0x0A != 0
    }

    /// AV1 Bitstream & Decoding Process Specification, 5.9.2: show_existing_frame, frame_type, show_frame.
    private static func holdsAV1(_ size: Int, _ byte: (Int) -> UInt8?) -> Bool {
        var place = 0
        var hasFrame = false
        while let header = byte(place), place < size {
            place += header & 0x04 != 0 ? 2 : 1
            var length = size - place
            if header & 0x02 != 0 {
                let written = (0..<8).map { byte(place + $0) ?? 0 }
                guard let (value, bytes) = AV1Unit.leb128(written[...]), value <= length - bytes else { return true }
                place += bytes
                length = value
            }
            // Frame headers, and frames.
            if [3, 6].contains(header >> 3 & 0xF), let frame = byte(place) {
                if frame & 0x90 != 0 { return true }
                hasFrame = true
            }
            place += length
        }
        return !hasFrame
    }
}
