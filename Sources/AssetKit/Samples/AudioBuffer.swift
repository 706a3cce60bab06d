import LibAV
public import MediaBase

/// A run of decoded sound: linear PCM, interleaved or with a plane a channel.
///
/// It refers to the decoder's own memory, counted, and copies nothing; it may be shared between threads.
public final class AudioBuffer: Sendable {
    private let frame: Frame
    private let range: Range<Int>

    /// How one sample is stored.
    public let sampleFormat: SampleFormat
    /// Whether each channel has a plane of its own; otherwise plane 0 holds all of them, sample by sample.
    public let isPlanar: Bool

    /// Samples `range` of a frame; `nil` where the frame holds no sound of a known format.
    init?(_ frame: consuming Frame, range: Range<Int>) {
        guard let (format, isPlanar) = frame.sampleFormat, range.lowerBound >= 0, range.upperBound <= frame.sampleCount
        else { return nil }
        self.sampleFormat = format
        self.isPlanar = isPlanar
        self.range = range
        self.frame = frame
    }

    /// All samples of a frame of a known format.
    init(whole frame: consuming Frame, sampleFormat: SampleFormat, isPlanar: Bool) {
        self.sampleFormat = sampleFormat
        self.isPlanar = isPlanar
        range = 0..<frame.sampleCount
        self.frame = frame
    }

    /// The frame that it refers to, and which of its samples, for an encoder.
    func withFrame<Result>(_ body: (borrowing Frame, Range<Int>) throws(MediaError) -> Result) throws(MediaError)
        -> Result
    {
        try body(frame, range)
    }

    /// Samples in each channel.
    public var sampleCount: Int { range.count }
    /// Samples a second.
    public var sampleRate: Int { frame.sampleRate }
    /// Which channels there are.
    public var channelLayout: ChannelLayout { frame.channelLayout }

    /// Lends the samples of a plane as bytes in the machine's order; empty for a plane that does not exist.
    public func withBytes<Result, Failure: Error>(
        plane: Int = 0, _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try frame.withSamples(plane: plane, in: range, body)
    }

    /// Lends the samples of a plane as numbers; empty for a plane that does not exist, and for another sample format.
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
