internal import AssetKit
internal import MediaBase
internal import SystemCalls
internal import SystemPackage

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
