package import MediaBase
package import SystemPackage

/// What ``ExportJob`` made of one input; its JSON has the keys in this order.
package struct ExportReport: Encodable, Sendable {
    /// Where the file is.
    package var output: FilePath
    /// The preset's name.
    package var preset: String
    /// Whether samples were taken as they are.
    package var copied: Bool
    /// How large the file is.
    package var sizeBytes: Int64
    /// The range that was asked for; `nil` for all of the input.
    package var requested: RequestedRange?
    /// How long the file lasts.
    package var duration: MediaTime
    /// The first frame's timecode; `nil` where there is none.
    package var startTimecode: String?
    /// What the timeline is; `nil` for a media file.
    package var timeline: Timeline?
    /// The pictures that were written; `nil` where there are none.
    package var video: Video?
    /// The tracks of sound that were written.
    package var audio: [Audio]
    /// The subtitle tracks that were copied.
    package var subtitles: [Subtitles]
    /// The input's tracks that are not in the file.
    package var leftOut: [LeftOutTrack]
    /// What a person should know although all was delivered.
    package var warnings: [String]
    /// What of the media could not be used.
    package var damage: DamageSummary

    /// What a timeline is made of.
    package struct Timeline: Encodable, Sendable {
        /// Its name; empty where it has none.
        package var name: String
        /// How long it is.
        package var duration: MediaTime
        /// The size in which its pictures were composited; `nil` without pictures.
        package var renderSize: Dimensions?
        /// Frames a second; `nil` without pictures.
        package var frameRate: Rational?
        /// How many clips it has.
        package var clips: Int
        /// How many dissolves it has.
        package var dissolves: Int
        /// How many tracks of pictures it has.
        package var videoTracks: Int
        /// How many tracks of sound it has.
        package var audioTracks: Int
        /// How many media files it names.
        package var mediaFiles: Int
    }

    /// What a track shows of the input, by the finished file's word, on the input's time line.
    package struct Delivered: Encodable, Sendable, Hashable {
        /// The first moment.
        package var start: MediaTime
        /// The first moment that is not shown any more.
        package var end: MediaTime
        /// From where samples are stored that are not shown, because others need them; `nil` where there are none.
        package var storedFrom: MediaTime?
    }

    /// The pictures of an output.
    package struct Video: Encodable, Sendable {
        /// libavcodec's name of the codec.
        package var codec: String
        /// The encoder's profile, in words.
        package var profile: String?
        /// The stored picture.
        package var encodedSize: Dimensions
        /// Width of a pixel by its height.
        package var sampleAspectRatio: Rational?
        /// How many pictures are shown.
        package var frameCount: Int
        /// Pictures a second on average.
        package var frameRate: Rational?
        /// What of the input is shown.
        package var delivered: Delivered
    }

    /// A track of sound of an output.
    package struct Audio: Encodable, Sendable {
        /// libavcodec's name of the codec.
        package var codec: String
        /// Samples a second.
        package var sampleRate: Int
        /// How many channels there are.
        package var channels: Int
        /// Which they are; `nil` where only their number is known.
        package var channelLayout: String?
        /// What of the input is heard.
        package var delivered: Delivered
    }

    /// A subtitle track of an output.
    package struct Subtitles: Encodable, Sendable {
        /// libavcodec's name of the codec.
        package var codec: String
        /// ISO 639-2 code of its language; `nil` where the file does not say.
        package var language: String?
    }

    private enum Key: String, CodingKey {
        case output, outputBytes, preset, copied, sizeBytes, requested, duration, startTimecode, timeline, video, audio
        case subtitles, leftOut, warnings, damage
    }

    /// Encodes into one object; what is not known has no key.
    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(output.string, forKey: .output)
        try object.encodeIfPresent(output.pathBytes, forKey: .outputBytes)
        try object.encode(preset, forKey: .preset)
        try object.encode(copied, forKey: .copied)
        try object.encode(sizeBytes, forKey: .sizeBytes)
        try object.encodeIfPresent(requested, forKey: .requested)
        try object.encode(duration, forKey: .duration)
        try object.encodeIfPresent(startTimecode, forKey: .startTimecode)
        try object.encodeIfPresent(timeline, forKey: .timeline)
        try object.encodeIfPresent(video, forKey: .video)
        try object.encode(audio, forKey: .audio)
        if !subtitles.isEmpty { try object.encode(subtitles, forKey: .subtitles) }
        try object.encode(leftOut, forKey: .leftOut)
        try object.encode(warnings, forKey: .warnings)
        if !damage.isEmpty { try object.encode(damage, forKey: .damage) }
    }
}
