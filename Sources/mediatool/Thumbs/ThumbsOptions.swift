import ArgumentParser
import MediaBase
import MediaJobs

/// The options of `thumbs` that say which images are made, and how large.
struct ThumbsOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Make images at these times; may be given again.", valueName: "time[,time…]"),
        transform: Self.times)
    var at: [[TimeExpression]] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Make an image at the range's start and every so long after it: seconds, [HH:]MM:SS, a fraction, or a "
                + "percentage of the range.", valueName: "length"),
        transform: Self.spacing)
    var every: ThumbsRequest.Spacing?

    @Option(
        help: ArgumentHelp("Make so many images, at the centres of equal parts of the range.", valueName: "n"))
    var count: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Where the range of --every and --count begins. (default: the track's start)", valueName: "time"),
        transform: Self.time)
    var start: TimeExpression?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Where the range of --every and --count ends. (default: the track's end)", valueName: "time"),
        transform: Self.time)
    var end: TimeExpression?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How far an image may be from its time, so that a keyframe can be used, which is faster: exact, keyframe "
                + "(the nearest one), or seconds before and after. (default: exact for --at, else half the spacing)",
            valueName: "exact|keyframe|s[,s]"),
        transform: Self.tolerance)
    var tolerance: ThumbsRequest.Tolerance?

    @Option(help: ArgumentHelp("The greatest width of an image; images are never enlarged.", valueName: "pixels"))
    var width: Int?

    @Option(help: ArgumentHelp("The greatest height of an image.", valueName: "pixels"))
    var height: Int?

    @Option(
        help: ArgumentHelp("The box that images are fitted into.", valueName: "WxH"), transform: Self.dimensions)
    var maxSize: Dimensions?

    @Flag(help: "Leave pictures as they are stored instead of turning them upright.")
    var noRotate = false

    @Option(
        help: ArgumentHelp(
            "The part of the stored picture that is shown: clean (the clean aperture, square pixels), production (all of "
                + "it, square pixels) or encoded (all of it, pixel by pixel).", valueName: "aperture"))
    var aperture = ThumbsRequest.Aperture.clean

    @Option(
        help: ArgumentHelp(
            "What becomes of HDR (PQ, HLG): sdr maps it to sRGB, source keeps its coded values.", valueName: "range"))
    var dynamicRange = DynamicRangeArgument.sdr

    @Flag(help: "Make one picture of the two fields of interlaced frames: that of the first field's moment.")
    var deinterlace = false

    @Option(
        help: ArgumentHelp(
            "The track: its index (3), v:N or id:N. (default: the first enabled video track)", valueName: "track"),
        transform: Self.track)
    var track: TrackSelector?

    func validate() throws {
        if [!at.isEmpty, every != nil, count != nil].count(where: \.self) > 1 {
            throw ValidationError("'--at', '--every' and '--count' exclude each other.")
        }
        if !at.isEmpty, start != nil || end != nil {
            throw ValidationError("'--start' and '--end' go with '--every' or '--count'.")
        }
        for (option, value) in [("--width", width), ("--height", height)] where !(1...0xFFFF).contains(value ?? 1) {
            throw ValidationError("'\(option)' takes a number from 1 to 65535.")
        }
        if let count, !(1...ThumbsRequest.maximumCount).contains(count) {
            throw ValidationError("'--count' takes a number from 1 to \(ThumbsRequest.maximumCount).")
        }
    }

    /// What is asked for; `nil` where no times are.
    func request(threads: Int) -> ThumbsRequest? {
        let times: ThumbsRequest.Times
        if let count {
            times = .count(count)
        } else if let every {
            times = .every(every)
        } else if !at.isEmpty {
            times = .at(at.flatMap(\.self))
        } else {
            return nil
        }
        var request = ThumbsRequest(times: times)
        (request.start, request.end, request.tolerance) = (start, end, tolerance)
        let limits = [maxSize ?? Dimensions(width: 0, height: 0), Dimensions(width: width ?? 0, height: height ?? 0)]
        request.maximumSize = Dimensions(
            width: limits.map(\.width).filter { $0 > 0 }.min() ?? 0,
            height: limits.map(\.height).filter { $0 > 0 }.min() ?? 0)
        request.appliesRotation = !noRotate
        request.aperture = aperture
        request.keepsDynamicRange = dynamicRange == .source
        request.deinterlaces = deinterlace
        request.track = track
        request.threads = threads
        return request
    }
}

// MARK: - Reading values

extension ThumbsOptions {
    private static func time(_ text: String) throws -> TimeExpression {
        do throws(MediaError) {
            return try TimeExpression(parsing: RawArguments.displayed(text))
        } catch {
            throw ValidationError(error.message)
        }
    }

    private static func track(_ text: String) throws -> TrackSelector {
        do throws(MediaError) {
            return try TrackSelector(parsing: RawArguments.displayed(text))
        } catch {
            throw ValidationError(error.message)
        }
    }

    private static func times(_ text: String) throws -> [TimeExpression] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { try time(String($0)) }
    }

    private static func spacing(_ text: String) throws -> ThumbsRequest.Spacing {
        switch try time(text) {
        case .time(let time) where time > .zero: return .time(time)
        case .percentage(let part) where part.isPositive: return .part(part)
        default: throw ValidationError("write a length above zero: 10, 1:30, 1001/30000 or 5%")
        }
    }

    private static func tolerance(_ text: String) throws -> ThumbsRequest.Tolerance {
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

    private static func dimensions(_ text: String) throws -> Dimensions {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).compactMap { Int($0) }
        guard sides.count == 2, sides.allSatisfy({ (1...0xFFFF).contains($0) }) else {
            throw ValidationError("write width and height in pixels, such as 320x240")
        }
        return Dimensions(width: sides[0], height: sides[1])
    }
}

extension ThumbsRequest.Aperture: ExpressibleByArgument {}

/// The words for what becomes of HDR.
enum DynamicRangeArgument: String, ExpressibleByArgument, CaseIterable {
    case sdr
    case source
}
