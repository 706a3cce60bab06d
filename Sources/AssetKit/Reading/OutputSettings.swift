import LibAV
public import MediaBase

/// The linear PCM that a ``TrackOutput`` is asked for.
///
/// What is `nil` stays as the first decoded sound has it; sound that changes in mid-stream is converted to that.
public struct AudioSettings: Sendable, Hashable {
    /// How one sample is stored; converted by libswresample's rules without dither.
    public var sampleFormat: SampleFormat?
    /// Whether each channel gets a plane of its own; `nil` for interleaved, unless ``sampleFormat`` is `nil` too.
    public var isPlanar: Bool?
    /// Samples a second.
    public var sampleRate: Int?
    /// Which channels; others are mixed down or up by libswresample's coefficients.
    public var channelLayout: ChannelLayout?
    /// Whether another rate is made by a longer filter, for sound that is worked on further.
    var resamplesFinely = false

    /// Settings that keep what is not given.
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

/// The pictures that a ``TrackOutput`` is asked for.
///
/// What is `nil` stays as each decoded picture has it.
public struct VideoSettings: Sendable, Hashable {
    /// How pixels are stored.
    public var pixelFormat: PixelFormat?
    /// The size that pictures are scaled to, whatever their shape.
    public var dimensions: Dimensions?
    /// The range of luma and chroma, `tv` (limited) or `pc` (full).
    public var colorRange: String? {
        get { coding.range }
        set { coding.range = newValue }
    }
    /// How luma and chroma are coded.
    var coding = LumaCoding()
    /// Whether pictures that consist of two fields become pictures of the first field; see
    /// ``PixelBuffer/deinterlaced()``.
    public var deinterlaces = false
    /// How pictures are flipped and turned by quarters; ``dimensions`` is the size after that.
    ///
    /// Only together with ``pixelFormat`` and ``dimensions``.
    public var turn: DisplayTransform?
    /// Whether several threads of a decoder work on one picture, where the codec can be decoded so, rather than on several
    /// pictures, all of which are held.
    var decodesBySlices = false
    /// Whether the fields of interlaced pictures are converted each by itself.
    var convertsFieldsApart = false

    /// Settings that keep what is not given.
    public init(pixelFormat: PixelFormat? = nil, dimensions: Dimensions? = nil) {
        self.pixelFormat = pixelFormat
        self.dimensions = dimensions
    }
}

// MARK: - What makes no sense

extension AudioSettings {
    /// Which value no sound can be delivered with, in words; `nil` where there is none.
    var impossibility: String? {
        if let sampleRate, !(1...Int(Int32.max)).contains(sampleRate) {
            return "a sample rate of \(sampleRate) makes no sense"
        }
        return channelLayout?.impossibility
    }
}

extension VideoSettings {
    /// Which value no picture can be delivered with, in words; `nil` where there is none.
    var impossibility: String? {
        if let pixelFormat, !pixelFormat.canBeMade {
            return "pictures cannot be made in the pixel format \(pixelFormat)"
        }
        if let dimensions, dimensions.width <= 0 || dimensions.height <= 0 {
            return "pictures of \(dimensions) make no sense"
        }
        if let colorRange, !["tv", "pc"].contains(colorRange) {
            return "the colour range \(colorRange) is neither tv nor pc"
        }
        return nil
    }
}

extension ChannelLayout {
    /// Why it is no layout that sound can have; `nil` where it is one.
    var impossibility: String? {
        isKnown ? nil : "\(channels) channels called \(name) are not a channel layout that is known"
    }
}

/// What delivers samples of a reader: one track, or several made one: `AVAssetReaderOutput`.
///
/// ``TrackOutput``, ``AudioMixOutput`` and ``VideoCompositionOutput`` are those that the package has. A type of
/// your own may take its samples from one of them.
public protocol ReaderOutput: Sendable {
    /// The outputs of single tracks that samples are taken from.
    var trackOutputs: [TrackOutput] { get }

    /// The next samples in presentation order; `nil` at the end.
    func nextSampleBuffer() throws(MediaError) -> SampleBuffer?
}

extension TrackOutput: ReaderOutput {
    /// Itself.
    public var trackOutputs: [TrackOutput] { [self] }
}

/// What of a file could not be used while it was read.
public struct DamageReport: Sendable, Hashable {
    /// How many packets could not be decoded, or not without the decoder patching up what is missing, or are marked by
    /// the demuxer; a stretch of sound that is missing in Ogg counts as one.
    public internal(set) var packetCount = 0
    /// Where they lie on the presentation's time line; packets one behind the other are one place.
    ///
    /// The first 100 places; packets without a time are in none.
    public internal(set) var places: [Place] = []
    /// Whether the container broke off before its end.
    public internal(set) var isTruncated = false
    /// How much of what the container states could be read; `nil` where it is whole, and where that is not known.
    public internal(set) var shortfall: Shortfall?
    /// How many bytes before the media were passed over, because they are none of it.
    public internal(set) var skippedBytes: Int64 = 0

    /// How long the media is by the container's word, and how much of it there is.
    public struct Shortfall: Sendable, Hashable {
        /// What the container says.
        public let stated: MediaTime
        /// From the track's first sample to the end of the last one that could be read.
        public let read: MediaTime
    }

    /// Where packets in a row are damaged.
    public struct Place: Sendable, Hashable {
        /// The track: ``AssetTrack/index``.
        public let trackIndex: Int
        /// From when to when the packets would have been shown or heard; empty where their length is not known.
        public internal(set) var timeRange: MediaTimeRange
    }

    /// Places kept at most; a file that is all damage must not fill memory.
    package static let placeLimit = 100

    /// Nothing was damaged.
    public init() {}

    /// Whether everything could be used.
    public var isEmpty: Bool { packetCount == 0 && !isTruncated && skippedBytes == 0 }

    /// Notes that the container broke off before its end, and how much of it there is.
    mutating func breakOff(_ shortfall: Shortfall?) {
        isTruncated = true
        self.shortfall = self.shortfall ?? shortfall
    }

    /// Counts a packet; `nil` for one that has no time.
    package mutating func add(track: Int, at range: MediaTimeRange?) {
        packetCount += 1
        if let range { insert(Place(trackIndex: track, timeRange: range)) }
    }

    /// Joins a place with those it touches; they stay in order of time.
    mutating func insert(_ place: Place) {
        guard place.timeRange.start.isNumeric, place.timeRange.isValid else { return }
        var joined = place
        // From decoding order a packet may fill what lies between two others.
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
    /// Whether nothing as long as either lies between them, so that rounded times part no packets.
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
