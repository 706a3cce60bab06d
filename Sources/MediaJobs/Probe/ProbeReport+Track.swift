internal import AssetKit
package import MediaBase

/// What is known of one track.
package struct TrackReport: Encodable, Sendable {
    /// The container's own number of it.
    package var id: Int
    /// Its place in the container, from 0.
    package var index: Int
    /// What it carries: `video`, `audio`, `subtitle`, `timecode`, `data` or `attachment`.
    package var type: String
    /// libavcodec's name of the codec.
    package var codec: String?
    /// How the container names the codec.
    package var codecTag: String?
    /// The codec's profile.
    package var profile: String?
    /// The level as the codec numbers it.
    package var level: Int?
    /// ISO 639-2 code of the language.
    package var language: String?
    /// Whether it is meant to be used; `nil` for formats in which libavformat does not read that.
    package var enabled: Bool?
    /// Roles by libavformat's names.
    package var dispositions: [String]
    /// Bits a second.
    package var bitRate: Int64?
    /// From its first sample to its end on the presentation's time line.
    package var timeRange: TimeRangeReport
    /// How long the stored media is, before any edits.
    package var mediaDuration: MediaTime?
    /// How many samples there are; for video, frames.
    package var sampleCount: Int64?
    /// The edit list; `nil` without one.
    package var editList: [EditReport]?
    /// Numbers (``id``) of the tracks that this one refers to, by the kind of reference.
    package var associatedTracks: [String: [Int]]?
    /// The timecode of the first frame.
    package var timecode: TimecodeReport?
    /// The pictures.
    package var video: VideoReport?
    /// The sound.
    package var audio: AudioReport?
    /// The track's own metadata.
    package var metadata: [MetadataReport]

    init(_ track: AssetTrack, in container: ContainerInfo) {
        let format = track.formatDescriptions.first
        id = track.id
        index = track.index
        type = track.mediaType.rawValue
        codec = format.flatMap { $0.codec == "unknown" ? nil : $0.codec }
        codecTag = format?.codecTag
        profile = format?.profile
        level = format?.level
        language = track.language
        enabled = container.formatNames.contains("mov") ? track.isEnabled : nil
        dispositions = track.dispositions
        bitRate = format?.bitRate
        timeRange = TimeRangeReport(track.timeRange)
        mediaDuration = track.mediaDuration?.ifNumeric
        sampleCount = track.sampleCount
        editList = track.segments.isEmpty ? nil : track.segments.map { EditReport($0) }
        associatedTracks = track.associatedTracks.isEmpty ? nil : track.associatedTracks
        timecode = track.startTimecode.map { TimecodeReport(start: $0) }
        video = format?.video.map { VideoReport($0, of: track) }
        audio = format?.audio.map { AudioReport($0) }
        metadata = track.metadata.map { MetadataReport($0) }
    }
}

/// The timecode of a track's first frame.
package struct TimecodeReport: Encodable, Sendable {
    /// The timecode, `HH:MM:SS:FF` or `HH:MM:SS;FF`.
    package var start: String
    /// Whether some numbers are left out so that timecode keeps up with the clock.
    package var dropFrame: Bool

    init(start: String) {
        self.start = start
        dropFrame = start.contains(";")
    }
}

/// One edit: for how long it plays which part of the media, and how fast.
package struct EditReport: Encodable, Sendable {
    /// How long it lasts in the presentation.
    package var segmentDuration: MediaTime?
    /// Where in the media it begins; `nil` for an empty edit.
    package var mediaTime: MediaTime?
    /// The speed.
    package var rate: Rational

    init(_ segment: AssetTrack.Segment) {
        segmentDuration = segment.duration.ifNumeric
        mediaTime = segment.mediaStart?.ifNumeric
        rate = segment.rate
    }

    private enum CodingKeys: String, CodingKey {
        case segmentDuration, mediaTime, rate
    }

    /// Writes `null` for the media time of an empty edit, and a whole number for a whole rate.
    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encodeIfPresent(segmentDuration, forKey: .segmentDuration)
        try object.encode(mediaTime, forKey: .mediaTime)
        if rate.den == 1 {
            try object.encode(rate.num, forKey: .rate)
        } else {
            try object.encode(rate.doubleValue, forKey: .rate)
        }
    }
}
