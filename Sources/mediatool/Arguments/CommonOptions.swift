import ArgumentParser
import AssetKit
import MediaBase
import MediaJobs
import SystemCalls
import SystemPackage

/// The options that select the form of the printed result, shared by all commands.
struct OutputFormatOptions: ParsableArguments {
    @Flag(help: "Print the result as JSON: one object for one file, an array for several.")
    var json = false

    @Flag(help: "Print the result as JSON lines: one object on a line of its own for each file.")
    var jsonl = false

    @Flag(help: "Print the result as a JSON array, also for one file.")
    var array = false

    @Flag(help: "Print the JSON Schema of the result and do nothing else.")
    var schema = false

    /// The form in which the results of a run are printed.
    enum Form: Hashable {
        /// Readable text.
        case text
        /// A JSON object.
        case object
        /// An array of JSON objects.
        case array
        /// JSON lines, with one object per line.
        case lines
    }

    /// Returns the form for a run over a number of files.
    func form(fileCount: Int) -> Form {
        if jsonl { return .lines }
        if array { return .array }
        if json { return fileCount == 1 ? .object : .array }
        return .text
    }

    /// True if the result is printed as JSON in any form.
    var isJSON: Bool { json || jsonl || array }

    func validate() throws {
        if jsonl, array { throw ValidationError("'--jsonl' and '--array' exclude each other.") }
    }

    /// Refuses a run without files, which the parser cannot do, as `--schema` needs none.
    func checkFiles(_ files: [InputArgument]) throws {
        for file in files { try file.validate() }
        if files.isEmpty, !schema { throw ValidationError("Missing expected argument '<file> ...'") }
        if files.count(where: \.isStandardStream) > 1 {
            throw ValidationError("Standard input ('-') can be named only once.")
        }
        let output = FileDescriptor.standardOutput
        if let status = try? output.stat(), status.type == .regular, let identity = FileIdentity(of: output),
            files.contains(where: { $0.identity == identity })
        {
            throw ValidationError("Standard output leads into an input file.")
        }
    }
}

extension Progress.Mode: ExpressibleByArgument {}

/// The options that control a run, shared by all commands.
struct RunOptions: ParsableArguments {
    /// The maximum number of threads, which no machine exceeds; more would only exhaust the system.
    private static let maximumWorkers = 1024

    @Flag(name: .shortAndLong, help: "Print neither progress nor warnings.")
    var quiet = false

    @Option(help: "When to show progress on standard error; json: as lines of JSON.")
    var progress = Progress.Mode.auto

    @Flag(help: "Replace outputs that exist. An input is never replaced.")
    var force = false

    @Option(
        name: [.customLong("jobs"), .customShort("j")],
        help: ArgumentHelp("The number of files to work on at once. (default: 1; probe: all cores)", valueName: "n"))
    var wantedJobs: Int?

    /// The number of files processed in parallel.
    var jobs: Int { wantedJobs ?? 1 }

    @Option(
        help: ArgumentHelp(
            "The number of threads for each file. (default: all cores, shared by the jobs)", valueName: "n"))
    var threads: Int?

    @Flag(help: "Treat damage in an input as an error instead of a warning.")
    var strict = false

    @Flag(help: "Let an input, such as a playlist or a reference movie, open the other files that it names.")
    var allowNested = false

    @Option(
        name: .customLong("limit"),
        help: ArgumentHelp(
            "Set a limit on what a file may require, as NAME=NUMBER, with K, M or G after it: \(LimitArgument.names). "
                + "Repeatable.",
            valueName: "limit"),
        transform: CommonArgument.limit)
    var limits: [LimitArgument] = []

    @Flag(help: "Start a fresh process for each file.")
    var isolate = false

    @Flag(help: "Read the files in this process, without a sandbox: for debugging, not for files of others.")
    var noSandbox = false

    @OptionGroup var network: NetworkArguments

    @OptionGroup var batch: BatchOptions

    @Option(
        help: ArgumentHelp(
            "Give up on a file when it takes longer than this many seconds. (default: never)",
            valueName: "seconds"),
        transform: CommonArgument.timeout)
    var timeout: TimeoutArgument?

