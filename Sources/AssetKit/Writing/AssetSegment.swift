public import MediaBase

/// A part of a movie that is written in segments: its header, or the media of one interval.
///
/// Concatenated in order, the parts are a fragmented movie (ISO/IEC 14496-12, 8.8). `AVAssetWriterDelegate` receives the
/// same parts.
public struct AssetSegment: Sendable {
    /// The types of segments: `AVAssetSegmentType`.
    public enum Kind: Sendable, Hashable {
        /// The header (`ftyp` and `moov`), which comes first and which players need for every segment.
        case initialization
        /// Media that can be decoded without other segments.
        case media
    }

    /// The bytes.
    public let data: [UInt8]
    /// The type of the segment.
    public let kind: Kind
    /// The times of the samples in the segment; `nil` for the header.
    public let report: AssetSegmentReport?

    init(data: [UInt8], type: Kind, report: AssetSegmentReport?) {
        self.data = data
        self.kind = type
        self.report = report
    }

    /// The bytes after the last fragment, which only files have.
    static func end(_ data: [UInt8]) -> AssetSegment { AssetSegment(data: data, type: .media, report: nil) }
}

/// The times of the samples in a segment, by track: `AVAssetSegmentReport`.
public struct AssetSegmentReport: Sendable, Hashable {
    /// The tracks that have samples in the segment, in the order of their IDs.
    public let tracks: [Track]

    /// A track's samples in a segment: `AVAssetSegmentTrackReport`.
    public struct Track: Sendable, Hashable {
        /// The track ID in the movie.
        public let trackID: Int
        /// The media type of the samples.
        public let mediaType: MediaType
        /// The earliest time at which a sample is presented, counted from the start of the session.
        public let earliestPresentationTime: MediaTime
        /// The time from ``earliestPresentationTime`` to the latest end of a sample.
        public let duration: MediaTime
        /// The first video sample in decode order; `nil` for other media types.
        public let firstVideoSample: VideoSample?
    }

    /// The first video sample of a segment: `AVAssetSegmentReportSampleInformation`.
    public struct VideoSample: Sendable, Hashable {
        /// The presentation time.
        public let presentationTime: MediaTime
        /// The offset of the sample's bytes in the segment.
        public internal(set) var offset: Int
        /// The number of bytes.
        public internal(set) var length: Int
        /// True if decoding can start with the sample.
        public let isSync: Bool
    }

    /// The track whose cuts the segment follows: the first with video, or else the first.
    var leading: Track? { tracks.first { $0.mediaType == .video } ?? tracks.first }
}
