import MediaBase

/// The packets before a part of a track that its first packet needs to be decoded as in the whole.
enum AudioPreRoll {
    /// The duration after which Opus decodes as from the beginning of the stream (RFC 7845, 4.6).
    static let opus = MediaTime(value: 80, timescale: 1000)
    /// The number of bytes before a frame of MP3 in which its data may begin, without headers (ISO/IEC 11172-3, 2.4.2.7).
    private static let reservoirBytes = 511
    /// The number of bytes in a frame's header, its checksum and the side information of two channels.
    private static let headerBytes = 4 + 2 + 32

    /// Returns true if the first of some packets before a part is not needed.
    ///
    /// - Parameters:
    ///   - sizes: The sizes of the packets in bytes.
    ///   - second: The time of the second one, counted from the part's start.
    static func isCovered(codec: String, withoutFirstOf sizes: [Int], second: MediaTime) -> Bool {
        switch codec {
        case "opus": second <= .zero - opus
        // The last one, which warms up the decoder, must itself be decoded rightly.
        case "mp3":
            sizes.dropFirst().dropLast().reduce(0) { $0 + max(0, $1 - headerBytes) } >= reservoirBytes
        default: true
        }
    }
}
