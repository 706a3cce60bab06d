import MediaBase

/// The moments that a request means in one file.
struct ThumbsTimes {
    /// One for every time asked for, in that order; a failure where the file has no such time.
    let requested: [Result<MediaTime, MediaError>]
    /// How far apart they are; `nil` where they were named or found in the file.
    let spacing: MediaTime?
    /// The part of the track that they are of; all of it where they were named.
    let range: MediaTimeRange
    /// Where pictures may be taken from; `nil` for everywhere, where the times were named.
    let limit: MediaTimeRange?
    /// What is told where the pictures end before the end that was asked for; `nil` where they do not.
    let warning: String?

    /// Works the times out.
    ///
    /// - Parameters:
    ///   - context: What is known of the track.
    ///   - frameTime: Gives the time of a frame by its number.
    ///   - firstPicture: Gives the time of the first picture that can be decoded, where that may be later than the track's
    ///     start: nothing is asked for before it where only the number of images is named.
    ///   - find: Gives the times in a range, in rising order, that only the file's content tells: sync samples or scenes.
    /// - Throws: where the range cannot be told or contains nothing, or the times are too many.
    init(
        _ request: ThumbsRequest, in context: TimeExpression.Context,
        frameTime: (Int64) throws(MediaError) -> MediaTime,
        firstPicture: () throws(MediaError) -> MediaTime? = { () throws(MediaError) in nil },
        find: (MediaTimeRange) throws(MediaError) -> [MediaTime] = { _ in [] }
    ) throws(MediaError) {
        if case .at(let named) = request.times {
            requested = named.map { named in
                Result { () throws(MediaError) in try named.time.resolve(in: context, frameTime: frameTime) }
            }
            spacing = nil
            range = context.timeRange
            limit = nil
            warning = nil
            return
        }
        var (range, warning) = try Self.range(request, in: context, frameTime: frameTime)
        if case .count = request.times, let first = try firstPicture(), first > range.start, first < range.end {
            range = MediaTimeRange(start: first, end: range.end)
        }
        self.range = range
        limit = range
        self.warning = warning
        switch request.times {
        case .at: (requested, spacing) = ([], nil)
        case .count(let count):
            guard let count = Int64(exactly: count), (1...Int64(ThumbsRequest.maximumCount)).contains(count) else {
                throw Self.tooMany
            }
            requested = (0..<count).map {
                .success(range.start + range.duration.multiplied(by: 2 * $0 + 1, dividedBy: 2 * count))
            }
            spacing = range.duration.multiplied(by: 1, dividedBy: count)
        case .every(let every):
            let step =
                switch every {
                case .time(let time): time
                case .part(let part): range.duration.multiplied(by: part)
                }
            let count = try Self.count(of: step, in: range.duration)
            requested = (0..<count).map { .success(range.start + step.multiplied(by: $0)) }
            spacing = step
        case .keyframes, .scenes:
            let found = try find(range)
            guard found.count <= ThumbsRequest.maximumCount else { throw Self.tooMany }
            guard !found.isEmpty else {
                throw MediaError(.outOfRange, "no keyframe is shown in that part of the track; use --every or --count")
            }
            requested = found.map { .success($0) }
            spacing = nil
        }
    }

    /// The part of the track that is asked for, and what is told where it ends early.
    private static func range(
        _ request: ThumbsRequest, in context: TimeExpression.Context,
        frameTime: (Int64) throws(MediaError) -> MediaTime
    ) throws(MediaError) -> (MediaTimeRange, warning: String?) {
        let whole = context.timeRange
        let end = try TimeExpression.end.resolve(in: context)
        guard whole.start.isNumeric, whole.start < end else {
            throw MediaError(.outOfRange, "the track has no length; ask for images with --at")
        }
        let from = try request.start?.resolve(in: context, frameTime: frameTime) ?? whole.start
        let to = try request.end?.resolve(in: context, frameTime: frameTime) ?? end
        guard from < to else {
            throw MediaError(
                .invalidArgument, "the range is empty: it starts at \(from.clockText()) and ends at \(to.clockText())")
        }
        guard from < end, to > whole.start else {
            throw MediaError(
                .outOfRange,
                "the range \(from.clockText()) to \(to.clockText()) is outside the track, "
                    + "which lasts from \(whole.start.clockText()) to \(end.clockText())")
        }
        let isMoment = request.end?.isMoment ?? false
        return (
            MediaTimeRange(start: max(from, whole.start), end: min(to, end)),
            isMoment ? EarlyEnd.warning("the pictures end", at: end, before: to) : nil
        )
    }

    /// How many steps begin in a range, the first with it.
    private static func count(of step: MediaTime, in duration: MediaTime) throws(MediaError) -> Int64 {
        guard let length = Rational(duration), let size = Rational(step), size.isPositive,
            let count = length.divided(by: size)?.rounded(.up), count <= Int64(ThumbsRequest.maximumCount)
        else { throw tooMany }
        return count
    }

    private static var tooMany: MediaError {
        MediaError(.limitExceeded, "at most \(ThumbsRequest.maximumCount) images are made at once; ask for fewer")
    }
}

extension ThumbsTimes {
    /// The distinct moments in rising order, and which of the requested ones each stands for.
    var sweep: [(time: MediaTime, places: [Int])] { Self.sweep(over: requested) }

    /// The distinct ones among some moments in rising order, and the places of each; failures have no place.
    static func sweep(over moments: [Result<MediaTime, MediaError>]) -> [(time: MediaTime, places: [Int])] {
        var places: [MediaTime: [Int]] = [:]
        for (place, time) in moments.enumerated() {
            if case .success(let time) = time { places[time, default: []].append(place) }
        }
        return places.map { (time: $0.key, places: $0.value) }.sorted { $0.time < $1.time }
    }
}
