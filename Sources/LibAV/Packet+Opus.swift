import CFFmpeg

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
