import ISOMedia
import LibAV
import MediaBase
import Threading

/// Turns the samples that are appended to one input into packets for the container; the counterpart of
/// ``SamplePipeline``.
///
/// Only one thread may use a pipeline at a time, except that another one may call ``prepared(_:)``.
protocol EncodingPipeline: AnyObject, Sendable {
    /// Returns the samples in the form that ``append(_:to:)`` takes, or the same samples if no conversion is needed.
    ///
    /// Video frames mostly become smaller, so that large ones need not be kept while the encoder is busy.
    func prepared(_ buffer: SampleBuffer) throws(MediaError) -> SampleBuffer

    /// Takes samples and adds packets that are complete to `sink`.
    func append(_ buffer: SampleBuffer, to sink: any PacketSink) throws(MediaError)

    /// Ends the samples and adds all remaining packets to `sink`.
    func finish(to sink: any PacketSink) throws(MediaError)

    /// The part of the session that samples cover, counted from its start; `nil` if there are none.
    var presented: (start: MediaTime, end: MediaTime)? { get }

    /// The session, with its start aligned to this track.
    var session: SessionFacts { get }
}

extension EncodingPipeline {
    /// The part of ``presented`` that lies before the session's end.
    var shown: (start: MediaTime, end: MediaTime)? { session.clipped(presented) }

    func prepared(_ buffer: SampleBuffer) throws(MediaError) -> SampleBuffer { buffer }
}

/// The destination of an input's packets.
protocol PacketSink {
    /// Sets the format of the stream; called before the first packet.
    func begin(_ stream: WrittenStream) throws(MediaError)

    /// Takes a packet, in decode order, whose times are in units of the stream's time base.
    func add(_ packet: consuming Packet) throws(MediaError)
}

/// The properties of a track that are known once its first sample has arrived.
struct WrittenStream: Sendable {
    var parameters: CodecParameters
    var timeBase: Rational
    var frameRate: Rational?
    var sampleAspectRatio: Rational?
    var codecTag: String?
    /// The duration of the encoder's priming, which is stored before the first audible sample.
    var priming = MediaTime.zero
    /// The boxes that describe text, timecode or data in MP4 and QuickTime files, in place of libavformat's own.
    var description: TrackDescription?
}

/// The properties of a session that every pipeline needs.
struct SessionFacts: Sendable {
    /// The source time that is the file's zero.
    var start: MediaTime
    /// The session's end, which may become known during writing.
    let limit: SessionLimit
    /// The grid of a track's possible start and end times; `nil` before it is known, and for audio, which is cut at
    /// samples.
    private var grid: TrimGrid?
    var fileType: MediaFileType
    var usesGlobalHeader: Bool
    /// The rules of the segments, which encoders begin with keyframes; `nil` if the encoder decides alone.
    var segments: FragmentWriter.Rules?

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
    /// - Parameter timescale: The ticks per second of the track's times.
    /// - Returns: The ticks per second in which those times, and the session's end if known, are whole when counted
    ///   from the start.
    mutating func begin(onGridOf timescale: Int32) -> Int32 {
        let own = max(1, timescale)
        let grid = TrimGrid(timescale: own)
        self.grid = grid
        start = grid.rounded(start)
        let scales = [own] + [start, end].filter(\.isNumeric).map(\.timescale)
        return MediaTime.commonTimescale(of: scales) ?? own
    }

    /// Moves the start to the first audio sample at or after it.
    mutating func begin(atSampleOf rate: Int32) {
        guard let first = start.sampleIndex(rate: rate, rounding: .up) else { return }
        start = MediaTime(value: first, timescale: rate)
    }

    /// The source time from which on no samples are written, aligned to this track; +∞ if there is no limit.
    var end: MediaTime {
        let end = limit.end.withLock { $0 }
        return grid?.rounded(end) ?? end
    }

    /// Indicates whether encoded audio may begin later than the file; in segments silence comes before it, because browsers
    /// would play the encoder's priming.
    var keepsLateStarts: Bool { fileType.keepsLateStarts && segments == nil }

    /// Returns the number of the segment to which a time of the session belongs; `nil` without segments.
    func segment(at time: MediaTime) -> Int64? {
        guard let segments, let interval = Rational(segments.interval) else { return nil }
        return (time - segments.start).ticks(in: interval, rounding: .down)
    }

    /// Returns the part of a range that lies before the session's end.
    func clipped(_ presented: (start: MediaTime, end: MediaTime)?) -> (start: MediaTime, end: MediaTime)? {
        guard let presented, case let last = end, last.isNumeric else { return presented }
        let cut = max(.zero, last - start)
        return (min(presented.start, cut), min(presented.end, cut))
    }
}

/// The end of a session, shared by all inputs.
final class SessionLimit: Sendable {
    /// The end as a source time; +∞ until one is set.
    let end = Mutex(MediaTime.positiveInfinity)
}
