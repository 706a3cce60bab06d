package import AssetKit
package import MediaBase
internal import SystemCalls
package import SystemPackage
internal import Threading

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
        let plan = try ProxyPlan(request, asset: asset)
        let limited = outputs.limited(to: try asset.outputAllowance())
        let writer = try AssetWriter(output: limited.beginning(path, makesFolder: makesFolder), fileType: fileType)
        let reencoder = try Reencoder(asset: asset, writer: writer, rounded: plan.range)
        reencoder.passesOverUndecodableAudio = !request.isStrict
        let tracks = try add(plan, to: reencoder, fileType)
        let witness = ProxyWitness()
        let length = plan.length
        reencoder.observer = { [video = plan.video] input, buffer in
            guard let track = tracks[ObjectIdentifier(input)] else { return }
            witness.see(buffer, of: track)
            guard let progress, track.index == video.index else { return }
            let done = (buffer.presentationTime - plan.range.start).seconds
            progress(JobProgress(fraction: length.map { done / $0 } ?? 0, seconds: done))
        }
        let checked = Mutex<ProxyReport?>(nil)
        writer.verification = {
            [request, asset, reader = reencoder.reader, weak writer, weak reencoder] temporary throws(MediaError) in
            let damage = DamageSummary(reader.damage)
            if request.isStrict, let error = damage.strictError { throw error.at(path: asset.displayName) }
            guard let writer, let reencoder else { return }
            let report = try Self.check(temporary, plan, witness, writer, reencoder.undecodable, damage)
            checked.withLock { $0 = report }
        }
        try run(reencoder)
        guard var report = checked.withLock({ $0 }) else {
            throw MediaError(.libraryFailure, "the finished file was not looked at", path: path.string)
        }
        report.output = path
        report.preset = request.preset.name
        if request.audio == .encode {
            let heard = plan.audio.compactMap { track in
                witness.seen(of: track)?.channelLayout.flatMap {
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
        _ file: FilePath, _ plan: ProxyPlan, _ witness: ProxyWitness, _ writer: AssetWriter,
        _ undecodable: [Int: MediaError], _ damage: DamageSummary
    ) throws(MediaError) -> ProxyReport {
        guard witness.seen(of: plan.video) != nil else {
            let isWhole = plan.requested == nil
            throw MediaError(
                .damaged, isWhole ? "not one picture can be decoded" : "no picture can be decoded in this range")
        }
        let proxy = Asset(path: file)
        do throws(MediaError) {
            var checks = ProxyChecks(plan, witness, proxy: proxy)
            let video = writer.inputs.first { $0.mediaType == .video }
            try checks.run(
                startTimecode: video?.startTimecode, metadata: writer.metadata, chapters: writer.chapters)
            if let failure = checks.failure { throw failure }
            return try ProxyReport(
                plan, witness, proxy: proxy, checks: checks, undecodable: undecodable, damage: damage)
        } catch {
            // Remove the temporary path; the file gets its own name only now.
            var unnamed = error
            unnamed.path = nil
            throw unnamed
        }
    }

    private func run(_ reencoder: Reencoder) throws(MediaError) {
        do throws(MediaError) { try reencoder.runNow() } catch { throw error.at(path: asset.displayName) }
    }

    /// Adds the tracks of a plan, and returns the source track of each input.
    private func add(
        _ plan: ProxyPlan, to reencoder: Reencoder, _ fileType: MediaFileType
    ) throws(MediaError) -> [ObjectIdentifier: AssetTrack] {
        var tracks: [ObjectIdentifier: AssetTrack] = [:]
        reencoder.reader.threadsPerOutput = request.threads
        for track in ([plan.video] + plan.audio).sorted(by: { $0.index < $1.index }) {
            do throws(MediaError) {
                let input: AssetWriterInput?
                if track.mediaType == .video {
                    try plan.videoSettings.checkBitRate(for: track, in: fileType)
                    input = try reencoder.add(
                        track, video: .encode(plan.videoSettings),
                        appliesPreferredTrackTransform: plan.turn != .identity)
                } else {
                    let settings = request.audioSettings(for: track, in: fileType)
                    let isCopied = request.audio == .copy
                    if !isCopied { try settings.checkBitRate(for: track, in: fileType) }
                    input = try reencoder.add(track, audio: isCopied ? .copy : .encode(settings))
                }
                if let input { tracks[ObjectIdentifier(input)] = track }
            } catch {
                throw error.at(path: asset.displayName)
            }
        }
        return tracks
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

    /// The number of seconds to process; `nil` if unknown.
    var length: Double? {
        let end = min(range.end, video.timeRange.end.isNumeric ? video.timeRange.end : .positiveInfinity)
        let length = (end - range.start).seconds
        return length > 0 && length.isFinite ? length : nil
    }

    /// - Throws: The errors of opening the file, `noSuchTrack`, the errors of resolving the range, and those of the
    ///   settings.
    init(_ request: ProxyRequest, asset: Asset) throws(MediaError) {
        let tracks = try asset.loadNow(.tracks)
        do throws(MediaError) {
            if let wanted = request.videoTrack {
                video = try wanted.track(of: .video, in: tracks)
            } else {
                video = try TrackSelector.standardTrack(of: .video, in: tracks)
            }
            audio =
                request.audio == .none ? [] : try TrackSelector.audioTracks(request.audioTracks, in: tracks)
            guard !video.isAttachedPicture else {
                throw MediaError(.noSuchTrack, "has a cover picture and no video that a proxy could be made of")
            }
            let trim = try TrimRange(
                start: request.start, end: request.end, of: video, in: asset, threads: request.threads)
            (range, requested) = (trim.range, trim.requested)
            namesEnd = request.end?.isMoment ?? false
            turn = request.turn(of: video)
            videoSettings = try request.videoSettings(for: video).carrying(video, of: asset, turnedBy: turn)
        } catch {
            throw error.at(path: asset.displayName)
        }
        self.asset = asset
        hasSquarePixels = request.hasSquarePixels
        threads = request.threads
        leftOut = LeftOutTrack.others(of: tracks, besides: [video] + audio)
    }

}

/// Records what is read from each track while a proxy is made, to verify the finished file.
///
/// Each pair of reader output and writer input reports on its own thread.
final class ProxyWitness: Sendable {
    private let state = Mutex<[Int: Seen]>([:])

    /// A summary of the buffers of one track, on the source's time line.
    struct Seen: Sendable {
        /// The presentation time of each video frame; empty for audio.
        var pictures: [MediaTime] = []
        /// The start time of the first buffer.
        var start: MediaTime?
        /// The end time of the last buffer.
        var end = MediaTime.negativeInfinity
        /// The sample rate of decoded audio in Hz; 0 for other tracks.
        var sampleRate = 0
        /// The channel layout of decoded audio.
        var channelLayout: ChannelLayout?
    }

    /// Records a buffer.
    func see(_ buffer: SampleBuffer, of track: AssetTrack) {
        let time = buffer.presentationTime
        guard time.isNumeric, !buffer.attachments.contains(.isNotShown) else { return }
        state.withLock { $0[track.index, default: Seen()].add(buffer, at: time, isPicture: track.mediaType == .video) }
    }

    /// Returns the summary of a track, or `nil` if nothing was read.
    func seen(of track: AssetTrack) -> Seen? { state.withLock { $0[track.index] } }
}

extension ProxyWitness.Seen {
    fileprivate mutating func add(_ buffer: SampleBuffer, at time: MediaTime, isPicture: Bool) {
        if isPicture { pictures.append(time) }
        start = min(start ?? time, time)
        if buffer.duration.isNumeric { end = max(end, time + buffer.duration) }
        if let sound = buffer.audioBuffer, sampleRate == 0 {
            sampleRate = sound.sampleRate
            channelLayout = sound.channelLayout
        }
    }
}
