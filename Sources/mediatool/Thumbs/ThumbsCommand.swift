import ArgumentParser
import AssetKit
import EmbeddedFiles
import MediaBase
import MediaJobs
import SystemCalls
import SystemPackage
import Threading
import Timelines

/// `mediatool thumbs`: writes still images of video files.
struct ThumbsCommand: FilesCommand {
    static let configuration = CommandConfiguration(
        commandName: "thumbs",
        abstract: "Writes still images of a video at any times, or sheets of them, in one pass over the file.",
        discussion: """
            An image shows the frame that is on screen at its time. The result for each time is printed, as JSON with \
            --json. A time outside the track is an error for that time only, and the exit code is then 2.

            For an OpenTimelineIO timeline (.otio, JSON), images show the frames that 'export' writes.

            Times: \(TimeExpression.forms). Percentages and end refer to the whole track.

            Examples:
              mediatool thumbs --at 12.5 clip.mov
                  writes clip-001.png into the current folder
              mediatool thumbs --count 10 --width 320 --format jpeg -o stills/ *.mp4
                  writes ten images of each file into the folder stills
              mediatool thumbs --every 10 --tolerance keyframe --json \\
                  -o 'out/{stem}-{seconds}.{ext}' clip.mov
                  keyframes only, named by the time asked for, and a manifest
              mediatool thumbs --at 50% --best -o - clip.mov > middle.png
              mediatool thumbs --scenes --exact-size 320x180 -o scenes/ clip.mov
              mediatool thumbs --sprite --every 5 -o 'web/{stem}-{index}.jpg' \\
                  --vtt web/ clip.mov
                  sheets of 10x10 small images, and web/clip.vtt for a player
              mediatool thumbs --contact-sheet --grid 4x5 -o clip.jpg clip.mov
                  up to twenty images with their times on one page
              mediatool thumbs --count 12 -o 'cut-{index}.jpg' cut.otio
                  twelve frames of a timeline
            """)

    @OptionGroup(title: "Images") var images: ThumbsOptions

    @OptionGroup(title: "Size") var size: ThumbsSizeOptions

    @OptionGroup(title: "Picture") var picture: ThumbsPictureOptions

    @OptionGroup(title: "Output") var output: ThumbsOutputOptions

    @OptionGroup(title: "Timelines") var timelines: TimelineOptions

    @OptionGroup(title: "Result") var result: OutputFormatOptions

    @OptionGroup(title: "Run") var running: RunOptions

    @Argument(help: ArgumentHelp("Video files; - is standard input.", valueName: "file"))
    var files: [InputArgument] = []

    mutating func validate() throws {
        guard !result.schema else { return }
        if case .file(let file)? = images.scenes { files.insert(file, at: 0) }
        try checkNamedFiles()
    }

    var runOptions: RunOptions { running }
    var onlyPrints: Bool { result.schema }

    func checkFiles() throws {
        try result.checkFiles(files)
        guard let request = request(threads: 0) else {
            throw ValidationError("Choose the images: '--at', '--every', '--count', '--keyframes' or '--scenes'.")
        }
        try checkNames(request.count)
    }

    func run() throws {
        guard !result.schema, let request = request(threads: running.threadsPerFile) else {
            return try StandardOutput.write(EmbeddedFile.thumbsSchema.text)
        }
        let output = try output.result(pad: size.pad)
        let job = ThumbsJob(request, output: output)
        let run = FilesRun(files, result, running, .init(timelines: timelines, writing: { _ in output.patterns }))
        // If files are processed in parallel, each file's lines wait for its turn.
        let isAlone = min(running.jobs, files.count) <= 1
        throw try run { [timelines] index, file in
            var lines: [String] = []
            let report = try job.run(on: try Self.input(file, timelines, run), outputs: run.outputs) {
                run.progress.update(part: index, fraction: $0)
            } announce: { event throws(MediaError) in
                guard run.form == .text else { return }
                if isAlone { try Self.print(event.line) } else { lines.append(event.line) }
            }
            return Outcome(report: report, lines: lines)
        } warnings: { outcome in
            [outcome.report.damage?.text].compactMap(\.self) + outcome.report.warnings
        } inspect: { result, path in
            let failures = (try? result.get().report.failures) ?? []
            return FileInspection(
                isComplete: failures.isEmpty, errors: Self.shown(failures, of: path),
                missingCharacters: (try? result.get().report.missingCharacters) ?? [],
                duration: (try? result.get())?.report.duration)
        } lines: { outcome, _ in
            outcome.lines
        }
    }
}

