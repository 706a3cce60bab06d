import ArgumentParser
import AssetKit
import MediaBase
import MediaJobs
import SystemPackage

/// `mediatool export`: a part of a media file, or a timeline.
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes a part of a media file, or renders an OpenTimelineIO timeline.",
        discussion: """
            A part of a file is exact to the frame and the sample. With --copy nothing is encoded: what is stored \
            begins with a picture that needs no other, and QuickTime and MPEG-4 files say that it is shown from the \
            moment asked for; --json has both.

            A timeline (.otio, JSON) names its media by paths from its own folder. Cuts, gaps, dissolves, linear time \
            warps, freeze frames and tracks inside tracks are rendered; what cannot be is an error that names the \
            element. docs/export.md has the list.

            Examples:
              mediatool export cut.otio -o cut.mov
              mediatool export cut.otio -o cut.mp4 --size 1280x720 --frame-rate 25 --crf 20
              mediatool export cut.otio -o cut.mov --preset proRes422LPCM --start 01:00:10:00 --json
              mediatool export cut.otio -o mix.wav
              mediatool export cut.otio -o draft.mp4 --preset 960x540 --watermark draft.png
              mediatool export interview.mov -o part.mov --start 1:30 --end 2:10.5
              mediatool export interview.mov -o part.mov --start 1:30 --end 2:10.5 --copy
              mediatool export *.mov -o 'small/{stem}.mp4' --preset 1280x720
            """)

    @Argument(
        help: ArgumentHelp(
            "Media files, or timelines; which they are is told by their content. - is standard input.",
            valueName: "file"))
    var files: [PathArgument] = []

    @OptionGroup(title: "Output") var output: MediaOutputOptions
    @OptionGroup(title: "Encoding") var encoding: ExportEncodingOptions
    @OptionGroup(title: "Content") var content: ContentOptions
    @OptionGroup(title: "Timelines") var timelines: TimelineOptions
    @OptionGroup(title: "Result") var result: OutputFormatOptions
    @OptionGroup(title: "Run") var running: RunOptions

    /// What outputs in a folder end with.
    private static let ending = "mov"

    func validate() throws {
        guard !encoding.listPresets else { return }
        try result.checkFiles(files)
        guard !result.schema else { return }
        try output.check(files, ending: Self.ending) { path throws(MediaError) in
            _ = try ExportJob.fileType(of: path)
        }
    }

    func run() throws {
        if encoding.listPresets { return try StandardOutput.write(ExportText.presets) }
        if result.schema { return try StandardOutput.write(ExportSchema.text) }
        let inputs = files + [encoding.watermark].compactMap(\.self)
        let work = Work(
            request: try request(), output: output, running: running,
            outputs: OutputFileSet(force: running.force, inputs: inputs.compactMap(\.identity)),
            progress: Progress(
                label: files.count == 1 ? files[0].path.displayPath : "\(files.count) files", mode: running.progress,
                isQuiet: running.quiet, parts: files.count))
        var printer = ResultPrinter(form: result.form(fileCount: files.count))
        try concurrentForEach(Array(files.enumerated()), workers: running.jobs) { part, file in
            Result { try work.run(file, part: part) }
        } deliver: { index, result in
            let path = files[index].path
            if index == files.count - 1 { work.progress.finish() }
            if let report = try? result.get(), !running.quiet {
                if !report.damage.isEmpty { StandardError.warn(report.damage.text, path: path) }
                for warning in report.warnings { StandardError.warn(warning, path: path) }
            }
            try printer.print(result, of: path) { ExportText.text(of: $0) }
        }
        throw try printer.finish()
    }

    private func request() throws -> ExportRequest {
        var request = ExportRequest()
        try encoding.apply(to: &request)
        timelines.apply(to: &request)
        request.start = content.start
        request.end = content.end
        request.videoTrack = content.videoTrack
        request.audioTracks = content.audioTracks
        request.audio = content.audio
        request.isStrict = running.strict
        request.threads = running.threads ?? 0
        return request
    }

    /// What is done with each file, from whatever thread.
    private struct Work: Sendable {
        let request: ExportRequest
        let output: MediaOutputOptions
        let running: RunOptions
        let outputs: OutputFileSet
        let progress: Progress

        func run(_ file: PathArgument, part: Int) throws -> ExportReport {
            let begun = ContinuousClock.now
            let path = output.path(for: file.path, ending: ExportCommand.ending)
            var request = request
            request.opening = running.assetOptions()
            return try ExportJob(request, input(file, request)).run(
                to: path, outputs: outputs.setForAnotherJob(), makesFolder: output.namesFolder
            ) { done in
                progress.update(
                    part: part, fraction: done.fraction,
                    speed: ProxyText.speed(done.seconds, in: ContinuousClock.now - begun))
            }
        }

        private func input(_ file: PathArgument, _ request: ExportRequest) throws -> ExportJob.Input {
            let timeline = try TimelineOptions.file(file, until: request.opening.limits.deadline)
            if let timeline { return .timeline(timeline) }
            var opening = request.opening
            opening.isPrecise = request.needsExactDuration
            return .media(
                file.isStandardStream
                    ? Asset.standardInput(options: opening) : Asset(path: file.path, options: opening))
        }
    }
}
