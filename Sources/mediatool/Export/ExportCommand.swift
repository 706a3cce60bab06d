import ArgumentParser
import AssetKit
import EmbeddedFiles
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
              mediatool export cut.otio -o cut.mov --preset proRes422LPCM \\
                  --start 01:00:10:00 --json
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
        try encoding.encoding.check(content.audio)
        try output.check(files, ending: Self.ending) { path throws(MediaError) in
            _ = try ExportJob.fileType(of: path)
        }
    }

    func run() throws {
        if encoding.listPresets { return try StandardOutput.write(ExportText.presets) }
        if result.schema { return try StandardOutput.write(EmbeddedFile.exportSchema.text) }
        let request = try request()
        let run = MediaFilesRun(
            files: files, output: output, ending: Self.ending, running: running,
            form: result.form(fileCount: files.count))
        try run(reading: [encoding.watermark].compactMap(\.self)) { [running] part in
            var request = request
            request.opening = running.assetOptions()
            return try ExportJob(request, try Self.input(part, request)).run(
                to: part.path, outputs: part.outputs, makesFolder: part.makesFolder, progress: part.progress)
        } warnings: { report in
            (report.damage.isEmpty ? [] : [report.damage.text]) + report.warnings
        } line: {
            ExportText.text(of: $0)
        }
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

    /// The timeline that an input is, or the media in it.
    private static func input(
        _ part: MediaFilesRun.Part, _ request: ExportRequest
    ) throws(MediaError) -> ExportJob.Input {
        let timeline = try TimelineOptions.file(part.file, until: request.opening.limits.deadline)
        if let timeline { return .timeline(timeline) }
        var opening = request.opening
        opening.isPrecise = request.needsExactDuration
        opening.spoolsPipe = opening.isPrecise
        return .media(part.asset(opening))
    }
}
