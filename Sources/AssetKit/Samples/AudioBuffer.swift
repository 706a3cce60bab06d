import LibAV
public import MediaBase

/// A run of decoded audio: linear PCM, interleaved or with one plane per channel.
///
/// It refers to the decoder's own reference-counted memory without copying, and may be shared between threads.
public final class AudioBuffer: Sendable {
    private let frame: Frame
    private let range: Range<Int>

    /// The storage format of a sample.
    public let sampleFormat: SampleFormat
    /// True if each channel has its own plane; otherwise plane 0 holds all channels interleaved.
    public let isPlanar: Bool
    /// The number of samples per second.
    public let sampleRate: Int
    /// The channel layout.
    public let channelLayout: ChannelLayout

    /// Creates a buffer of the samples `range` of a frame; `nil` if the frame holds no audio of a known format.
    init?(_ frame: consuming Frame, range: Range<Int>) {
        guard let (format, isPlanar) = frame.sampleFormat, range.lowerBound >= 0, range.upperBound <= frame.sampleCount
        else { return nil }
        self.sampleFormat = format
        self.isPlanar = isPlanar
        self.range = range
        sampleRate = frame.sampleRate
        channelLayout = frame.channelLayout
        self.frame = consume frame
    }

    /// Creates a buffer of all samples of a frame with a known format.
    init(whole frame: consuming Frame, sampleFormat: SampleFormat, isPlanar: Bool) {
        self.sampleFormat = sampleFormat
        self.isPlanar = isPlanar
        range = 0..<frame.sampleCount
        sampleRate = frame.sampleRate
        channelLayout = frame.channelLayout
        self.frame = consume frame
    }

    /// Lends the underlying frame and the range of its samples, for an encoder.
    func withFrame<Result>(_ body: (borrowing Frame, Range<Int>) throws(MediaError) -> Result) throws(MediaError)
        -> Result
    { try body(frame, range) }

    /// Returns a part of the samples, which shares their memory; `nil` if the part is empty.
    func part(_ part: Range<Int>) throws(MediaError) -> AudioBuffer? {
        let part = part.clamped(to: 0..<range.count)
        guard !part.isEmpty else { return nil }
        return AudioBuffer(
            try frame.shared(), range: range.lowerBound + part.lowerBound..<range.lowerBound + part.upperBound)
    }

    /// The number of samples in each channel.
    public var sampleCount: Int { range.count }

    /// Lends the samples of a plane as bytes in native byte order; empty if the plane does not exist.
    public func withBytes<Result, Failure: Error>(
        plane: Int = 0, _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try frame.withSamples(plane: plane, in: range, body)
    }

    /// Lends the samples of a plane as numbers; empty if the plane does not exist or the sample format differs.
    ///
    /// ```swift
    /// let peak = buffer.withSamples(of: Int16.self) { samples in … }
    /// ```
    public func withSamples<Sample: BitwiseCopyable, Result, Failure: Error>(
        of type: Sample.Type, plane: Int = 0, _ body: (Span<Sample>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try frame.withSamples(of: type, plane: plane, in: range, body)
    }
}

/// The layout of linear PCM in stored samples, which can be cut anywhere.
struct PCMForm {
    /// The number of bytes in one sample of all channels.
    let frameBytes: Int
    /// The number of samples per second in each channel.
    let rate: Int32
    /// The value of a byte of silence.
    let silence: UInt8

    /// The codecs that do not store the samples of all channels side by side.
    private static let packed: Set<String> = ["pcm_dvd", "pcm_bluray", "pcm_lxf"]

    /// Determines the layout of a format; `nil` if it is not audio or not linear PCM.
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

    /// Returns the part of a buffer that is within a time range, cut to the sample; `nil` if there is none.
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
            buffer, presentationTime: time, decodeTime: time,
            duration: MediaTime(value: Int64(wanted.count), timescale: rate),
            content: .stored(CompressedSample(try Packet.copying(Array(bytes)))))
    }
}
