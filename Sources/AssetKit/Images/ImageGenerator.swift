import LibAV
public import MediaBase
public import Pictures
import Threading

/// Makes still images of an asset's pictures at any time: `AVAssetImageGenerator`.
///
/// ```swift
/// let generator = ImageGenerator(asset: asset)
/// generator.configuration.requestedTimeToleranceBefore = .zero
/// generator.configuration.requestedTimeToleranceAfter = .zero
/// generator.configuration.maximumSize = Dimensions(width: 320, height: 0)
/// let (image, actualTime) = try await generator.image(at: MediaTime(value: 5, timescale: 1))
/// ```
///
/// With the default tolerances, which are infinite, the image is that of the nearest keyframe, which is quick and may be
/// seconds away from the time asked for; with tolerances of zero it is the picture on screen at that very time.
///
/// May be used from any thread; requests are answered one after the other. Times asked for in rising order cost one
/// sweep over the file.
public final class ImageGenerator: Sendable {
    /// How images are chosen and shaped.
    public struct Configuration: Sendable, Hashable {
        /// How much earlier than asked for an image may be; infinite, so that the nearest sync sample is used.
        public var requestedTimeToleranceBefore = MediaTime.positiveInfinity
        /// How much later than asked for an image may be; infinite, so that the nearest sync sample is used.
        public var requestedTimeToleranceAfter = MediaTime.positiveInfinity
        /// Whether images are turned upright by the track's transform.
        public var appliesPreferredTrackTransform = true
        /// Which part of the stored pictures is shown, and whether pixels are made square.
        public var apertureMode = ApertureMode.cleanAperture
        /// What becomes of HDR.
        public var dynamicRangePolicy = DynamicRangePolicy.forceSDR
        /// Whether pictures that consist of two fields are made one: ``PixelBuffer/deinterlaced()``.
        public var deinterlaces = false
        /// The size that images are fitted into, never enlarged; a side of 0 sets no limit.
        public var maximumSize = Dimensions(width: 0, height: 0)
        /// The track: ``AssetTrack/index``; `nil` for the first enabled video track.
        public var trackIndex: Int?
        /// Codec threads; 0 for as many as there are cores.
        public var threads = 0

        /// Any sync sample will do, upright, in full size.
        public init() {}
    }

    /// One image and what is known of it.
    public struct GeneratedImage: Sendable {
        /// The time that was asked for.
        public let requestedTime: MediaTime
        /// The presentation time of the picture that was delivered.
        public let actualTime: MediaTime
        /// How long that picture is on screen.
        public let duration: MediaTime
        /// Whether it came from a sync sample.
        public let isKeyframe: Bool
        /// The image.
        public let image: Bitmap
    }

    /// What images are made of.
    public let asset: Asset

    private let settings = Mutex(Configuration())
    private let state = Mutex(State())
    private let generation = Mutex(0)
    /// Ends the request that is under way.
    private let running = Mutex<[Cancellation]>([])

    private let damageLog: DamageLog
    /// How several tracks become one picture; `nil` for the pictures of one track.
    let compositing = Mutex<Compositing?>(nil)
    /// Generators for the sources of a composition, the one that was used last at the end.
    let sources = Mutex<[ImageGenerator]>([])

    private struct State {
        var finder: FrameFinder?
        var syncSamples: KeyframeIndex?
        var track: AssetTrack?
        var threads = 0
    }

    /// A generator for an asset; opens nothing yet.
    public init(asset: Asset) {
        // Frames of what is rendered are composited of the composition's pictures.
        self.asset = asset.rendering?.asset ?? asset
        damageLog = DamageLog()
        if let rendering = asset.rendering { videoComposition = rendering.videoComposition }
    }

    /// A further generator for the same asset and with the same configuration, to be used on another thread.
    ///
    /// It opens the file again; what both cannot decode is counted together.
    package init(sharing other: ImageGenerator) {
        asset = other.asset
        damageLog = other.damageLog
        configuration = other.configuration
        videoComposition = other.videoComposition
    }

    /// A generator for a source of another one's asset; what both cannot decode is counted together.
    init(asset: Asset, for other: ImageGenerator) {
        self.asset = asset
        damageLog = other.damageLog
        configuration = other.configuration
    }

    /// How images are chosen and shaped; holds for requests that begin after it is set.
    public var configuration: Configuration {
        get { settings.withLock { $0 } }
        set { settings.withLock { $0 = newValue } }
    }

    /// The image at a time, and the time that it shows.
    ///
    /// The picture on screen at T is the one whose presentation time is the last that is not after T; the track's very
    /// end gives the last picture. With tolerances, the nearest sync sample is taken if its interval meets
    /// [T − before, T + after].
    /// - Throws: ``MediaError/Code-swift.struct/outOfRange`` for a time before the first picture or after the last.
    public func image(at time: MediaTime) async throws(MediaError) -> (image: Bitmap, actualTime: MediaTime) {
        let generated = try await generatedImage(at: time)
        return (generated.image, generated.actualTime)
    }

