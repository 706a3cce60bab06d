import LibAV
import MediaBase
import Threading

extension ImageGenerator {
    /// The video composition that combines several tracks: `AVAssetImageGenerator.videoComposition`; `nil` for single
    /// tracks.
    ///
    /// With a composition, each image is exactly the composited frame on screen at the requested time, in the
    /// composition's render size or fitted into ``Configuration/maximumSize``. Tolerances, aperture, transform and
    /// track have no effect.
    public var videoComposition: VideoComposition? {
        get { (compositing as? Compositing)?.composition }
        set { compositing = newValue.map { Compositing(composition: $0) } }
    }

    /// The maximum number of sources whose decoders are kept.
    private static let maximumSources = 4

    /// Finds the frame that a composition's track shows at a time, in the source of its segment.
    fileprivate func locate(
        _ time: MediaTime, in composition: Composition, _ configuration: Configuration,
        unlessCancelled unwanted: Cancellation
    ) throws(MediaError) -> (Located, AssetTrack) {
        let track = try asset.videoTrack(configuration.trackIndex)
        guard let edited = composition.track(withID: track.id), time.isNumeric, time >= .zero, time <= edited.end else {
            throw MediaError(
                .outOfRange, "\(time) is outside the track, which lasts from 0 to \(track.timeRange.end)",
                path: asset.displayName)
        }
        let isAtEnd = time == edited.end
        guard let segment = isAtEnd ? edited.segments.last : edited.segment(at: time) else {
            throw MediaError(.outOfRange, "the track is empty", path: asset.displayName)
        }
        guard let source = segment.source else {
            guard !configuration.leavesGaps, let gap = GapPictures(segment, in: edited) else {
                throw MediaError(
                    .outOfRange, "nothing is shown at \(time), which lies in a gap", path: asset.displayName)
            }
            return (try gap.located(time), track)
        }
        try source.checkUnchanged()
        // Half a tick before the end, which selects the last frame on screen.
        let tick = MediaTime(value: 1, timescale: source.track.naturalTimeScale).multiplied(by: 1, dividedBy: 2)
        let moment = isAtEnd ? max(segment.sourceEnd - tick, segment.sourceStart) : segment.sourceTime(at: time)
        var inner = configuration
        inner.trackIndex = source.track.index
        let speed = segment.speed
        inner.requestedTimeToleranceBefore = min(
            configuration.requestedTimeToleranceBefore.multiplied(by: speed), moment - segment.sourceStart)
        inner.requestedTimeToleranceAfter = min(
            configuration.requestedTimeToleranceAfter.multiplied(by: speed),
            max(segment.sourceEnd - moment - tick, .zero))
        let generator = generator(for: source.asset)
        let (found, _) = try generator.locate(
            moment, inner, born: generator.currentGeneration, unlessCancelled: unwanted)
        let begins = max(found.time, segment.sourceStart)
        let ends = min(found.time + found.duration, segment.sourceEnd)
        let shown = segment.time(ofSource: begins)
        let located = Located(
            picture: found.picture, format: found.format, time: shown,
            duration: max(segment.time(ofSource: ends) - shown, .zero), isKey: found.isKey)
        return (located, track)
    }

    /// Returns the generator of a source; a few generators are kept, with their decoders at their current positions.
    private func generator(for source: Asset) -> ImageGenerator {
        let other = ImageGenerator(asset: source, for: self)
        return shared.withLock { shared in
            let place = shared.sources.firstIndex { $0.asset === source }
            let generator = place.map { shared.sources.remove(at: $0) } ?? other
            shared.sources.append(generator)
            if shared.sources.count > Self.maximumSources { shared.sources.removeFirst() }
            return generator
        }
    }
}

extension Composition {
    func locate(
        _ time: MediaTime, for generator: ImageGenerator, _ configuration: ImageGenerator.Configuration,
        unlessCancelled unwanted: Cancellation
    ) throws(MediaError) -> (ImageGenerator.Located, AssetTrack) {
        try generator.locate(time, in: self, configuration, unlessCancelled: unwanted)
    }
}

extension GapPictures {
    /// Returns the black frame on screen at a time; at the gap's end, the last one.
    fileprivate func located(_ time: MediaTime) throws(MediaError) -> ImageGenerator.Located {
        let shown = timeRange(at: time)
        return ImageGenerator.Located(
            picture: try picture(), format: format.video, time: shown.start, duration: shown.duration, isKey: true)
    }
}

