import LibAV
import MediaBase

/// The samples that an encoder put before and after the real ones, where a format notes them outside an edit list.
struct EncoderDelay: Equatable, Sendable {
    /// Samples before the first real one.
    var priming: Int
    /// Samples after the last real one; `nil` where nothing is noted.
    var remainder: Int?

    /// The delay of MPEG audio's decoder, which comes on top of the encoder's.
    private static let decoderDelay = 529

    /// Reads the header of Opus (RFC 7845, 5.1), whose pre-skip counts samples of 48 kHz.
    init?(opus header: [UInt8]) {
        guard header.count >= 12, header.starts(with: [UInt8]("OpusHead".utf8)) else { return nil }
        priming = Int(header[10]) | Int(header[11]) << 8
        remainder = nil
    }

    /// Reads the text that iTunes writes as `iTunSMPB`: hexadecimal numbers, of which the second and third matter.
    init?(iTunes text: String) {
        let fields = text.split(separator: " ").map { UInt32($0, radix: 16) }
        guard fields.count >= 4, let priming = fields[1], let remainder = fields[2] else { return nil }
        self.init(priming: Int(priming), remainder: Int(remainder))
    }

    /// Reads the LAME tag in the first frame of an MP3 (behind its ID3v2 tags).
    ///
    /// - Parameter read: Gives bytes of the file; fewer where it ends.
    init?(mp3 read: (_ offset: UInt64, _ count: Int) -> [UInt8]) {
        guard let tag = XingTag(reading: read) else { return nil }
        let encoder = tag.encoder
        guard ["LAME", "Lavf", "Lavc"].contains(where: { encoder.starts(with: [UInt8]($0.utf8)) }) else { return nil }
        let delays = Array(encoder.dropFirst(21).prefix(3))
        guard delays.count == 3 else { return nil }
        priming = (Int(delays[0]) << 4 | Int(delays[1]) >> 4) + Self.decoderDelay
        remainder = max(0, (Int(delays[1] & 0xF) << 8 | Int(delays[2])) - Self.decoderDelay)
    }

    init(priming: Int, remainder: Int?) {
        self.priming = priming
        self.remainder = remainder
    }

    /// Adds to a stream what an MP3, Opus or iTunes says beside it, where nothing else does.
    static func complete(_ stream: inout StreamInfo, of file: InputFile) {
        guard let audio = stream.format.audio, audio.priming == nil else { return }
        let delay: EncoderDelay?
        if file.formatName == "mp3", file.isSeekable {
            delay = EncoderDelay { offset, count in (try? file.bytes(at: offset, count: count)) ?? [] }
        } else if stream.format.codec == "opus" {
            delay = EncoderDelay(opus: stream.format.extradata)
        } else {
            let text = (stream.metadata + file.metadata).first { $0.key == "iTunSMPB" }?.value
            delay = text.flatMap { EncoderDelay(iTunes: $0) }
        }
        guard let delay else { return }
        stream.format.audio?.priming = delay.priming
        stream.format.audio?.remainder = delay.remainder
    }

    /// Takes what is not shown from the duration of Opus in Ogg.
    ///
    /// libavformat 5.1 gives the position in the last page, which counts the samples before the first real one too, and
    /// from the clock's zero wherever the stream begins (RFC 7845, 4.3).
    static func endOpus(_ stream: inout StreamInfo, of file: InputFile) {
        guard file.formatName == "ogg", stream.format.codec == "opus", let end = stream.duration,
            let audio = stream.format.audio, let priming = audio.priming
        else { return }
        let skipped = MediaTime(value: Int64(priming), timescale: 48_000)
        let duration = end - skipped - (stream.startTime ?? .zero)
        if duration > .zero { stream.duration = duration }
    }
}
