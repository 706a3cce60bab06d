import LibAV
import MediaBase
import Synchronization

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

    /// Which part of the session has been given samples; `nil` where none was.
    var presented: (start: MediaTime, end: MediaTime)? { get }
}

extension EncodingPipeline {
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
    var fileType: MediaFileType
    var usesGlobalHeader: Bool
}

extension SessionFacts {
    /// The time of the samples from which on nothing is written; +∞ for none.
    var end: MediaTime { limit.end.withLock { $0 } }

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
