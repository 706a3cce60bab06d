internal import AssetKit
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

extension ExportReport {
    /// The report on a finished file.
    ///
    /// - Parameters:
    ///   - inputs: What wrote its tracks, in their order.
    ///   - made: The file.
    ///   - keepsEdits: Whether such files say by edit lists what is shown.
    ///   - keepsStarts: Whether they say when a track begins.
    ///   - undecodable: Why tracks gave nothing, by their index.
    /// - Throws: what reading its header throws; `verificationFailed` where it does not hold what was put into it.
    init(
        _ plan: ExportPlan, _ witness: ExportWitness, _ allInputs: [AssetWriterInput], made: Asset, keepsEdits: Bool,
        keepsStarts: Bool, undecodable: [Int: MediaError]
    ) throws(MediaError) {
        let inputs = allInputs.filter { $0.mediaType != .subtitle }
        let unseen = zip(plan.subtitles, allInputs.dropFirst(inputs.count)).filter {
            (witness.seen(in: $1)?.shown ?? 0) == 0
        }.map(\.0)
        let container = try made.loadNow(.container)
        let tracks = try made.loadNow(.tracks).filter {
            [.video, .audio].contains($0.mediaType) && !$0.isAttachedPicture
        }
        // What had nothing in the range is not there.
        let written = inputs.filter { (witness.seen(in: $0)?.shown ?? 0) > 0 }
        guard !written.isEmpty else { throw MediaError(.damaged, "there is nothing to be decoded in this range") }
        guard tracks.map(\.mediaType) == written.map(\.mediaType) else {
            throw MediaError(
                .verificationFailed,
                "the file was not kept: of \(written.count) tracks that were written it has \(tracks.count)")
        }
        let sources = plan.sources
        let silent = LeftOutTrack.silent(
            sources.count == inputs.count
                ? zip(sources, inputs).filter { (witness.seen(in: $1)?.shown ?? 0) == 0 }.map(\.0) : [], undecodable)
        var video: Video?
        var audio: [Audio] = []
        /// Until when sound may be incomplete, because packets before zero are not there.
        var incomplete: MediaTime?
        for (input, track) in zip(written, tracks) {
            guard let seen = witness.seen(in: input), let format = track.formatDescriptions.first else { continue }
            let isStored = input.settings == .stored
            var delivered = Delivered(plan, track, duration: try made.loadNow(.duration), storedFrom: input.storedFrom)
            if !keepsEdits { delivered.storedFrom = nil }
            // Linear PCM is cut to the sample, and silence stands for what is not there.
            // What begins before zero is priming, which is there and not heard.
            let hasPriming = plan.range.start == .zero && seen.start < .zero
            if isStored, !keepsStarts, !hasPriming, !format.codec.hasPrefix("pcm_") {
                // Of Opus the header says how much of the first packets is not heard.
                delivered.move(to: format.codec == "opus" ? seen.start : seen.firstInside, from: plan.range.start)
            }
            if isStored, !keepsEdits, format.audio != nil, seen.firstInsideEnd.isNumeric {
                if plan.range.start == .zero {
                    let isLeftOut = seen.earliest < .zero && (input.storedFrom ?? .zero) >= .zero
                    if isLeftOut { incomplete = max(incomplete ?? .zero, seen.firstInsideEnd) }
                } else if keepsStarts, format.codec == "vorbis" {
                    // A decoder gives nothing for its first packet.
                    delivered.start = max(delivered.start, seen.firstInsideEnd)
                }
            }
            if let pictures = format.video {
                if !isStored, let count = track.sampleCount, count != Int64(seen.shown) {
                    throw MediaError(
                        .verificationFailed,
                        "the file was not kept: of \(seen.shown) pictures that were written it has \(count)")
                }
                // Where nothing hides samples, those that are there are shown.
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
        for (source, input) in zip(sources, inputs) where sources.count == inputs.count {
            guard case .audio(let settings) = input.settings, witness.seen(in: input) != nil,
                let layout = source.formatDescriptions.first?.audio?.channelLayout,
                let change = settings.layoutChange(from: layout), !warnings.contains(change)
            else { continue }
            warnings.append(change)
        }
        let isStored = written.first?.settings == .stored
        if case .track(let track) = plan.video, case .video(let settings)? = written.first?.settings {
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

    /// What is told of pictures of which the file cannot say how they are to be shown.
    private static func lost(_ track: AssetTrack, isStored: Bool, keepsAperture: Bool) -> [String] {
        var lost: [String] = []
        if isStored, track.preferredTransform != .identity { lost.append("turn") }
        if track.formatDescriptions.first?.video?.cleanAperture != nil, !keepsAperture { lost.append("clean aperture") }
        return lost.map { "the pictures' \($0) is lost; an output that ends with .mov or .mp4 keeps it" }
    }

    /// What is told where not one track reaches the end that was asked for.
    private static func early(_ plan: ExportPlan, at last: MediaTime, pictures: MediaTime?) -> [String] {
        guard EarlyEnd.warning("", at: last, before: plan.requested?.end) != nil else { return [] }
        var (what, end) = (pictures == nil ? "the sound ends" : "the pictures end", pictures ?? last)
        if plan.timeline != nil { (what, end) = ("the timeline ends", last) }
        return [EarlyEnd.warning(what, at: end, before: plan.requested?.end)].compactMap(\.self)
    }

    /// Tells of Vorbis that begins late: it begins with a whole packet also in files that cut other sound to the sample.
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

    /// What is told of tracks that begin later than was asked for, as copies in containers without edit lists do.
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
        // Of Vorbis these too begin with a whole packet.
        let advice = first.codec == "vorbis" ? "" : "; \(exact)"
        return ["the sound begins \(later) s later than asked for, with the first whole packet\(advice)"]
    }
}

extension ExportReport.Delivered {
    /// A finished track's time range on the input's time line.
    init(_ plan: ExportPlan, _ track: AssetTrack, duration: MediaTime, storedFrom stored: MediaTime?) {
        start = plan.range.start + track.timeRange.start
        // Some containers say only how long they last as a whole.
        end = plan.range.start + (track.timeRange.end.isNumeric ? track.timeRange.end : duration)
        storedFrom = start <= plan.range.start ? stored.flatMap { $0 < plan.range.start ? $0 : nil } : nil
    }

    /// Moves it to where the first sample is from, in files that always begin at zero.
    fileprivate mutating func move(to first: MediaTime, from start: MediaTime) {
        guard first.isNumeric, first > start else { return }
        self.start += first - start
        end += first - start
    }
}
