import LibAV
public import MediaBase
import Threading

/// The format of the linear PCM that a ``TrackOutput`` delivers.
///
/// Settings that are `nil` are taken from the first decoded audio; later audio in another format is converted to that.
public struct AudioSettings: Sendable, Hashable {
    /// The format of a sample; libswresample converts without dither.
    public var sampleFormat: SampleFormat?
    /// Indicates whether each channel has its own plane; `nil` for interleaved, unless ``sampleFormat`` is `nil` too.
    public var isPlanar: Bool?
    /// The sample rate in hertz.
    public var sampleRate: Int?
    /// The channel layout; libswresample's coefficients mix other layouts down or up.
    public var channelLayout: ChannelLayout?
    /// Indicates whether resampling uses a longer filter, for audio that is processed further.
    var resamplesFinely = false
    /// The algorithm for segments of a composition that play faster or slower.
    var timePitchAlgorithm = AudioTimePitchAlgorithm.spectral

    /// Creates settings; values that are omitted are taken from the source.
    public init(
        sampleFormat: SampleFormat? = nil, isPlanar: Bool? = nil, sampleRate: Int? = nil,
        channelLayout: ChannelLayout? = nil
    ) {
        self.sampleFormat = sampleFormat
        self.isPlanar = isPlanar
        self.sampleRate = sampleRate
        self.channelLayout = channelLayout
    }
}

/// An algorithm for audio that plays faster or slower than its source: `AVAudioTimePitchAlgorithm`.
///
/// Both give a segment of a composition (``Composition/scaleTimeRange(_:toDuration:inTrack:)``) exactly the samples that its
/// times say. AVFoundation's `timeDomain` is missing: it saves time while something plays.
public enum AudioTimePitchAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// The pitch stays as it is: a phase vocoder, Rubber Band's engine R3.
    ///
    /// The default, as in AVFoundation's readers and export sessions. It is for speeds from 1/32 to 32, as there; beyond them,
    /// audio is read by ``varispeed``. Sample rates are 8 to 192 kHz, channels up to 64; others are an error, `unsupported`.
    /// The library (Debian's `librubberband2`) is loaded when reading such a segment starts, and if it is missing, that is the
    /// same error. A sudden sound is within 10 ms of its time, at more than eight times the speed within 15 ms; where a
    /// second of the source lasts several, within so many times 10 ms.
    ///
    /// All channels stay in phase. Reading again gives the same samples, on any number of threads, from any start within
    /// the first thirty seconds of a segment (of the source, if it plays faster). A read that starts later has the same
    /// audio at the same time, with other phases.
    case spectral
    /// The pitch follows the speed, as that of a tape does: an octave higher at twice the speed.
    ///
    /// Each sample is interpolated at its exact position, whatever the speed.
    case varispeed
}

/// The format of the video frames that a ``TrackOutput`` delivers.
///
/// Settings that are `nil` keep the format of each decoded frame.
public struct VideoSettings: Sendable, Hashable {
    /// The pixel format.
    public var pixelFormat: PixelFormat?
    /// The size that frames are scaled to, regardless of their shape.
    public var dimensions: Dimensions?
    /// The range of luma and chroma, `tv` (limited) or `pc` (full).
    public var colorRange: String? {
        get { coding.range }
        set { coding.range = newValue }
    }
    /// The coding of luma and chroma.
    var coding = LumaCoding()
    /// Indicates whether frames that consist of two fields are replaced by their first field; see
    /// ``PixelBuffer/deinterlaced()``.
    public var deinterlaces = false
    /// The flip and the rotation by quarter turns; ``dimensions`` is the size after that.
    ///
    /// Requires ``pixelFormat`` and ``dimensions``.
    public var turn: PictureTransform?
    /// Indicates whether several decoder threads work on one frame, if the codec allows it.
    ///
    /// Otherwise they work on several frames, all of which are held in memory.
    var decodesBySlices = false
    /// Indicates whether the fields of interlaced frames are converted separately.
    var convertsFieldsApart = false
    /// Indicates whether frames are scaled by ``PixelConverter/scalesByArea``, for measurements of small pictures.
    ///
    /// Requires ``pixelFormat`` and ``dimensions``, without ``turn``.
    package var scalesByArea = false
    /// Indicates whether a composition's gaps have no frames rather than black ones.
    var leavesGaps = false

