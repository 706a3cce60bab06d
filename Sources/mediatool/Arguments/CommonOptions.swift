import ArgumentParser
import AssetKit
import MediaBase
import MediaJobs
import SystemCalls
import SystemPackage
import Timelines

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
    func checkFiles(_ files: [PathArgument]) throws {
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

    @Option(help: "When to show progress on standard error.")
    var progress = Progress.Mode.auto

    @Flag(help: "Replace outputs that exist. An input is never replaced.")
    var force = false

    @Option(
        name: [.customLong("jobs"), .customShort("j")],
        help: ArgumentHelp("Work on so many files at once. (default: 1; probe: all cores)", valueName: "n"))
    var wantedJobs: Int?

    /// The number of files processed in parallel.
    var jobs: Int { wantedJobs ?? 1 }

    @Option(
        help: ArgumentHelp(
            "Use so many threads for each file. (default: all cores, shared by the jobs)", valueName: "n"))
    var threads: Int?

    @Flag(help: "Treat damage in an input as an error instead of a warning.")
    var strict = false

    @Flag(help: "Let an input (playlist, reference movie) open the other files that it names.")
    var allowNested = false

    @Option(
        name: .customLong("limit"),
        help: ArgumentHelp(
            "Set what a file may ask for at most, as NAME=NUMBER with K, M or G after it: \(LimitArgument.names). "
                + "Repeatable.",
            valueName: "limit"),
        transform: CommonArgument.limit)
    var limits: [LimitArgument] = []

    @Option(
        help: ArgumentHelp(
            "Give a file up when reading it takes longer than so many seconds. (default: never)", valueName: "seconds"),
        transform: CommonArgument.timeout)
    var timeout: TimeoutArgument?

    func validate() throws {
        for (option, value) in [("--jobs", jobs), ("--threads", threads ?? 1)]
        where !(1...Self.maximumWorkers).contains(value) {
            throw ValidationError("'\(option)' takes a number from 1 to \(Self.maximumWorkers).")
        }
    }

    /// Returns the options for opening an input; the time limit starts now.
    func assetOptions() -> Asset.Options {
        var options = Asset.Options()
        options.allowsNestedFiles = allowNested
        for limit in limits { options.limits[limit.name] = limit.value }
        options.limits.deadline = timeout.map { .now + $0.duration }
        return options
    }

    /// The number of threads for one file, at least one.
    var threadsPerFile: Int { threads ?? max(1, availableProcessors() / max(1, jobs)) }
}

/// The options that select the content of the output, shared by commands that write media.
struct ContentOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Where to begin, exact to the frame and the sample: 12.5, 1:30.25, 01:00:10:00, 250f…", valueName: "time"),
        transform: CommonArgument.time)
    var start: TimeExpression?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Where to end: the first moment that is not wanted.", valueName: "time"),
        transform: CommonArgument.time)
    var end: TimeExpression?

    @Option(
        help: ArgumentHelp(
            "The track of pictures: its index (0), v:N or id:N. (default: the first enabled one)", valueName: "track"),
        transform: CommonArgument.track)
    var videoTrack: TrackSelector?

    @Option(
        help: ArgumentHelp(
            "The tracks of sound, parted by commas: a:0,a:2. (default: all)", valueName: "tracks"),
        transform: {
            try $0.split(separator: ",", omittingEmptySubsequences: false).map { try CommonArgument.track(String($0)) }
        })
    var audioTracks: [TrackSelector]?

    @Option(help: "What becomes of sound: encoded anew, copied as it is, or left out.")
    var audio = ProxyRequest.AudioTreatment.encode

    func validate() throws {
        if case .time(let start) = start, case .time(let end) = end, start >= end {
            throw ValidationError("'--end' is not after '--start'.")
        }
        if audio == .none, audioTracks != nil {
            throw ValidationError("'--audio none' and '--audio-tracks' exclude each other.")
        }
    }
}

/// A library value as an argument, named as in the library.
struct Named<Value: RawRepresentable<String> & CaseIterable>: ExpressibleByArgument {
    /// The value.
    let value: Value

    init?(argument: String) {
        guard let value = Value(rawValue: argument) else { return nil }
        self.value = value
    }

    static var allValueStrings: [String] { Value.allCases.map(\.rawValue) }

    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

extension ProxyRequest.AudioTreatment: ExpressibleByArgument {}

/// The options that control encoding; the preset determines all others.
struct EncodingOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Rows of a picture at most; pictures are never made larger.", valueName: "n"))
    var height: Int?

    @Option(help: ArgumentHelp("The quality of H.264, 0 (best) to 51.", valueName: "n"))
    var crf: Int?

    @Option(
        help: ArgumentHelp("Bits a second of the pictures, such as 800k or 2M, in place of a quality.", valueName: "n"),
        transform: Self.bits)
    var bitrate: Int?

    @Option(help: ArgumentHelp("Frames from one keyframe to the next at most; 1 for keyframes alone.", valueName: "n"))
    var gop: Int?

    @Option(help: "How much time the H.264 encoder takes.")
    var speed: Named<VideoOutputSettings.Speed>?

    @Option(help: "How sound is encoded; the preset's unless given.")
    var audioCodec: Named<AudioOutputSettings.Codec>?

    @Option(
        help: ArgumentHelp("Bits a second of each sound track, such as 128k.", valueName: "n"), transform: Self.bits)
    var audioBitrate: Int?

