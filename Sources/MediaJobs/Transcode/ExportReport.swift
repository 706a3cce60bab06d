internal import AssetKit
package import MediaBase
package import SystemPackage
internal import Timelines

/// The result of ``ExportJob`` for one input, in the key order of its JSON.
package struct ExportReport: Encodable, Sendable {
    /// The path of the output.
    package var output: FilePath
    /// The preset's name.
    package var preset: String
    /// True if samples were copied.
    package var copied: Bool
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
    package var audio: [Audio]
    /// The subtitle tracks that were copied.
    package var subtitles: [Subtitles]
    /// The input's tracks that are not in the output.
    package var leftOut: [LeftOutTrack]
    /// The warnings about a successful export.
    package var warnings: [String]
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
        /// The part of the input that is shown.
        package var delivered: Delivered
    }

    /// An audio track of an output.
    package struct Audio: Encodable, Sendable {
        /// The codec name in libavcodec.
        package var codec: String
        /// The sample rate in Hz.
        package var sampleRate: Int
        /// The number of channels.
        package var channels: Int
        /// The channel layout; `nil` if only the number of channels is known.
        package var channelLayout: String?
        /// The part of the input that is heard.
        package var delivered: Delivered
    }

    /// A subtitle track of an output.
    package struct Subtitles: Encodable, Sendable {
        /// The codec name in libavcodec.
        package var codec: String
        /// The ISO 639-2 code of the language; `nil` if the file does not state it.
        package var language: String?
    }

    private enum Key: String, CodingKey {
        case output, outputBytes, preset, copied, sizeBytes, requested, duration, startTimecode, timeline, video, audio
        case subtitles, leftOut, warnings, damage
    }

    /// Encodes the report as one object; unknown values are omitted.
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

