/// Limits on what a file may demand, and on how long reading it may take, before it is rejected.
///
/// A file of a few bytes can claim a thousand tracks or pictures of gigabytes. The defaults exceed what cameras,
/// encoders and editors produce; raise them for larger files. Exceeding a limit throws
/// ``MediaError/Code-swift.struct/limitExceeded``, with the limit's name and value in the message.
public struct MediaLimits: Sendable, Hashable {
    /// The maximum number of tracks in a file: `max_streams` of libavformat.
    public var streams = 1000

    /// The maximum number of pixels in a picture: `max_pixels` of libavcodec.
    ///
    /// The default allows 16384 by 8192 pixels; libavcodec itself is limited to 2^28.
    public var pixels = 1 << 27

    /// The maximum number of channels in a track.
    public var channels = 512

    /// The maximum number of MP4 or QuickTime boxes whose headers are read.
    ///
    /// Any further boxes are not read, which is a warning. It is an error only if the movie box is among them.
    public var boxes = 100_000

    /// The maximum number of bytes read from the start of the file until all tracks are known: `probesize` of
    /// libavformat.
    public var probeBytes = 5_000_000

    /// The maximum number of compressed bytes held in memory for an output that is not being read.
    public var waitingBytes = 512 << 20

    /// The maximum duration in seconds that one reader reads, counted from its start: 168 hours.
    ///
    /// A broken timestamp or an edit list can ask for years of silence. Durations stated by a header are checked
    /// before reading, those known only from the samples while reading.
    public var duration = 168 * 3600

    /// The maximum number of bytes that a command writes for one input, in all outputs together.
    ///
    /// The default, `nil`, depends on the input's size: ``standardOutputBytes(forInputOf:copying:)``.
    public var outputBytes: Int?

    /// The memory in RAM that the work on the file may take, in bytes; `nil` for a quarter of what the process may use.
    ///
    /// Decoders get fewer threads for pictures so large that half of it would not hold those in work. Nothing is
    /// refused: what a file takes in all is limited where it is read in a process of its own.
    public var memory: Int?

    /// The time at which reading stops with ``MediaError/Code-swift.struct/timedOut``; `nil` for never.
    ///
    /// The deadline is checked between packets, so a decoder always finishes the current packet.
    public var deadline: ContinuousClock.Instant?

    /// Creates the default limits, without a deadline.
    public init() {}
}

extension MediaLimits {
    /// Returns the error for work that continues past a deadline; `nil` before it, and if there is no deadline.
    package static func error(after deadline: ContinuousClock.Instant?) -> MediaError? {
        guard let deadline, ContinuousClock.now >= deadline else { return nil }
        return MediaError(.timedOut, "was not done within the time limit; allow more time for it")
    }

    /// The numeric limits; the raw value is the name used in messages and on the command line.
    public enum Name: String, Sendable, Hashable, CaseIterable {
        /// The limit ``MediaLimits/streams``.
        case streams
        /// The limit ``MediaLimits/pixels``.
        case pixels
        /// The limit ``MediaLimits/channels``.
        case channels
        /// The limit ``MediaLimits/boxes``.
        case boxes
        /// The limit ``MediaLimits/probeBytes``.
        case probeBytes = "probe-bytes"
        /// The limit ``MediaLimits/waitingBytes``.
        case waitingBytes = "waiting-bytes"
        /// The limit ``MediaLimits/duration``.
        case duration
        /// The limit ``MediaLimits/outputBytes``.
        case outputBytes = "output-bytes"
        /// The limit ``MediaLimits/memory``.
        case memory

        /// Returns the limit with a value in command-line form, such as `duration=168h` or `output-bytes=1G`.
        package func text(of value: Int) -> String {
            let units: [(Int, String)] =
                switch self {
                case .duration: [(3600, "h")]
                case .outputBytes, .memory: [(1 << 30, "G"), (1 << 20, "M")]
                default: []
                }
            let unit = units.first { value >= $0.0 && value % $0.0 == 0 } ?? (1, "")
            return "\(rawValue)=\(value / unit.0)\(unit.1)"
        }
    }

    /// Returns the maximum number of output bytes for an input if ``outputBytes`` is `nil`.
    ///
    /// It is 16 times the input's size plus 1 GiB, or 1.1 times its size plus 64 MiB for a copy.
    public static func standardOutputBytes(forInputOf bytes: Int, copying: Bool) -> Int {
        let bytes = max(0, bytes)
        let (product, overflow) = copying ? (bytes, false) : bytes.multipliedReportingOverflow(by: 16)
        let (sum, isLarger) = product.addingReportingOverflow(copying ? bytes / 10 + 64 << 20 : 1 << 30)
        return overflow || isLarger ? .max : sum
    }

    /// Accesses a limit by name; reading ``outputBytes`` or ``memory`` returns `Int.max` if it is `nil`.
    public subscript(name: Name) -> Int {
        get { self[keyPath: Self.fields[name] ?? \.numberOfOutputBytes] }
        set { self[keyPath: Self.fields[name] ?? \.numberOfOutputBytes] = newValue }
    }

    private static let fields: [Name: any WritableKeyPath<MediaLimits, Int> & Sendable] = [
        .streams: \.streams, .pixels: \.pixels, .channels: \.channels, .boxes: \.boxes, .probeBytes: \.probeBytes,
        .waitingBytes: \.waitingBytes, .duration: \.duration, .outputBytes: \.numberOfOutputBytes,
        .memory: \.memoryOrAll,
    ]

    private var numberOfOutputBytes: Int {
        get { outputBytes ?? .max }
        set { outputBytes = newValue }
    }

    private var memoryOrAll: Int {
        get { memory ?? .max }
        set { memory = newValue }
    }

    /// Returns the error for exceeding a limit.
    ///
    /// - Parameters:
    ///   - name: The limit.
    ///   - what: A description of what exceeds it, to be followed by "which is over the limit".
    package func error(_ name: Name, _ what: String) -> MediaError {
        MediaError(
            .limitExceeded, "\(what), which is over the limit \(name.text(of: self[name])); raise that to read it")
    }

    /// Returns the error for a range longer than ``duration``; `nil` for a shorter range, or one of unknown duration.
    package func error(reading range: MediaTimeRange) -> MediaError? {
        guard range.duration > MediaTime(value: Int64(duration), timescale: 1), range.duration.isNumeric else {
            return nil
        }
        return error(.duration, "lasts \(range.duration.clockText())")
    }
}
