internal import AssetKit
package import Inspection
package import MediaBase
package import SystemPackage
internal import Timelines

/// The result of ``TranscodeJob`` for one input, in the key order of its JSON.
///
/// A proxy and an export have most members in common; those that only one of them has are `nil` for the other.
package struct TranscodeReport: Encodable, Sendable {
    /// The path of the output.
    package var output: FilePath
    /// The preset's name.
    package var preset: String
    /// True if samples were copied; only for exports.
    package var copied: Bool?
    /// The file size in bytes.
    package var sizeBytes: Int64
    /// The requested range; `nil` for all of the input.
    package var requested: RequestedRange?
    /// The duration of the output.
    package var duration: MediaTime
    /// The timecode of the first frame; `nil` if there is none.
    package var startTimecode: String?
    /// The properties of the timeline; `nil` for a media file.
    package var timeline: Timeline?
    /// The video track that was written; `nil` if there is none.
    package var video: Video?
    /// The audio tracks that were written.
    package var audio: [Audio] = []
    /// The subtitle tracks that were copied.
    package var subtitles: [Subtitles] = []
    /// The timecode and data tracks that were copied.
    package var data: [DataTrack] = []
    /// The segments of an HLS folder; `nil` for a file.
    package var segments: [Segment]?
    /// The input's tracks that are not in the output.
    package var leftOut: [LeftOutTrack]
    /// The comparison of a proxy with its source; `nil` for exports.
    package var comparison: Comparison?
    /// The warnings about a successful run; in the JSON only for exports.
    package var warnings: [String] = []
    /// The parts of the media that could not be used.
    package var damage: DamageSummary

    /// The properties of a timeline.
    package struct Timeline: Encodable, Sendable {
        /// The timeline's name; empty if it has none.
        package var name: String
        /// The duration.
        package var duration: MediaTime
        /// The size of the composited frames; `nil` without video.
        package var renderSize: Dimensions?
        /// The frame rate; `nil` without video.
        package var frameRate: Rational?
        /// The number of clips.
        package var clips: Int
        /// The number of dissolves.
        package var dissolves: Int
        /// The number of video tracks.
        package var videoTracks: Int
        /// The number of audio tracks.
        package var audioTracks: Int
        /// The number of media files.
        package var mediaFiles: Int

        init(_ timeline: OpenTimeline, isRendered: Bool) {
            name = timeline.name
            duration = timeline.duration
            renderSize = isRendered ? timeline.videoComposition?.renderSize : nil
            frameRate = timeline.videoComposition?.frameRate
            clips = timeline.counts.clips
            dissolves = timeline.counts.dissolves
            videoTracks = timeline.counts.videoTracks
            audioTracks = timeline.counts.audioTracks
            mediaFiles = timeline.mediaCount
        }
    }

    /// The comparison of a proxy with its source.
    package struct Comparison: Encodable, Sendable {
        /// The properties that were not kept because the format cannot store them, or because others were requested.
        package var changes: [String]
        /// The properties that should have been kept but differ or are missing.
        package var differences: [MediaError.FailedCheck]
        /// The results of all checks.
        package var checks: [Check]
    }

    /// The check of one property.
    package struct Check: Encodable, Sendable, Hashable {
        /// The name of the property, such as `frameTimes`.
        package var name: String
        /// The index of the source track; `nil` for the file as a whole.
        package var trackIndex: Int?
        /// True if the file is as expected.
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

    /// The part of the input that an output track presents, as the finished file declares it.
    ///
    /// Times are on the input's time line.
    package struct Delivered: Encodable, Sendable, Hashable {
        /// The start time.
        package var start: MediaTime
        /// The end time, which is not part of the output.
        package var end: MediaTime
        /// The start time of stored samples that are not presented but needed by others; `nil` if there are none.
        package var storedFrom: MediaTime?
    }

    /// The video track of an output.
    package struct Video: Encodable, Sendable {
        /// The source track's ``AssetTrack/index``; only for proxies.
        package var trackIndex: Int?
        /// The source track's number in the container; only for proxies.
        package var trackID: Int?
        /// The codec name in libavcodec.
        package var codec: String
        /// The name of the encoder's profile.
        package var profile: String?
        /// The size of the stored picture.
        package var encodedSize: Dimensions
        /// The ratio of a pixel's width to its height.
        package var sampleAspectRatio: Rational?
        /// The number of frames shown.
        package var frameCount: Int
        /// The average frame rate.
        package var frameRate: Rational?
        /// The part of the input that is shown; only for exports.
        package var delivered: Delivered?
    }

    /// An audio track of an output.
    package struct Audio: Encodable, Sendable {
        /// The source track's ``AssetTrack/index``; only for proxies.
        package var trackIndex: Int?
        /// The source track's number in the container; only for proxies.
        package var trackID: Int?
        /// The codec name in libavcodec.
        package var codec: String
        /// True if the source's samples were copied; only for proxies.
        package var copied: Bool?
        /// The sample rate in Hz.
        package var sampleRate: Int
        /// The number of channels.
        package var channels: Int
        /// The channel layout; `nil` if only the number of channels is known.
        package var channelLayout: String?
        /// The part of the input that is heard; only for exports.
        package var delivered: Delivered?
    }

    /// A subtitle track of an output.
    package struct Subtitles: Encodable, Sendable {
        /// The codec name in libavcodec.
        package var codec: String
        /// The ISO 639-2 code of the language; `nil` if the file does not state it.
        package var language: String?
    }

    /// A segment of an HLS folder.
    package struct Segment: Encodable, Sendable {
        /// The file's name in the folder.
        package var file: String
        /// The time at which the segment starts in the output.
        package var start: MediaTime
        /// The duration of the video, or of the audio without video.
        package var duration: MediaTime
        /// The size of the file in bytes.
        package var sizeBytes: Int

        init(_ segment: HLSPlaylist.Segment) {
            file = segment.uri
            start = segment.start
            duration = segment.duration
            sizeBytes = segment.byteCount
        }
    }

    /// A timecode or data track of an output.
    package struct DataTrack: Encodable, Sendable {
        /// The track of the input: ``AssetTrack/index``.
        package var trackIndex: Int
        /// The media type of the track.
        package var type: String
        /// The four characters of the sample description, such as `tmcd` or `mebx`; `nil` if unknown.
        package var codecTag: String?
    }

    private enum Key: String, CodingKey {
        case output, outputBytes, preset, copied, sizeBytes, requested, duration, startTimecode, timeline, video, audio
        case subtitles, data, segments, leftOut, warnings, damage
    }

    /// Encodes the report as one object; unknown values are omitted.
    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(output.string, forKey: .output)
        try object.encodeIfPresent(output.pathBytes, forKey: .outputBytes)
        try object.encode(preset, forKey: .preset)
        try object.encodeIfPresent(copied, forKey: .copied)
        try object.encode(sizeBytes, forKey: .sizeBytes)
        try object.encodeIfPresent(requested, forKey: .requested)
        try object.encode(duration, forKey: .duration)
        try object.encodeIfPresent(startTimecode, forKey: .startTimecode)
        try object.encodeIfPresent(timeline, forKey: .timeline)
        try object.encodeIfPresent(video, forKey: .video)
        try object.encode(audio, forKey: .audio)
        if !subtitles.isEmpty { try object.encode(subtitles, forKey: .subtitles) }
        if !data.isEmpty { try object.encode(data, forKey: .data) }
        try object.encodeIfPresent(segments, forKey: .segments)
        try object.encode(leftOut, forKey: .leftOut)
        if let comparison {
            try comparison.encode(to: encoder)
        } else {
            try object.encode(warnings, forKey: .warnings)
        }
        if !damage.isEmpty { try object.encode(damage, forKey: .damage) }
    }
}

