import ArgumentParser
import AssetKit
import EmbeddedFiles
import MediaBase
import MediaJobs
import SystemPackage

/// `mediatool proxy`: writes small editing copies of video files.
struct ProxyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy",
        abstract: "Writes a small editing copy of a video, in which every picture and sample keeps its place.",
        discussion: """
            Frame count, the time of every picture, duration, sound tracks, start timecode, shape, clean aperture, \
            rotation, colours, languages, names and dates are compared with the source after writing. A proxy \
            whose frames, times, timecode or shape differ is not kept: the exit code is then 2. Other differences are \
            warnings. Subtitles and data tracks are left out; --json says which.

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
    var files: [PathArgument] = []

    @OptionGroup(title: "Output") var output: MediaOutputOptions
    @OptionGroup(title: "Encoding") var encoding: ProxyEncodingOptions
    @OptionGroup(title: "Content") var content: ProxyContentOptions
    @OptionGroup(title: "Result") var result: OutputFormatOptions
    @OptionGroup(title: "Run") var running: RunOptions

    func validate() throws {
        guard !encoding.listPresets else { return }
        try result.checkFiles(files)
        guard !result.schema else { return }
        try encoding.encoding.check(content.content.audio)
        try output.check(files, ending: encoding.preset.fileType.rawValue) { path throws(MediaError) in
            _ = try ProxyJob.fileType(of: path)
        }
        _ = try request()
    }

    func run() throws {
        if encoding.listPresets { return try StandardOutput.write(ProxyText.presets) }
        if result.schema { return try StandardOutput.write(EmbeddedFile.proxySchema.text) }
        let request = try request()
        let run = MediaFilesRun(
            files: files, output: output, ending: request.preset.fileType.rawValue, running: running,
            form: result.form(fileCount: files.count))
        try run { [running] part in
            var opening = running.assetOptions()
            opening.isPrecise = ProxyJob.needsPreciseTiming(request)
            opening.spoolsPipe = opening.isPrecise
            return try ProxyJob(request, asset: part.asset(opening)).run(
                to: part.path, outputs: part.outputs, makesFolder: part.makesFolder, progress: part.progress)
        } warnings: { report in
            (report.damage.isEmpty ? [] : [report.damage.text]) + report.warnings + report.changes
        } line: {
            ProxyText.text(of: $0)
        }
    }

    private func request() throws -> ProxyRequest {
        var request = ProxyRequest(preset: encoding.preset)
        try encoding.apply(to: &request)
        content.apply(to: &request)
        request.isStrict = running.strict
        request.threads = running.threads ?? 0
        return request
    }
}

/// The options of `proxy` that select the content and its rotation.
struct ProxyContentOptions: ParsableArguments {
    @Flag(help: "Make pixels square, as some players need; the shape may then differ by part of a pixel.")
    var squarePixels = false

    @Flag(help: "Turn the pictures, instead of marking them as to be turned.")
    var bakeRotation = false

    @OptionGroup var content: ContentOptions

    /// Applies the options to a request.
    func apply(to request: inout ProxyRequest) {
        request.hasSquarePixels = squarePixels
        request.bakesRotation = bakeRotation
        request.start = content.start
        request.end = content.end
        request.videoTrack = content.videoTrack
        request.audioTracks = content.audioTracks
        request.audio = content.audio
    }
}

extension ProxyPreset: ExpressibleByArgument {
    /// Makes the preset with a name.
    public init?(argument: String) { self.init(named: argument) }

    /// The names, for the help.
    public static var allValueStrings: [String] { all.map(\.name) }

    /// The names, for shell completion.
    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

    /// The name.
    public var defaultValueDescription: String { name }
}

/// The options of `proxy` that control encoding.
struct ProxyEncodingOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: "What kind of proxy is made; '--list-presets' tells more.")
    var preset = ProxyPreset.all[0]

    @Flag(help: "Print the presets and do nothing else.")
    var listPresets = false

    @OptionGroup var encoding: EncodingOptions

    func validate() throws {
        if preset.videoCodec.isIntraOnly, encoding.isQualityGiven {
            throw ValidationError("'--crf', '--bitrate', '--gop' and '--speed' are for H.264, not for \(preset.name).")
        }
    }

    /// Applies the options to a request.
    func apply(to request: inout ProxyRequest) throws {
        request.height = encoding.height
        request.quality = encoding.crf
        request.bitRate = encoding.bitrate
        request.keyFrameInterval = encoding.gop
        request.speed = encoding.speed?.value
        request.audioCodec = encoding.audioCodec?.value
        request.audioBitRate = encoding.audioBitrate
    }
}

/// Formats results of `proxy` as readable text.
enum ProxyText {
    /// The list of presets, one per line.
    static var presets: String {
        let width = ProxyPreset.all.map(\.name.count).max() ?? 0
        return ProxyPreset.all.map { preset in
            preset.name + String(repeating: " ", count: width - preset.name.count + 2) + preset.summary + "\n"
        }.joined()
    }

    /// Returns a line about a proxy that was written.
    static func text(of report: ProxyReport) -> String {
        var parts = [
            "\(report.video.codec) \(report.video.encodedSize)", "\(report.video.frameCount) frames",
            QuantityText.bytes(report.sizeBytes),
        ]
        if !report.audio.isEmpty {
            parts.insert(
                report.audio.map { "\($0.codec) \($0.channelLayout ?? "\($0.channels) channels")" }
                    .joined(separator: " + "), at: 1)
        }
        if let timecode = report.startTimecode { parts.append("from \(timecode)") }
        if !report.leftOut.isEmpty {
            let tracks = report.leftOut.map { "\($0.trackIndex) (\($0.type))" }.joined(separator: ", ")
            parts.append("without track \(tracks)")
        }
        return report.output.displayPath + ": " + parts.joined(separator: ", ")
    }
}
