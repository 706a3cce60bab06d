internal import AssetKit
package import MediaBase

/// The times, tolerances and sizes requested from ``ThumbsJob``; the same for every file of a run.
package struct ThumbsRequest: Sendable {
    /// The kinds of requested times.
    package enum Times: Sendable {
        /// The named times in this order, including repetitions.
        case at([NamedTime])
        /// The start of the range and further times at a regular spacing, up to but excluding the range's end.
        case every(Spacing)
        /// The centres of equal parts of the range; the number of parts is 1 to ``maximumCount``.
        case count(Int)
        /// Every sync sample that is shown in the range.
        case keyframes
        /// The start of the range and every frame in it that starts a new shot.
        ///
        /// The threshold is that of ``SceneDetector``, above 0 and up to 100.
        case scenes(threshold: Double)
    }

    /// A time and the text in which it was requested.
    package struct NamedTime: Sendable, Hashable {
        /// The time, which may not exist in a file.
        package var time: TimeExpression
        /// The time as it was written.
        package var text: String

        /// Creates a named time.
        package init(_ time: TimeExpression, text: String) {
            self.time = time
            self.text = text
        }
    }

    /// The distance between times.
    package enum Spacing: Sendable {
        /// A duration above zero.
        case time(MediaTime)
        /// A fraction of the range, above zero.
        case part(Rational)
    }

    /// The maximum distance between an image and its requested time, within which a sync sample can be used.
    package struct Tolerance: Sendable, Hashable {
        /// The maximum distance before the requested time.
        package var before: MediaTime
        /// The maximum distance after the requested time.
        package var after: MediaTime

        /// Creates a tolerance from two durations of zero or more.
        package init(before: MediaTime, after: MediaTime) {
            self.before = before
            self.after = after
        }

        /// The frame on screen at the requested time, and no other.
        package static let exact = Tolerance(before: .zero, after: .zero)
        /// The nearest sync sample at any distance.
        package static let keyframe = Tolerance(before: .positiveInfinity, after: .positiveInfinity)
    }

    /// A size that all images get, and the way to fill it.
    package struct ExactSize: Sendable, Hashable {
        /// The width and height in pixels.
        package var dimensions: Dimensions
        /// Indicates whether frames fill the size and are cropped, instead of being shown whole.
        package var crops: Bool
        /// The color around frames that are smaller than the size; frames are never enlarged.
        package var background: Color

        /// Creates an exact size.
        package init(_ dimensions: Dimensions, crops: Bool, background: Color) {
            self.dimensions = dimensions
            self.crops = crops
            self.background = background
        }
    }

    /// The part of a stored frame that an image shows.
    package enum Aperture: String, Sendable, CaseIterable {
        /// The clean aperture, with square pixels.
        case clean
        /// The whole frame, with square pixels.
        case production
        /// The whole frame, pixel by pixel.
        case encoded
    }

    /// The maximum number of times in one request.
    package static let maximumCount = 100_000

    /// The requested times.
    package var times: Times
    /// The start of the range; `nil` for the track's start.
    package var start: TimeExpression?
    /// The end of the range, limited to the track's end; `nil` for the track's end.
    package var end: TimeExpression?
    /// The maximum distance between an image and its requested time; `nil` for exact if times are named, else half the
    /// spacing.
    package var tolerance: Tolerance?
    /// The size that images are fitted into; a side of 0 sets no limit.
    package var maximumSize = Dimensions(width: 0, height: 0)
    /// The size that all images get, overriding ``maximumSize``; `nil` to use ``maximumSize``.
    package var exactSize: ExactSize?
    /// Indicates whether the sharpest non-black frame near each time replaces the frame at that time.
    ///
    /// See ``BestFrameSelection``.
    package var prefersBest = false
    /// Indicates whether images are rotated upright.
    package var appliesRotation = true
    /// The part of the stored frames that is shown, and its pixel shape.
    package var aperture = Aperture.clean
    /// Indicates whether HDR keeps its coded values; otherwise it is mapped to sRGB.
    package var keepsDynamicRange = false
    /// Indicates whether interlaced frames are deinterlaced.
    package var deinterlaces = false
    /// The track; `nil` for the first enabled video track.
    package var track: TrackSelector?
    /// The number of codec threads; 0 for one per core.
    package var threads = 0
    /// Indicates whether damaged data is an error, in which case no image is written.
    package var isStrict = false

    /// Creates a request for full-size, upright images of the whole track.
    package init(times: Times) { self.times = times }
}

extension ThumbsRequest {
    /// The number of requested times if it does not depend on the file; `nil` otherwise.
    package var count: Int? {
        switch times {
        case .at(let named): named.count
        case .count(let count): count
        case .every, .keyframes, .scenes: nil
        }
    }

