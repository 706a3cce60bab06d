import AssetKit
import MediaAnalysis
import MediaBase
import Pictures

/// The moments that a request means in one file.
struct RequestedTimes {
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

extension RequestedTimes {
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

/// The times that only a file's content tells: its sync samples, and where its scenes begin.
struct ContentTimes {
    let asset: Asset
    let track: AssetTrack
    /// Codec threads; 0 for as many as there are cores.
    let threads: Int
    /// Gets how far reading came, from 0 to 1.
    let progress: (Double) -> Void

    /// When the sync samples that are shown in a range begin, in rising order; decoded only where stored samples do not tell.
    ///
    /// All samples are read: libavformat's mov demuxer gives wrong times to what follows the samples that it is told to
    /// discard (`AVDISCARD_NONKEY`).
    func syncSamples(in range: MediaTimeRange) throws(MediaError) -> [MediaTime] {
        var times: Set<MediaTime> = []
        let output = TrackOutput(track: track)
        var mayMisplace = track.formatDescriptions.first?.video?.reorders == true
        if mayMisplace { mayMisplace = try asset.mayBeginUndecodable() }
        try read(output, range)
        while let sample = try output.nextSampleBuffer() {
            guard sample.isSync, !sample.attachments.contains(.isNotShown) else { continue }
            // Where pictures are reordered, one that is shown when it is decoded has the time of another one.
            let isTimed =
                sample.presentationTime.isNumeric && !(mayMisplace && sample.presentationTime == sample.decodeTime)
            guard isTimed else { return try decodedSyncSamples(in: range) }
            // A picture before time zero is no moment that can be asked for.
            if range.contains(sample.presentationTime) { times.insert(sample.presentationTime) }
        }
        return times.sorted()
    }

    private func decodedSyncSamples(in range: MediaTimeRange) throws(MediaError) -> [MediaTime] {
        var times: [MediaTime] = []
        let output = TrackOutput(track: track, videoSettings: VideoSettings())
        try read(output, range)
        while let sample = try output.nextSampleBuffer() {
            if sample.isSync, range.contains(sample.presentationTime) { times.append(sample.presentationTime) }
        }
        return times
    }

    /// The start of a range and every frame in it with which a new shot begins; every frame is decoded once.
    ///
    /// - Parameter threshold: From which ``SceneDetector/score(of:)`` on.
    func scenes(in range: MediaTimeRange, threshold: Double) throws(MediaError) -> [MediaTime] {
        var times = [range.start]
        var detector = SceneDetector()
        let size = (track.naturalSize ?? Self.pictureSize).fitted(into: Self.pictureSize)
        let output = TrackOutput(track: track, videoSettings: VideoSettings(pixelFormat: .gray, dimensions: size))
        try read(output, range)
        while let sample = try output.nextSampleBuffer() {
            guard let picture = sample.pixelBuffer else { continue }
            let score = detector.score(of: picture.packedPlane(0).span)
            if score >= threshold, sample.presentationTime > range.start { times.append(sample.presentationTime) }
            progress((sample.presentationTime - range.start).seconds / range.duration.seconds)
        }
        return times
    }

    /// What frames are scaled down to before they are compared: details and noise are no matter for that.
    private static let pictureSize = Dimensions(width: 160, height: 160)

    private func read(_ output: TrackOutput, _ range: MediaTimeRange) throws(MediaError) {
        let reader = try AssetReader(asset: asset)
        reader.threadsPerOutput = threads
        reader.timeRange = range
        try reader.add(output)
        try reader.startReading()
    }
}

/// Chooses a moment near each time asked for at which there is something to be seen, and sharply.
///
/// Nine frames are looked at for each time: on screen at the time itself, and at four moments on either side, evenly
/// spaced up to one second away, or up to half the distance of the times asked for where that is less. Where the times
/// are scenes, all of them lie in the first two seconds of the scene. The best by ``PictureQuality`` is taken; of equal
/// ones the nearest to the time, and of those the earlier. A time outside the track stays what it is, an error.
struct BestFrameSelection {
    let asset: Asset
    let track: AssetTrack
    let request: ThumbsRequest
    let times: RequestedTimes

    private static let steps: Int64 = 4
    private static let reach = MediaTime(value: 1, timescale: 1)
    /// Pictures are compared in this size.
    private static let pictureSize = Dimensions(width: 320, height: 320)

    /// The chosen moments, one for every time asked for; failures stay.
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

    /// The moments that are looked at for one of the times, the nearest first.
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
