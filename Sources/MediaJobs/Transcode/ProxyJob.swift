package import AssetKit
package import MediaBase
package import SystemPackage

/// Makes a small editing copy of one file, for the command `proxy`.
///
/// The source is read once; decoding, scaling and encoding overlap. The finished file is compared with the source
/// before it is put in place, so the output is either complete and correct or does not exist.
package struct ProxyJob: Sendable {
    private let request: ProxyRequest
    private let asset: Asset

    /// Makes a job.
    package init(_ request: ProxyRequest, asset: Asset) {
        self.request = request
        self.asset = asset
    }

    /// Returns whether an asset should be opened with precise timing for a request.
    package static func needsPreciseTiming(_ request: ProxyRequest) -> Bool { request.needsExactDuration }

    /// Returns the file type for the extension of a path.
    ///
    /// - Throws: `invalidArgument` if a proxy cannot have this type.
    package static func fileType(of path: FilePath) throws(MediaError) -> MediaFileType {
        guard let type = path.extension.flatMap({ MediaFileType(pathExtension: $0) }), [.mov, .mp4].contains(type)
        else {
            throw MediaError(
                .invalidArgument, "a proxy is a QuickTime or MPEG-4 file; let its name end with .mov or .mp4",
                path: path.string)
        }
        return type
    }

    /// Makes the proxy.
    ///
    /// - Parameters:
    ///   - path: The path of the output.
    ///   - outputs: The set that puts the file in place.
    ///   - makesFolder: True to make the output's folder if it does not exist.
    ///   - progress: Called from time to time with the progress, on any thread.
    /// - Throws: The errors of reading, encoding and writing; `verificationFailed` if the finished file is not as
    ///   expected. No output remains in that case.
    package func run(
        to path: FilePath, outputs: OutputFileSet, makesFolder: Bool = false,
        progress: (@Sendable (JobProgress) -> Void)? = nil
    ) throws(MediaError) -> ProxyReport {
        let fileType = try Self.fileType(of: path)
        try asset.loadContents()
        let plan = try ProxyPlan(request, asset: asset, fileType: fileType)
        let record = TranscodeRecord(range: plan.range, keepsTimes: true)
        let transcode = Transcode(
            asset: asset, tracks: plan.tracks, range: plan.range, isStrict: request.isStrict, threads: request.threads,
            name: asset.displayName)
        var report = try transcode.run(
            to: path, as: fileType, outputs: outputs, makesFolder: makesFolder, record: record, progress: progress
        ) { finished, damage throws(MediaError) in
            try Self.check(finished, plan, record, damage)
        }
        report.output = path
        report.preset = request.preset.name
        if request.audio == .encode {
            let heard = plan.audio.compactMap { track in
                plan.seen(of: track, record)?.channelLayout.flatMap {
                    request.audioSettings(for: track, in: fileType).layoutChange(from: $0)
                }
            }
            for change in heard where !report.changes.contains(change) { report.changes.append(change) }
        }
        if !report.audio.isEmpty, let change = request.audioChange(in: fileType) { report.changes.append(change) }
        return report
    }

    /// Compares the finished file with the source.
    private static func check(
        _ finished: ExportSession.Finished, _ plan: ProxyPlan, _ record: TranscodeRecord, _ damage: DamageSummary
    ) throws(MediaError) -> ProxyReport {
        guard plan.seen(of: plan.video, record) != nil else {
            let isWhole = plan.requested == nil
            throw MediaError(
                .damaged, isWhole ? "not one picture can be decoded" : "no picture can be decoded in this range")
        }
        let (proxy, writer) = (Asset(path: finished.path), finished.writer)
        var checks = ProxyChecks(plan, record, proxy: proxy)
        let video = writer.inputs.first { $0.mediaType == .video }
        try checks.run(startTimecode: video?.startTimecode, metadata: writer.metadata, chapters: writer.chapters)
        if let failure = checks.failure { throw failure }
        return try ProxyReport(
            plan, record, proxy: proxy, checks: checks, undecodable: finished.undecodable, damage: damage)
    }
}

/// The plan of a proxy: its tracks, its time range, and the encoder settings.
struct ProxyPlan {
    /// The source.
    let asset: Asset
    /// The video track.
    let video: AssetTrack
    /// The encoder settings of the video, including all properties that the track declares.
    let videoSettings: VideoOutputSettings
    /// The display transform applied to frames before encoding.
    let turn: DisplayTransform
    /// The audio tracks, in the order of the file.
    let audio: [AssetTrack]
    /// All other tracks.
    let leftOut: [LeftOutTrack]
    /// The time range to write.
    let range: MediaTimeRange
    /// The range as requested; `nil` if none was requested.
    let requested: RequestedRange?
    /// True if the requested end is an absolute position, not one derived from the duration.
    let namesEnd: Bool

    /// True if pixels become square.
    let hasSquarePixels: Bool
    /// The number of decoding threads; 0 for the default.
    let threads: Int

    /// The tracks of the output, in the order of the file.
    let tracks: [ExportSession.Track]

    /// Returns the record of a track; `nil` if nothing of it was shown.
    func seen(of track: AssetTrack, _ record: TranscodeRecord) -> TranscodeRecord.Track? {
        guard let number = tracks.firstIndex(where: { $0.sources == [track] }), let seen = record[number],
            seen.start.isNumeric
        else { return nil }
        return seen
    }

    /// - Throws: The errors of opening the file, `noSuchTrack`, the errors of resolving the range, and those of the
    ///   settings.
    init(_ request: ProxyRequest, asset: Asset, fileType: MediaFileType) throws(MediaError) {
        let all = try asset.loadNow(.tracks)
        do throws(MediaError) {
            if let wanted = request.videoTrack {
                video = try wanted.track(of: .video, in: all)
            } else {
                video = try TrackSelector.standardTrack(of: .video, in: all)
            }
            audio =
                request.audio == .none ? [] : try TrackSelector.audioTracks(request.audioTracks, in: all)
            guard !video.isAttachedPicture else {
                throw MediaError(.noSuchTrack, "has a cover picture and no video that a proxy could be made of")
            }
            let trim = try TrimRange(
                start: request.start, end: request.end, of: video, in: asset, threads: request.threads)
            (range, requested) = (trim.range, trim.requested)
            namesEnd = request.end?.isMoment ?? false
            turn = request.turn(of: video)
            videoSettings = try request.videoSettings(for: video).carrying(video, of: asset, turnedBy: turn)
            var tracks: [ExportSession.Track] = []
            for track in ([video] + audio).sorted(by: { $0.index < $1.index }) {
                if track.mediaType == .video {
                    try videoSettings.checkBitRate(for: track, in: fileType)
                    tracks.append(.video(track, .encode(videoSettings), turned: turn != .identity))
                } else {
                    let settings = request.audioSettings(for: track, in: fileType)
                    if request.audio != .copy { try settings.checkBitRate(for: track, in: fileType) }
                    tracks.append(.audio(track, request.audio == .copy ? .copy : .encode(settings)))
                }
            }
            self.tracks = tracks
        } catch {
            throw error.at(path: asset.displayName)
        }
        self.asset = asset
        hasSquarePixels = request.hasSquarePixels
        threads = request.threads
        leftOut = LeftOutTrack.others(of: all, besides: [video] + audio)
    }

}