/// The result of one file, and the lines about it that are not printed yet.
private struct Outcome: Encodable, Sendable {
    let report: ThumbsReport
    let lines: [String]

    /// Encodes the report.
    func encode(to encoder: any Encoder) throws { try report.encode(to: encoder) }
}

extension ThumbsCommand {
    /// The request and the outputs; `nil` without times.
    var parts: (ThumbsRequest, ThumbsOutput)? {
        get throws {
            guard let request = request(threads: 0) else { return nil }
            return (request, try output.result(pad: size.pad))
        }
    }

    /// Returns the input of the images, which is a file or the timeline in it.
    private static func input(
        _ file: InputArgument, _ timelines: TimelineOptions, _ run: FilesRun
    ) throws(MediaError) -> ThumbsJob.Input {
        let options = run.running.assetOptions()
        let timeline = try run.timeline(in: file, timelines, opening: options)
        timeline?.protect(in: run.outputs)
        return ThumbsJob.Input(
            path: file.path, isStandardInput: file.isStandardStream, options: options, asset: try timeline?.asset(),
            open: file.asset)
    }

    private func request(threads: Int) -> ThumbsRequest? {
        images.request(sheetCount: output.imagesPerSheet, threads: threads).map { request in
            var request = request
            size.apply(to: &request, standard: output.standardSide)
            picture.apply(to: &request)
            request.isStrict = running.strict
            return request
        }
    }

    /// Refuses names that are certain to collide, before any file is opened.
    private func checkNames(_ count: Int?) throws {
        let output = try output.result(pad: size.pad)
        let names: [ThumbsNameTemplate?]
        switch output.images {
        case .standardOutput:
            if result.isJSON {
                throw ValidationError("'-o -' and '--json' exclude each other: both want standard output.")
            }
            if files.count > 1 || count ?? 1 > 1 { throw ValidationError("'-o -' takes one image of one file.") }
            names = [output.sheets?.names, output.index]
        case .files(let template):
            if count ?? 1 > 1, ![.index, .seconds, .timecode, .frame].contains(where: template.contains) {
                throw ValidationError("Several images need names of their own: put {index} into the output's name.")
            }
            names = [template, output.sheets?.names, output.index]
        case nil: names = [output.sheets?.names, output.index]
        }
        for file in files where !file.isStandardStream {
            for name in names.compactMap(\.self) {
                try file.refuseLeadingAway { FilePath(bytes: name.name(withStem: $0.inputStem)) }
            }
        }
        guard files.count > 1 else { return }
        guard names.compactMap(\.self).allSatisfy({ $0.contains(.stem) }) else {
            throw ValidationError("Several files need names of their own: put {stem} into the output's name.")
        }
        var stems: [[UInt8]: InputArgument] = [:]
        for file in files {
            let stem = file.path.inputStem
            if let other = stems.updateValue(file, forKey: stem) {
                throw ValidationError(
                    "'\(other.displayName)' and '\(file.displayName)' would give images of the same names.")
            }
        }
    }

    private static func print(_ line: String) throws(MediaError) {
        if Supervision.current == nil { StatusLine.clear() }
        do { try StandardOutput.write(StandardOutput.text(of: [line])) } catch { throw MediaError(describing: error) }
    }

    /// Returns the failures to report, which are at most a few.
    private static func shown(_ failures: [MediaError], of path: String) -> [MediaError] {
        var shown: [MediaError] = []
        // If a sheet cannot be written, all its images fail for the same reason.
        for failure in failures where shown.count < 5 && !shown.contains(failure) { shown.append(failure) }
        let more = failures.count { !shown.contains($0) }
        if more > 0 {
            let message = more == 1 ? "1 more image was not made either" : "\(more) more images were not made either"
            shown.append(MediaError(.outOfRange, message))
        }
        return shown.map { $0.at(path: path) }
    }
}

extension ThumbsEvent {
    /// The readable line for the event.
    var line: String {
        let parts: [String] =
            switch self {
            case .image(let made):
                [
                    made.file?.displayPath ?? "-", "\(made.size)", made.actual.clockText(),
                    made.isKeyframe ? "keyframe" : nil,
                ].compactMap(\.self)
            case .sheet(let file, let size, let count):
                [file.displayPath, "\(size)", count == 1 ? "1 image" : "\(count) images"]
            case .index(let file, let cues):
                [file.displayPath, cues == 1 ? "1 cue" : "\(cues) cues"]
            }
        return parts.joined(separator: "  ")
    }
}
