internal import AssetKit
package import MediaBase
internal import SystemCalls
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

extension ProxyReport {
    /// The report on a finished proxy.
    ///
    /// - Parameter undecodable: Why tracks gave nothing, by their index.
    /// - Throws: what reading its header throws.
    init(
        _ plan: ProxyPlan, _ witness: ProxyWitness, proxy: Asset, checks: ProxyChecks, undecodable: [Int: MediaError],
        damage: DamageSummary
    ) throws(MediaError) {
        let container = try proxy.loadNow(.container)
        let tracks = try proxy.loadNow(.tracks).filter {
            [.video, .audio].contains($0.mediaType) && !$0.isAttachedPicture
        }
        let sources = ProxyChecks.tracks(of: plan, witness)
        var video: Video?
        var audio: [Audio] = []
        for (source, track) in zip(sources, tracks) {
            guard let format = track.formatDescriptions.first else { continue }
            if let pictures = format.video {
                video = Video(
                    trackIndex: source.index, trackID: source.id, codec: format.codec, profile: format.profile,
                    encodedSize: pictures.encodedSize, sampleAspectRatio: pictures.sampleAspectRatio,
                    frameCount: witness.seen(of: source)?.pictures.count ?? 0, frameRate: track.averageFrameRate)
            } else if let sound = format.audio {
                audio.append(
                    Audio(
                        trackIndex: source.index, trackID: source.id, codec: format.codec,
                        copied: witness.seen(of: source)?.sampleRate == 0, sampleRate: sound.sampleRate,
                        channels: sound.channels, channelLayout: sound.channelLayout.knownName))
            }
        }
        guard let video else { throw MediaError(.libraryFailure, "the finished file has no pictures") }
        let missing = LeftOutTrack.silent(plan.audio.filter { witness.seen(of: $0) == nil }, undecodable)
        self.init(
            output: "", preset: "", sizeBytes: container.sizeBytes ?? 0, requested: plan.requested,
            duration: try proxy.loadNow(.duration), startTimecode: container.startTimecode, video: video,
            audio: audio,
            leftOut: (plan.leftOut + missing).sorted { $0.trackIndex < $1.trackIndex },
            changes: plan.video.changes(by: plan.videoSettings), differences: checks.differences,
            checks: checks.checks, damage: damage)
        warnings = missing.filter { undecodable[$0.trackIndex] != nil }.map(\.warning) + differences.map(\.text)
        let ends = sources.compactMap { witness.seen(of: $0)?.end }
        if plan.namesEnd, ends.allSatisfy({ EarlyEnd.warning("", at: $0, before: plan.requested?.end) != nil }),
            let end = witness.seen(of: plan.video)?.end
        {
            warnings += [EarlyEnd.warning("the pictures end", at: end, before: plan.requested?.end)].compactMap(\.self)
        }
    }
}
