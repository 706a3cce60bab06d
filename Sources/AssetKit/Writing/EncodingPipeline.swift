import LibAV
import MediaBase
import Threading

/// Turns the samples that are appended to one input into packets for the container; the counterpart of
/// ``SamplePipeline``.
///
/// One thread uses it at a time.
protocol EncodingPipeline: AnyObject, Sendable {
    /// Makes of samples what ``append(_:to:)`` takes in their place: the same where there is nothing to make.
    ///
    /// Pictures mostly become smaller, so that the large ones need not be kept while the encoder is busy.
    func prepared(_ buffer: SampleBuffer) throws(MediaError) -> SampleBuffer

    /// Takes samples; what can be written goes to `sink`.
    func append(_ buffer: SampleBuffer, to sink: any PacketSink) throws(MediaError)

    /// Says that no sample follows, so that what is still inside goes to `sink`.
    func finish(to sink: any PacketSink) throws(MediaError)

    /// Which part of the session has been given samples, counted from its start; `nil` where none was.
    var presented: (start: MediaTime, end: MediaTime)? { get }

    /// The session, with its start as this track counts from it.
    var session: SessionFacts { get }
}

extension EncodingPipeline {
    /// What is shown of ``presented`` when the session's end cuts it.
    var shown: (start: MediaTime, end: MediaTime)? { session.clipped(presented) }

    func prepared(_ buffer: SampleBuffer) throws(MediaError) -> SampleBuffer { buffer }
}

/// Where the packets of an input go.
protocol PacketSink {
    /// Says how the samples are coded; comes before the first packet.
    func begin(_ stream: WrittenStream) throws(MediaError)

    /// Takes a packet whose times are in units of the stream's time base, in decode order.
    func add(_ packet: consuming Packet) throws(MediaError)
}

/// What a pipeline knows of its track when its first sample has come.
struct WrittenStream: Sendable {
    var parameters: CodecParameters
    var timeBase: Rational
    var frameRate: Rational?
    var sampleAspectRatio: Rational?
    var codecTag: String?
}

/// What every pipeline of a writer has to know.
struct SessionFacts: Sendable {
    /// The time of the samples that is the file's zero.
    var start: MediaTime
    /// Where it ends, which may become known while it is written.
    let limit: SessionLimit
    /// Where one track can begin and end; `nil` before it is known, and for audio, which is cut at samples.
    private var grid: TrimGrid?
    var fileType: MediaFileType
    var usesGlobalHeader: Bool

    init(start: MediaTime, limit: SessionLimit, fileType: MediaFileType, usesGlobalHeader: Bool) {
        self.start = start
        self.limit = limit
        self.fileType = fileType
        self.usesGlobalHeader = usesGlobalHeader
    }
}

extension SessionFacts {
    /// Moves the start to the nearest time from which all times of a track can be counted exactly.
    ///
    /// - Parameter timescale: Ticks a second of the track's times.
    /// - Returns: Ticks a second in which they, and the session's end as far as it is known, are whole when they are
    ///   counted from the start.
    mutating func begin(onGridOf timescale: Int32) -> Int32 {
        let own = max(1, timescale)
        let grid = TrimGrid(timescale: own)
        self.grid = grid
        start = grid.rounded(start)
        let scales = [own] + [start, end].filter(\.isNumeric).map(\.timescale)
        return MediaTime.commonTimescale(of: scales) ?? own
    }

    /// Moves the start to the first sample of audio that is not before it.
    mutating func begin(atSampleOf rate: Int32) {
        guard let first = start.sampleIndex(rate: rate, rounding: .up) else { return }
        start = MediaTime(value: first, timescale: rate)
    }

    /// The time of the samples from which on nothing is written, as this track counts; +∞ for none.
    var end: MediaTime {
        let end = limit.end.withLock { $0 }
        return grid?.rounded(end) ?? end
    }

    /// What is shown of a stretch when the session's end cuts it.
    func clipped(_ presented: (start: MediaTime, end: MediaTime)?) -> (start: MediaTime, end: MediaTime)? {
        guard let presented, case let last = end, last.isNumeric else { return presented }
        let cut = max(.zero, last - start)
        return (min(presented.start, cut), min(presented.end, cut))
    }
}

/// Where a session ends, shared by all inputs.
final class SessionLimit: Sendable {
    /// A time of the samples; +∞ as long as none was given.
    let end = Mutex(MediaTime.positiveInfinity)
}
