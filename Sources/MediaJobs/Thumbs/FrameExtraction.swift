import AssetKit
import MediaBase
import SystemCalls
import Threading

/// Makes the images for a ascending list of times in one sweep over the file.
///
/// The times are split into runs that are decoded independently, each from a sync sample. If there are several runs,
/// several workers share them, each with its own generator and one codec thread; this is faster than one decoder with
/// several threads. A single run uses all threads in its decoder. The result does not depend on the number of runs or
/// threads.
///
/// Few images are held at a time, regardless of their number: each is delivered as soon as all earlier ones have been.
struct FrameExtraction {
    /// The configured generator; each further worker has its own with the same configuration.
    let generator: ImageGenerator
    /// The maximum distance between an image and its requested time.
    let tolerance: ThumbsRequest.Tolerance
    /// The range from which images may be taken; `nil` for no limit.
    private let range: MediaTimeRange?
    private let threads: Int
    /// Returns how many decoders may work at once, of a number that is wanted.
    private let decoders: (Int) -> Int

    /// The maximum size in bytes of the images that wait for earlier ones to be delivered.
    private static let room = 48 << 20

    /// - Parameter range: The range that tolerances must not leave; `nil` for no limit.
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
        decoders = { asset.decoders(of: track, atMost: $0) }
        generator = ImageGenerator(asset: asset)
        generator.configuration = configuration
        self.tolerance = tolerance
        // A frame that starts exactly at the end is outside the range. Frame times are whole ticks.
        let scale = track.naturalTimeScale
        let tick = scale > 0 ? MediaTime(value: 1, timescale: scale) : .zero
        self.range = range.map { MediaTimeRange(start: $0.start, end: max($0.start, $0.end - tick)) }
    }

    /// The data that could not be decoded while the images were made.
    var damage: DamageReport { generator.damage }

    /// Makes the images.
    ///
    /// If one frame serves several times, it is prepared once, with the index of the first of them, and the result is
    /// delivered for each.
    ///
    /// - Parameters:
    ///   - times: The times, each later than the previous one.
    ///   - prepare: Converts an image into the value to deliver, usually the bytes of a file. Receives the index of a
    ///     time in `times` and its image, or the error if there is none. Called on any thread, in any order, several
    ///     times concurrently.
    ///   - deliver: Receives the index of a time and its prepared value, in ascending order, on the calling thread.
    ///   - passed: Frames of a shared reading that are known already, by their own times.
    /// - Throws: The error thrown by `prepare` or `deliver`, which ends the sweep.
    func run<Prepared: Sendable>(
        _ times: [MediaTime], passed: [MediaTime: PassingFrame] = [:],
        prepare:
            @escaping @Sendable (Int, Result<ImageGenerator.GeneratedImage, MediaError>) throws(MediaError) ->
            Prepared,
        deliver: (Int, Prepared) throws(MediaError) -> Void
    ) throws(MediaError) {
        if times.allSatisfy({ passed[$0] != nil }) {
            for (place, time) in times.enumerated() {
                guard let frame = passed[time] else { continue }
                try deliver(place, try prepare(place, image(of: frame, at: time)))
            }
            return
        }
        if takesPassingFrames { return try runPassing(times, prepare, deliver) }
        let runs = try generator.runs(of: times)
        let workers = decoders(min(threads, runs.count))
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

// The frames of a shared reading

extension FrameExtraction {
    /// True if the frames are taken from a shared reading, in which no frame costs more than another.
    var takesPassingFrames: Bool { tolerance == .exact && generator.hasPassingFrames }

    private func image(
        of frame: PassingFrame, at time: MediaTime
    ) -> Result<ImageGenerator.GeneratedImage, MediaError> {
        Result { () throws(MediaError) in try frame.image(at: time, generator.configuration) }
    }

    private func runPassing<Prepared: Sendable>(
        _ times: [MediaTime],
        _ prepare: (Int, Result<ImageGenerator.GeneratedImage, MediaError>) throws(MediaError) -> Prepared,
        _ deliver: (Int, Prepared) throws(MediaError) -> Void
    ) throws(MediaError) {
        var last: (time: MediaTime, prepared: Prepared)?
        try generator.passingFrames(at: times) { place, frame throws(MediaError) in
            let shown = try? frame.get()
            if let last, last.time == shown?.time { return try deliver(place, last.prepared) }
            let prepared = try prepare(place, frame.flatMap { image(of: $0, at: times[place]) })
            last = shown.map { ($0.time, prepared) }
            try deliver(place, prepared)
        }
    }
}

/// Makes the images of one run of times sequentially.
private struct RunMaker<Prepared: Sendable>: Sendable {
    let times: [MediaTime]
    let tolerance: ThumbsRequest.Tolerance
    let range: MediaTimeRange?
    let prepare: @Sendable (Int, Result<ImageGenerator.GeneratedImage, MediaError>) throws(MediaError) -> Prepared

    /// Makes the images of a run.
    ///
    /// - Parameter yield: Receives the index of a time, its prepared value and the value's approximate size in bytes;
    ///   returns false to stop.
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

    /// Returns the tolerance at a time, limited so that it does not leave the range.
    private func tolerance(at time: MediaTime) -> ThumbsRequest.Tolerance {
        guard let range else { return tolerance }
        return ThumbsRequest.Tolerance(
            before: max(.zero, min(tolerance.before, time - range.start)),
            after: max(.zero, min(tolerance.after, range.end - time)))
    }

    /// Indicates whether a frame is the only one allowed for a time, because its display time covers the whole
    /// tolerance.
    ///
    /// A frame that is decoded and converted once can then serve many times.
    private func isOnlyOne(
        _ image: ImageGenerator.GeneratedImage, for time: MediaTime, _ tolerance: ThumbsRequest.Tolerance
    ) -> Bool {
        image.actualTime <= time - tolerance.before && time + tolerance.after < image.actualTime + image.duration
    }
}

extension ThumbsRequest.Aperture {
    /// The corresponding aperture mode of the image generator.
    fileprivate var mode: ApertureMode {
        switch self {
        case .clean: .cleanAperture
        case .production: .productionAperture
        case .encoded: .encodedPixels
        }
    }
}
