import ArgumentParser
import AssetKit
import MediaAnalysis
import MediaBase
import MediaJobs

/// The options of `thumbs` that select the times of images.
struct ThumbsOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Make images at these times; may be given again.", valueName: "time[,time…]"),
        transform: ThumbsArgument.times)
    var at: [[ThumbsRequest.NamedTime]] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Make an image at the start of the range and at this interval after it: seconds, [HH:]MM:SS, a fraction, or "
                + "a percentage of the range.", valueName: "length"),
        transform: ThumbsArgument.spacing)
    var every: ThumbsRequest.Spacing?

    @Option(
        help: ArgumentHelp("Make this many images, at the centres of equal parts of the range.", valueName: "n"))
    var count: Int?

    @Flag(help: "Make an image of every keyframe in the range.")
    var keyframes = false

    @Option(
        defaultAsFlag: ThumbsArgument.Scenes.threshold(SceneDetector.standardThreshold), parsing: .next,
        help: ArgumentHelp(
            "Make an image of the start of the range and of every frame that starts a new scene: one that differs from "
                + "the frames before it by at least this much, on the scale of ffmpeg's scdet from 0 to 100.",
            valueName: "threshold"))
    var scenes: ThumbsArgument.Scenes?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The start of the range, except for --at. (default: the track's start)", valueName: "time"),
        transform: CommonArgument.time)
    var start: TimeExpression?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The end of the range. (default: the track's end)", valueName: "time"),
        transform: CommonArgument.time)
    var end: TimeExpression?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The maximum distance of an image from its time, within which a keyframe is used because that is faster: "
                + "exact, keyframe (the nearest one), or seconds before and after; never outside --start and --end. "
                + "(default: half the interval for --every and --count, else exact)",
            valueName: "exact|keyframe|s[,s]"),
        completion: .list(["exact", "keyframe"]),
        transform: ThumbsArgument.tolerance)
    var tolerance: ThumbsRequest.Tolerance?

    @Flag(
        help: ArgumentHelp(
            "Use the sharpest of nine frames near each time that is not black: up to a second away, or half the "
                + "interval; with --scenes, after the start of each scene."))
    var best = false

    @Option(
        help: ArgumentHelp(
            "The track: its index (3), v:N or id:N. (default: the first enabled video track)", valueName: "track"),
        transform: CommonArgument.track)
    var track: TrackSelector?

    func validate() throws {
        let kinds = [!at.isEmpty, every != nil, count != nil, keyframes, scenes != nil]
        if kinds.count(where: \.self) > 1 {
            throw ValidationError("'--at', '--every', '--count', '--keyframes' and '--scenes' exclude each other.")
        }
        if !at.isEmpty, start != nil || end != nil {
            throw ValidationError("'--start' and '--end' cannot be used with '--at'.")
        }
        try CommonArgument.check("--count", count, in: 1...ThumbsRequest.maximumCount)
        if case .threshold(let threshold)? = scenes, !(threshold > 0 && threshold <= 100) {
            throw ValidationError("'--scenes' takes a number above 0 and up to 100.")
        }
        if best { try CommonArgument.exclude("--best", ("--tolerance", tolerance != nil)) }
        if best, keyframes {
            throw ValidationError(
                "'--best' and '--keyframes' exclude each other: the best frame near a keyframe is seldom one. For the "
                    + "best frames use '--every' or '--count'.")
        }
        if keyframes || scenes != nil, tolerance != nil {
            throw ValidationError("'--tolerance' needs '--at', '--every' or '--count'.")
        }
    }

    /// Returns the request, or `nil` if no times are selected.
    ///
    /// - Parameters:
    ///   - sheetCount: The default number of images, which is that of a full sheet.
    ///   - threads: The number of threads for one file.
    func request(sheetCount: Int?, threads: Int) -> ThumbsRequest? {
        guard let times = times ?? sheetCount.map({ .count($0) }) else { return nil }
        var request = ThumbsRequest(times: times)
        (request.start, request.end, request.tolerance) = (start, end, tolerance)
        request.prefersBest = best
        request.track = track
        request.threads = threads
        return request
    }

    private var times: ThumbsRequest.Times? {
        if let count { return .count(count) }
        if let every { return .every(every) }
        if keyframes { return .keyframes }
        switch scenes {
        case .threshold(let threshold): return .scenes(threshold: threshold)
        case .file: return .scenes(threshold: SceneDetector.standardThreshold)
        case nil: break
        }
        return at.isEmpty ? nil : .at(at.flatMap(\.self))
    }
}

