import ArgumentParser
import AssetKit
import EmbeddedFiles
import Inspection
import MediaBase
import MediaJobs
import Pictures
import SystemPackage

/// `mediatool export`: writes a part of a media file, or a timeline.
struct ExportCommand: FilesCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes a part of a media file, or renders an OpenTimelineIO timeline.",
        discussion: """
            A part of a file is exact to the frame and the sample. With --copy nothing is encoded: the stored video \
            starts with a keyframe, and QuickTime and MPEG-4 files declare that it is shown from the requested time; \
            --json has both times.

            A timeline (.otio, JSON) names its media by paths relative to its own folder. Cuts, gaps, dissolves, linear \
            time warps, freeze frames and nested tracks are rendered; anything else is an error that names the element. \
            docs/export.md has the list.

            With --segments the output is a folder for HTTP Live Streaming: index.m3u8, media.m3u8, init.mp4 and \
            fragmented MPEG-4 segments that begin with keyframes.

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
              mediatool export interview.mov -o stream/ --segments 6 --preset 1280x720
            """)

    @Argument(
        help: ArgumentHelp(
            "Media files or timelines, distinguished by their content. - is standard input.",
            valueName: "file"))
    var files: [InputArgument] = []

    @OptionGroup(title: "Output") var output: MediaOutputOptions
    @OptionGroup(title: "Encoding") var encoding: ExportEncodingOptions
    @OptionGroup(title: "Content") var content: ContentOptions
    @OptionGroup(title: "Timelines") var timelines: TimelineOptions
    @OptionGroup(title: "Result") var result: OutputFormatOptions
    @OptionGroup(title: "Run") var running: RunOptions

    /// The extension of outputs in a folder; `nil` for a folder of segments.
    private var ending: String? { encoding.segments == nil ? "mov" : nil }

    func validate() throws {
        guard !encoding.listPresets else { return }
        if !result.schema { try encoding.encoding.check(content.audio) }
        try checkNamedFiles()
    }

    var runOptions: RunOptions { running }
    var onlyPrints: Bool { encoding.listPresets || result.schema }

    func checkFiles() throws {
        try result.checkFiles(files)
        guard !result.schema else { return }
        try output.check(files, ending: ending) { path throws(MediaError) in
            if ending != nil { _ = try TranscodeRequest.Preset.export(nil).fileType(of: path) }
        }
    }

    func run() throws {
        if encoding.listPresets {
            let presets = ExportSession.Preset.allCases.map { (name: $0.rawValue, summary: $0.summary) }
            return try StandardOutput.write(CommonArgument.table(presets))
        }
        if result.schema { return try StandardOutput.write(EmbeddedFile.exportSchema.text) }
        var request = TranscodeRequest(preset: .export(encoding.chosenPreset))
        encoding.apply(to: &request)
        content.apply(to: &request)
        running.apply(to: &request)
        request.export.timelines = timelines.settings
        let run = FilesRun(
            files, result, running,
            .init(
                reading: [encoding.watermark].compactMap(\.self), timelines: timelines,
                writing: { [output, ending] in
                    let path = output.path(for: $0.path, ending: ending)
                    return ending == nil ? SegmentFolder.patterns(in: path) : [path]
                }))
        let watermark = try encoding.readWatermark(timeout: running.timeout)
        throw try run.transcode(to: output, ending: ending) { [request, running] file in
            var request = request
            request.export.watermark = try watermark?.decoded()
            request.export.opening = running.assetOptions()
            return TranscodeJob(request, try Self.input(file, request))
        }
    }

    /// Returns the timeline in an input, or the input as media.
    private static func input(
        _ file: InputArgument, _ request: TranscodeRequest
    ) throws(MediaError) -> TranscodeJob.Input {
        var opening = request.export.opening
        if let timeline = try TimelineOptions.file(file, until: opening.limits.deadline) { return .timeline(timeline) }
        opening.isPrecise = request.needsExactDuration
        opening.spoolsPipe = opening.isPrecise
        return .media(file.asset(opening))
    }
}

