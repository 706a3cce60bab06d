public import MediaBase

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
