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

    /// Writes the file, or the folder of segments.
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
        let limited = try outputs.limited(to: asset.outputAllowance(copying: request.copies))
        let output = try Output(request, path, limited, makesFolder: makesFolder)
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
        job.verification = { [request, name, output] finished throws(MediaError) in
            let damage = DamageSummary(finished.damage)
            if request.isStrict, let error = damage.strictError { throw error.at(path: name) }
            do throws(MediaError) {
                let made = try Self.report(path, output, plan, record, finished, damage)
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
            switch output {
            case .file(let file): try session.exportNow(to: file, as: plan.fileType)
            case .segments(let folder, let interval):
                try session.exportNow(segmentsOf: plan.fileType, every: interval, named: path) {
                    segment throws(MediaError) in try folder.receive(segment)
                }
                try folder.putInPlace()
            }
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

    /// The output of a job.
    private enum Output {
        case file(OutputFile)
        case segments(SegmentFolder, every: MediaTime)

        init(
            _ request: TranscodeRequest, _ path: FilePath, _ outputs: OutputFileSet, makesFolder: Bool
        ) throws(MediaError) {
            if let interval = request.export.segmentInterval {
                self = .segments(try SegmentFolder(path, outputs: outputs), every: interval)
            } else {
                self = .file(try outputs.beginning(path, makesFolder: makesFolder))
            }
        }

        /// Returns the movie that was written, before it is in its place.
        func movie(_ finished: ExportSession.Finished, _ options: Asset.Options) -> Asset {
            if case .segments(let folder, _) = self {
                return Asset(source: folder.movie, name: "the segments", options: options)
            }
            return Asset(path: finished.path ?? "", options: options)
        }
    }

    /// The input's name for errors that have no path.
    private var name: String {
        if case .media(let asset) = input { asset.displayName } else { "the timeline" }
    }

    private func plan(for path: FilePath) throws(MediaError) -> TranscodePlan {
        let fileType = request.export.segmentInterval == nil ? try request.preset.fileType(of: path) : .mp4
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
        _ path: FilePath, _ output: Output, _ plan: TranscodePlan, _ record: TranscodeRecord,
        _ finished: ExportSession.Finished,
        _ damage: DamageSummary
    ) throws(MediaError) -> TranscodeReport {
        let writer = finished.writer
        var options = Asset.Options()
        // Without an edit list, only the samples show what the file contains.
        options.isPrecise =
            !plan.request.isProxy && !plan.fileType.keepsEdits && writer.inputs.contains { $0.settings == .stored }
        let made = output.movie(finished, options)
        var checks = try TranscodeChecks(plan, record, inputs: writer.inputs, made: made)
        let timecode = writer.inputs.first { $0.mediaType == .video }?.startTimecode
        try checks.run(.init(startTimecode: timecode, metadata: writer.metadata, chapters: writer.chapters))
        var report = try TranscodeReport(path, checks, writer, undecodable: finished.undecodable, damage: damage)
        if case .segments(let folder, _) = output {
            try folder.writePlaylists(made.loadNow(.tracks))
            report.segments = folder.segments.map(TranscodeReport.Segment.init)
        }
        return report
    }
}

extension TranscodePlan {
    /// The cause, in the source, if nothing at all can be written.
    fileprivate var errorOfNothing: MediaError? {
        guard !request.isProxy, requested == nil, timeline == nil else { return nil }
        return tracks.flatMap(\.sources).first {
            [.video, .audio].contains($0.mediaType) && $0.statesContent(inFragments: false)
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
    /// Cover pictures are excluded, because they are metadata.
    ///
    /// - Parameters:
    ///   - tracks: All tracks of the input.
    ///   - written: The tracks that are written.
    ///   - videoReason: The reason if no video is written; `nil` if video was not requested.
    ///   - statesTimecode: True if the output states the timecode of its first frame, which timecode tracks do in the
    ///     input; they are excluded then.
    static func others(
        of tracks: [AssetTrack], besides written: [AssetTrack], videoReason: String? = nil, statesTimecode: Bool = true
    ) -> [LeftOutTrack] {
        let taken = Set(written.map(\.index))
        let hasVideo = written.contains { $0.mediaType == .video }
        return tracks.filter {
            !taken.contains($0.index) && !(statesTimecode && $0.mediaType == .timecode) && !$0.isAttachedPicture
        }.map { track in
            let reason =
                switch track.mediaType {
                case .video where hasVideo: "one video track is written"
                case .video: videoReason ?? notAskedFor
                case .audio: notAskedFor
                case .timecode: "no video track whose frames it counts is written"
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
