package import AssetKit
package import MediaBase
package import SystemPackage
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
        let record = TranscodeRecord(range: plan.range)
        do throws(MediaError) {
            var transcode = Transcode(
                asset: plan.asset, tracks: try tracks(of: plan, fileType), range: plan.range,
                isStrict: request.isStrict,
                threads: request.threads, name: name)
            transcode.startTimecode = plan.startTimecode
            transcode.copies = request.copies
            if plan.requested == nil {
                transcode.errorOfNothing =
                    plan.sources.first { $0.statesContent(inFragments: false) }?.errorOfNothing
            }
            var report = try transcode.run(
                to: path, as: fileType, outputs: outputs, makesFolder: makesFolder, record: record, progress: progress
            ) { finished, damage throws(MediaError) in
                var options = Asset.Options()
                // Without an edit list, only the samples show what the file contains.
                options.isPrecise =
                    finished.writer.inputs.contains { $0.settings == .stored } && !fileType.keepsEdits
                var report = try ExportReport(
                    plan, record, finished.writer.inputs, made: Asset(path: finished.path, options: options),
                    keepsEdits: fileType.keepsEdits, keepsStarts: fileType.keepsLateStarts,
                    undecodable: finished.undecodable)
                report.damage = damage
                report.warnings += finished.writer.metadataLeftOut.map(\.description)
                return report
            }
            report.output = path
            report.preset = request.preset(for: fileType).rawValue
            report.copied = request.copies
            return report
        } catch {
            throw error.at(path: name)
        }
    }

    /// The input's name for errors that have no path.
    private var name: String {
        if case .media(let asset) = input { asset.displayName } else { "the timeline" }
    }

    /// Returns the tracks of the output with their settings.
    private func tracks(
        of plan: ExportPlan, _ fileType: MediaFileType
    ) throws(MediaError) -> [ExportSession.Track] {
        var tracks: [ExportSession.Track] = []
        switch plan.video {
        case .none: break
        case .track(let track) where request.copies: tracks.append(.video(track, .copy))
        case .track(let track):
            if var settings = try request.videoSettings(for: track, in: fileType) {
                // Apply the display transform to the frames if the file cannot store it.
                let isTurned = !fileType.keepsTurns && track.preferredTransform != .identity
                if isTurned { settings.dimensions = settings.dimensions.map(track.preferredTransform.apply(to:)) }
                try settings.checkBitRate(for: track, in: fileType)
                tracks.append(.video(track, .encode(settings), turned: isTurned))
            }
        case .frames(let composition, let sources):
            let made = AssetTrack(framesOf: composition)
            if let settings = try request.videoSettings(for: made, in: fileType) {
                try settings.checkBitRate(for: made, in: fileType)
                tracks.append(.frames(composition, of: sources, settings))
            }
        }
        if let mix = plan.mix, let first = plan.audio.first {
            let settings = request.audioSettings(for: first, in: fileType)
            try settings.checkBitRate(for: first, in: fileType)
            return tracks + [.mix(mix, of: plan.audio, settings)]
        }
        for track in plan.audio {
            let settings = request.audioSettings(for: track, in: fileType)
            let isCopied = request.copies || request.audio == .copy
            if !isCopied { try settings.checkBitRate(for: track, in: fileType) }
            tracks.append(.audio(track, isCopied ? .copy : .encode(settings)))
        }
        return tracks + plan.subtitles.map { .subtitles($0) }
    }
}