    func validate() throws {
        try CommonArgument.check("--jobs", jobs, in: 1...Self.maximumWorkers)
        try CommonArgument.check("--threads", threads, in: 1...Self.maximumWorkers)
    }

    /// Returns the options for opening an input; the time limit starts now.
    func assetOptions() -> Asset.Options {
        var options = Asset.Options()
        options.allowsNestedFiles = allowNested
        options.network = network.options
        for limit in limits { options.limits[limit.name] = limit.value }
        options.limits.deadline = timeout.map { .now + $0.duration }
        return options
    }

    /// The memory in RAM that the work on a file may take; by default a quarter of the machine's, shared by the jobs.
    var memoryPerFile: Int? {
        if let limit = limits.last(where: { $0.name == .memory }) { return limit.value }
        return WorkMemory.bytes
    }

    /// Applies the options to a request.
    func apply(to request: inout TranscodeRequest) {
        request.isStrict = strict
        request.threads = threads ?? 0
    }

    /// The number of threads for one file, at least one.
    var threadsPerFile: Int { threads ?? max(1, availableProcessors() / max(1, jobs)) }
}

/// The options that select a part of the input's time.
struct RangeOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The start of the range, exact to the frame and the sample: 12.5, 1:30.25, 01:00:10:00, 250f…",
            valueName: "time"),
        transform: CommonArgument.time)
    var start: TimeExpression?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The end of the range, which is not included.", valueName: "time"),
        transform: CommonArgument.time)
    var end: TimeExpression?

    func validate() throws {
        guard case .time(let start) = start, case .time(let end) = end, start >= end else { return }
        throw ValidationError("'--end' is not after '--start'.")
    }
}

/// The options that select the content of the output, shared by commands that write media.
struct ContentOptions: ParsableArguments {
    @OptionGroup var range: RangeOptions

    @Option(
        help: ArgumentHelp(
            "The video track: its index (0), v:N or id:N. (default: the first enabled one)", valueName: "track"),
        transform: CommonArgument.track)
    var videoTrack: TrackSelector?

    @Option(
        help: ArgumentHelp(
            "The audio tracks, separated by commas: a:0,a:2. (default: all)", valueName: "tracks"),
        transform: CommonArgument.list(CommonArgument.track))
    var audioTracks: [TrackSelector]?

    @Option(help: "The treatment of audio: encoded again, copied unchanged, or left out.")
    var audio = TranscodeRequest.AudioTreatment.encode

    func validate() throws {
        if audio == .none { try CommonArgument.exclude("--audio none", ("--audio-tracks", audioTracks != nil)) }
    }

    /// Applies the options to a request.
    func apply(to request: inout TranscodeRequest) {
        request.start = range.start
        request.end = range.end
        request.videoTrack = videoTrack
        request.audioTracks = audioTracks
        request.audio = audio
    }
}

/// A library value as an argument, named as in the library.
struct Named<Value: RawRepresentable<String> & CaseIterable & Sendable>: ExpressibleByArgument, Sendable {
    /// The value.
    let value: Value

    init?(argument: String) {
        guard let value = Value(rawValue: argument) else { return nil }
        self.value = value
    }

    static var allValueStrings: [String] { Value.allCases.map(\.rawValue) }

    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

extension TranscodeRequest.AudioTreatment: ExpressibleByArgument {}

/// The options that control encoding; the preset determines all others.
struct EncodingOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The maximum number of rows; frames are never enlarged.", valueName: "n"))
    var height: Int?

    @Option(help: ArgumentHelp("The quality of H.264, 0 (best) to 51.", valueName: "n"))
    var crf: Int?

    @Option(
        help: ArgumentHelp("The video's bits per second, such as 800k or 2M, in place of a quality.", valueName: "n"),
        transform: Self.bits)
    var bitrate: Int?

    @Option(
        help: ArgumentHelp(
            "The maximum number of frames from one keyframe to the next; 1 for keyframes only.", valueName: "n"))
    var gop: Int?

    @Option(help: "The speed of the H.264 encoder.")
    var speed: Named<VideoOutputSettings.Speed>?

    @Option(help: "The audio codec. (default: the preset's)")
    var audioCodec: Named<AudioOutputSettings.Codec>?