    /// The image at a time with all that is known of it.
    ///
    /// Where the task is cancelled, the request ends as cancelled.
    public func generatedImage(at time: MediaTime) async throws(MediaError) -> GeneratedImage {
        let (born, unwanted) = (currentGeneration, Cancellation())
        return try await offload(onCancel: { unwanted.cancel() }) { () throws(MediaError) in
            try self.generateNow(at: time, born: born, unlessCancelled: unwanted)
        }
    }

    /// The image at a time, made on the calling thread.
    public func generateNow(at time: MediaTime) throws(MediaError) -> GeneratedImage {
        try generateNow(at: time, born: currentGeneration)
    }

    /// Lets all requests end as cancelled, also the one that is under way.
    ///
    /// From any thread; requests made later are answered as usual, unless the asset is a pipe that was being read.
    public func cancelAllImageGeneration() {
        generation.withLock { $0 += 1 }
        for request in running.withLock({ $0 }) { request.cancel() }
    }

    /// Which cancellations a request that begins now is not concerned by.
    var currentGeneration: Int { generation.withLock { $0 } }

    /// Has ``cancelAllImageGeneration()`` end a request until ``end(_:)``.
    func begin(_ request: Cancellation) { running.withLock { $0.append(request) } }

    func end(_ request: Cancellation) {
        running.withLock { running in
            if let place = running.lastIndex(where: { $0 === request }) { running.remove(at: place) }
        }
    }

    func generateNow(
        at time: MediaTime, born: Int, unlessCancelled unwanted: Cancellation = Cancellation()
    ) throws(MediaError) -> GeneratedImage {
        let configuration = self.configuration
        if let compositing = compositing.withLock({ $0 }) {
            return try compositing.image(of: self, at: time, configuration, born: born, unlessCancelled: unwanted)
        }
        let (found, track) = try locate(time, configuration, born: born, unlessCancelled: unwanted)
        return try render(found, of: track, for: time, configuration)
    }

    private func render(
        _ found: Located, of track: AssetTrack, for time: MediaTime, _ configuration: Configuration
    ) throws(MediaError) -> GeneratedImage {
        let renderer = ImageRenderer(
            maximumSize: configuration.maximumSize, appliesTransform: configuration.appliesPreferredTrackTransform,
            apertureMode: configuration.apertureMode, dynamicRangePolicy: configuration.dynamicRangePolicy,
            deinterlaces: configuration.deinterlaces, transform: track.preferredTransform, format: found.format)
        return GeneratedImage(
            requestedTime: time, actualTime: found.time, duration: found.duration, isKeyframe: found.isKey,
            image: try renderer.render(found.picture))
    }

    /// The decoded picture at a time, in the decoder's own format and size.
    public func pixelBuffer(at time: MediaTime) throws(MediaError)
        -> (picture: PixelBuffer, actualTime: MediaTime, duration: MediaTime)
    {
        try pixelBuffer(at: time, before: nil)
    }

    /// The same, told which time is asked for next, as a sweep tells it: pictures between the two are not decoded then.
    ///
    /// - Parameter upcoming: The next time, infinite where none follows; `nil` where it is not known.
    package func pixelBuffer(at time: MediaTime, before upcoming: MediaTime?) throws(MediaError)
        -> (picture: PixelBuffer, actualTime: MediaTime, duration: MediaTime)
    {
        let (found, _) = try locate(time, configuration, upcoming: upcoming, born: currentGeneration)
        return (found.picture, found.time, found.duration)
    }

    /// A picture that was found, and the interval during which it is shown.
    struct Located: Sendable {
        let picture: PixelBuffer
        /// What the container says of it.
        let format: VideoFormat?
        let time: MediaTime
        let duration: MediaTime
        let isKey: Bool
    }

    /// What could not be decoded so far, on the way to the images that were asked for.
    public var damage: DamageReport { damageLog.report }

    private func syncSamples(
        _ state: inout State, _ configuration: Configuration
    ) throws(MediaError) -> (AssetTrack, KeyframeIndex) {
        let track = try asset.videoTrack(configuration.trackIndex)
        if let known = state.syncSamples, state.track == track { return (track, known) }
        let samples = KeyframeIndex(asset, track: track, try asset.contents())
        state = State(syncSamples: samples, track: track)
        return (track, samples)
    }

