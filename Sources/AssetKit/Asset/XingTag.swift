import MediaBase

/// What the first frame of an MP3 says in place of sound: the tag that Xing's encoder began with, and LAME extended.
struct XingTag {
    /// Where the frame with the tag begins, behind ID3v2 tags.
    let start: UInt64
    /// How many frames there are besides this one; `nil` where the tag does not say.
    let frameCount: UInt32?
    /// How long the sound is in bytes, this frame included; `nil` where the tag does not say.
    let byteCount: UInt64?
    /// How many samples a frame holds in each channel.
    let samplesPerFrame: Int64
    /// What the encoder says of itself, from its name on.
    let encoder: ArraySlice<UInt8>

    /// Reads the tag; `nil` where the first frame has none.
    ///
    /// - Parameter read: Gives bytes of the file; fewer where it ends.
    init?(reading read: (_ offset: UInt64, _ count: Int) -> [UInt8]) {
        var offset: UInt64 = 0
        // A tag after another is rare but allowed.
        for _ in 0..<8 {
            let head = read(offset, 10)
            guard head.count == 10, head.starts(with: [0x49, 0x44, 0x33]) else { break }
            let size = head[6...9].reduce(UInt64(0)) { $0 << 7 | UInt64($1 & 0x7F) }
            offset += 10 + size + (head[5] & 0x10 != 0 ? 10 : 0)
        }
        let frame = read(offset, 400)
        guard frame.count > 4, frame[0] == 0xFF, frame[1] & 0xE0 == 0xE0 else { return nil }
        let isMPEG1 = frame[1] & 0x18 == 0x18
        let isMono = frame[3] & 0xC0 == 0xC0
        let tag = frame.dropFirst(4 + (isMPEG1 ? (isMono ? 17 : 32) : (isMono ? 9 : 17)))
        guard tag.starts(with: [UInt8]("Xing".utf8)) || tag.starts(with: [UInt8]("Info".utf8)),
            let flags = tag.dropFirst(7).first
        else { return nil }
        start = offset
        samplesPerFrame = isMPEG1 ? 1152 : 576
        let fields = tag.dropFirst(8)
        let bytes = fields.dropFirst(flags & 1 == 1 ? 4 : 0).prefix(4)
        let count = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let frames = fields.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        frameCount = flags & 1 == 1 && fields.count >= 4 && frames > 0 ? frames : nil
        byteCount = flags & 2 == 2 && bytes.count == 4 && count > 0 ? count : nil
        // Number of frames, number of bytes, table of contents, quality.
        let optional = zip([4, 4, 100, 4], 0..<4).reduce(0) { $0 + (flags >> UInt8($1.1) & 1 == 1 ? $1.0 : 0) }
        encoder = fields.dropFirst(optional)
    }

    /// Where the sound ends by the tag; `nil` where it does not say.
    ///
    /// Some encoders count the tags before the sound too, so a file of just that length is whole.
    ///
    /// - Parameter length: The file's length in bytes.
    func statedEnd(inFileOf length: UInt64) -> UInt64? {
        guard let byteCount else { return nil }
        return byteCount == length ? length : start + byteCount
    }
}
