/// How much a file may ask for, and how long reading it may take, before it is refused.
///
/// A file of a few bytes can claim a thousand tracks or pictures of gigabytes. The standard values are beyond what
/// cameras, encoders and editors make; whoever has larger files raises them. Exceeding one is
/// ``MediaError/Code-swift.struct/limitExceeded``, with the limit's name and value in the message.
public struct MediaLimits: Sendable, Hashable {
    /// Tracks in one file: `max_streams` of libavformat.
    public var streams = 1000

    /// Pixels in one picture, of which 16384 by 8192 are allowed: `max_pixels` of libavcodec, which itself ends at 2^28.
    public var pixels = 1 << 27

    /// Channels of one track.
    public var channels = 512

    /// Boxes of MP4 and QuickTime whose headers are looked at; the rest is not read, which is a warning, and an error
    /// only where the movie box is among it.
    public var boxes = 100_000

    /// Bytes that are read ahead, from the beginning on, until all tracks are known: `probesize` of libavformat.
    public var probeBytes = 5_000_000

    /// Compressed bytes that wait in memory for an output which is not being read.
    public var waitingBytes = 512 << 20

    /// Seconds of the presentation that are read by one reader, from where it begins: 168 hours.
    ///
    /// A broken time stamp, or an edit list, can ask for years of silence. What a header says is checked before reading,
    /// what only the samples say while they are read.
    public var duration = 168 * 3600

    /// Bytes that a command writes of one input, all outputs together; `nil`, the standard, for what goes with the
    /// input's size: ``standardOutputBytes(forInputOf:copying:)``.
    public var outputBytes: Int?

    /// When reading ends with ``MediaError/Code-swift.struct/timedOut``, wherever it is; `nil` for never.
    ///
    /// It is looked at between packets, so that what one packet asks of a decoder is still done.
    public var deadline: ContinuousClock.Instant?

    /// The standard values, and no deadline.
    public init() {}
}

extension MediaLimits {
    /// The error for work that goes on after a deadline; `nil` before it, and where there is none.
    package static func error(after deadline: ContinuousClock.Instant?) -> MediaError? {
        guard let deadline, ContinuousClock.now >= deadline else { return nil }
        return MediaError(.timedOut, "was not done within the time limit; allow more time for it")
    }

    /// The limits that are numbers; the raw value is how messages and the command line name them.
    public enum Name: String, Sendable, Hashable, CaseIterable {
        /// ``MediaLimits/streams``.
        case streams
        /// ``MediaLimits/pixels``.
        case pixels
        /// ``MediaLimits/channels``.
        case channels
        /// ``MediaLimits/boxes``.
        case boxes
        /// ``MediaLimits/probeBytes``.
        case probeBytes = "probe-bytes"
        /// ``MediaLimits/waitingBytes``.
        case waitingBytes = "waiting-bytes"
        /// ``MediaLimits/duration``.
        case duration
        /// ``MediaLimits/outputBytes``.
        case outputBytes = "output-bytes"

        /// The limit with a value as the command line takes it, such as `duration=168h` or `output-bytes=1G`.
        package func text(of value: Int) -> String {
            let units: [(Int, String)] =
                switch self {
                case .duration: [(3600, "h")]
                case .outputBytes: [(1 << 30, "G"), (1 << 20, "M")]
                default: []
                }
            let unit = units.first { value >= $0.0 && value % $0.0 == 0 } ?? (1, "")
            return "\(rawValue)=\(value / unit.0)\(unit.1)"
        }
    }

    /// The most that is written of an input where ``outputBytes`` does not say: 16 times its size and 1 GiB, of a copy 1.1
    /// times its size and 64 MiB.
    public static func standardOutputBytes(forInputOf bytes: Int, copying: Bool) -> Int {
        let bytes = max(0, bytes)
        let (product, overflow) = copying ? (bytes, false) : bytes.multipliedReportingOverflow(by: 16)
        let (sum, isLarger) = product.addingReportingOverflow(copying ? bytes / 10 + 64 << 20 : 1 << 30)
        return overflow || isLarger ? .max : sum
    }

    /// A limit by its name; ``outputBytes`` is the largest number where it is `nil`.
    public subscript(name: Name) -> Int {
        get {
            switch name {
            case .streams: streams
            case .pixels: pixels
            case .channels: channels
            case .boxes: boxes
            case .probeBytes: probeBytes
            case .waitingBytes: waitingBytes
            case .duration: duration
            case .outputBytes: outputBytes ?? .max
            }
        }
        set {
            switch name {
            case .streams: streams = newValue
            case .pixels: pixels = newValue
            case .channels: channels = newValue
            case .boxes: boxes = newValue
            case .probeBytes: probeBytes = newValue
            case .waitingBytes: waitingBytes = newValue
            case .duration: duration = newValue
            case .outputBytes: outputBytes = newValue
            }
        }
    }

    /// The error for something that is over a limit.
    ///
    /// - Parameters:
    ///   - name: The limit.
    ///   - what: What the file has, in words that go on with "which is over the limit".
    package func error(_ name: Name, _ what: String) -> MediaError {
        MediaError(
            .limitExceeded, "\(what), which is over the limit \(name.text(of: self[name])); raise that to read it")
    }

    /// The error for a stretch of a presentation that is longer than ``duration``; `nil` for one that is not, and where
    /// its length is not known.
    package func error(reading range: MediaTimeRange) -> MediaError? {
        guard range.duration > MediaTime(value: Int64(duration), timescale: 1), range.duration.isNumeric else {
            return nil
        }
        return error(.duration, "lasts \(range.duration.clockText())")
    }
}
