package import MediaBase
package import SystemPackage

/// What ``ProxyJob`` made of one file; its JSON has the keys in this order.
package struct ProxyReport: Encodable, Sendable {
    /// Where the proxy is.
    package var output: FilePath
    /// The preset's name.
    package var preset: String
    /// How large the file is.
    package var sizeBytes: Int64
    /// The range that was asked for; `nil` for all of the file.
    package var requested: RequestedRange?
    /// How long the proxy lasts.
    package var duration: MediaTime
    /// The start timecode; `nil` where there is none.
    package var startTimecode: String?
    /// Its pictures.
    package var video: Video
    /// Its tracks of sound.
    package var audio: [Audio]
    /// The source's tracks that are not in it.
    package var leftOut: [LeftOutTrack]
    /// What the proxy has not kept because its format cannot, or because something else was asked for.
    package var changes: [String]
    /// What of the source the proxy says in other words, or not, although it was to be kept.
    package var differences: [MediaError.FailedCheck]
    /// What was compared with the source after writing.
    package var checks: [Check]
    /// What of the source could not be used.
    package var damage: DamageSummary
    /// What a person should know although all was delivered; no part of the JSON.
    package var warnings: [String] = []

    /// The pictures of a proxy.
    package struct Video: Encodable, Sendable {
        /// The source's track: ``AssetTrack/index``.
        package var trackIndex: Int
        /// The container's own number of that track.
        package var trackID: Int
        /// libavcodec's name of the codec.
        package var codec: String
        /// The encoder's profile, in words.
        package var profile: String?
        /// The stored picture.
        package var encodedSize: Dimensions
        /// Width of a pixel by its height.
        package var sampleAspectRatio: Rational?
        /// How many pictures there are.
        package var frameCount: Int
        /// Pictures a second on average.
        package var frameRate: Rational?
    }

    /// A track of sound of a proxy.
    package struct Audio: Encodable, Sendable {
        /// The source's track: ``AssetTrack/index``.
        package var trackIndex: Int
        /// The container's own number of that track.
        package var trackID: Int
        /// libavcodec's name of the codec.
        package var codec: String
        /// Whether the source's samples were taken as they are.
        package var copied: Bool
        /// Samples a second.
        package var sampleRate: Int
        /// How many channels there are.
        package var channels: Int
        /// Which they are; `nil` where only their number is known.
        package var channelLayout: String?
    }

    /// Something that has to be as in the source.
    package struct Check: Encodable, Sendable, Hashable {
        /// What was compared, such as `frameTimes`.
        package var name: String
        /// The source's track; `nil` for the file as a whole.
        package var trackIndex: Int?
        /// Whether it holds.
        package var passed: Bool
        /// What the source says, or what follows from it.
        package var wanted: String
        /// What the finished file says.
        package var found: String

        /// The same as what did not hold.
        var failure: MediaError.FailedCheck {
            MediaError.FailedCheck(name: name, trackIndex: trackIndex, wanted: wanted, found: found)
        }
    }

    private enum Key: String, CodingKey {
        case output, outputBytes, preset, sizeBytes, requested, duration, startTimecode, video, audio, leftOut, changes
        case differences, checks, damage
    }

    /// Encodes into one object; what is not known has no key.
    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(output.string, forKey: .output)
        try object.encodeIfPresent(output.pathBytes, forKey: .outputBytes)
        try object.encode(preset, forKey: .preset)
        try object.encode(sizeBytes, forKey: .sizeBytes)
        try object.encodeIfPresent(requested, forKey: .requested)
        try object.encode(duration, forKey: .duration)
        try object.encodeIfPresent(startTimecode, forKey: .startTimecode)
        try object.encode(video, forKey: .video)
        try object.encode(audio, forKey: .audio)
        try object.encode(leftOut, forKey: .leftOut)
        try object.encode(changes, forKey: .changes)
        try object.encode(differences, forKey: .differences)
        try object.encode(checks, forKey: .checks)
        if !damage.isEmpty { try object.encode(damage, forKey: .damage) }
    }
}