/// Generates images of several tracks that a video composition combines.
final class Compositing: ImageCompositing {
    let composition: VideoComposition
    private let state = Mutex(State())

    private struct State {
        var compositor: (any VideoCompositing)?
        var images: [Int: SourceFrame] = [:]
        var tracks: [(track: AssetTrack, generator: ImageGenerator)] = []
    }

    init(composition: VideoComposition) { self.composition = composition }

    func restarted() -> any ImageCompositing { Compositing(composition: composition) }

    /// The compositor, the images shown as tracks, and the tracks, each with its generator.
    private typealias Ready = (
        any VideoCompositing, [Int: SourceFrame], [(track: AssetTrack, generator: ImageGenerator)]
    )

    /// Returns what makes the frames.
    private func ready(
        for pictures: [AssetTrack], of generator: ImageGenerator
    ) throws(MediaError) -> Ready {
        try state.withLock { state throws(MediaError) in
            if let compositor = state.compositor { return (compositor, state.images, state.tracks) }
            let compositor: any VideoCompositing
            if let own = composition.compositor {
                compositor = own
            } else {
                compositor = try LayerCompositor(composition)
            }
            state.images = try composition.imageSources()
            state.compositor = compositor
            state.tracks = pictures.map { ($0, ImageGenerator(asset: generator.asset, for: generator)) }
            return (compositor, state.images, state.tracks)
        }
    }

    /// Returns the frame on screen at a time as an image.
    func image(
        of generator: ImageGenerator, at time: MediaTime, _ configuration: ImageGenerator.Configuration, born: Int,
        unlessCancelled unwanted: Cancellation
    ) throws(MediaError) -> ImageGenerator.GeneratedImage {
        generator.begin(unwanted)
        defer { generator.end(unwanted) }
        func check() throws(MediaError) {
            guard generator.currentGeneration == born, !unwanted.isCancelled else {
                throw MediaError(.cancelled, "cancelled", path: generator.asset.displayName)
            }
        }
        try check()
        let contents = try generator.asset.contents()
        try composition.validate(duration: contents.duration)
        let duration = composition.frameDuration
        guard time.isNumeric, time >= .zero, time <= contents.duration,
            let exact = Rational(time)?.divided(by: Rational(duration) ?? .one), let number = exact.rounded(.down)
        else {
            throw MediaError(
                .outOfRange, "\(time) is outside the asset, which lasts to \(contents.duration)",
                path: generator.asset.displayName)
        }
        let pictures = contents.tracks.filter { $0.mediaType == .video && !$0.isAttachedPicture }
        let end = composition.end(of: pictures, until: contents.duration) ?? contents.duration
        // The last frame is also shown at the very end, and while the audio outlasts the video.
        let count = Rational(end)?.divided(by: Rational(duration) ?? .one)?.rounded(.up) ?? .max
        let shown = duration.multiplied(by: min(number, max(count, 1) - 1))
        guard let instruction = composition.instruction(at: shown) else {
            throw MediaError(.outOfRange, "no instruction says what is shown at \(shown)")
        }
        let (compositor, images, tracks) = try ready(for: pictures, of: generator)
        var sources = images.filter { composition.needs($0.key, for: instruction) }
        for (track, inner) in tracks where composition.needs(track.id, for: instruction) {
            var exact = configuration
            exact.trackIndex = track.index
            exact.requestedTimeToleranceBefore = .zero
            exact.requestedTimeToleranceAfter = .zero
            exact.leavesGaps = true
            do throws(MediaError) {
                let (found, _) = try inner.locate(
                    shown, exact, born: inner.currentGeneration, unlessCancelled: unwanted)
                sources[track.id] = SourceFrame(picture: found.picture, format: found.format)
            } catch {
                // A track without a frame at this time is skipped.
                guard error.code == .outOfRange else { throw error }
            }
        }
        // No lock is held, because a user's compositor may call the generator, and several compositors work in
        // parallel.
        let request = VideoCompositionRequest(
            time: shown, instruction: instruction, videoComposition: composition, sources: sources)
        let made = try compositor.made(request, unless: check)
        try check()
        let picture = try made.dimensions == request.renderSize ? made : made.converted(dimensions: request.renderSize)
        let size = picture.dimensions.fitted(into: configuration.maximumSize)
        return ImageGenerator.GeneratedImage(
            requestedTime: time, actualTime: shown, duration: min(duration, end - shown),
            isKeyframe: false, image: try picture.bitmap(dimensions: size))
    }
}
