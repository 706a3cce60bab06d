import ArgumentParser
import AssetKit
import EmbeddedFiles
import MediaBase
import MediaJobs
import Pictures
import SystemPackage

/// `mediatool export`: writes a part of a media file, or a timeline.
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

    /// The extension of outputs in a folder.
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
        request.timelines = timelines.settings
        request.start = content.start
        request.end = content.end
        request.videoTrack = content.videoTrack
        request.audioTracks = content.audioTracks
        request.audio = content.audio
        request.isStrict = running.strict
        request.threads = running.threads ?? 0
        return request
    }

    /// Returns the timeline in an input, or the input as media.
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

/// The options of `export` that control encoding.
struct ExportEncodingOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "How the file is encoded; '--list-presets' tells more. (default: highestQuality, for .webm "
                + "vp9HighestQuality, and what is usual for files of sound alone)", valueName: "preset"))
    var preset: Named<ExportSession.Preset>?

    @Flag(help: "Print the presets and do nothing else.")
    var listPresets = false

    @Flag(
        name: [.customLong("copy"), .customLong("passthrough")],
        help: """
            Take video, audio and subtitles as they are: quick and without loss; what the file cannot hold is left out, \
            with a warning. '--preset passthrough' is the same.
            """)
    var copy = false

    @Option(
        help: ArgumentHelp(
            "Where a copy begins: at --start exactly, or at the keyframe before it, as other programs copy.",
            valueName: "exact|keyframe"))
    var copyFrom: ExportRequest.CopyStart?

    @Option(
        help: ArgumentHelp(
            "The frames' size; pictures are fitted into the middle. (default: the source's, a timeline's largest)",
            valueName: "WxH"),
        transform: Self.size)
    var size: Dimensions?

    @Option(
        help: ArgumentHelp(
            "Frames a second: 25, 29.97, 24000/1001. (default: the source's own times, the timeline's rate)",
            valueName: "rate"),
        transform: Self.rate)
    var frameRate: Rational?

    @Option(help: ArgumentHelp("A PNG picture that lies over all frames, with its transparency.", valueName: "file"))
    var watermark: PathArgument?

    @Option(
        help: ArgumentHelp(
            "The watermark's left and upper edge, in the frames' pixels. (default: the lower right corner)",
            valueName: "x,y"),
        transform: Self.place)
    var watermarkPlace: Place?

    @OptionGroup var encoding: EncodingOptions

    /// A position in a frame.
    struct Place {
        var x: Int
        var y: Int
    }

    private var copies: Bool { copy || preset?.value == .passthrough }

    func validate() throws {
        if copy, let preset, preset.value != .passthrough {
            throw ValidationError("'--copy' and '--preset \(preset.value.rawValue)' exclude each other.")
        }
        if copyFrom != nil, !copies { throw ValidationError("'--copy-from' is for '--copy'.") }
        if watermark == nil, watermarkPlace != nil {
            throw ValidationError("'--watermark-place' is for '--watermark'.")
        }
        if copies, size != nil || frameRate != nil || watermark != nil || encoding.isAnyGiven {
            throw ValidationError("Samples that are copied keep their size, rate and encoding.")
        }
    }

    /// Applies the options to a request.
    ///
    /// - Throws: The errors of reading the watermark.
    func apply(to request: inout ExportRequest) throws {
        if let watermark {
            let path = watermark.path
            let bytes = try SmallFile.bytes(of: path, atMost: 64 << 20, as: "a watermark")
            let image: Bitmap
            do throws(MediaError) { image = try PNGFile.decode(bytes) } catch { throw error.at(path: path.string) }
            request.watermark = .init(image: image, place: watermarkPlace.map { ($0.x, $0.y) })
        }
        request.copyFrom = copyFrom ?? .exact
        request.preset = copy ? .passthrough : preset?.value
        request.size = size
        request.frameRate = frameRate
        request.height = encoding.height
        request.quality = encoding.crf
        request.bitRate = encoding.bitrate
        request.keyFrameInterval = encoding.gop
        request.speed = encoding.speed?.value
        request.audioCodec = encoding.audioCodec?.value
        request.audioBitRate = encoding.audioBitrate
    }

    /// Parses two even numbers separated by `x`.
    private static func size(_ text: String) throws -> Dimensions {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        guard sides.count == 2, sides.allSatisfy({ (2...16384).contains($0) && $0 % 2 == 0 }) else {
            throw ValidationError("write a size as 1920x1080, with even numbers")
        }
        return Dimensions(width: sides[0], height: sides[1])
    }

    private static func place(_ text: String) throws -> Place {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 2, let x = numbers[0], let y = numbers[1], max(x.magnitude, y.magnitude) <= 100_000
        else { throw ValidationError("write a place as 20,20") }
        return Place(x: x, y: y)
    }

    private static func rate(_ text: String) throws -> Rational {
        guard let rate = Rational(text) ?? Double(text).flatMap({ Rational(rate: $0) }), rate >= .one,
            rate <= Rational(240)
        else { throw ValidationError("write a rate from 1 to 240 as 25, 29.97 or 24000/1001") }
        return rate
    }
}

extension ExportRequest.CopyStart: ExpressibleByArgument {}

/// Formats results of `export` as readable text.
enum ExportText {
    /// The list of presets, one per line.
    static var presets: String {
        let presets = ExportSession.Preset.allCases
        let width = presets.map(\.rawValue.count).max() ?? 0
        return presets.map { preset in
            preset.rawValue + String(repeating: " ", count: width - preset.rawValue.count + 2) + preset.summary + "\n"
        }.joined()
    }

    /// Returns a line about a file that was written.
    static func text(of report: ExportReport) -> String {
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
        parts.append("\(report.duration.seconds) s")
        parts.append(QuantityText.bytes(report.sizeBytes))
        if report.copied { parts.append("copied") }
        if let timecode = report.startTimecode { parts.append("from \(timecode)") }
        if !report.leftOut.isEmpty {
            let tracks = report.leftOut.map { "\($0.trackIndex) (\($0.type))" }.joined(separator: ", ")
            parts.append("without track \(tracks)")
        }
        return report.output.displayPath + ": " + parts.joined(separator: ", ")
    }
}
