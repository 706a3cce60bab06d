import ArgumentParser
import AssetKit
import EmbeddedFiles
import MediaBase
import MediaJobs
import SystemPackage

/// `mediatool proxy`: writes small editing copies of video files.
struct ProxyCommand: FilesCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy",
        abstract: "Writes a small editing copy of a video, in which every frame and sample keeps its time.",
        discussion: """
            After writing, frame count, frame times, duration, audio tracks, start timecode, shape, clean aperture, \
            rotation, colours, languages, names and dates are compared with the source. A proxy whose frames, times, \
            timecode or shape differ is not kept, and the exit code is 2. Other differences are warnings. Subtitles and \
            data tracks are left out; --json lists them.

            Presets:
            \(ProxyPreset.all.map { "  \($0.name): \($0.summary)" }.joined(separator: "\n"))

            Examples:
              mediatool proxy interview.mov -o interview-proxy.mov
              mediatool proxy *.mov -o 'proxies/{stem}.mov' --preset prores-proxy --jobs 2
              mediatool proxy clip.mxf -o clip.mov --preset dnxhr-lb --json
              mediatool proxy clip.mov -o web/ --preset web --square-pixels --bake-rotation
              mediatool proxy clip.mov -o part.mov --start 01:00:10:00 --end 01:00:20:00
              mediatool proxy clip.mov -o clip-360.mp4 --height 360 --crf 28 --audio copy
            """)

    @Argument(help: ArgumentHelp("Video files; - is standard input.", valueName: "file"))
    var files: [InputArgument] = []

    @OptionGroup(title: "Output") var output: MediaOutputOptions
    @OptionGroup(title: "Encoding") var encoding: ProxyEncodingOptions
    @OptionGroup(title: "Content") var content: ProxyContentOptions
    @OptionGroup(title: "Result") var result: OutputFormatOptions
    @OptionGroup(title: "Run") var running: RunOptions

    func validate() throws {
        guard !encoding.listPresets else { return }
        if !result.schema { try encoding.encoding.check(content.content.audio) }
        try checkNamedFiles()
    }

    var runOptions: RunOptions { running }
    var onlyPrints: Bool { encoding.listPresets || result.schema }

    func checkFiles() throws {
        try result.checkFiles(files)
        guard !result.schema else { return }
        try output.check(files, ending: encoding.preset.fileType.rawValue) { path throws(MediaError) in
            _ = try request.preset.fileType(of: path)
        }
    }

    func run() throws {
        if encoding.listPresets {
            return try StandardOutput.write(CommonArgument.table(ProxyPreset.all.map { ($0.name, $0.summary) }))
        }
        if result.schema { return try StandardOutput.write(EmbeddedFile.proxySchema.text) }
        let ending = encoding.preset.fileType.rawValue
        let run = FilesRun(
            files, result, running, .init(writing: { [output] in [output.path(for: $0.path, ending: ending)] }))
        throw try run.transcode(to: output, ending: ending) { [request, running] file in
            var opening = running.assetOptions()
            opening.isPrecise = request.needsExactDuration
            opening.spoolsPipe = opening.isPrecise
            return TranscodeJob(request, .media(file.asset(opening)))
        }
    }

    /// The request that the options make.
    var request: TranscodeRequest {
        var request = TranscodeRequest(preset: .proxy(encoding.preset))
        encoding.encoding.apply(to: &request)
        content.content.apply(to: &request)
        running.apply(to: &request)
        request.hasSquarePixels = content.squarePixels
        request.bakesRotation = content.bakeRotation
        return request
    }
}

/// The options of `proxy` that select the content and its rotation.
struct ProxyContentOptions: ParsableArguments {
    @Flag(help: "Make pixels square, as some players need; the shape may then differ by a fraction of a pixel.")
    var squarePixels = false

    @Flag(help: "Rotate the frames themselves instead of declaring the rotation.")
    var bakeRotation = false

    @OptionGroup var content: ContentOptions
}

extension ProxyPreset: ExpressibleByArgument {
    /// Makes the preset with a name.
    public init?(argument: String) {
        guard let preset = Self.all.first(where: { $0.name == argument }) else { return nil }
        self = preset
    }

    /// The names, for the help.
    public static var allValueStrings: [String] { all.map(\.name) }

    /// The names, for shell completion.
    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

    /// The name.
    public var defaultValueDescription: String { name }
}

/// The options of `proxy` that control encoding.
struct ProxyEncodingOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: "The kind of proxy; '--list-presets' describes them.")
    var preset = ProxyPreset.all[0]

    @Flag(help: "Print the presets and do nothing else.")
    var listPresets = false

    @OptionGroup var encoding: EncodingOptions

    func validate() throws {
        if preset.videoCodec.isIntraOnly, encoding.isQualityGiven {
            throw ValidationError("'--crf', '--bitrate', '--gop' and '--speed' are for H.264, not for \(preset.name).")
        }
    }
}