extension TranscodeReport {
    /// Makes the report of a file that was written and checked.
    ///
    /// - Parameters:
    ///   - output: The path of the output.
    ///   - writer: The writer of the file.
    ///   - undecodable: The errors of tracks that could not be decoded, by index.
    /// - Throws: The errors of reading the header.
    init(
        _ output: FilePath, _ checks: TranscodeChecks, _ writer: AssetWriter, undecodable: [Int: MediaError],
        damage: DamageSummary
    ) throws(MediaError) {
        let (plan, request) = (checks.plan, checks.plan.request)
        let container = try checks.made.loadNow(.container)
        let silent = LeftOutTrack.silent(checks.unwritten, undecodable)
        self.init(
            output: output, preset: request.presetName(in: plan.fileType),
            copied: request.isProxy ? nil : request.copies, sizeBytes: container.sizeBytes ?? 0,
            requested: plan.requested, duration: try checks.made.loadNow(.duration),
            startTimecode: container.startTimecode, timeline: plan.timeline,
            leftOut: (plan.leftOut + silent).sorted { $0.trackIndex < $1.trackIndex }, damage: damage)
        subtitles = try checks.made.loadNow(.tracks).filter { $0.mediaType == .subtitle }.map {
            Subtitles(codec: $0.formatDescriptions.first?.codec ?? "", language: $0.language)
        }
        let unwritten = Set(checks.unwritten.map(\.index))
        for case .data(let track) in plan.tracks where !unwritten.contains(track.index) {
            let tag = track.formatDescriptions.first?.codecTag
            data.append(DataTrack(trackIndex: track.index, type: track.mediaType.rawValue, codecTag: tag))
        }
        for (item, track) in zip(checks.written, checks.found) { add(item, track, plan) }
        warnings = plan.warnings + silent.filter { undecodable[$0.trackIndex] != nil }.map(\.warning)
        if request.isProxy || !request.copies {
            warnings += plan.tracks.flatMap(\.sources).compactMap {
                plan.asset.warning(ofThreadsFor: $0, wanted: request.threads)
            }
        }
        guard request.isProxy else {
            warnings += exportWarnings(checks)
            let end = video?.delivered?.end
            warnings += Self.early(
                plan, ends: [end].compactMap(\.self) + audio.compactMap(\.delivered?.end), video: end)
            warnings += writer.metadataLeftOut.map(\.description)
            return
        }
        let changes = Self.changes(checks) + (audio.isEmpty ? [] : [request.audioChange(in: plan.fileType)])
        comparison = Comparison(
            changes: changes.compactMap(\.self), differences: checks.differences, checks: checks.checks)
        warnings += checks.differences.map(\.text)
        let end = checks.written.first { $0.input.mediaType == .video }?.seen.end
        warnings += Self.early(plan, ends: checks.written.map(\.seen.end), video: end)
    }

