package import AssetKit
package import MediaBase

/// A track of an input that is not in an output, and why; `leftOut` in the JSON of `proxy` and `export`.
package struct LeftOutTrack: Encodable, Sendable, Hashable {
    /// ``AssetTrack/index``.
    package var trackIndex: Int
    /// The container's own number of it.
    package var trackID: Int
    /// What it carries.
    package var type: String
    /// libavcodec's name of the codec; `nil` where it is not known.
    package var codec: String?
    /// Why it is not there, in words that follow "because".
    package var reason: String

    /// Names a track.
    ///
    /// - Parameter reason: Words that follow "because".
    package init(_ track: AssetTrack, because reason: String) {
        let codec = track.formatDescriptions.first?.codec
        trackIndex = track.index
        trackID = track.id
        type = track.mediaType.rawValue
        self.codec = codec.flatMap { $0.isEmpty || $0 == "unknown" ? nil : $0 }
        self.reason = reason
    }

    /// Names all tracks but those that are written.
    ///
    /// A timecode track is not among them, because it is made again, nor is a cover picture, which is metadata.
    ///
    /// - Parameters:
    ///   - tracks: All of the input's.
    ///   - written: Those that are written.
    ///   - videoReason: Why there is no video where none is written; `nil` for a wish.
    package static func others(
        of tracks: [AssetTrack], besides written: [AssetTrack], videoReason: String? = nil
    ) -> [LeftOutTrack] {
        let taken = Set(written.map(\.index))
        let hasVideo = written.contains { $0.mediaType == .video }
        return tracks.filter {
            !taken.contains($0.index) && $0.mediaType != .timecode && !$0.isAttachedPicture
        }.map { track in
            let reason =
                switch track.mediaType {
                case .video where hasVideo: "one video track is written"
                case .video: videoReason ?? notAskedFor
                case .audio: notAskedFor
                case let type: "\(type.rawValue) tracks are not carried"
                }
            return LeftOutTrack(track, because: reason)
        }
    }

    /// The reason of a track that a caller chose to leave out.
    private static let notAskedFor = "it was not asked for"
    /// The reason of a track that has nothing in the part that is written.
    private static let nothingInRange = "it has nothing in this range"

    /// Names tracks of which nothing came.
    ///
    /// - Parameter undecodable: Why tracks gave nothing, by their index.
    package static func silent(_ tracks: [AssetTrack], _ undecodable: [Int: MediaError]) -> [LeftOutTrack] {
        tracks.map { LeftOutTrack($0, because: undecodable[$0.index]?.message ?? nothingInRange) }
    }

    /// One line for a person.
    package var warning: String { "track \(trackIndex) (\(type)) was left out: \(reason)" }
}