extension ExportReport {
    /// Makes the report of a finished file.
    ///
    /// - Parameters:
    ///   - allInputs: The writer inputs of its tracks, in order.
    ///   - made: The file.
    ///   - keepsEdits: True if this type of file uses edit lists to state which part is presented.
    ///   - keepsStarts: True if this type of file stores the start time of each track.
    ///   - undecodable: The errors of tracks that could not be decoded, by index.
    /// - Throws: The errors of reading the header; `verificationFailed` if the file does not contain what was written
    ///   to it.
    init(
        _ plan: ExportPlan, _ record: TranscodeRecord, _ allInputs: [AssetWriterInput], made: Asset, keepsEdits: Bool,
        keepsStarts: Bool, undecodable: [Int: MediaError]
    ) throws(MediaError) {
        let inputs = allInputs.filter { $0.mediaType != .subtitle }
        let unseen = plan.subtitles.enumerated().filter { !record.isShown(inputs.count + $0.offset) }.map(\.element)
        let container = try made.loadNow(.container)
        let tracks = try made.loadNow(.tracks).filter {
            [.video, .audio].contains($0.mediaType) && !$0.isAttachedPicture
        }
        // A track without samples in the range is not in the file.
        let written = inputs.indices.filter(record.isShown)
        guard !written.isEmpty else { throw MediaError(.damaged, "there is nothing to be decoded in this range") }
        guard tracks.map(\.mediaType) == written.map({ inputs[$0].mediaType }) else {
            throw MediaError(
                .verificationFailed,
                "the file was not kept: of \(written.count) tracks that were written it has \(tracks.count)")
        }
        let sources = plan.sources
        let silent = LeftOutTrack.silent(
            sources.count == inputs.count
                ? sources.indices.filter { !record.isShown($0) }.map { sources[$0] } : [], undecodable)
        var video: Video?
        var audio: [Audio] = []
        /// The end of the part in which audio may be incomplete, because packets before zero are missing.
        var incomplete: MediaTime?
        for (number, track) in zip(written, tracks) {
            guard let seen = record[number], let format = track.formatDescriptions.first else { continue }
            let input = inputs[number]
            let isStored = input.settings == .stored
            var delivered = Delivered(plan, track, duration: try made.loadNow(.duration), storedFrom: input.storedFrom)
            if !keepsEdits { delivered.storedFrom = nil }
            // Linear PCM is cut to the sample, and missing samples are replaced by silence. Samples before zero are
            // priming, which is stored but not heard.
            let hasPriming = plan.range.start == .zero && seen.start < .zero
            if isStored, !keepsStarts, !hasPriming, !format.codec.hasPrefix("pcm_") {
                // For Opus, the header states how much of the first packets is skipped.
                delivered.move(to: format.codec == "opus" ? seen.start : seen.firstInside, from: plan.range.start)
            }
            if isStored, !keepsEdits, format.audio != nil, seen.firstInsideEnd.isNumeric {
                if plan.range.start == .zero {
                    let isLeftOut = seen.earliest < .zero && (input.storedFrom ?? .zero) >= .zero
                    if isLeftOut { incomplete = max(incomplete ?? .zero, seen.firstInsideEnd) }
                } else if keepsStarts, format.codec == "vorbis" {
                    // A decoder outputs nothing for the first packet.
                    delivered.start = max(delivered.start, seen.firstInsideEnd)
                }
            }
            if let pictures = format.video {
                if !isStored, let count = track.sampleCount, count != Int64(seen.shown) {
                    throw MediaError(
                        .verificationFailed,
                        "the file was not kept: of \(seen.shown) pictures that were written it has \(count)")
                }
                // Without edit lists, all stored samples are shown.
                let isScanned = isStored && !keepsEdits
                let count = isScanned ? track.sampleCount.flatMap { Int(exactly: $0) } : nil
                video = Video(
                    codec: format.codec, profile: format.profile, encodedSize: pictures.encodedSize,
                    sampleAspectRatio: pictures.sampleAspectRatio, frameCount: count ?? seen.shown,
                    frameRate: track.averageFrameRate, delivered: delivered)
            } else if let sound = format.audio {
                audio.append(
                    Audio(
                        codec: format.codec, sampleRate: sound.sampleRate, channels: sound.channels,
                        channelLayout: sound.channelLayout.knownName, delivered: delivered))
            }
        }
        self.init(
            output: "", preset: "", copied: false, sizeBytes: container.sizeBytes ?? 0, requested: plan.requested,
            duration: try made.loadNow(.duration), startTimecode: container.startTimecode, timeline: plan.timeline,
            video: video, audio: audio,
            subtitles: try made.loadNow(.tracks).filter { $0.mediaType == .subtitle }.map {
                Subtitles(codec: $0.formatDescriptions.first?.codec ?? "", language: $0.language)
            },
            leftOut: (plan.leftOut + silent + LeftOutTrack.silent(unseen, [:])).sorted {
                $0.trackIndex < $1.trackIndex
            },
            warnings: plan.warnings + silent.filter { undecodable[$0.trackIndex] != nil }.map(\.warning),
            damage: DamageSummary(DamageReport()))
        for (number, source) in sources.enumerated() where sources.count == inputs.count {
            guard case .audio(let settings) = inputs[number].settings, record[number] != nil,
                let layout = source.formatDescriptions.first?.audio?.channelLayout,
                let change = settings.layoutChange(from: layout), !warnings.contains(change)
            else { continue }
            warnings.append(change)
        }
        let leading = written.first.map { inputs[$0].settings }
        let isStored = leading == .stored
        if case .track(let track) = plan.video, case .video(let settings)? = leading {
            warnings += track.changes(by: settings)
        }
        if !keepsEdits, case .track(let track) = plan.video {
            let aperture = tracks.first { $0.mediaType == .video }?.formatDescriptions.first?.video?.cleanAperture
            warnings += Self.lost(track, isStored: isStored, keepsAperture: aperture != nil)
        }
        if isStored { warnings += keepsEdits ? Self.lateVorbis(plan, audio) : Self.late(plan, video, audio) }
        if let incomplete, incomplete.isNumeric {
            warnings.append(
                "the sound may be incomplete before \(incomplete.seconds) s, because such a file cannot say what of packets "
                    + "that begin before zero is heard; an output that ends with .mov or .mp4 keeps them")
        }
        let ends = [video?.delivered.end].compactMap(\.self) + audio.map(\.delivered.end)
        if plan.namesEnd, let last = ends.max(), last.isNumeric {
            warnings += Self.early(plan, at: last, pictures: video?.delivered.end)
        }
    }

