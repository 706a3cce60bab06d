import ArgumentParser
import MediaBase
import MediaJobs
import SystemPackage

/// `mediatool thumbs`: still images of video files.
struct ThumbsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thumbs", abstract: "Write still images of a video at any times, in one sweep over the file.",
        discussion: """
            An image shows the picture that is on screen at its time; what was delivered for each time is printed, or \
            as JSON with --json. A time outside the track is an error for that time only, and the exit code is then 2.

            Times: \(TimeExpression.forms). Percentages and end refer to the whole track.

            Examples:
              mediatool thumbs --at 12.5 clip.mov
                  writes clip-001.png into the current folder
              mediatool thumbs --count 10 --width 320 -o stills/ *.mp4
                  writes ten images of each file into the folder stills
              mediatool thumbs --every 10 --tolerance keyframe --json \\
                  -o 'out/{stem}-{seconds}.{ext}' clip.mov
                  keyframes only, named by the time asked for, and a manifest
              mediatool thumbs --at 50% -o - clip.mov > middle.png
            """)

    @OptionGroup(title: "Images") var images: ThumbsOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "A folder (made if missing), a template for names, or - for one image to standard output. Placeholders: "
                + "\(ThumbsNameTemplate.placeholders); seconds and timecode are those asked for. "
                + "(default: {stem}-{index}.{ext} in the current folder)",
            valueName: "output"))
    var output: PathArgument?

    @Option(help: "The format of the files.")
    var format = ThumbsFormat.png

    @OptionGroup(title: "Result") var result: OutputFormatOptions

    @OptionGroup(title: "Run") var running: RunOptions

    @Argument(help: ArgumentHelp("Video files; - is standard input.", valueName: "file"))
    var files: [PathArgument] = []

    func validate() throws {
        guard !result.schema else { return }
        try result.checkFiles(files)
        guard images.request(threads: 0) != nil else {
            throw ValidationError("Say which images: '--at', '--every' or '--count'.")
        }
        try checkNames(destination())
    }

    func run() throws {
        guard !result.schema, let request = images.request(threads: running.threadsPerFile) else {
            return try StandardOutput.write(ThumbsSchema.text)
        }
        let job = ThumbsJob(request, to: try destination(), format: format)
        let inputs = files.map {
            ThumbsJob.Input(
                path: $0.path, isStandardInput: $0.isStandardStream, allowsNestedFiles: running.allowNested)
        }
        let outputs = OutputFileSet(force: running.force, inputs: files.compactMap(\.identity))
        let progress = Progress(
            label: files.count == 1 ? files[0].path.displayPath : "\(files.count) files", mode: running.progress,
            isQuiet: running.quiet, parts: files.count)
        var printer = ResultPrinter(form: result.form(fileCount: files.count))
        try concurrentForEach(Array(inputs.indices), workers: running.jobs) {
            index -> Result<ThumbsReport, any Error> in
            Result {
                try job.run(on: inputs[index], outputs: outputs) { progress.update(part: index, fraction: $0) }
            }
        } deliver: { index, outcome in
            StatusLine.clear()
            let path = inputs[index].path
            let report = try? outcome.get()
            var failures = report?.failures ?? []
            if running.strict, let error = report?.damage?.strictError { failures.append(error) }
            Self.report(failures, of: path)
            if let damage = report?.damage, !running.strict, !running.quiet {
                StandardError.warn(damage.text, path: path)
            }
            try printer.print(outcome, of: path, isComplete: failures.isEmpty) { $0.text }
        }
        progress.finish()
        throw try printer.finish()
    }
}

extension ThumbsCommand {
    private func destination() throws -> ThumbsDestination {
        guard let output else { return .currentFolder }
        do throws(MediaError) {
            return try ThumbsDestination(output.path, endsWithSlash: output.endsWithSlash)
        } catch {
            throw ValidationError(error.message + ".")
        }
    }

    /// Refuses names that are sure to collide, before any file is opened.
    private func checkNames(_ destination: ThumbsDestination) throws {
        let count = images.request(threads: 0)?.count
        guard case .files(let template) = destination else {
            if result.isJSON {
                throw ValidationError("'-o -' and '--json' exclude each other: both want standard output.")
            }
            if files.count > 1 || count ?? 1 > 1 { throw ValidationError("'-o -' takes one image of one file.") }
            return
        }
        if count ?? 1 > 1, ![.index, .seconds, .timecode].contains(where: template.contains) {
            throw ValidationError("Several images need names of their own: put {index} into the output's name.")
        }
        guard files.count > 1 else { return }
        guard template.contains(.stem) else {
            throw ValidationError("Several files need names of their own: put {stem} into the output's name.")
        }
        var stems: [[UInt8]: PathArgument] = [:]
        for file in files {
            let stem = ThumbsJob.Input(path: file.path, isStandardInput: file.isStandardStream).stem
            if let other = stems.updateValue(file, forKey: stem) {
                throw ValidationError(
                    "'\(other.path.displayPath)' and '\(file.path.displayPath)' would give images of the same names.")
            }
        }
    }

    /// Tells on standard error what was not delivered, in a few lines however much it is.
    private static func report(_ failures: [MediaError], of path: FilePath) {
        let shown = 5
        for failure in failures.prefix(shown) { StandardError.report(failure.at(path: path.displayPath)) }
        guard failures.count > shown else { return }
        StandardError.report(
            MediaError(
                .outOfRange, "\(failures.count - shown) more images were not made either", path: path.displayPath))
    }
}

extension ThumbsFormat: ExpressibleByArgument {}

extension ThumbsReport {
    /// A line for each image that was written to a file.
    fileprivate var text: String {
        var lines = ""
        for image in images {
            guard case .success(let made) = image.result, let file = made.file else { continue }
            let size = "\(made.size.width)x\(made.size.height)"
            let line =
                [StandardError.singleLine(file.displayPath), size, made.actual.clockText()]
                + (made.isKeyframe ? ["keyframe"] : [])
            lines += line.joined(separator: "  ") + "\n"
        }
        return lines
    }
}
