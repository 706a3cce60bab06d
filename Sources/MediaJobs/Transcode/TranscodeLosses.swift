internal import AssetKit
internal import Inspection
internal import MediaBase

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
    init(_ track: AssetTrack, because reason: String) {
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
    static func others(
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
    static func silent(_ tracks: [AssetTrack], _ undecodable: [Int: MediaError]) -> [LeftOutTrack] {
        tracks.map { LeftOutTrack($0, because: undecodable[$0.index]?.message ?? nothingInRange) }
    }

    /// A one-line warning for the user.
    var warning: String { "track \(trackIndex) (\(type)) was left out: \(reason)" }
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

extension TranscodeReport {
    /// Returns descriptions of what encoding changed: first of the audio of an export, then of the video, then of the
    /// audio of a proxy.
    static func changes(_ checks: TranscodeChecks) -> [String] {
        var (video, audio): ([String], [String]) = ([], [])
        for item in checks.written {
            switch item.input.settings {
            case .video(let settings) where checks.plan.plainVideo != nil: video += item.source.changes(by: settings)
            case .audio(let settings) where checks.plan.timeline == nil:
                // A proxy is compared with what was heard.
                let layout =
                    checks.plan.request.isProxy
                    ? item.seen.channelLayout : item.source.formatDescriptions.first?.audio?.channelLayout
                if let change = layout.flatMap(settings.layoutChange), !audio.contains(change) { audio.append(change) }
            default: break
            }
        }
        return checks.plan.request.isProxy ? video + audio : audio + video
    }

    /// Returns warnings about properties and times that the output does not have as requested.
    func exportWarnings(_ checks: TranscodeChecks) -> [String] {
        let (plan, keepsEdits) = (checks.plan, checks.plan.fileType.keepsEdits)
        var warnings = Self.changes(checks)
        let isStored = checks.written.first?.isStored ?? false
        if !keepsEdits, let track = plan.plainVideo {
            let aperture = checks.found.first { $0.mediaType == .video }?.formatDescriptions.first?.video?.cleanAperture
            warnings += Self.lost(track, isStored: isStored, keepsAperture: aperture != nil)
        }
        if isStored { warnings += keepsEdits ? Self.lateVorbis(plan, audio) : Self.late(plan, video, audio) }
        let incomplete = zip(checks.written, checks.found).compactMap { Delivered.incompleteEnd($0, $1, plan) }.max()
        if let incomplete, incomplete.isNumeric {
            warnings.append(
                "the sound may be incomplete before \(incomplete.seconds) s, because such a file cannot say what of packets "
                    + "that begin before zero is heard; an output that ends with .mov or .mp4 keeps them")
        }
        return warnings
    }

    /// Returns warnings about display properties of the video that the file cannot store.
    private static func lost(_ track: AssetTrack, isStored: Bool, keepsAperture: Bool) -> [String] {
        var lost: [String] = []
        if isStored, track.preferredTransform != .identity { lost.append("turn") }
        if track.formatDescriptions.first?.video?.cleanAperture != nil, !keepsAperture { lost.append("clean aperture") }
        return lost.map { "the pictures' \($0) is lost; an output that ends with .mov or .mp4 keeps it" }
    }

    /// Returns a warning if no track reaches the requested end.
    ///
    /// - Parameters:
    ///   - ends: The ends of all tracks.
    ///   - video: The end of the video; `nil` without video.
    static func early(_ plan: TranscodePlan, ends: [MediaTime], video: MediaTime?) -> [String] {
        guard plan.namesEnd, let last = ends.max(), last.isNumeric,
            EarlyEnd.warning("", at: last, before: plan.requested?.end) != nil
        else { return [] }
        var (what, end) = (video == nil ? "the sound ends" : "the pictures end", video ?? last)
        if plan.timeline != nil { (what, end) = ("the timeline ends", last) }
        return [EarlyEnd.warning(what, at: end, before: plan.requested?.end)].compactMap(\.self)
    }

    /// Returns warnings about Vorbis that starts late, because it starts with a whole packet.
    ///
    /// This applies even to files that cut other audio to the sample.
    private static func lateVorbis(_ plan: TranscodePlan, _ audio: [Audio]) -> [String] {
        guard plan.requested?.start != nil, plan.audio.count == audio.count else { return [] }
        return zip(plan.audio, audio).compactMap { track, made in
            guard made.codec == "vorbis", let later = made.delivered?.delay(of: track, in: plan) else { return nil }
            return "the sound begins \(later) s later than asked for, "
                + "because players cannot begin inside a packet of Vorbis"
        }
    }

    /// Returns warnings about tracks that start later than requested, as copies do in containers without edit lists.
    private static func late(_ plan: TranscodePlan, _ video: Video?, _ audio: [Audio]) -> [String] {
        guard plan.requested?.start != nil else { return [] }
        let exact = "an output that ends with .mov or .mp4 begins exactly"
        if let video, let track = plan.plainVideo, let later = video.delivered?.delay(of: track, in: plan) {
            return [
                "the pictures begin \(later) s later than asked for, with the first that needs no other; \(exact)"
            ]
        }
        guard video == nil, let first = audio.first, let track = plan.audio.first,
            let later = first.delivered?.delay(of: track, in: plan)
        else { return [] }
        // Vorbis starts with a whole packet in those files too.
        let advice = first.codec == "vorbis" ? "" : "; \(exact)"
        return ["the sound begins \(later) s later than asked for, with the first whole packet\(advice)"]
    }
}