    /// Returns warnings about display properties of the video that the file cannot store.
    private static func lost(_ track: AssetTrack, isStored: Bool, keepsAperture: Bool) -> [String] {
        var lost: [String] = []
        if isStored, track.preferredTransform != .identity { lost.append("turn") }
        if track.formatDescriptions.first?.video?.cleanAperture != nil, !keepsAperture { lost.append("clean aperture") }
        return lost.map { "the pictures' \($0) is lost; an output that ends with .mov or .mp4 keeps it" }
    }

    /// Returns a warning if no track reaches the requested end.
    private static func early(_ plan: ExportPlan, at last: MediaTime, pictures: MediaTime?) -> [String] {
        guard EarlyEnd.warning("", at: last, before: plan.requested?.end) != nil else { return [] }
        var (what, end) = (pictures == nil ? "the sound ends" : "the pictures end", pictures ?? last)
        if plan.timeline != nil { (what, end) = ("the timeline ends", last) }
        return [EarlyEnd.warning(what, at: end, before: plan.requested?.end)].compactMap(\.self)
    }

    /// Returns warnings about Vorbis that starts late, because it starts with a whole packet.
    ///
    /// This applies even to files that cut other audio to the sample.
    private static func lateVorbis(_ plan: ExportPlan, _ audio: [Audio]) -> [String] {
        guard plan.requested?.start != nil, plan.audio.count == audio.count else { return [] }
        return zip(plan.audio, audio).compactMap { track, made in
            let (wanted, first) = (plan.range.start, track.timeRange.start)
            let start = first.isNumeric ? max(wanted, first) : wanted
            guard made.codec == "vorbis", made.delivered.start > start else { return nil }
            let later = (made.delivered.start - start).seconds
            return "the sound begins \(later) s later than asked for, "
                + "because players cannot begin inside a packet of Vorbis"
        }
    }

    /// Returns warnings about tracks that start later than requested, as copies do in containers without edit lists.
    private static func late(_ plan: ExportPlan, _ video: Video?, _ audio: [Audio]) -> [String] {
        guard plan.requested?.start != nil else { return [] }
        let wanted = plan.range.start
        func delay(_ delivered: Delivered, _ track: AssetTrack) -> Double? {
            let start = track.timeRange.start.isNumeric ? max(wanted, track.timeRange.start) : wanted
            return delivered.start > start ? (delivered.start - start).seconds : nil
        }
        let exact = "an output that ends with .mov or .mp4 begins exactly"
        if let video, case .track(let track) = plan.video, let later = delay(video.delivered, track) {
            return [
                "the pictures begin \(later) s later than asked for, with the first that needs no other; \(exact)"
            ]
        }
        guard video == nil, let first = audio.first, let track = plan.audio.first,
            let later = delay(first.delivered, track)
        else { return [] }
        // Vorbis starts with a whole packet in those files too.
        let advice = first.codec == "vorbis" ? "" : "; \(exact)"
        return ["the sound begins \(later) s later than asked for, with the first whole packet\(advice)"]
    }
}

extension ExportReport.Delivered {
    /// Makes the time range of a finished track on the input's time line.
    init(_ plan: ExportPlan, _ track: AssetTrack, duration: MediaTime, storedFrom stored: MediaTime?) {
        start = plan.range.start + track.timeRange.start
        // Some containers declare only the duration of the whole file.
        end = plan.range.start + (track.timeRange.end.isNumeric ? track.timeRange.end : duration)
        storedFrom = start <= plan.range.start ? stored.flatMap { $0 < plan.range.start ? $0 : nil } : nil
    }

    /// Moves the range to the start of the first sample, for files that always start at zero.
    fileprivate mutating func move(to first: MediaTime, from start: MediaTime) {
        guard first.isNumeric, first > start else { return }
        self.start += first - start
        end += first - start
    }
}
