package import AssetKit
package import MediaBase
internal import SystemCalls
package import SystemPackage
internal import Threading

/// Makes a small editing copy of one file: the command `proxy`.
///
/// The source is read once; decoding, scaling and encoding overlap. The finished file is compared with the source before
/// it is put in place: it comes into being whole and right, or not at all.
package struct ProxyJob: Sendable {
    private let request: ProxyRequest
    private let asset: Asset

    /// Makes a job.
    package init(_ request: ProxyRequest, asset: Asset) {
        self.request = request
        self.asset = asset
    }

    /// Whether an asset should be opened with exact timing for a request.
    package static func needsPreciseTiming(_ request: ProxyRequest) -> Bool { request.needsExactDuration }

    /// The type of file that a path names.
    ///
    /// - Throws: `invalidArgument` for another type than a proxy can have.
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
    ///   - path: Where it is to be.
    ///   - outputs: Puts the file in place.
    ///   - makesFolder: Whether the folder that it goes to is made where there is none.
    ///   - progress: Is told now and then how far it has come, on whatever thread.
    /// - Throws: what reading, encoding and writing throw; `verificationFailed` where the finished file is not what it
    ///   should be. Nothing remains of it then.
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
            // The file has a name of its own only now.
            var unnamed = error
            unnamed.path = nil
            throw unnamed
        }
    }

    private func run(_ reencoder: Reencoder) throws(MediaError) {
        let run: () throws(MediaError) -> Void = reencoder.run
        do throws(MediaError) { try run() } catch { throw error.at(path: asset.displayName) }
    }

    /// Adds the tracks of a plan; gives the track of each input.
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
