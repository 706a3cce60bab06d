import ArgumentParser
import MediaAnalysis
import MediaBase
import MediaJobs

/// The options of `thumbs` that say which moments are shown.
struct ThumbsOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Make images at these times; may be given again.", valueName: "time[,time…]"),
        transform: ThumbsArgument.times)
    var at: [[ThumbsRequest.NamedTime]] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Make an image at the range's start and every so long after it: seconds, [HH:]MM:SS, a fraction, or a "
                + "percentage of the range.", valueName: "length"),
        transform: ThumbsArgument.spacing)
    var every: ThumbsRequest.Spacing?

    @Option(
        help: ArgumentHelp("Make so many images, at the centres of equal parts of the range.", valueName: "n"))
    var count: Int?

    @Flag(help: "Make an image of every keyframe in the range.")
    var keyframes = false

    @Option(
        defaultAsFlag: ThumbsArgument.Scenes.threshold(SceneDetector.standardThreshold), parsing: .next,
        help: ArgumentHelp(
            "Make an image of the range's start and of every frame with which a new scene begins: one whose "
                + "difference from the frames before is so large, on ffmpeg's scdet's scale from 0 to 100.",
            valueName: "threshold"))
    var scenes: ThumbsArgument.Scenes?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Where the range begins, for all of these but --at. (default: the track's start)", valueName: "time"),
        transform: CommonArgument.time)
    var start: TimeExpression?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Where the range ends. (default: the track's end)", valueName: "time"),
        transform: CommonArgument.time)
    var end: TimeExpression?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How far an image may be from its time, so that a keyframe can be used, which is faster: exact, keyframe "
                + "(the nearest one), or seconds before and after; never outside --start and --end. (default: half the "
                + "spacing for --every and --count, else exact)",
            valueName: "exact|keyframe|s[,s]"),
        completion: .list(["exact", "keyframe"]),
        transform: ThumbsArgument.tolerance)
    var tolerance: ThumbsRequest.Tolerance?

    @Flag(
        help: ArgumentHelp(
            "Take the sharpest of nine frames near each time that is not black: up to a second away, or half the "
                + "spacing; after the start of each of --scenes."))
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
            throw ValidationError("'--start' and '--end' do not go with '--at'.")
        }
        if let count, !(1...ThumbsRequest.maximumCount).contains(count) {
            throw ValidationError("'--count' takes a number from 1 to \(ThumbsRequest.maximumCount).")
        }
        if case .threshold(let threshold)? = scenes, !(threshold > 0 && threshold <= 100) {
            throw ValidationError("'--scenes' takes a number above 0 and up to 100.")
        }
        if best, tolerance != nil { throw ValidationError("'--best' and '--tolerance' exclude each other.") }
        if best, keyframes {
            throw ValidationError(
                "'--best' and '--keyframes' exclude each other: the best frame near a keyframe is seldom one. For the "
                    + "best frames use '--every' or '--count'.")
        }
        if keyframes || scenes != nil, tolerance != nil {
            throw ValidationError("'--tolerance' goes with '--at', '--every' and '--count'.")
        }
    }

    /// What is asked for; `nil` where no times are.
    ///
    /// - Parameters:
    ///   - sheetCount: How many images there are where nothing is said of times: as many as fill a sheet.
    ///   - threads: Threads for one file.
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
