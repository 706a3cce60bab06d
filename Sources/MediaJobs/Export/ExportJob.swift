package import AssetKit
package import MediaBase
internal import SystemCalls
package import SystemPackage
internal import Threading
package import Timelines

/// Writes a part of a media file, or a timeline, to a new file, for the command `export`.
///
/// The finished file is verified before it is put in place, so the output is either complete or does not exist.
package struct ExportJob: Sendable {
    private let request: ExportRequest
    private let input: Input

    /// The input of an export.
    package enum Input: Sendable {
        /// A media file.
        case media(Asset)
        /// A timeline, which refers to media files.
        case timeline(TimelineFile)
    }

    /// Makes a job.
    package init(_ request: ExportRequest, _ input: Input) {
        self.request = request
        self.input = input
    }

    /// Returns the file type for the extension of a path.
    ///
    /// - Throws: `invalidArgument` if the extension is unknown.
    package static func fileType(of path: FilePath) throws(MediaError) -> MediaFileType {
        guard let type = path.extension.flatMap({ MediaFileType(pathExtension: $0) }) else {
            throw MediaError(
                .invalidArgument,
                "the type of file is told by its name; let it end with .mov, .mp4, .mkv, .m4a, .wav or the like",
                path: path.string)
        }
        return type
    }

    /// Writes the file.
    ///
    /// - Parameters:
    ///   - path: The path of the output.
    ///   - outputs: The set that puts the file in place.
    ///   - makesFolder: True to make the output's folder if it does not exist.
    ///   - progress: Called from time to time with the progress, on any thread.
    /// - Throws: The errors of reading, encoding and writing, and an error that names the timeline element that cannot
    ///   be exported. No output remains in that case.
    package func run(
        to path: FilePath, outputs: OutputFileSet, makesFolder: Bool = false,
        progress: (@Sendable (JobProgress) -> Void)? = nil
    ) throws(MediaError) -> ExportReport {
        let fileType = try Self.fileType(of: path)
        let plan: ExportPlan
        switch input {
        case .media(let asset):
            try asset.loadContents()
            plan = try ExportPlan(request, file: asset, fileType: fileType)
        case .timeline(let file):
            try ExportPlan.checkTimeline(request)
            let timeline = try OpenTimeline(
                file, request.timelines, size: request.size, frameRate: request.frameRate, opening: request.opening)
            plan = try ExportPlan(request, timeline: timeline, fileType: fileType)
            try timeline.refuse(path)
        }
        let limited = outputs.limited(to: try plan.asset.outputAllowance(copying: request.copies))
        let writer = try AssetWriter(output: limited.beginning(path, makesFolder: makesFolder), fileType: fileType)
        let reencoder = try Reencoder(asset: plan.asset, writer: writer, rounded: plan.range)
        reencoder.reader.threadsPerOutput = request.threads
        reencoder.passesOverUndecodableAudio = !request.isStrict
        do throws(MediaError) { try add(plan, to: reencoder, fileType) } catch { throw error.at(path: name) }
        let witness = ExportWitness(range: plan.range)
        let length = plan.length
        let leading = writer.inputs.first.map { ObjectIdentifier($0) }
        reencoder.observer = { input, buffer in
            witness.see(buffer, in: input)
            guard let progress, ObjectIdentifier(input) == leading, buffer.presentationTime.isNumeric else { return }
            let done = (buffer.presentationTime - plan.range.start).seconds
            progress(JobProgress(fraction: length.map { done / $0 } ?? 0, seconds: done))
        }
        let made = Mutex<ExportReport?>(nil)
        writer.verification = {
            [request, name, reader = reencoder.reader, weak writer, weak reencoder] temporary throws(MediaError) in
            let damage = DamageSummary(reader.damage)
            if request.isStrict, let error = damage.strictError { throw error.at(path: name) }
            guard let writer, let reencoder else { return }
            do throws(MediaError) {
                var options = Asset.Options()
                // Without an edit list, only the samples show what the file contains.
                options.isPrecise = writer.inputs.contains { $0.settings == .stored } && !fileType.keepsEdits
                var report = try ExportReport(
                    plan, witness, writer.inputs, made: Asset(path: temporary, options: options),
                    keepsEdits: fileType.keepsEdits, keepsStarts: fileType.keepsLateStarts,
                    undecodable: reencoder.undecodable)
                report.damage = damage
                report.warnings += writer.metadataLeftOut.map(\.description)
                made.withLock { $0 = report }
            } catch {
                // Remove the temporary path; the file gets its own name only now.
                throw MediaError(error.code, error.message, cause: error.cause)
            }
        }
        do throws(MediaError) {
            try reencoder.runNow()
        } catch {
            // If nothing was written, report the error of the input, which is the cause.
            if error.code == .invalidArgument, plan.requested == nil,
                writer.inputs.allSatisfy({ witness.seen(in: $0) == nil }),
                let track = plan.sources.first(where: { $0.statesContent(inFragments: false) })
            {
                throw track.errorOfNothing.at(path: name)
            }
            throw error.at(path: name)
        }
        guard var report = made.withLock({ $0 }) else {
            throw MediaError(.libraryFailure, "the finished file was not looked at", path: path.string)
        }
        report.output = path
        report.preset = request.preset(for: fileType).rawValue
        report.copied = request.copies
        return report
    }

    /// The input's name for errors that have no path.
    private var name: String {
        if case .media(let asset) = input { asset.displayName } else { "the timeline" }
    }

    /// Adds the tracks of a plan.
    private func add(
        _ plan: ExportPlan, to reencoder: Reencoder, _ fileType: MediaFileType
    ) throws(MediaError) {
        switch plan.video {
        case .none: break
        case .track(let track) where request.copies:
            let input = try reencoder.add(track, video: .copy)
            if let timecode = plan.startTimecode { input?.startTimecode = timecode }
        case .track(let track):
            if var settings = try request.videoSettings(for: track, in: fileType) {
                // Apply the display transform to the frames if the file cannot store it.
                let isTurned = !fileType.keepsTurns && track.preferredTransform != .identity
                if isTurned { settings.dimensions = settings.dimensions.map(track.preferredTransform.apply(to:)) }
                try settings.checkBitRate(for: track, in: fileType)
                try reencoder.add(track, video: .encode(settings), appliesPreferredTrackTransform: isTurned)
            }
        case .frames(let composition, let tracks):
            let made = AssetTrack(framesOf: composition)
            if let settings = try request.videoSettings(for: made, in: fileType) {
                try settings.checkBitRate(for: made, in: fileType)
                let input = try reencoder.add(composition, of: tracks, encodedWith: settings)
                input.startTimecode = plan.startTimecode
            }
        }
        if let mix = plan.mix, let first = plan.audio.first {
            let settings = request.audioSettings(for: first, in: fileType)
            try settings.checkBitRate(for: first, in: fileType)
            try reencoder.add(mix, of: plan.audio, encodedWith: settings)
            return
        }
        for track in plan.audio {
            let settings = request.audioSettings(for: track, in: fileType)
            let isCopied = request.copies || request.audio == .copy
            if !isCopied { try settings.checkBitRate(for: track, in: fileType) }
            try reencoder.add(track, audio: isCopied ? .copy : .encode(settings))
        }
        for track in plan.subtitles { try reencoder.add(subtitles: track) }
    }
}