/// The options of `thumbs` that select the visible part of a picture and its colours.
struct ThumbsPictureOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The part of the stored frame to show: clean (the clean aperture, with square pixels), production (all of it, "
                + "with square pixels) or encoded (all of it, pixel by pixel).", valueName: "aperture"))
    var aperture = ThumbsRequest.Aperture.clean

    @Option(
        help: ArgumentHelp(
            "The treatment of HDR (PQ, HLG): sdr maps it to sRGB, source keeps its coded values.", valueName: "range"))
    var dynamicRange = DynamicRangeArgument.sdr

    @Flag(help: "Deinterlace interlaced frames, to the time of their first field.")
    var deinterlace = false

    /// Applies the options to a request.
    func apply(to request: inout ThumbsRequest) {
        request.aperture = aperture
        request.keepsDynamicRange = dynamicRange == .source
        request.deinterlaces = deinterlace
    }
}

extension ThumbsRequest.Aperture: ExpressibleByArgument {}

/// The values of the option for HDR.
enum DynamicRangeArgument: String, ExpressibleByArgument, CaseIterable {
    case sdr
    case source
}

/// The options of `thumbs` that select the size and the rotation of images.
struct ThumbsSizeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The maximum width of an image; images are never enlarged.", valueName: "pixels"))
    var width: Int?

    @Option(help: ArgumentHelp("The maximum height of an image.", valueName: "pixels"))
    var height: Int?

    @Option(
        help: ArgumentHelp("The box that images are fitted into.", valueName: "WxH"),
        transform: { try CommonArgument.dimensions($0, in: 1...0xFFFF) })
    var maxSize: Dimensions?

    @Option(
        help: ArgumentHelp(
            "The size of every image: frames are fitted into it, and the rest is filled with --pad.",
            valueName: "WxH"),
        transform: { try CommonArgument.dimensions($0, in: 1...0xFFFF) })
    var exactSize: Dimensions?

    @Flag(
        help: ArgumentHelp(
            "With --exact-size: let frames cover all of it, and crop them at two sides. Frames are never enlarged, so "
                + "smaller ones still get --pad around them."))
    var crop = false

    @Option(
        help: ArgumentHelp(
            "The colour beside frames in --exact-size, and behind transparent ones in JPEG: #rgb, #rrggbb, #rrggbbaa or "
                + "a name such as white or transparent. (default: black)", valueName: "color"),
        transform: CommonArgument.color)
    var pad = Color.black

    @Flag(help: "Keep the stored orientation instead of rotating images upright.")
    var noRotate = false

    func validate() throws {
        try CommonArgument.check("--width", width, in: 1...0xFFFF)
        try CommonArgument.check("--height", height, in: 1...0xFFFF)
        if exactSize != nil {
            try CommonArgument.exclude(
                "--exact-size", ("--width", width != nil), ("--height", height != nil), ("--max-size", maxSize != nil))
        }
        if crop, exactSize == nil { throw ValidationError("'--crop' needs '--exact-size'.") }
    }

    /// True if any size is set.
    private var isGiven: Bool { width != nil || height != nil || maxSize != nil || exactSize != nil }

    /// Applies the options to a request.
    ///
    /// - Parameter standard: The default for the longest side; `nil` for full size.
    func apply(to request: inout ThumbsRequest, standard: Int?) {
        request.appliesRotation = !noRotate
        request.exactSize = exactSize.map { ThumbsRequest.ExactSize($0, crops: crop, background: pad) }
        guard isGiven else {
            request.maximumSize = Dimensions(width: standard ?? 0, height: standard ?? 0)
            return
        }
        let limits = [maxSize ?? Dimensions(width: 0, height: 0), Dimensions(width: width ?? 0, height: height ?? 0)]
        request.maximumSize = Dimensions(
            width: limits.map(\.width).filter { $0 > 0 }.min() ?? 0,
            height: limits.map(\.height).filter { $0 > 0 }.min() ?? 0)
    }
}

