internal import AssetKit
package import MediaBase
internal import SystemCalls
package import SystemPackage

/// The result of ``ProxyJob`` for one file, in the key order of its JSON.
package struct ProxyReport: Encodable, Sendable {
    /// The path of the proxy.
    package var output: FilePath
    /// The preset's name.
    package var preset: String
    /// The file size in bytes.
    package var sizeBytes: Int64
    /// The requested range; `nil` for all of the file.
    package var requested: RequestedRange?
    /// The duration of the proxy.
    package var duration: MediaTime
    /// The start timecode; `nil` if there is none.
    package var startTimecode: String?
    /// The video track.
    package var video: Video
    /// The audio tracks.
    package var audio: [Audio]
    /// The source's tracks that are not in the proxy.
    package var leftOut: [LeftOutTrack]
    /// The properties that were not kept because the format cannot store them, or because others were requested.
    package var changes: [String]
    /// The properties that should have been kept but differ or are missing.
    package var differences: [MediaError.FailedCheck]
    /// The results of comparing the proxy with the source.
    package var checks: [Check]
    /// The parts of the source that could not be used.
    package var damage: DamageSummary
    /// The warnings about a successful run; not part of the JSON.
    package var warnings: [String] = []

    /// The video track of a proxy.
    package struct Video: Encodable, Sendable {
        /// The source track's ``AssetTrack/index``.
        package var trackIndex: Int
        /// The source track's number in the container.
        package var trackID: Int
        /// The codec name in libavcodec.
        package var codec: String
        /// The name of the encoder's profile.
        package var profile: String?
        /// The size of the stored picture.
        package var encodedSize: Dimensions
        /// The ratio of a pixel's width to its height.
        package var sampleAspectRatio: Rational?
        /// The number of frames.
        package var frameCount: Int
        /// The average frame rate.
        package var frameRate: Rational?
    }

    /// An audio track of a proxy.
    package struct Audio: Encodable, Sendable {
        /// The source track's ``AssetTrack/index``.
        package var trackIndex: Int
        /// The source track's number in the container.
        package var trackID: Int
        /// The codec name in libavcodec.
        package var codec: String
        /// True if the source's samples were copied.
        package var copied: Bool
        /// The sample rate in Hz.
        package var sampleRate: Int
        /// The number of channels.
        package var channels: Int
        /// The channel layout; `nil` if only the number of channels is known.
        package var channelLayout: String?
    }

    /// The comparison of one property with the source.
    package struct Check: Encodable, Sendable, Hashable {
        /// The name of the property, such as `frameTimes`.
        package var name: String
        /// The index of the source track; `nil` for the file as a whole.
        package var trackIndex: Int?
        /// True if the proxy is as expected.
        package var passed: Bool
        /// The value of the source, or the value derived from it.
        package var wanted: String
        /// The value of the finished file.
        package var found: String

        /// The check as a failed check.
        var failure: MediaError.FailedCheck {
            MediaError.FailedCheck(name: name, trackIndex: trackIndex, wanted: wanted, found: found)
        }
    }

    private enum Key: String, CodingKey {
        case output, outputBytes, preset, sizeBytes, requested, duration, startTimecode, video, audio, leftOut, changes
        case differences, checks, damage
    }

    /// Encodes the report as one object; unknown values are omitted.
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
    /// Makes the report of a finished proxy.
    ///
    /// - Parameter undecodable: The errors of tracks that could not be decoded, by index.
    /// - Throws: The errors of reading the header.
    init(
        _ plan: ProxyPlan, _ record: TranscodeRecord, proxy: Asset, checks: ProxyChecks, undecodable: [Int: MediaError],
        damage: DamageSummary
    ) throws(MediaError) {
        let container = try proxy.loadNow(.container)
        let tracks = try proxy.loadNow(.tracks).filter {
            [.video, .audio].contains($0.mediaType) && !$0.isAttachedPicture
        }
        let sources = ProxyChecks.tracks(of: plan, record)
        var video: Video?
        var audio: [Audio] = []
        for (source, track) in zip(sources, tracks) {
            guard let format = track.formatDescriptions.first else { continue }
            if let pictures = format.video {
                video = Video(
                    trackIndex: source.index, trackID: source.id, codec: format.codec, profile: format.profile,
                    encodedSize: pictures.encodedSize, sampleAspectRatio: pictures.sampleAspectRatio,
                    frameCount: plan.seen(of: source, record)?.times.count ?? 0, frameRate: track.averageFrameRate)
            } else if let sound = format.audio {
                audio.append(
                    Audio(
                        trackIndex: source.index, trackID: source.id, codec: format.codec,
                        copied: plan.seen(of: source, record)?.sampleRate == 0, sampleRate: sound.sampleRate,
                        channels: sound.channels, channelLayout: sound.channelLayout.knownName))
            }
        }
        guard let video else { throw MediaError(.libraryFailure, "the finished file has no pictures") }
        let missing = LeftOutTrack.silent(plan.audio.filter { plan.seen(of: $0, record) == nil }, undecodable)
        self.init(
            output: "", preset: "", sizeBytes: container.sizeBytes ?? 0, requested: plan.requested,
            duration: try proxy.loadNow(.duration), startTimecode: container.startTimecode, video: video,
            audio: audio,
            leftOut: (plan.leftOut + missing).sorted { $0.trackIndex < $1.trackIndex },
            changes: plan.video.changes(by: plan.videoSettings), differences: checks.differences,
            checks: checks.checks, damage: damage)
        warnings = missing.filter { undecodable[$0.trackIndex] != nil }.map(\.warning) + differences.map(\.text)
        let ends = sources.compactMap { plan.seen(of: $0, record)?.end }
        if plan.namesEnd, ends.allSatisfy({ EarlyEnd.warning("", at: $0, before: plan.requested?.end) != nil }),
            let end = plan.seen(of: plan.video, record)?.end
        {
            warnings += [EarlyEnd.warning("the pictures end", at: end, before: plan.requested?.end)].compactMap(\.self)
        }
    }
}
