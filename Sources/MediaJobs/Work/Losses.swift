package import AssetKit
package import MediaBase

/// A track of an input that is not in an output, and the reason; `leftOut` in the JSON of `proxy` and `export`.
package struct LeftOutTrack: Encodable, Sendable, Hashable {
    /// The index of the track: ``AssetTrack/index``.
    package var trackIndex: Int
    /// The ID of the track in the container.
    package var trackID: Int
    /// The media type of the track.
    package var type: String
    /// libavcodec's name of the codec; `nil` if unknown.
    package var codec: String?
    /// The reason, in words that follow "because".
    package var reason: String

    /// Creates an entry for a track.
    ///
    /// - Parameter reason: The reason, in words that follow "because".
    package init(_ track: AssetTrack, because reason: String) {
        let codec = track.formatDescriptions.first?.codec
        trackIndex = track.index
        trackID = track.id
        type = track.mediaType.rawValue
        self.codec = codec.flatMap { $0.isEmpty || $0 == "unknown" ? nil : $0 }
        self.reason = reason
    }

    /// Returns entries for all tracks that are not written.
    ///
    /// Timecode tracks are excluded, because they are created again, and so are cover pictures, which are metadata.
    ///
    /// - Parameters:
    ///   - tracks: All tracks of the input.
    ///   - written: The tracks that are written.
    ///   - videoReason: The reason if no video is written; `nil` if video was not requested.
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

    /// The reason for a track that the caller did not select.
    private static let notAskedFor = "it was not asked for"
    /// The reason for a track without content in the written range.
    private static let nothingInRange = "it has nothing in this range"

    /// Returns entries for tracks that produced no output.
    ///
    /// - Parameter undecodable: The errors of tracks that could not be decoded, by track index.
    package static func silent(_ tracks: [AssetTrack], _ undecodable: [Int: MediaError]) -> [LeftOutTrack] {
        tracks.map { LeftOutTrack($0, because: undecodable[$0.index]?.message ?? nothingInRange) }
    }

    /// A one-line warning for the user.
    package var warning: String { "track \(trackIndex) (\(type)) was left out: \(reason)" }
}

extension AssetTrack {
    /// Returns descriptions of the properties that are lost when a track's video is encoded.
    func changes(by settings: VideoOutputSettings) -> [String] {
        guard let source = formatDescriptions.first?.video else { return [] }
        var changes: [String] = []
        let codec = settings.codec.rawValue
        if settings.codec.isLimitedRangeOnly, source.color.range == "pc" {
            changes.append("full range became limited range, the only one that \(codec) has")
        }
        if let matrix = settings.codec.matrix, let own = source.color.matrix, own != matrix, own != "gbr" {
            changes.append("the matrix \(own) became \(matrix), the only one that \(codec) has")
        }
        if source.hasAlpha, !settings.keepsAlpha { changes.append("transparency was left out") }
        if let order = source.fieldOrder, order != .progressive, settings.fieldOrder == .progressive {
            let reason = settings.codec.holdsFields ? "scaling would mix them" : "\(codec) has no fields"
            changes.append("pictures of two fields became pictures of the first field, because \(reason)")
        }
        if let depth = source.bitDepth, case let kept = settings.encodedBitDepth, kept < depth {
            changes.append("\(depth) bits a component became \(kept)")
        }
        return changes
    }
}

// Bit rates that an encoder does not accept are reported before encoding starts, with the option that set them.

extension VideoOutputSettings {
    /// Throws if a track's video cannot be encoded with the bit rate.
    ///
    /// - Throws: `invalidArgument`, which names the option.
    func checkBitRate(for track: AssetTrack, in fileType: MediaFileType) throws(MediaError) {
        guard let bitRate, let source = track.formatDescriptions.first?.video,
            isBitRateRefused(for: source, in: fileType)
        else { return }
        throw MediaError(
            .invalidArgument, "\(codec.rawValue) takes no bit rate of \(bitRate); give another --bitrate, or none")
    }
}

extension AudioOutputSettings {
    /// Throws if a track's audio cannot be encoded with the bit rate.
    ///
    /// - Throws: `invalidArgument`, which names the option.
    func checkBitRate(for track: AssetTrack, in fileType: MediaFileType) throws(MediaError) {
        guard let bitRate, let source = track.formatDescriptions.first?.audio,
            isBitRateRefused(for: source, in: fileType)
        else { return }
        throw MediaError(
            .invalidArgument,
            "\(codec.rawValue) takes no bit rate of \(bitRate); give another --audio-bitrate, or none")
    }
}