extension OutputFileSet {
    /// Opens a media file for writing; see ``begin(_:goesBack:)``.
    ///
    /// - Parameter makesFolder: True to make the output's folder if it does not exist.
    func beginning(_ path: FilePath, makesFolder: Bool) throws(MediaError) -> OutputFile {
        do {
            let folder = path.removingLastComponent()
            if makesFolder, !folder.isEmpty { try createFolder(at: folder) }
            return try begin(path, goesBack: true)
        } catch let error as MediaError {
            throw error
        } catch let error as Errno {
            throw MediaError(error, "make the folder", path: path)
        } catch {
            throw MediaError(.inputOutput, "cannot write the file", path: path.string, cause: "\(error)")
        }
    }
}

/// Records what is written to each track of an export, to verify the finished file.
///
/// Each pair of reader output and writer input reports on its own thread.
final class ExportWitness: Sendable {
    private let state = Mutex<[ObjectIdentifier: Seen]>([:])
    private let range: MediaTimeRange

    /// A summary of the buffers of one track.
    struct Seen: Sendable {
        /// The number of buffers shown within the range.
        var shown = 0
        /// The start time of the first buffer that is not marked as hidden, on the source's time line.
        var start = MediaTime.positiveInfinity
        /// The start time of the first buffer, including hidden ones.
        var earliest = MediaTime.positiveInfinity
        /// The start time of the first shown buffer that starts in the range.
        var firstInside = MediaTime.positiveInfinity
        /// The end time of that buffer.
        var firstInsideEnd = MediaTime.positiveInfinity
    }

    /// - Parameter range: The part of the source that is shown.
    init(range: MediaTimeRange) { self.range = range }

    /// Records a buffer.
    func see(_ buffer: SampleBuffer, in input: AssetWriterInput) {
        let time = buffer.presentationTime
        guard time.isNumeric else { return }
        guard !buffer.attachments.contains(.isNotShown) else {
            return state.withLock { state in
                let known = state[ObjectIdentifier(input)]?.earliest ?? .positiveInfinity
                state[ObjectIdentifier(input), default: Seen()].earliest = min(known, time)
            }
        }
        let end = buffer.duration.isNumeric ? time + buffer.duration : time
        let isShown = time < range.end && (time >= range.start || end > range.start)
        state.withLock { state in
            var seen = state[ObjectIdentifier(input)] ?? Seen()
            if isShown { seen.shown += 1 }
            seen.start = min(seen.start, time)
            seen.earliest = min(seen.earliest, time)
            if isShown, time >= range.start, time < seen.firstInside {
                (seen.firstInside, seen.firstInsideEnd) = (time, end)
            }
            state[ObjectIdentifier(input)] = seen
        }
    }

    /// Returns the summary of a track, or `nil` if it received no buffers.
    func seen(in input: AssetWriterInput) -> Seen? { state.withLock { $0[ObjectIdentifier(input)] } }
}
