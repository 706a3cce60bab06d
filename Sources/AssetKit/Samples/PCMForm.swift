import LibAV
import MediaBase

/// How linear PCM lies in stored samples, which can be cut anywhere.
struct PCMForm {
    /// Bytes of one moment's samples of all channels.
    let frameBytes: Int
    /// Moments a second.
    let rate: Int32
    /// A byte of silence.
    let silence: UInt8

    /// Forms in which the samples of a moment do not lie side by side.
    private static let packed: Set<String> = ["pcm_dvd", "pcm_bluray", "pcm_lxf"]

    /// `nil` for sound that is no linear PCM, and for what is no sound.
    init?(_ format: FormatDescription?) {
        guard let format, format.codec.hasPrefix("pcm_"), !Self.packed.contains(format.codec),
            !format.codec.hasSuffix("_planar"), let audio = format.audio,
            let rate = Int32(exactly: audio.sampleRate), rate > 0,
            let bytes = audio.bitsPerSample.map({ $0 / 8 }) ?? audio.sampleFormat?.bytesPerSample, bytes > 0,
            audio.channels > 0, bytes * audio.channels <= 1 << 16
        else { return nil }
        frameBytes = bytes * audio.channels
        self.rate = rate
        silence =
            switch format.codec {
            case "pcm_u8": 0x80
            case "pcm_alaw": 0xD5
            case "pcm_mulaw": 0xFF
            default: 0
            }
    }

    /// What of a buffer sounds within a range, cut to the sample; `nil` for nothing.
    func cut(_ buffer: SampleBuffer, from start: MediaTime, to end: MediaTime) throws(MediaError) -> SampleBuffer? {
        let begins = buffer.presentationTime
        guard begins.isNumeric, let stored = buffer.storedSample else { return buffer }
        let count = Int64(stored.size / frameBytes)
        func index(_ time: MediaTime, _ otherwise: Int64) -> Int64 {
            guard time.isNumeric else { return otherwise }
            return min(max((time - begins).sampleIndex(rate: rate, rounding: .up) ?? otherwise, 0), count)
        }
        let wanted = index(start, 0)..<max(index(start, 0), index(end, count))
        guard !wanted.isEmpty else { return nil }
        guard wanted != 0..<count else { return buffer }
        let bytes = stored.packet.prefix(Int(wanted.upperBound) * frameBytes)
            .dropFirst(Int(wanted.lowerBound) * frameBytes)
        let time = begins + MediaTime(value: wanted.lowerBound, timescale: rate)
        return SampleBuffer(
            buffer, ofTrack: buffer.trackIndex, presentationTime: time, decodeTime: time,
            duration: MediaTime(value: Int64(wanted.count), timescale: rate), isShown: true,
            content: .stored(StoredSample(try Packet.copying(Array(bytes)))))
    }
}
