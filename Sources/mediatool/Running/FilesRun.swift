import ArgumentParser
import AssetKit
import Isolation
import MediaBase
import MediaJobs
import Network
import SystemCalls
import SystemPackage
import TextLayout
import Threading
import Timelines

/// Runs a command's work on each of its files, in parallel and with progress, and prints warnings and results in order.
///
/// The work is done by workers in processes of their own, unless ``RunOptions/noSandbox`` is set.
struct FilesRun: Sendable {
    /// The inputs.
    let files: [InputArgument]
    /// The options that control the run.
    let running: RunOptions
    /// The form in which results are printed.
    let form: OutputFormatOptions.Form
    /// The set of the run's outputs, none of which may replace an input.
    let outputs: OutputFileSet
    /// The progress of the run, with one part per file.
    let progress: Progress

    /// The files that a command reads and writes in addition to its inputs.
    struct Files: Sendable {
        /// Additional inputs.
        var inputs: [InputArgument] = []
        /// Additional files that are read.
        var reading: [PathArgument] = []
        /// Returns the folder of an input's outputs, in which these may be read again; `nil` if none is.
        var outputFolder: (@Sendable (InputArgument) -> FilePath)?
        /// The options of the timelines that inputs may be; `nil` if they are media only.
        var timelines: TimelineOptions?
        /// Returns the names of an input's outputs, in which parts in braces stand for others.
        var writing: @Sendable (InputArgument) -> [FilePath] = { _ in [] }
    }

    /// The other files of the run.
    let others: Files

    /// Prepares a run over files, and looks up which of them no output may replace.
    init(_ files: [InputArgument], _ result: OutputFormatOptions, _ running: RunOptions, _ others: Files = Files()) {
        self.files = files
        self.running = running
        self.others = others
        // How many files are in a list, or in a part of it, does not change the form.
        form = result.form(fileCount: running.batch.filesFrom == nil ? files.count : max(2, files.count))
        WorkMemory.share(by: running.jobs)
        outputs = OutputFileSet(
            force: running.force,
            inputs: others.reading.compactMap { FileIdentity(of: $0.path) }
                + files.compactMap(\.identity) + others.inputs.compactMap(\.identity))
        progress = Progress(
            label: files.count == 1 ? files[0].displayName : "\(files.count) files", mode: running.progress,
            isQuiet: running.quiet, parts: files.count)
    }

    /// Runs the work and prints the results.
    ///
    /// - Parameters:
    ///   - chosen: The printer of the results; `nil` for the usual one.
    ///   - make: Makes the result of one input, with its number; called on any thread.
    ///   - warnings: Returns the warnings about a result.
    ///   - inspect: Returns what else a result means for the run.
    ///   - collect: Receives the number of each input and the attachment of its result.
    ///   - lines: Returns a result as readable lines.
    /// - Returns: The exit code.
    func callAsFunction<Report: Encodable & Sendable>(
        printer chosen: ResultPrinter? = nil,
        _ make: @escaping @Sendable (Int, InputArgument) throws -> Report, warnings: (Report) -> [String],
        inspect: (Result<Report, MediaError>, _ name: String) -> FileInspection = { _, _ in FileInspection() },
        collect: (Int, [UInt8]) -> Void = { _, _ in },
        lines: (Report, _ name: String) -> [String]
    ) throws -> ExitCode {
        var printer = chosen ?? ResultPrinter(form: form)
        var missingCharacters: Set<Unicode.Scalar> = []
        func outcome(_ result: Result<Report, MediaError>, _ index: Int) throws -> FileOutcome {
            let file = files[index]
            var outcome = try printer.outcome(result, of: file, inspect(result, file.displayName)) {
                lines($0, file.displayName)
            }
            if case .success(let report) = result, !running.quiet { outcome.warnings = warnings(report) }
            return outcome
        }
        var delivered = 0
        func deliver(_ outcome: FileOutcome, _ index: Int) throws {
            StatusLine.clear()
            delivered += 1
            progress.finishPart(index, isFailed: !outcome.isComplete, seconds: Double(outcome.milliseconds) / 1000)
            if delivered == files.count { progress.finish() }
            warn(outcome.warnings, files[index])
            missingCharacters.formUnion(outcome.missingCharacters)
            collect(index, outcome.attachment)
            try printer.print(outcome)
        }
        if running.noSandbox {
            if readsNetwork { NetworkAccess.delegate(to: remoteSource) }
            try concurrentForEach(Array(files.enumerated()), workers: running.jobs) { number, file in
                Result { try make(number, file) }
            } deliver: { index, result in
                try deliver(try outcome(result.mapError { MediaError(describing: $0) }, index), index)
            }
        } else {
            try supervise { index in
                let result = Result { try make(index, files[index]) }
                return try outcome(result.mapError { MediaError(describing: $0) }, index)
            } deliver: { index, result in
                switch result {
                case .success(let outcome): try deliver(outcome, index)
                case .failure(let error): try deliver(try outcome(.failure(error), index), index)
                }
            }
        }
        if !missingCharacters.isEmpty, !running.quiet {
            StandardError.warn(MissingGlyphs.warning(missingCharacters), path: nil)
        }
        return try printer.finish()
    }