    func locate(
        _ time: MediaTime, _ configuration: Configuration, upcoming: MediaTime? = nil, born: Int,
        unlessCancelled unwanted: Cancellation = Cancellation()
    ) throws(MediaError) -> (Located, AssetTrack) {
        let asset = asset
        if let composition = asset.composition {
            guard currentGeneration == born, !unwanted.isCancelled else { throw MediaError(.cancelled, "cancelled") }
            begin(unwanted)
            defer { end(unwanted) }
            return try locate(time, in: composition, configuration, unlessCancelled: unwanted)
        }
        do throws(MediaError) {
            return try state.withLock { state throws(MediaError) in
                guard currentGeneration == born, !unwanted.isCancelled else {
                    throw MediaError(.cancelled, "cancelled")
                }
                begin(unwanted)
                defer {
                    end(unwanted)
                    // A file whose reading was cancelled stays so, also where the picture was found by then: the next
                    // request opens it anew.
                    if unwanted.release() { (state.finder, state.syncSamples) = (nil, nil) }
                }
                let (track, syncSamples) = try syncSamples(&state, configuration)
                syncSamples.cancellation = unwanted
                if state.finder == nil || state.threads != configuration.threads {
                    state.finder = try FrameFinder(
                        asset, track: track, syncSamples: syncSamples, threads: configuration.threads,
                        damage: damageLog, cancellation: unwanted)
                    state.threads = configuration.threads
                }
                guard let finder = state.finder else { throw MediaError(.noSuchTrack, "has no pictures") }
                finder.cancellation = unwanted
                finder.upcoming = upcoming
                let found: FrameFinder.Found
                do throws(MediaError) {
                    found = try finder.frame(
                        at: time, before: configuration.requestedTimeToleranceBefore,
                        after: configuration.requestedTimeToleranceAfter)
                } catch {
                    throw unwanted.isCancelled ? MediaError(.cancelled, "cancelled") : error
                }
                let located = Located(
                    picture: found.frame.picture, format: track.formatDescriptions.first?.video,
                    time: found.frame.time, duration: found.end - found.frame.time,
                    isKey: found.frame.isKey)
                return (located, track)
            }
        } catch {
            throw error.at(path: asset.displayName)
        }
    }
}

// MARK: - Sweeps

extension ImageGenerator {
    /// Splits moments in rising order into runs, each of which costs no more by itself than after the ones before it.
    ///
    /// Several generators may share them out; what is delivered depends on the runs, not on who makes them. Where only
    /// reading all packets tells how to split, and the moments are far apart, that is done here.
    package func runs(of times: [MediaTime]) throws(MediaError) -> [Range<Int>] {
        // A composition's segments are looked up one by one.
        if asset.composition != nil { return times.isEmpty ? [] : [0..<times.count] }
        let configuration = self.configuration
        do throws(MediaError) {
            return try state.withLock { state throws(MediaError) in
                try syncSamples(&state, configuration).1.runs(of: times)
            }
        } catch {
            throw error.at(path: asset.displayName)
        }
    }

    /// Begins a run: what comes next does not depend on what was asked for before.
    package func beginRun() { state.withLock { $0.finder?.forgetPlace() } }

    /// The image at a time, made on the calling thread; `nil` where it is that of the picture of another image.
    ///
    /// - Parameter upcoming: The time that will be asked for next, infinite where none will: pictures between the two are
    ///   not decoded then.
    package func generateNow(
        at time: MediaTime, unlessOf other: GeneratedImage?, before upcoming: MediaTime
    ) throws(MediaError) -> GeneratedImage? {
        let configuration = self.configuration
        if let compositing = compositing.withLock({ $0 }) {
            if let other, other.actualTime <= time, time < other.actualTime + other.duration { return nil }
            return try compositing.image(
                of: self, at: time, configuration, born: currentGeneration, unlessCancelled: Cancellation())
        }
        let (found, track) = try locate(time, configuration, upcoming: upcoming, born: currentGeneration)
        if found.time == other?.actualTime { return nil }
        return try render(found, of: track, for: time, configuration)
    }
}

extension Asset {
    /// The video track of an index, or the first one that is enabled and no cover picture, else the first of all.
    func videoTrack(_ index: Int?) throws(MediaError) -> AssetTrack {
        let tracks = try contents().tracks
        if let index {
            guard tracks.indices.contains(index), tracks[index].mediaType == .video else {
                throw MediaError(.noSuchTrack, "track \(index) is no video track", path: displayName)
            }
            return tracks[index]
        }
        let pictures = tracks.filter { $0.mediaType == .video }
        guard
            let best = pictures.first(where: { $0.isEnabled && !$0.isAttachedPicture })
                ?? pictures.first(where: { !$0.isAttachedPicture }) ?? pictures.first
        else { throw MediaError(.noSuchTrack, "has no video track", path: displayName) }
        return best
    }
}