    /// Creates settings; values that are omitted are taken from the source.
    public init(pixelFormat: PixelFormat? = nil, dimensions: Dimensions? = nil) {
        self.pixelFormat = pixelFormat
        self.dimensions = dimensions
    }
}

// MARK: - Impossible settings

extension AudioSettings {
    /// The value with which no audio can be delivered, in words; `nil` if there is none.
    var impossibility: String? {
        if let sampleRate, !(1...Int(Int32.max)).contains(sampleRate) {
            return "a sample rate of \(sampleRate) makes no sense"
        }
        return channelLayout?.impossibility
    }
}

extension VideoSettings {
    /// The value with which no video can be delivered, in words; `nil` if there is none.
    var impossibility: String? {
        if let pixelFormat, !pixelFormat.canBeMade {
            return "video frames cannot be converted to the pixel format \(pixelFormat)"
        }
        if let dimensions, !Self.canBeMade(dimensions) {
            return "video frames cannot have the size \(dimensions)"
        }
        if let turn, turn != .identity, pixelFormat == nil || dimensions == nil {
            return "frames are turned only together with a pixel format and a size; set both"
        }
        if let colorRange, !["tv", "pc"].contains(colorRange) {
            return "the colour range \(colorRange) is neither tv nor pc"
        }
        return nil
    }
}

extension VideoSettings {
    /// Returns true if frames of a size fit into memory: the condition of `av_image_check_size`.
    private static func canBeMade(_ size: Dimensions) -> Bool {
        guard (1...Int(Int32.max) / 8).contains(size.width), (1...Int(Int32.max) / 8).contains(size.height) else {
            return false
        }
        return (size.width + 128) * (size.height + 128) < Int(Int32.max) / 8
    }
}

extension ChannelLayout {
    /// Creates a layout from its name, such as `5.1(side)`, or from the names of its channels, such as `FL+FR+LFE`.
    ///
    /// - Parameter name: A name that `av_channel_layout_from_string` understands.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for another name.
    public init(named name: String) throws(MediaError) {
        guard let layout = Self.named(name) else {
            throw MediaError(
                .invalidArgument, "\(name) is not a channel layout that is known, such as stereo or 5.1(side)")
        }
        self = layout
    }

    /// The reason why the layout is invalid; `nil` if it is valid.
    var impossibility: String? {
        isKnown ? nil : "\(channels) channels called \(name) are not a channel layout that is known"
    }
}

/// A source of a reader's samples, from one track or several combined: `AVAssetReaderOutput`.
///
/// Its kinds are ``TrackOutput``, ``AudioMixOutput`` and ``VideoCompositionOutput``. Only one thread at a time may read
/// an output. Each kind keeps its state behind a lock or in a `Confined`, so that it may be shared between threads.
public class ReaderOutput: @unchecked Sendable {
    init() {}

    /// The outputs of single tracks from which samples are taken.
    public var trackOutputs: [TrackOutput] { [] }

    /// Returns the next samples in presentation order; `nil` at the end.
    public func nextSampleBuffer() throws(MediaError) -> SampleBuffer? { nil }
}

/// The state of a read, which only one call at a time may use, without a lock: a user's compositor may run meanwhile.
///
/// The flag keeps other threads out, which is why the state may be shared.
final class Confined<State: ~Copyable>: @unchecked Sendable {
    private let isInUse = Atomic(false)
    private var state: State

    init(_ state: consuming State) { self.state = state }

    /// Lends the state.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` during another call.
    func use<Result>(_ body: (inout State) throws(MediaError) -> Result) throws(MediaError) -> Result {
        guard !isInUse.exchange(true, ordering: .acquiring) else {
            throw MediaError(.invalidArgument, "the output is being read already; one thread at a time may read it")
        }
        defer { isInUse.store(false, ordering: .releasing) }
        return try body(&state)
    }
}