    /// The number of decoding passes: to find scenes, to find the best frames, and to make the images.
    var passes: Int {
        var passes = prefersBest ? 2 : 1
        if case .scenes = times { passes += 1 }
        return passes
    }

    /// Returns a requested time as it was written; `nil` if times were not named.
    func text(ofTime place: Int) -> String? {
        guard case .at(let named) = times, named.indices.contains(place) else { return nil }
        return named[place].text
    }

    /// Returns a copy of the request with the maximum image size that suits the output.
    ///
    /// For an exact size with cropping, images may exceed the size so that they cover it. For sheets, the limit is the
    /// tile of the track's own shape, so that frames of every shape fit, for example if the shape changes in
    /// mid-stream.
    func boxed(for track: AssetTrack, onSheets: Bool) -> ThumbsRequest {
        var copy = self
        let shown = shownSize(of: track)
        guard let exactSize else {
            if onSheets, let shown { copy.maximumSize = shown.tile(in: maximumSize) }
            return copy
        }
        copy.maximumSize = exactSize.dimensions
        guard exactSize.crops, let shown else { return copy }
        let asWide = shown.width.multipliedReportingOverflow(by: exactSize.dimensions.height)
        let asHigh = shown.height.multipliedReportingOverflow(by: exactSize.dimensions.width)
        guard !asWide.overflow, !asHigh.overflow else { return copy }
        // An image that is wider than requested is limited by its height alone, so that it covers the width.
        if asWide.partialValue >= asHigh.partialValue {
            copy.maximumSize = Dimensions(width: 0, height: exactSize.dimensions.height)
        } else {
            copy.maximumSize = Dimensions(width: exactSize.dimensions.width, height: 0)
        }
        return copy
    }

    private func shownSize(of track: AssetTrack) -> Dimensions? {
        guard let video = track.formatDescriptions.first?.video else { return nil }
        let stored = video.presentationDimensions(
            usePixelAspectRatio: aperture != .encoded, useCleanAperture: aperture == .clean)
        return appliesRotation ? track.preferredTransform.apply(to: stored) : stored
    }

    /// Indicates whether the request depends on the end or the duration of the track.
    var needsTimeRange: Bool {
        guard case .at(let named) = times, !prefersBest else { return true }
        return named.contains { named in
            switch named.time {
            case .end, .percentage: true
            case .time, .timecode, .frame: false
            }
        }
    }

    /// The highest requested frame number; `nil` if the request has none.
    var highestFrame: Int64? {
        var expressions = [start, end].compactMap(\.self)
        if case .at(let named) = times { expressions += named.map(\.time) }
        return expressions.highestFrame
    }
}

extension Dimensions {
    /// Returns the largest size within a box that a picture of this shape fits exactly, without a rounding difference.
    fileprivate func tile(in box: Dimensions) -> Dimensions {
        var tile = fitted(into: box)
        // Each step removes at most one pixel from a side, and few steps are needed.
        for _ in 0..<8 {
            let again = fitted(into: tile)
            if again == tile { break }
            tile = again
        }
        return tile
    }
}

/// The times that a request denotes in one file.
struct RequestedTimes {
    /// One result for every requested time, in that order; a failure if the file has no such time.
    let requested: [Result<MediaTime, MediaError>]
    /// The distance between consecutive times; `nil` if the times were named or found in the file.
    let spacing: MediaTime?
    /// The part of the track that the times lie in; the whole track if the times were named.
    let range: MediaTimeRange
    /// The range from which frames may be taken; `nil` for no limit, if the times were named.
    let limit: MediaTimeRange?
    /// The warning if the video ends before the requested end; `nil` otherwise.
    let warning: String?

    /// Resolves the requested times.
    ///
    /// - Parameters:
    ///   - context: The known properties of the track.
    ///   - frameTime: Returns the time of a frame by its number.
    ///   - firstPicture: Returns the time of the first decodable frame if it may be later than the track's start. If
    ///     only the number of images is requested, none is requested before that time.
    ///   - find: Returns the times in a range, in ascending order, that depend on the file's content: sync samples or
    ///     scenes.
    /// - Throws: If the range is unknown or empty, or there are too many times.
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

    /// Returns the requested part of the track, and the warning if the track ends before the requested end.
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

    /// Returns the number of steps that start in a range, including the first at its start.
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

extension RequestedTimes {
    /// Returns the distinct times in ascending order, each with its indices in `moments`; failures are left out.
    static func sweep(over moments: [Result<MediaTime, MediaError>]) -> [(time: MediaTime, places: [Int])] {
        var places: [MediaTime: [Int]] = [:]
        for (place, time) in moments.enumerated() {
            if case .success(let time) = time { places[time, default: []].append(place) }
        }
        return places.map { (time: $0.key, places: $0.value) }.sorted { $0.time < $1.time }
    }
}