    @Option(
        help: ArgumentHelp("The bits per second of each audio track, such as 128k.", valueName: "n"),
        transform: Self.bits)
    var audioBitrate: Int?

    /// True if any of these options is set.
    var isAnyGiven: Bool { height != nil || isQualityGiven || audioCodec != nil || audioBitrate != nil }

    /// True if an option is set that does not apply to codecs with a single quality.
    var isQualityGiven: Bool { crf != nil || bitrate != nil || gop != nil || speed != nil }

    /// Refuses audio encoding options if no audio is encoded.
    func check(_ audio: TranscodeRequest.AudioTreatment) throws {
        guard audio != .encode, audioCodec != nil || audioBitrate != nil else { return }
        throw ValidationError("'--audio-codec' and '--audio-bitrate' need audio that is encoded.")
    }

    func validate() throws {
        try CommonArgument.check("--height", height, in: 2...16384)
        try CommonArgument.check("--crf", crf, in: 0...51)
        try CommonArgument.check("--gop", gop, in: 1...100_000)
        if crf != nil { try CommonArgument.exclude("--crf", ("--bitrate", bitrate != nil)) }
    }

    /// Applies the options to a request.
    func apply(to request: inout TranscodeRequest) {
        request.height = height
        request.quality = crf
        request.bitRate = bitrate
        request.keyFrameInterval = gop
        request.speed = speed?.value
        request.audioCodec = audioCodec?.value
        request.audioBitRate = audioBitrate
    }

    /// Parses a positive bit rate, with `k` for thousands or `M` for millions.
    static func bits(_ text: String) throws -> Int {
        let factors: [Character: Int] = ["k": 1000, "K": 1000, "M": 1_000_000]
        let factor = text.last.flatMap { factors[$0] }
        let digits = factor == nil ? text[...] : text.dropLast()
        guard let number = Int(digits), number > 0, digits.first != "+",
            case let (bits, overflow) = number.multipliedReportingOverflow(by: factor ?? 1), !overflow,
            bits <= 1_000_000_000
        else { throw ValidationError("write bits per second, such as 800k or 2M") }
        return bits
    }
}

/// The output option of commands that make one media file per input.
struct MediaOutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The output file, whose extension determines its type, or the folder for it. {stem} stands for the input's "
                + "name without extension.", valueName: "file"))
    var output: PathArgument?

    /// Refuses outputs that are not files or would have the same name, before any file is opened.
    ///
    /// - Parameters:
    ///   - ending: The extension of outputs in a folder; `nil` if the output is a folder itself.
    ///   - check: Refuses file types that the command does not write.
    func check(_ files: [InputArgument], ending: String?, _ check: (FilePath) throws(MediaError) -> Void) throws {
        guard let output else { throw ValidationError("Name an output: '-o FILE'.") }
        if output.isStandardStream { throw ValidationError("Media cannot be written to standard output.") }
        var names = OutputNames(advice: "put {stem} into the output's name")
        for file in files {
            let path = path(for: file.path, ending: ending)
            try file.refuseLeadingAway { self.path(for: $0, ending: ending) }
            do throws(MediaError) {
                try check(path)
            } catch {
                throw ValidationError("'\(path.displayPath)': \(error.message).")
            }
            try names.claim(path, for: file)
        }
    }

    /// True if the output is a folder or a template, so that a missing folder is made.
    var namesFolder: Bool {
        output.map { $0.endsWithSlash || $0.path != $0.path.replacing("{stem}", with: []) } ?? false
    }

    /// Returns the output path for an input.
    ///
    /// - Parameters:
    ///   - input: The path of the input.
    ///   - ending: The extension of outputs in a folder; `nil` if the output is a folder itself.
    func path(for input: FilePath, ending: String?) -> FilePath {
        guard let output else { return "" }
        let stem = input.inputStem
        guard let ending, output.endsWithSlash || isFolder(output.path) else {
            return output.path.replacing("{stem}", with: stem)
        }
        let name = FilePath("{stem}.\(ending)").replacing("{stem}", with: stem)
        return output.path.appending(name.components)
    }

    private func isFolder(_ path: FilePath) -> Bool {
        guard let status = try? path.stat() else { return false }
        return status.type == .directory
    }
}