/// The damage that was found while a file was read.
public struct DamageReport: Sendable, Hashable {
    /// The number of damaged packets.
    ///
    /// Counts packets that could not be decoded, that the decoder had to conceal, or that the demuxer marked. A stretch
    /// of missing audio in Ogg counts as one.
    public internal(set) var packetCount = 0
    /// The damaged ranges on the presentation's time line; adjacent packets form one place.
    ///
    /// Limited to the first 100 places. Packets without a time are not included.
    public internal(set) var places: [Place] = []
    /// Indicates whether the container ends prematurely.
    public internal(set) var isTruncated = false
    /// The media missing from the duration that the container states; `nil` if nothing is missing, or if unknown.
    public internal(set) var shortfall: Shortfall?
    /// The number of bytes before the media that were skipped, because they are not part of it.
    public internal(set) var skippedBytes: Int64 = 0

    /// The duration that the container states, and the duration that could be read.
    public struct Shortfall: Sendable, Hashable {
        /// The duration stated by the container.
        public let stated: MediaTime
        /// The duration from the track's first sample to the end of the last one that could be read.
        public let read: MediaTime
    }

    /// A range of consecutive damaged packets.
    public struct Place: Sendable, Hashable {
        /// The index of the track: ``AssetTrack/index``.
        public let trackIndex: Int
        /// The time range in which the packets would have been shown or heard; empty if their duration is unknown.
        public internal(set) var timeRange: MediaTimeRange
    }

    /// The maximum number of places, so that a thoroughly damaged file does not fill memory.
    package static let placeLimit = 100

    /// The number of damaged packets of each track, by its index.
    private var packetCounts: [Int: Int] = [:]

    /// Creates a report without damage.
    public init() {}

    /// Returns the damage of one track, and that of the container.
    func part(ofTrack index: Int) -> DamageReport {
        var part = self
        part.packetCounts = packetCounts.filter { $0.key == index }
        part.packetCount = part.packetCounts[index] ?? 0
        part.places = places.filter { $0.trackIndex == index }
        return part
    }

    /// Adds the number of a track's damaged packets.
    mutating func count(_ packets: Int, track: Int) {
        packetCount += packets
        packetCounts[track, default: 0] += packets
    }

    /// Indicates whether no damage was found.
    public var isEmpty: Bool { packetCount == 0 && !isTruncated && skippedBytes == 0 }

    /// Records that the container ended prematurely, and the durations stated and read.
    mutating func breakOff(_ shortfall: Shortfall?) {
        isTruncated = true
        self.shortfall = self.shortfall ?? shortfall
    }

    /// Counts a packet with its time range; `nil` for a packet without a time.
    package mutating func add(track: Int, at range: MediaTimeRange?) {
        count(1, track: track)
        if let range { insert(Place(trackIndex: track, timeRange: range)) }
    }

    /// Inserts a place in order of time, merging it with places that it touches.
    mutating func insert(_ place: Place) {
        guard place.timeRange.start.isNumeric, place.timeRange.isValid else { return }
        var joined = place
        // In decode order, a packet may fill the gap between two others.
        while let other = places.firstIndex(where: { $0.touches(joined) }) {
            joined.join(places.remove(at: other))
        }
        let next = places.firstIndex {
            ($0.timeRange.start, $0.trackIndex) > (joined.timeRange.start, joined.trackIndex)
        }
        places.insert(joined, at: next ?? places.endIndex)
        if places.count > Self.placeLimit { places.removeLast() }
    }
}

extension DamageReport.Place {
    /// Returns true if the gap between both is shorter than either, so that rounded times do not separate packets.
    fileprivate func touches(_ other: Self) -> Bool {
        guard trackIndex == other.trackIndex else { return false }
        let gap = max(timeRange.start, other.timeRange.start) - min(timeRange.end, other.timeRange.end)
        return gap <= .zero || gap < min(timeRange.duration, other.timeRange.duration)
    }

    fileprivate mutating func join(_ other: Self) {
        timeRange = MediaTimeRange(
            start: min(timeRange.start, other.timeRange.start), end: max(timeRange.end, other.timeRange.end))
    }
}
