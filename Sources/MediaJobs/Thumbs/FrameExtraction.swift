import AssetKit
import MediaBase
import SystemCalls
import Threading

/// Makes the images of moments in rising order, in one sweep over the file.
///
/// The moments are split into runs that are decoded apart, each from a sync sample. Where there are several, several
/// workers share them out, each with a generator and one codec thread of its own: that is faster than a decoder with
/// several threads. A single run gets all threads for its decoder. What is delivered does not depend on any of this.
///
/// Few images are held at a time, however many there are: each is delivered as soon as all before it are.
struct FrameExtraction {
    /// What makes the images, configured; further workers have one like it.
    let generator: ImageGenerator
    /// How far an image may be from its time.
    let tolerance: ThumbsRequest.Tolerance
    /// Where images may be taken from; `nil` for everywhere.
    private let range: MediaTimeRange?
    private let threads: Int

    /// How many bytes of images may wait for those before them.
    private static let room = 48 << 20

    /// - Parameter range: What tolerances do not lead out of; `nil` where they may lead anywhere.
    init(
        _ asset: Asset, track: AssetTrack, request: ThumbsRequest, tolerance: ThumbsRequest.Tolerance,
        range: MediaTimeRange? = nil
    ) {
        var configuration = ImageGenerator.Configuration()
        configuration.appliesPreferredTrackTransform = request.appliesRotation
        configuration.maximumSize = request.maximumSize
        configuration.apertureMode = request.aperture.mode
        configuration.dynamicRangePolicy = request.keepsDynamicRange ? .matchSource : .forceSDR
        configuration.deinterlaces = request.deinterlaces
        configuration.trackIndex = track.index
        threads = request.threads > 0 ? request.threads : availableProcessors()
        generator = ImageGenerator(asset: asset)
        generator.configuration = configuration
        self.tolerance = tolerance
        // A picture that begins with the end is outside; times of pictures are whole ticks.
        let scale = track.naturalTimeScale
        let tick = scale > 0 ? MediaTime(value: 1, timescale: scale) : .zero
        self.range = range.map { MediaTimeRange(start: $0.start, end: max($0.start, $0.end - tick)) }
    }

    /// What could not be decoded on the way to the images.
    var damage: DamageReport { generator.damage }

    /// Makes the images.
    ///
    /// Where one picture stands for several moments, it is prepared once, with the place of the first of them, and what
    /// came of it is delivered for each.
    ///
    /// - Parameters:
    ///   - times: The moments, each later than the one before.
    ///   - prepare: Makes of an image what is to be delivered, as a rule the bytes of a file; gets the place of a moment
    ///     in `times` and its image, or why there is none. Called on any thread, in any order, several times at once.
    ///   - deliver: Gets the place of a moment and what was prepared for it, in rising order, on the calling thread.
    /// - Throws: what `prepare` or `deliver` throws, which ends the sweep.
    func run<Prepared: Sendable>(
        _ times: [MediaTime],
        prepare:
            @escaping @Sendable (Int, Result<ImageGenerator.GeneratedImage, MediaError>) throws(MediaError) ->
            Prepared,
        deliver: (Int, Prepared) throws(MediaError) -> Void
    ) throws(MediaError) {
        let runs = try generator.runs(of: times)
        let workers = min(threads, runs.count)
        generator.configuration.threads = max(1, threads / max(1, workers))
        let maker = RunMaker(times: times, tolerance: tolerance, range: range, prepare: prepare)
        let generators = [generator] + (1..<max(1, workers)).map { _ in ImageGenerator(sharing: generator) }
        try orderedWork(runs.count, workers: workers, room: Self.room) { run, worker, yield throws(MediaError) in
            try maker.make(runs[run], with: generators[worker]) { place, prepared, cost in
                yield((place, prepared), cost)
            }
        } stop: {
            for generator in generators { generator.cancelAllImageGeneration() }
        } deliver: { _, piece throws(MediaError) in
            try deliver(piece.0, piece.1)
        }
    }
}

/// Makes the images of one run of moments after the other.
private struct RunMaker<Prepared: Sendable>: Sendable {
    let times: [MediaTime]
    let tolerance: ThumbsRequest.Tolerance
    let range: MediaTimeRange?
    let prepare: @Sendable (Int, Result<ImageGenerator.GeneratedImage, MediaError>) throws(MediaError) -> Prepared

    /// Makes the images of a run.
    ///
    /// - Parameter yield: Gets the place of a moment, what was prepared for it, and about how many bytes that has; says
    ///   whether more is wanted.
    func make(
        _ run: Range<Int>, with generator: ImageGenerator,
        yield: (Int, Prepared, Int) -> Bool
    ) throws(MediaError) {
        generator.beginRun()
        var last: (image: ImageGenerator.GeneratedImage, prepared: Prepared)?
        for place in run {
            let allowed = tolerance(at: times[place])
            generator.configuration.requestedTimeToleranceBefore = allowed.before
            generator.configuration.requestedTimeToleranceAfter = allowed.after
            let result: Result<ImageGenerator.GeneratedImage?, MediaError>
            if let last, isOnlyOne(last.image, for: times[place], allowed) {
                result = .success(nil)
            } else {
                result = Result { () throws(MediaError) in
                    try generator.generateNow(
                        at: times[place], unlessOf: last?.image,
                        before: place + 1 < run.upperBound ? times[place + 1] : .positiveInfinity)
                }
            }
            let made: Prepared
            var cost = 1 << 10
            switch result {
            case .success(.some(let image)):
                made = try prepare(place, .success(image))
                last = (image, made)
                cost += 4 * image.image.width * image.image.height
            case .success(nil):
                guard let last else { continue }
                made = last.prepared
            case .failure(let error):
                made = try prepare(place, .failure(error))
                last = nil
            }
            guard yield(place, made, cost) else { return }
        }
    }

    /// How far an image may be from a moment without leaving the range.
    private func tolerance(at time: MediaTime) -> ThumbsRequest.Tolerance {
        guard let range else { return tolerance }
        return ThumbsRequest.Tolerance(
            before: max(.zero, min(tolerance.before, time - range.start)),
            after: max(.zero, min(tolerance.after, range.end - time)))
    }

    /// Whether no other picture is allowed for a moment: all that is near enough lies in this one's time on screen.
    ///
    /// Then many moments are answered by one decoded and converted picture.
    private func isOnlyOne(
        _ image: ImageGenerator.GeneratedImage, for time: MediaTime, _ tolerance: ThumbsRequest.Tolerance
    ) -> Bool {
        image.actualTime <= time - tolerance.before && time + tolerance.after < image.actualTime + image.duration
    }
}

extension ThumbsRequest.Aperture {
    /// The image generator's word for it.
    fileprivate var mode: ApertureMode {
        switch self {
        case .clean: .cleanAperture
        case .production: .productionAperture
        case .encoded: .encodedPixels
        }
    }
}