/// The options of `export` that control encoding.
struct ExportEncodingOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The encoding of the file; '--list-presets' describes them. (default: highestQuality, for .webm "
                + "vp9HighestQuality, and the usual codec of the file type for audio files)", valueName: "preset"))
    var preset: Named<ExportSession.Preset>?

    @Flag(help: "Print the presets and do nothing else.")
    var listPresets = false

    @Flag(
        name: [.customLong("copy"), .customLong("passthrough")],
        help: """
            Copy video, audio, subtitles, timecode and data unchanged, quickly and without loss; tracks that the file \
            cannot hold are left out with a warning. The same as '--preset passthrough'.
            """)
    var copy = false

    @Option(
        help: ArgumentHelp(
            "Where a copy starts: exactly at --start, or at the keyframe before it, as other programs do.",
            valueName: "exact|keyframe"))
    var copyFrom: TranscodeRequest.CopyStart?

    @Option(
        help: ArgumentHelp(
            "Write a folder of HLS segments of about so many seconds each; -o names the folder.", valueName: "seconds"),
        transform: Self.interval)
    var segments: MediaTime?

    @Option(
        help: ArgumentHelp(
            "The frame size; video is fitted into the centre. (default: the source's, or a timeline's largest)",
            valueName: "WxH"),
        transform: { try CommonArgument.dimensions($0, in: 2...16384, areEven: true) })
    var size: Dimensions?

    @Option(
        help: ArgumentHelp(
            "Frames per second: 25, 29.97, 24000/1001. (default: the source's own times, or the timeline's rate)",
            valueName: "rate"),
        transform: Self.rate)
    var frameRate: Rational?

    @Option(help: ArgumentHelp("A PNG image to overlay on all frames, with its transparency.", valueName: "file"))
    var watermark: PathArgument?

    @Option(
        help: ArgumentHelp(
            "The watermark's left and upper edge in frame pixels. (default: the lower right corner)",
            valueName: "x,y"),
        transform: Self.place)
    var watermarkPlace: Place?

    @OptionGroup var encoding: EncodingOptions

    /// A position in a frame.
    struct Place {
        var x: Int
        var y: Int
    }

    /// The preset that was chosen by either option; `nil` for the default.
    var chosenPreset: ExportSession.Preset? { copy ? .passthrough : preset?.value }

    func validate() throws {
        if copy, let preset, preset.value != .passthrough {
            try CommonArgument.exclude("--copy", ("--preset \(preset.value.rawValue)", true))
        }
        let copies = chosenPreset == .passthrough
        if copyFrom != nil, !copies { throw ValidationError("'--copy-from' needs '--copy'.") }
        if watermark == nil, watermarkPlace != nil {
            throw ValidationError("'--watermark-place' needs '--watermark'.")
        }
        if copies, size != nil || frameRate != nil || watermark != nil || encoding.isAnyGiven {
            throw ValidationError("Samples that are copied keep their size, rate and encoding.")
        }
    }

    /// A watermark that is decoded only by the worker, since its file may be anybody's.
    struct Watermark {
        fileprivate let path: FilePath
        fileprivate let bytes: [UInt8]
        fileprivate let place: Place?

        /// Returns the image and its place.
        func decoded() throws(MediaError) -> TranscodeRequest.Watermark {
            do throws(MediaError) {
                return .init(image: try PNGFile.decode(bytes), place: place.map { ($0.x, $0.y) })
            } catch {
                throw error.at(path: path.string)
            }
        }
    }

    /// Reads the file of the watermark; `nil` without one.
    ///
    /// - Parameter timeout: The longest time that the writer of a FIFO is waited for; `nil` for no limit.
    func readWatermark(timeout: TimeoutArgument?) throws(MediaError) -> Watermark? {
        guard let path = watermark?.path else { return nil }
        let bytes = try WholeFile(as: "a watermark", atMost: 64 << 20, until: timeout?.deadline).read(path)
        return Watermark(path: path, bytes: bytes, place: watermarkPlace)
    }

    /// Applies the options to a request, except for the watermark.
    func apply(to request: inout TranscodeRequest) {
        encoding.apply(to: &request)
        request.export.copyFrom = copyFrom ?? .exact
        request.export.size = size
        request.export.frameRate = frameRate
        request.export.segmentInterval = segments
    }

    private static func interval(_ text: String) throws -> MediaTime {
        guard case .time(let time)? = try? TimeExpression(parsing: text), time.isNumeric,
            time >= MediaTime(value: 1, timescale: 10), time <= MediaTime(value: 3600, timescale: 1)
        else { throw ValidationError("write seconds from 0.1 to 3600, such as 6 or 2.002") }
        return time
    }

    private static func place(_ text: String) throws -> Place {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 2, let x = numbers[0], let y = numbers[1], max(x.magnitude, y.magnitude) <= 100_000
        else { throw ValidationError("write a position as 20,20") }
        return Place(x: x, y: y)
    }

    private static func rate(_ text: String) throws -> Rational {
        guard let rate = Rational(text) ?? Double(text).flatMap({ Rational(rate: $0) }), rate >= .one,
            rate <= Rational(240)
        else { throw ValidationError("write a rate from 1 to 240 as 25, 29.97 or 24000/1001") }
        return rate
    }
}

extension TranscodeRequest.CopyStart: ExpressibleByArgument {}
