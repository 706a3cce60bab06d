package import AssetKit
internal import FileOutput
internal import Inspection
package import MediaBase
internal import SystemCalls
package import SystemPackage
internal import Threading
package import Timelines

/// Writes one media file of one input: a proxy, a part of a media file, or a timeline.
///
/// The source is read once; decoding, scaling and encoding overlap. The finished file is checked before it is put in
/// place, so the output is either complete and correct or does not exist.
package struct TranscodeJob: Sendable {
    private let request: TranscodeRequest
    private let input: Input

    /// The input of a job.
    package enum Input: Sendable {
        /// A media file.
        case media(Asset)
        /// A timeline, which refers to media files.
        case timeline(TimelineFile)
    }

    /// Makes a job.
    package init(_ request: TranscodeRequest, _ input: Input) {
        self.request = request
        self.input = input
    }

    /// Writes the file.
    ///
    /// - Parameters:
    ///   - path: The path of the output.
    ///   - outputs: The set that puts the file in place.
    ///   - makesFolder: True to make the output's folder if it does not exist.
    ///   - progress: Called from time to time with the progress, on any thread.
    /// - Throws: The errors of reading, encoding and writing; an error that names the timeline element that cannot be
    ///   exported; `verificationFailed` if the finished file is not as expected. No output remains in that case.
    package func run(
        to path: FilePath, outputs: OutputFileSet, makesFolder: Bool = false,
        progress: (@Sendable (JobProgress) -> Void)? = nil
    ) throws(MediaError) -> TranscodeReport {
        let plan = try plan(for: path)
        let asset = plan.asset
        let output = try outputs.limited(to: asset.outputAllowance(copying: request.copies))
            .beginning(path, makesFolder: makesFolder)
        let session = ExportSession(asset: asset, tracks: plan.tracks)
        session.timeRange = plan.range
        session.startTimecode = plan.startTimecode
        let record = TranscodeRecord(range: plan.range, keepsTimes: request.isProxy)
        let report = Mutex<TranscodeReport?>(nil)
        let leading = plan.tracks.firstIndex(where: \.isVideo) ?? 0
        var job = ExportSession.JobOptions()
        job.isTimeRangeExact = true
        job.passesOverUndecodableAudio = !request.isStrict
        job.threads = request.threads
        job.observer = { [weak session] track, buffer in
            record.add(buffer, to: track)
            guard let progress, let session, track == leading, buffer.presentationTime.isNumeric else { return }
            let seconds = (buffer.presentationTime - plan.range.start).seconds
            progress(JobProgress(fraction: session.fractionCompleted, seconds: seconds))
        }
        job.verification = { [request, name] finished throws(MediaError) in
            let damage = DamageSummary(finished.damage)
            if request.isStrict, let error = damage.strictError { throw error.at(path: name) }
            do throws(MediaError) {
                let made = try Self.report(path, plan, record, finished, damage)
                report.withLock { $0 = made }
            } catch {
                // Remove the temporary path; the file gets its own name only now.
                var unnamed = error
                unnamed.path = nil
                throw unnamed
            }
        }
        session.job = job
        do throws(MediaError) {
            try session.exportNow(to: output, as: plan.fileType)
        } catch {
            let isEmpty = session.isPrepared && plan.tracks.indices.allSatisfy { record[$0] == nil }
            if error.code == .invalidArgument, isEmpty, let cause = plan.errorOfNothing { throw cause.at(path: name) }
            throw error.at(path: name)
        }
        guard let report = report.withLock({ $0 }) else {
            throw MediaError(.libraryFailure, "the finished file was not checked", path: path.string)
        }
        return report
    }

    /// The input's name for errors that have no path.
    private var name: String {
        if case .media(let asset) = input { asset.displayName } else { "the timeline" }
    }

    private func plan(for path: FilePath) throws(MediaError) -> TranscodePlan {
        let fileType = try request.preset.fileType(of: path)
        switch input {
        case .media(let asset):
            try asset.loadContents()
            return try TranscodePlan(request, file: asset, fileType: fileType)
        case .timeline(let file):
            try TranscodePlan.checkTimeline(request)
            let timeline = try OpenTimeline(
                file, request.export.timelines, size: request.export.size, frameRate: request.export.frameRate,
                opening: request.export.opening)
            let plan = try TranscodePlan(request, timeline: timeline, fileType: fileType)
            try timeline.refuse(path)
            return plan
        }
    }

    /// Checks the finished file, and makes the report.
    private static func report(
        _ path: FilePath, _ plan: TranscodePlan, _ record: TranscodeRecord, _ finished: ExportSession.Finished,
        _ damage: DamageSummary
    ) throws(MediaError) -> TranscodeReport {
        let writer = finished.writer
        var options = Asset.Options()
        // Without an edit list, only the samples show what the file contains.
        options.isPrecise =
            !plan.request.isProxy && !plan.fileType.keepsEdits && writer.inputs.contains { $0.settings == .stored }
        let made = Asset(path: finished.path, options: options)
        var checks = try TranscodeChecks(plan, record, inputs: writer.inputs, made: made)
        let timecode = writer.inputs.first { $0.mediaType == .video }?.startTimecode
        try checks.run(.init(startTimecode: timecode, metadata: writer.metadata, chapters: writer.chapters))
        return try TranscodeReport(path, checks, writer, undecodable: finished.undecodable, damage: damage)
    }
}

extension TranscodePlan {
    /// The cause, in the source, if nothing at all can be written.
    fileprivate var errorOfNothing: MediaError? {
        guard !request.isProxy, requested == nil, timeline == nil else { return nil }
        return tracks.flatMap(\.sources).first {
            $0.mediaType != .subtitle && $0.statesContent(inFragments: false)
        }?.errorOfNothing
    }
}

extension OutputFileSet {
    /// Opens a media file for writing; see ``begin(_:goesBack:)``.
    ///
    /// - Parameter makesFolder: True to make the output's folder if it does not exist.
    fileprivate func beginning(_ path: FilePath, makesFolder: Bool) throws(MediaError) -> OutputFile {
        try makesFolder ? beginInFolder(path, goesBack: true) : begin(path, goesBack: true)
    }
}