    /// Reports warnings about an input, unless the run is quiet.
    func warn(_ warnings: [String], _ file: InputArgument) {
        guard !running.quiet else { return }
        for warning in warnings { StandardError.warn(warning, path: file.displayName) }
    }

    /// Opens the timeline in an input, and reports its warnings; returns `nil` for media, of which nothing is consumed.
    func timeline(
        in file: InputArgument, _ timelines: TimelineOptions, opening: Asset.Options
    ) throws(MediaError) -> OpenTimeline? {
        guard let found = try TimelineOptions.file(file, requiresSchema: true, until: opening.limits.deadline) else {
            return nil
        }
        let timeline = try OpenTimeline(found, timelines.settings, opening: opening)
        warn(timeline.warnings, file)
        return timeline
    }

    /// Returns a closure that receives the progress of one file: the completed fraction, and the processed seconds.
    func report(part: Int) -> @Sendable (Double, Double) -> Void {
        let begun = ContinuousClock.now
        return { [progress] fraction, seconds in
            progress.update(
                part: part, fraction: fraction, speed: QuantityText.speed(seconds, in: ContinuousClock.now - begun))
        }
    }

    /// Runs a command that writes one media file per input; throws the exit code.
    ///
    /// - Parameters:
    ///   - output: The output option.
    ///   - ending: The extension of outputs in a folder; `nil` if the output is a folder itself.
    ///   - job: Returns the job for one input, on any thread.
    func transcode(
        to output: MediaOutputOptions, ending: String?,
        _ job: @escaping @Sendable (InputArgument) throws -> TranscodeJob
    ) throws -> ExitCode {
        try callAsFunction { number, file in
            let report = report(part: number)
            return try job(file).run(
                to: output.path(for: file.path, ending: ending), outputs: outputs.setForAnotherJob(),
                makesFolder: output.namesFolder
            ) { report($0.fraction, $0.seconds) }
        } warnings: { report in
            (report.damage.isEmpty ? [] : [report.damage.text]) + report.warnings + (report.comparison?.changes ?? [])
        } inspect: { result, _ in
            FileInspection(duration: try? result.get().duration)
        } lines: { report, _ in
            [Self.line(of: report)]
        }
    }

    /// Returns a line about a media file that was written.
    private static func line(of report: TranscodeReport) -> String {
        var parts: [String] = []
        if let timeline = report.timeline {
            parts.append("\(timeline.clips) clips of \(timeline.mediaFiles) files")
        }
        if let video = report.video { parts.append("\(video.codec) \(video.encodedSize)") }
        if !report.audio.isEmpty {
            parts.append(
                report.audio.map { "\($0.codec) \($0.channelLayout ?? "\($0.channels) channels")" }
                    .joined(separator: " + "))
        }
        if let video = report.video { parts.append("\(video.frameCount) frames") }
        if report.comparison == nil { parts.append("\(report.duration.seconds) s") }
        parts.append(QuantityText.bytes(report.sizeBytes))
        if let segments = report.segments { parts.append("\(segments.count) segments") }
        if report.copied == true { parts.append("copied") }
        if let timecode = report.startTimecode { parts.append("from \(timecode)") }
        if !report.leftOut.isEmpty {
            let tracks = report.leftOut.map { "\($0.trackIndex) (\($0.type))" }.joined(separator: ", ")
            parts.append("without track \(tracks)")
        }
        return report.output.displayPath + ": " + parts.joined(separator: ", ")
    }
}