/// Parses arguments of `thumbs`; ArgumentParser shows the errors as usage errors.
enum ThumbsArgument {
    /// Parses times separated by commas.
    static func times(_ text: String) throws -> [ThumbsRequest.NamedTime] {
        try CommonArgument.list {
            ThumbsRequest.NamedTime(try CommonArgument.time($0), text: RawArguments.displayed($0))
        }(text)
    }

    /// Parses a duration, or a fraction of the range.
    static func spacing(_ text: String) throws -> ThumbsRequest.Spacing {
        switch try CommonArgument.time(text) {
        case .time(let time) where time > .zero: return .time(time)
        case .percentage(let part) where part.isPositive: return .part(part)
        default: throw ValidationError("write a length above zero: 10, 1:30, 1001/30000 or 5%")
        }
    }

    /// Parses `exact`, `keyframe`, or the seconds before and after.
    static func tolerance(_ text: String) throws -> ThumbsRequest.Tolerance {
        if text == "exact" { return .exact }
        if text == "keyframe" { return .keyframe }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let times = parts.compactMap { part -> MediaTime? in
            if case .time(let time)? = try? TimeExpression(parsing: String(part)), time >= .zero { time } else { nil }
        }
        guard let before = times.first, let after = times.last, times.count == parts.count, times.count <= 2 else {
            throw ValidationError("write exact, keyframe, or seconds of zero or more, such as 0.5 or 0.5,2")
        }
        return ThumbsRequest.Tolerance(before: before, after: after)
    }

    /// Parses an image format by its name or its usual extension.
    static func format(_ text: String) throws -> ImageFileFormat {
        guard let format = ImageFileFormat(fileExtension: text) else {
            throw ValidationError("write png, jpeg or webp")
        }
        return format
    }

    /// The columns and rows of a sheet, or only its columns.
    struct Grid: ExpressibleByArgument, Hashable {
        /// The number of images in a row, 1…1000.
        var columns: Int
        /// The number of rows, 1…1000; `nil` for as many as necessary.
        var rows: Int?

        init(columns: Int, rows: Int?) {
            self.columns = columns
            self.rows = rows
        }

        init?(argument: String) {
            let sides = argument.split(separator: "x", omittingEmptySubsequences: false)
            let numbers = sides.compactMap { Int($0) }.filter { (1...1000).contains($0) }
            guard numbers.count == sides.count, let columns = numbers.first, numbers.count <= 2 else { return nil }
            self.init(columns: columns, rows: numbers.count == 2 ? numbers[1] : nil)
        }
    }

    /// The argument after `--scenes`: a threshold, or the first file.
    enum Scenes: ExpressibleByArgument, CustomStringConvertible {
        /// The minimum score of a new scene.
        case threshold(Double)
        /// A file, as the argument is not a number.
        case file(InputArgument)

        init?(argument: String) {
            if let number = Double(argument) {
                self = .threshold(number)
            } else {
                guard let file = InputArgument(argument: argument) else { return nil }
                self = .file(file)
            }
        }

        var description: String {
            switch self {
            case .threshold(let number): "\(number)"
            case .file(let file): file.displayName
            }
        }
    }
}
