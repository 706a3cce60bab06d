internal import AssetKit
internal import MediaBase
internal import SystemPackage

extension ExportReport {
    /// The report on a finished file.
    ///
    /// - Parameters:
    ///   - inputs: What wrote its tracks, in their order.
    ///   - made: The file.
    ///   - keepsEdits: Whether such files say by edit lists what is shown.
    /// - Throws: what reading its header throws; `verificationFailed` where it does not hold what was put into it.
    init(
        _ plan: ExportPlan, _ witness: ExportWitness, _ inputs: [AssetWriterInput], made: Asset, keepsEdits: Bool
    ) throws(MediaError) {
        let container = try made.loadNow(.container)
        let tracks = try made.loadNow(.tracks).filter { [.video, .audio].contains($0.mediaType) }
        // What had nothing in the range is not there.
        let written = inputs.filter { (witness.seen(in: $0)?.shown ?? 0) > 0 }
        guard !written.isEmpty else { throw MediaError(.damaged, "there is nothing to be decoded in this range") }
        guard tracks.map(\.mediaType) == written.map(\.mediaType) else {
            throw MediaError(
                .verificationFailed,
                "the file was not kept: of \(written.count) tracks that were written it has \(tracks.count)")
        }
        let sources = plan.sources
        let silent =
            sources.count == inputs.count
            ? zip(sources, inputs).filter { (witness.seen(in: $1)?.shown ?? 0) == 0 }.map(\.0) : []
        var video: Video?
        var audio: [Audio] = []
        for (input, track) in zip(written, tracks) {
            guard let seen = witness.seen(in: input), let format = track.formatDescriptions.first else { continue }
            let isStored = input.settings == .stored
            let delivered = Delivered(plan, seen, track, duration: try made.loadNow(.duration), isStored: isStored)
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
            leftOut: (plan.leftOut + silent).sorted { $0.index < $1.index }.map { ProxyReport.LeftOut($0) },
            warnings: plan.warnings, damage: DamageSummary(DamageReport()))
        if !keepsEdits, written.first?.settings == .stored { warnings += Self.late(plan, video) }
        let ends = [video?.delivered.end].compactMap(\.self) + audio.map(\.delivered.end)
        if plan.namesEnd, let last = ends.max(), last.isNumeric {
            warnings += Self.early(plan, at: last, pictures: video?.delivered.end)
        }
    }

    /// What is told where not one track reaches the end that was asked for.
    private static func early(_ plan: ExportPlan, at last: MediaTime, pictures: MediaTime?) -> [String] {
        guard EarlyEnd.warning("", at: last, before: plan.requested?.end) != nil else { return [] }
        var (what, end) = (pictures == nil ? "the sound ends" : "the pictures end", pictures ?? last)
        if plan.timeline != nil { (what, end) = ("the timeline ends", last) }
        return [EarlyEnd.warning(what, at: end, before: plan.requested?.end)].compactMap(\.self)
    }

    /// What is told of tracks that begin later than was asked for, as copies in containers without edit lists do.
    private static func late(_ plan: ExportPlan, _ video: Video?) -> [String] {
        guard let wanted = plan.requested?.start, let video, case .track(let track) = plan.video else { return [] }
        let start = track.timeRange.start.isNumeric ? max(wanted, track.timeRange.start) : wanted
        guard video.delivered.start > start else { return [] }
        let later = (video.delivered.start - start).seconds
        return [
            "the pictures begin \(later) s later than asked for, with the first that needs no other; "
                + "an output that ends with .mov or .mp4 begins exactly"
        ]
    }
}

extension ExportReport.Delivered {
    /// A finished track's time range on the input's time line.
    init(_ plan: ExportPlan, _ seen: ExportWitness.Seen, _ track: AssetTrack, duration: MediaTime, isStored: Bool) {
        start = plan.range.start + track.timeRange.start
        // Some containers say only how long they last as a whole.
        end = plan.range.start + (track.timeRange.end.isNumeric ? track.timeRange.end : duration)
        storedFrom = isStored && seen.start < plan.range.start && start <= plan.range.start ? seen.start : nil
    }
}
