package import LibAV
package import MediaBase

/// The samples that an encoder added before and after the real ones, if a format records them outside an edit list.
package struct EncoderDelay: Equatable, Sendable {
    /// The number of samples before the first real one.
    var priming: Int
    /// The number of samples after the last real one; `nil` if it is not recorded.
    var remainder: Int?
    /// The number of real samples; `nil` if it is not recorded.
    var count: Int64?

    /// The total number of samples; `nil` if it is not recorded.
    var total: Int64? {
        guard let count, let remainder else { return nil }
        return count.addingClamped(Int64(priming)).addingClamped(Int64(remainder))
    }

    /// The delay of an MPEG audio decoder in samples, which adds to that of the encoder.
    private static let decoderDelay = 529

    /// Reads the header of Opus (RFC 7845, 5.1), whose pre-skip counts samples at 48 kHz.
    init?(opus header: [UInt8]) {
        guard header.count >= 12, header.starts(with: [UInt8]("OpusHead".utf8)) else { return nil }
        priming = Int(header[10]) | Int(header[11]) << 8
        remainder = nil
    }

    /// Parses the text that iTunes writes as `iTunSMPB`: hexadecimal numbers, of which the second to fourth are used.
    init?(iTunes text: String) {
        let fields = text.split(separator: " ").map { Int64($0, radix: 16) }
        guard fields.count >= 4, let priming = fields[1].flatMap({ UInt32(exactly: $0) }),
            let remainder = fields[2].flatMap({ UInt32(exactly: $0) })
        else { return nil }
        self.init(priming: Int(priming), remainder: Int(remainder))
        count = fields[3].flatMap { $0 > 0 ? $0 : nil }
    }

    /// Reads the packet table (`pakt`) of a CAF file.
    ///
    /// The number of packets is followed by the numbers of real samples, of samples before them and of samples after
    /// them.
    package init?(caf file: InputFile) throws(MediaError) {
        guard file.format == .caf, file.isSeekable, let chunks = SoundFileChunks(.caf) else {
            return nil
        }
        let bytes = try chunks.bytes(ofChunk: "pakt", count: 24, in: FileByteSource(file))
        var reader = BigEndianReader(bytes)
        guard bytes.count == 24, (try? reader.skip(8)) != nil, let count = try? reader.int64(),
            let priming = try? reader.int32(), let remainder = try? reader.int32(), count > 0, priming >= 0,
            remainder >= 0
        else { return nil }
        self.init(priming: Int(priming), remainder: Int(remainder))
        self.count = count
    }

    /// Reads the LAME tag in the first frame of an MP3, after any ID3v2 tags.
    ///
    /// - Parameter read: Reads bytes of the file; returns fewer if it ends.
    init?(mp3 read: (_ offset: UInt64, _ count: Int) -> [UInt8]) {
        guard let tag = XingTag(reading: read) else { return nil }
        let encoder = tag.encoder
        guard ["LAME", "Lavf", "Lavc"].contains(where: { encoder.starts(with: [UInt8]($0.utf8)) }) else { return nil }
        let delays = Array(encoder.dropFirst(21).prefix(3))
        guard delays.count == 3 else { return nil }
        priming = (Int(delays[0]) << 4 | Int(delays[1]) >> 4) + Self.decoderDelay
        let remainder = max(0, (Int(delays[1] & 0xF) << 8 | Int(delays[2])) - Self.decoderDelay)
        self.remainder = remainder
        let real = tag.frameCount.map { Int64($0) * tag.samplesPerFrame - Int64(priming + remainder) }
        count = real.flatMap { $0 > 0 ? $0 : nil }
    }

    init(priming: Int, remainder: Int?) {
        self.priming = priming
        self.remainder = remainder
    }

    /// Sets a stream's priming and remainder from a packet table, or from an MP3, Opus or iTunes header if nothing else
    /// does.
    ///
    /// For CAF and MP3 it also sets the duration.
    ///
    /// - Throws: Any error from the file.
    package static func complete(_ stream: inout StreamInfo, of file: InputFile) throws(MediaError) {
        guard let audio = stream.format.audio else { return }
        let delay: EncoderDelay?
        if let table = try EncoderDelay(caf: file) {
            delay = table
            // Depending on its version, libavformat subtracts the trimmed samples from the duration or does not.
            if let total = table.total {
                stream.duration = MediaTime(value: total, timescale: Int32(clamping: max(1, audio.sampleRate)))
            }
        } else if audio.priming != nil {
            return
        } else if file.format == .mp3, file.isSeekable {
            delay = EncoderDelay { offset, count in (try? file.bytes(at: offset, count: count)) ?? [] }
            // Depending on its version, libavformat counts the samples trimmed at both ends or does not.
            if let count = delay?.count {
                stream.duration = MediaTime(value: count, timescale: Int32(clamping: max(1, audio.sampleRate)))
            }
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

    /// Returns the end of the last packet of a CAF from its packet table; `nil` for other formats.
    ///
    /// libavformat 5.1 does not report it.
    ///
    /// - Parameter stream: The stream as completed by ``complete(_:of:)``.
    package static func times(of stream: StreamInfo, in file: InputFile) -> ListedTimes? {
        guard file.format == .caf, let end = stream.duration?.ticks(in: stream.timeBase, rounding: .down),
            let last = file.indexOfKeyframe(stream: stream.index, notAfter: end),
            let entry = file.indexEntry(stream: stream.index, at: last)
        else { return nil }
        var times = ListedTimes()
        times.ends[entry.ticks] = end
        return times
    }

    /// Returns the part of a stream's media that is heard, in ticks of the stream's time base; `nil` if nothing is
    /// trimmed.
    ///
    /// - Parameter media: The number of samples on the clock of the stream's time base; `nil` if unknown. If the
    ///   recorded numbers add up to it, they are on the same clock. Otherwise they count samples from the decoder.
    package func edits(of stream: StreamInfo, media: Int64?) -> StreamEdits? {
        guard let audio = stream.format.audio, priming > 0 || count != nil else { return nil }
        let unit = media != nil && media == total ? stream.timeBase : Rational(1, Int64(max(1, audio.sampleRate)))
        func ticks(_ samples: Int64) -> Int64? {
            MediaTime(ticks: samples, timeBase: unit).ticks(in: stream.timeBase, rounding: .halfAwayFromZero)
        }
        guard let first = ticks(Int64(priming)) else { return nil }
        return StreamEdits([
            StreamEdits.Part(
                start: 0, end: count.flatMap(ticks) ?? .max, mediaStart: first, firstPicture: first, rate: .one)
        ])
    }

    /// Subtracts the samples that are not played from the duration of Opus in Ogg.
    ///
    /// libavformat 5.1 reports the position in the last page. This position includes the samples before the first real
    /// one, and is relative to the clock's zero even if the stream starts elsewhere (RFC 7845, 4.3).
    package static func endOpus(_ stream: inout StreamInfo, of file: InputFile) {
        guard file.format == .ogg, stream.format.codec == "opus", let end = stream.duration,
            let audio = stream.format.audio, let priming = audio.priming
        else { return }
        let skipped = MediaTime(value: Int64(priming), timescale: 48_000)
        let duration = end - skipped - (stream.startTime ?? .zero)
        if duration > .zero { stream.duration = duration }
    }
}

/// The tag that the first frame of an MP3 holds instead of audio, introduced by Xing's encoder and extended by LAME.
struct XingTag {
    /// The byte position of the frame with the tag, after any ID3v2 tags.
    let start: UInt64
    /// The number of frames, not including this one; `nil` if the tag does not state it.
    let frameCount: UInt32?
    /// The length of the audio in bytes, including this frame; `nil` if the tag does not state it.
    let byteCount: UInt64?
    /// The number of samples per frame in each channel.
    let samplesPerFrame: Int64
    /// The encoder's description of itself, starting with its name.
    let encoder: ArraySlice<UInt8>

    /// Reads the tag; `nil` if the first frame has none.
    ///
    /// - Parameter read: Reads bytes of the file; returns fewer if it ends.
    init?(reading read: (_ offset: UInt64, _ count: Int) -> [UInt8]) {
        let offset = lengthOfID3Tags { read($0, 10) }
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
        let count = bytes.bigEndian
        let frames = fields.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        frameCount = flags & 1 == 1 && fields.count >= 4 && frames > 0 ? frames : nil
        byteCount = flags & 2 == 2 && bytes.count == 4 && count > 0 ? count : nil
        // Number of frames, number of bytes, table of contents, quality.
        let optional = zip([4, 4, 100, 4], 0..<4).reduce(0) { $0 + (flags >> UInt8($1.1) & 1 == 1 ? $1.0 : 0) }
        encoder = fields.dropFirst(optional)
    }

    /// Returns the end of the audio according to the tag; `nil` if it does not state it.
    ///
    /// Some encoders also count the tags before the audio, so a file of exactly that length is complete.
    ///
    /// - Parameter length: The file's length in bytes.
    func declaredEnd(inFileOf length: UInt64) -> UInt64? {
        guard let byteCount else { return nil }
        return byteCount == length ? length : start + byteCount
    }
}