    /// True if any of these options is set.
    var isAnyGiven: Bool { height != nil || isQualityGiven || audioCodec != nil || audioBitrate != nil }

    /// True if an option is set that does not apply to codecs with a single quality.
    var isQualityGiven: Bool { crf != nil || bitrate != nil || gop != nil || speed != nil }

    /// Refuses audio encoding options if no audio is encoded.
    func check(_ audio: ProxyRequest.AudioTreatment) throws {
        guard audio != .encode, audioCodec != nil || audioBitrate != nil else { return }
        throw ValidationError("'--audio-codec' and '--audio-bitrate' are for sound that is encoded.")
    }

    func validate() throws {
        func check(_ name: String, _ value: Int?, _ range: ClosedRange<Int>) throws {
            guard let value, !range.contains(value) else { return }
            throw ValidationError("'\(name)' takes a number from \(range.lowerBound) to \(range.upperBound).")
        }
        try check("--height", height, 2...16384)
        try check("--crf", crf, 0...51)
        try check("--gop", gop, 1...100_000)
        if crf != nil, bitrate != nil { throw ValidationError("'--crf' and '--bitrate' exclude each other.") }
    }

    /// Parses a positive bit rate, with `k` for thousands or `M` for millions.
    static func bits(_ text: String) throws -> Int {
        let factors: [Character: Int] = ["k": 1000, "K": 1000, "M": 1_000_000]
        let factor = text.last.flatMap { factors[$0] }
        let digits = factor == nil ? text[...] : text.dropLast()
        guard let number = Int(digits), number > 0, digits.first != "+",
            case let (bits, overflow) = number.multipliedReportingOverflow(by: factor ?? 1), !overflow,
            bits <= 1_000_000_000
        else { throw ValidationError("write bits a second, such as 800k or 2M") }
        return bits
    }
}

/// The options of commands that read timelines.
struct TimelineOptions: ParsableArguments {
    @Flag(help: "Let the timeline take media from outside its folder.")
    var allowOutside = false

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Look for media by its name in this folder and those inside, where the timeline's path does not lead to it; "
                + "repeatable.", valueName: "folder"))
    var mediaFolder: [PathArgument] = []

    @Flag(help: "Make clips whose media is missing gaps, instead of failing.")
    var allowMissing = false

    @Flag(help: "Leave out effects that cannot be rendered, instead of failing.")
    var ignoreEffects = false

    /// The timeline settings that the options select.
    var settings: TimelineSettings {
        var settings = TimelineSettings()
        settings.allowsOutside = allowOutside
        settings.mediaFolders = mediaFolder.map(\.path)
        settings.allowsMissing = allowMissing
        settings.ignoresEffects = ignoreEffects
        return settings
    }

    /// Returns the timeline in an input, or `nil` for media, of which nothing is consumed.
    ///
    /// - Parameter requiresSchema: True to accept other JSON only if it declares itself a timeline, because the input could be
    ///   something else.
    static func file(
        _ file: PathArgument, requiresSchema: Bool = false, until deadline: ContinuousClock.Instant?
    ) throws(MediaError) -> TimelineFile? {
        file.isStandardStream
            ? try TimelineFile(standardInput: .standardInput, requiresSchema: requiresSchema, until: deadline)
            : try TimelineFile(path: file.path, requiresSchema: requiresSchema, until: deadline)
    }
}

/// The output option of commands that make one media file per input.
struct MediaOutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file that is written, whose ending says of which type it is, or the folder that it goes to. {stem} stands "
                + "for the input's name without extension.", valueName: "file"))
    var output: PathArgument?

    /// Refuses outputs that are not files or would have the same name, before any file is opened.
    ///
    /// - Parameters:
    ///   - ending: The extension of outputs in a folder.
    ///   - check: Refuses file types that the command does not write.
    func check(_ files: [PathArgument], ending: String, _ check: (FilePath) throws(MediaError) -> Void) throws {
        guard let output else { throw ValidationError("Say where the output goes: '-o FILE'.") }
        if output.isStandardStream { throw ValidationError("Media cannot be written to standard output.") }
        var owners: [FilePath: PathArgument] = [:]
        for file in files {
            let path = path(for: file.path, ending: ending)
            try file.refuseLeadingAway { self.path(for: $0, ending: ending) }
            do throws(MediaError) {
                try check(path)
            } catch {
                throw ValidationError("'\(path.displayPath)': \(error.message).")
            }
            if let other = owners.updateValue(file, forKey: path) {
                throw ValidationError(
                    "'\(other.path.displayPath)' and '\(file.path.displayPath)' would both be written to "
                        + "'\(path.displayPath)'; put {stem} into the output's name.")
            }
        }
    }

    /// True if the output is a folder or a template, so that a missing folder is made.
    var namesFolder: Bool {
        output.map { $0.endsWithSlash || $0.path != $0.path.replacing("{stem}", with: []) } ?? false
    }

    /// Returns the output path for an input.
    func path(for input: FilePath, ending: String) -> FilePath {
        guard let output else { return "" }
        let stem = input.inputStem
        guard output.endsWithSlash || isFolder(output.path) else { return output.path.replacing("{stem}", with: stem) }
        let name = FilePath("{stem}.\(ending)").replacing("{stem}", with: stem)
        return output.path.appending(name.components)
    }

    private func isFolder(_ path: FilePath) -> Bool {
        guard let status = try? path.stat() else { return false }
        return status.type == .directory
    }
}
