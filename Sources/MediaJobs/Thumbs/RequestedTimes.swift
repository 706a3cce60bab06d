import AssetKit
import MediaAnalysis
import MediaBase
import Pictures

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
    /// The distinct times in ascending order, each with the indices of the requests that it serves.
    var sweep: [(time: MediaTime, places: [Int])] { Self.sweep(over: requested) }

    /// Returns the distinct times in ascending order, each with its indices in `moments`; failures are left out.
    static func sweep(over moments: [Result<MediaTime, MediaError>]) -> [(time: MediaTime, places: [Int])] {
        var places: [MediaTime: [Int]] = [:]
        for (place, time) in moments.enumerated() {
            if case .success(let time) = time { places[time, default: []].append(place) }
        }
        return places.map { (time: $0.key, places: $0.value) }.sorted { $0.time < $1.time }
    }
}

/// The times that depend on a file's content: its sync samples and the starts of its scenes.
struct ContentTimes {
    let asset: Asset
    let track: AssetTrack
    /// The number of codec threads; 0 for one per core.
    let threads: Int
    /// Receives the progress of reading, from 0 to 1.
    let progress: (Double) -> Void

    /// Returns the start times of the sync samples that are shown in a range, in ascending order.
    ///
    /// Decodes the samples only if the stored times are missing or unreliable. All samples are read, because
    /// libavformat's mov demuxer returns wrong times for samples that follow those it is set to discard
    /// (`AVDISCARD_NONKEY`).
    func syncSamples(in range: MediaTimeRange) throws(MediaError) -> [MediaTime] {
        var times: Set<MediaTime> = []
        var mayMisplace = track.formatDescriptions.first?.video?.reorders == true
        if mayMisplace { mayMisplace = try asset.mayBeginUndecodable() }
        let output = try asset.samplesNow(of: track, as: .stored, in: range, threads: threads)
        while let sample = try output.nextSampleBuffer() {
            guard sample.isSync, !sample.attachments.contains(.isNotShown) else { continue }
            // In streams with reordering, a sample whose presentation and decode times are equal may have another
            // frame's time.
            let isTimed =
                sample.presentationTime.isNumeric && !(mayMisplace && sample.presentationTime == sample.decodeTime)
            guard isTimed else { return try decodedSyncSamples(in: range) }
            // Frames before time zero cannot be requested.
            if range.contains(sample.presentationTime) { times.insert(sample.presentationTime) }
        }
        return times.sorted()
    }

    private func decodedSyncSamples(in range: MediaTimeRange) throws(MediaError) -> [MediaTime] {
        var times: [MediaTime] = []
        let output = try asset.samplesNow(of: track, as: .video(VideoSettings()), in: range, threads: threads)
        while let sample = try output.nextSampleBuffer() {
            if sample.isSync, range.contains(sample.presentationTime) { times.append(sample.presentationTime) }
        }
        return times
    }

    /// Returns the start of a range and the time of every frame in it that starts a new shot; every frame is decoded
    /// once.
    ///
    /// - Parameter threshold: The lowest ``SceneDetector/score(of:)`` that counts as a new shot.
    func scenes(in range: MediaTimeRange, threshold: Double) throws(MediaError) -> [MediaTime] {
        var times = [range.start]
        var detector = SceneDetector()
        let size = (track.naturalSize ?? Self.pictureSize).fitted(into: Self.pictureSize)
        let settings = VideoSettings(pixelFormat: .gray, dimensions: size)
        let output = try asset.samplesNow(of: track, as: .video(settings), in: range, threads: threads)
        while let sample = try output.nextSampleBuffer() {
            guard let picture = sample.pixelBuffer else { continue }
            let score = detector.score(of: picture.packedPlane(0).span)
            if score >= threshold, sample.presentationTime > range.start { times.append(sample.presentationTime) }
            progress((sample.presentationTime - range.start).seconds / range.duration.seconds)
        }
        return times
    }

    /// The size that frames are scaled down to for comparison, which needs no detail and no noise.
    private static let pictureSize = Dimensions(width: 160, height: 160)
}

/// Chooses a sharp frame with visible content near each requested time.
///
/// Nine frames are examined for each time: the one on screen at the time itself, and those at four times on either
/// side, evenly spaced up to one second away, or up to half the distance between requested times if that is less. If
/// the times are scenes, all nine lie in the first two seconds of the scene. The best frame by ``PictureQuality`` is
/// chosen; of equal ones the nearest to the time, and of those the earlier. A time outside the track remains an error.
struct BestFrameSelection {
    let asset: Asset
    let track: AssetTrack
    let request: ThumbsRequest
    let times: RequestedTimes

    private static let steps: Int64 = 4
    private static let reach = MediaTime(value: 1, timescale: 1)
    /// The size that frames are scaled down to for comparison.
    private static let pictureSize = Dimensions(width: 320, height: 320)

    /// Returns the chosen times, one for every requested time; failures are kept.
    func chosen(progress: (Double) -> Void) throws(MediaError) -> [Result<MediaTime, MediaError>] {
        let candidates = times.requested.indices.map { self.candidates(of: $0) }
        let moments = Set(candidates.flatMap(\.self)).sorted()
        var looks: [MediaTime: Look] = [:]
        var small = request
        (small.maximumSize, small.exactSize) = (Self.pictureSize, nil)
        let sweep = FrameExtraction(asset, track: track, request: small, tolerance: .exact)
        try sweep.run(moments) { _, image in
            (try? image.get()).map { Look(time: $0.actualTime, quality: PictureQuality($0.image)) }
        } deliver: { index, look in
            looks[moments[index]] = look
            progress(Double(index + 1) / Double(moments.count))
        }
        return zip(times.requested, candidates).map { requested, candidates in
            requested.map { Self.best(of: candidates.compactMap { looks[$0] }, at: looks[$0])?.time ?? $0 }
        }
    }

    private struct Look: Sendable {
        let time: MediaTime
        let quality: PictureQuality
    }

    private static func best(of looks: [Look], at own: Look?) -> Look? {
        guard var best = own else { return nil }
        for look in looks where look.quality.isBetter(than: best.quality) { best = look }
        return best
    }

    /// Returns the times to examine for one requested time, nearest first.
    private func candidates(of place: Int) -> [MediaTime] {
        guard case .success(let time) = times.requested[place] else { return [] }
        var reach = Self.reach
        if case .scenes = request.times {
            let next = times.requested.indices.contains(place + 1) ? try? times.requested[place + 1].get() : nil
            let length = min(reach + reach, min(next ?? times.range.end, times.range.end) - time)
            return (0...2 * Self.steps).map {
                time + length.multiplied(by: $0, dividedBy: 2 * Self.steps + 1)
            }
        }
        if let spacing = times.spacing { reach = min(reach, spacing.multiplied(by: 1, dividedBy: 2)) }
        let near = (1...Self.steps).flatMap { step in
            let distance = reach.multiplied(by: step, dividedBy: Self.steps)
            return [time - distance, time + distance]
        }
        return [time] + near.filter { $0 >= times.range.start && !($0 >= times.range.end) }
    }
}

extension PictureQuality {
    fileprivate init(_ picture: Bitmap) {
        let luma = picture.luma()
        self.init(luma: luma.span, width: picture.width, height: picture.height)
    }
}
