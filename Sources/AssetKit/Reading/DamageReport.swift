public import MediaBase

/// What of a file could not be used while it was read.
public struct DamageReport: Sendable, Hashable {
    /// How many packets could not be decoded, or not without the decoder patching up what is missing, or are marked by
    /// the demuxer; a stretch of sound that is missing in Ogg counts as one.
    public internal(set) var packetCount = 0
    /// Where on the presentation's time line each of the first of them lies, and in which track.
    public internal(set) var places: [Place] = []
    /// Whether the container broke off before its end.
    public internal(set) var isTruncated = false

    /// Where one packet was damaged.
    public struct Place: Sendable, Hashable {
        /// The track: ``AssetTrack/index``.
        public let trackIndex: Int
        /// When the packet would have been shown.
        public let time: MediaTime
    }

    /// Places kept at most; a file that is all damage must not fill memory.
    static let placeLimit = 100

    /// Nothing was damaged.
    public init() {}

    /// Whether everything could be used.
    public var isEmpty: Bool { packetCount == 0 && !isTruncated }

    mutating func add(track: Int, at time: MediaTime?) {
        packetCount += 1
        guard let time, places.count < Self.placeLimit else { return }
        places.append(Place(trackIndex: track, time: time))
    }
}