    /// Adds a track of the finished file.
    private mutating func add(_ item: TranscodeChecks.Written, _ track: AssetTrack, _ plan: TranscodePlan) {
        guard let format = track.formatDescriptions.first else { return }
        let isProxy = plan.request.isProxy
        let source = isProxy ? item.source : nil
        let delivered = isProxy ? nil : Delivered(plan, item, track, format, duration: duration)
        if let pictures = format.video {
            // The first video track is described; copies may have several.
            guard video == nil else { return }
            // Without edit lists, all stored samples are shown.
            let isScanned = item.isStored && !plan.fileType.keepsEdits
            let count = isScanned ? track.sampleCount.flatMap { Int(exactly: $0) } : nil
            video = Video(
                trackIndex: source?.index, trackID: source?.id, codec: format.codec, profile: format.profile,
                encodedSize: pictures.encodedSize, sampleAspectRatio: pictures.sampleAspectRatio,
                frameCount: count ?? max(item.seen.shown, item.seen.times.count), frameRate: track.averageFrameRate,
                delivered: delivered)
        } else if let sound = format.audio {
            audio.append(
                Audio(
                    trackIndex: source?.index, trackID: source?.id, codec: format.codec,
                    copied: isProxy ? item.isStored : nil, sampleRate: sound.sampleRate, channels: sound.channels,
                    channelLayout: sound.channelLayout.knownName, delivered: delivered))
        }
    }
}

extension TranscodeReport.Delivered {
    /// Makes the time range of a finished track on the input's time line.
    ///
    /// - Parameter duration: The duration of the whole file.
    init(
        _ plan: TranscodePlan, _ item: TranscodeChecks.Written, _ track: AssetTrack, _ format: FormatDescription,
        duration: MediaTime
    ) {
        let (zero, seen, type) = (plan.range.start, item.seen, plan.fileType)
        start = zero + track.timeRange.start
        // Some containers declare only the duration of the whole file.
        end = zero + (track.timeRange.end.isNumeric ? track.timeRange.end : duration)
        if type.keepsEdits, start <= zero, let stored = item.input.storedFrom, stored < zero { storedFrom = stored }
        guard item.isStored else { return }
        // Linear PCM is cut to the sample, and missing samples are replaced by silence. Samples before zero are
        // priming, which is stored but not heard.
        let hasPriming = zero == .zero && seen.start < .zero
        if !type.keepsLateStarts, !hasPriming, !format.codec.hasPrefix("pcm_") {
            // For Opus, the header states how much of the first packets is skipped. A decoder outputs nothing for the
            // first packet of Vorbis.
            let first =
                switch format.codec {
                case "opus": seen.start
                case "vorbis" where zero != .zero: seen.firstInsideEnd
                default: seen.firstInside
                }
            // Such a file starts at zero, whatever the time of its first sample.
            if first.isNumeric, first > zero {
                start += first - zero
                end += first - zero
            }
        }
        // A decoder outputs nothing for the first packet of Vorbis.
        if !type.keepsEdits, type.keepsLateStarts, format.codec == "vorbis", zero != .zero,
            seen.firstInsideEnd.isNumeric
        {
            start = max(start, seen.firstInsideEnd)
        }
    }

    /// Returns the end of the part in which a copied track's audio may be incomplete, because packets before zero are
    /// missing; `nil` if it is complete.
    static func incompleteEnd(
        _ item: TranscodeChecks.Written, _ track: AssetTrack, _ plan: TranscodePlan
    ) -> MediaTime? {
        guard item.isStored, !plan.fileType.keepsEdits, track.mediaType == .audio, plan.range.start == .zero,
            item.seen.firstInsideEnd.isNumeric, item.seen.earliest < .zero,
            (item.input.storedFrom ?? .zero) >= .zero
        else { return nil }
        return item.seen.firstInsideEnd
    }

    /// Returns the seconds by which the range starts later than requested; `nil` if it does not.
    func delay(of track: AssetTrack, in plan: TranscodePlan) -> Double? {
        let (wanted, first) = (plan.range.start, track.timeRange.start)
        let expected = first.isNumeric ? max(wanted, first) : wanted
        return start > expected ? (start - expected).seconds : nil
    }
}
