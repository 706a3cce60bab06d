import LibAV
public import MediaBase
public import Pictures
import Threading

/// Makes still images from an asset's video at any time: `AVAssetImageGenerator`.
///
/// ```swift
/// let generator = ImageGenerator(asset: asset)
/// generator.configuration.requestedTimeToleranceBefore = .zero
/// generator.configuration.requestedTimeToleranceAfter = .zero
/// generator.configuration.maximumSize = Dimensions(width: 320, height: 0)
/// let (image, actualTime) = try await generator.image(at: MediaTime(value: 5, timescale: 1))
/// ```
///
/// With the default tolerances, which are infinite, the image shows the nearest keyframe. This is fast, but the image
/// may be seconds away from the requested time. With tolerances of zero, it shows the frame on screen at exactly that
/// time.
///
/// A generator may be used from any thread, and processes requests sequentially. Times in ascending order require a
/// single pass through the file.
public final class ImageGenerator: Sendable {
    /// The settings for selecting and shaping images.
    public struct Configuration: Sendable, Hashable {
        /// The maximum time by which an image may be too early; by default infinite, to use the nearest sync sample.
        public var requestedTimeToleranceBefore = MediaTime.positiveInfinity
        /// The maximum time by which an image may be too late; by default infinite, to use the nearest sync sample.
        public var requestedTimeToleranceAfter = MediaTime.positiveInfinity
        /// True, the default, to rotate images upright by the track's transform.
        ///
        /// `AVAssetImageGenerator.appliesPreferredTrackTransform` is false by default.
        public var appliesPreferredTrackTransform = true
        /// The part of the stored frames to show, and the handling of non-square pixels.
        public var apertureMode = ApertureMode.cleanAperture
        /// The treatment of HDR.
        public var dynamicRangePolicy = DynamicRangePolicy.forceSDR
        /// True to deinterlace frames that consist of two fields: ``PixelBuffer/deinterlaced()``.
        public var deinterlaces = false
        /// The size into which images are fitted, without enlarging them; a side of 0 sets no limit.
        public var maximumSize = Dimensions(width: 0, height: 0)
        /// The index of the track, ``AssetTrack/index``; `nil` for the first enabled video track.
        public var trackIndex: Int?
        /// The number of codec threads; 0 for one per core.
        public var threads = 0
        /// True to find no frame in a composition's gap, rather than a black one.
        var leavesGaps = false

        /// Creates a configuration that accepts any sync sample, and makes upright images in full size.
        public init() {}
    }

    /// An image and its properties.
    public struct GeneratedImage: Sendable {
        /// The requested time.
        public let requestedTime: MediaTime
        /// The presentation time of the frame shown.
        public let actualTime: MediaTime
        /// The duration for which that frame is on screen.
        public let duration: MediaTime
        /// True if the frame is a sync sample.
        public let isKeyframe: Bool
        /// The image.
        public let image: Bitmap
    }

    /// The asset from which images are made.
    public let asset: Asset

    /// The state that requests share; locked only to look at it or change it.
    let shared: Mutex<Shared>
    /// The search in the file of one track; locked while a frame is decoded.
    private let search = Mutex(Search())
    private let damageLog: DamageLog

    struct Shared {
        var configuration = Configuration()
        /// The compositing of several tracks into one picture; `nil` for the frames of one track.
        var compositing: (any ImageCompositing)?
        /// Generators for the sources of a composition, the most recently used one last.
        var sources: [ImageGenerator] = []
        /// The number of cancellations so far.
        var generation = 0
        /// Cancels the requests in progress.
        var running: [Cancellation] = []
    }

    private struct Search {
        var finder: FrameFinder?
        var keyframes: KeyframeIndex?
        var track: AssetTrack?
        var threads = 0
    }

    private init(_ asset: Asset, _ damageLog: DamageLog, _ shared: Shared) {
        self.asset = asset
        self.damageLog = damageLog
        self.shared = Mutex(shared)
    }

    /// Creates a generator for an asset, without opening it yet.
    public convenience init(asset: Asset) {
        let composited = asset.backing as? any CompositedBacking
        self.init(composited?.frames ?? asset, DamageLog(), Shared(compositing: composited?.compositing()))
    }

    /// Creates another generator for the same asset and configuration, for use on another thread.
    ///
    /// It opens the file again. Damage that the two find is counted together.
    package convenience init(sharing other: ImageGenerator) {
        self.init(
            other.asset, other.damageLog,
            Shared(configuration: other.configuration, compositing: other.compositing?.restarted()))
    }

    /// Creates a generator for a source of another one's asset; damage that the two find is counted together.
    convenience init(asset: Asset, for other: ImageGenerator) {
        self.init(asset, other.damageLog, Shared(configuration: other.configuration))
    }

    /// The settings for images; changes apply to requests that start afterwards.
    public var configuration: Configuration {
        get { shared.withLock { $0.configuration } }
        set { shared.withLock { $0.configuration = newValue } }
    }

    /// The compositing of several tracks into one picture; `nil` for the frames of one track.
    var compositing: (any ImageCompositing)? {
        get { shared.withLock { $0.compositing } }
        set { shared.withLock { $0.compositing = newValue } }
    }

    /// Returns the image at a time, and the time that it shows.
    ///
    /// The frame on screen at T is the last one whose presentation time is not after T. A time before the first frame or
    /// after the last one by less than that frame's duration, such as the end of an asset whose sound is a little longer
    /// than its video, returns that frame with its own time. With tolerances, the nearest sync sample is used if its interval intersects [T − before,
    /// T + after].
    /// - Throws: ``MediaError/Code-swift.struct/outOfRange`` for a time farther from the first or the last frame.
    public func image(at time: MediaTime) async throws(MediaError) -> (image: Bitmap, actualTime: MediaTime) {
        let generated = try await generatedImage(at: time)
        return (generated.image, generated.actualTime)
    }

    /// Returns the image at a time, with all its properties.
    ///
    /// If the task is cancelled, the request ends as cancelled.
    public func generatedImage(at time: MediaTime) async throws(MediaError) -> GeneratedImage {
        let (born, unwanted) = (currentGeneration, Cancellation())
        return try await offload(onCancel: { unwanted.cancel() }) { () throws(MediaError) in
            try self.generateNow(at: time, born: born, unlessCancelled: unwanted)
        }
    }

    /// Makes the image at a time on the calling thread.
    public func generateNow(at time: MediaTime) throws(MediaError) -> GeneratedImage {
        try generateNow(at: time, born: currentGeneration)
    }

    /// Cancels all requests, including the one in progress.
    ///
    /// May be called from any thread. Later requests are processed normally, unless the asset is a pipe that was being
    /// read.
    public func cancelAllImageGeneration() {
        let requests = shared.withLock { shared in
            shared.generation += 1
            return shared.running
        }
        for request in requests { request.cancel() }
    }

    /// The number of cancellations so far, which do not affect a request that starts now.
    var currentGeneration: Int { shared.withLock { $0.generation } }

    /// Registers a request to be cancelled by ``cancelAllImageGeneration()`` until ``end(_:)`` is called.
    func begin(_ request: Cancellation) { shared.withLock { $0.running.append(request) } }

    func end(_ request: Cancellation) {
        shared.withLock { shared in
            if let place = shared.running.lastIndex(where: { $0 === request }) { shared.running.remove(at: place) }
        }
    }

    func generateNow(
        at time: MediaTime, born: Int, unlessCancelled unwanted: Cancellation = Cancellation()
    ) throws(MediaError) -> GeneratedImage {
        let configuration = self.configuration
        if let compositing {
            return try compositing.image(of: self, at: time, configuration, born: born, unlessCancelled: unwanted)
        }
        let (found, track) = try locate(time, configuration, born: born, unlessCancelled: unwanted)
        return try render(found, of: track, for: time, configuration)
    }

    private func render(
        _ found: Located, of track: AssetTrack, for time: MediaTime, _ configuration: Configuration
    ) throws(MediaError) -> GeneratedImage {
        let renderer = ImageRenderer(configuration, of: track, format: found.format)
        return GeneratedImage(
            requestedTime: time, actualTime: found.time, duration: found.duration, isKeyframe: found.isKey,
            image: try renderer.render(found.picture))
    }

    /// Returns the decoded frame at a time, in the decoder's own format and size.
    public func pixelBuffer(at time: MediaTime) throws(MediaError)
        -> (picture: PixelBuffer, actualTime: MediaTime, duration: MediaTime)
    {
        try pixelBuffer(at: time, before: nil)
    }

    /// Returns the decoded frame at a time, without decoding frames between it and the next time of a sweep.
    ///
    /// - Parameter upcoming: The next time; infinite if there is none, `nil` if it is unknown.
    package func pixelBuffer(at time: MediaTime, before upcoming: MediaTime?) throws(MediaError)
        -> (picture: PixelBuffer, actualTime: MediaTime, duration: MediaTime)
    {
        let (found, _) = try locate(time, configuration, upcoming: upcoming, born: currentGeneration)
        return (found.picture, found.time, found.duration)
    }

    /// A frame that was found, and the interval in which it is shown.
    struct Located: Sendable {
        let picture: PixelBuffer
        /// The container's description of the frame.
        let format: VideoFormat?
        let time: MediaTime
        let duration: MediaTime
        let isKey: Bool
    }

    /// The damage found so far while decoding the requested images.
    public var damage: DamageReport { damageLog.report }

    private func track(_ search: inout Search, _ configuration: Configuration) throws(MediaError) -> AssetTrack {
        let track = try asset.videoTrack(configuration.trackIndex)
        if search.track != track { search = Search(track: track) }
        return track
    }

    private func keyframes(_ search: inout Search, of track: AssetTrack) throws(MediaError) -> KeyframeIndex {
        if let known = search.keyframes { return known }
        let index = KeyframeIndex(asset, track: track, try asset.contents())
        search.keyframes = index
        return index
    }

    func locate(
        _ time: MediaTime, _ configuration: Configuration, upcoming: MediaTime? = nil, born: Int,
        unlessCancelled unwanted: Cancellation = Cancellation()
    ) throws(MediaError) -> (Located, AssetTrack) {
        let asset = asset
        if let backing = asset.backing as? any FrameLocatingBacking {
            guard currentGeneration == born, !unwanted.isCancelled else { throw MediaError(.cancelled, "cancelled") }
            begin(unwanted)
            defer { end(unwanted) }
            return try backing.locate(time, for: self, configuration, unlessCancelled: unwanted)
        }
        do throws(MediaError) {
            return try search.withLock { search throws(MediaError) in
                guard currentGeneration == born, !unwanted.isCancelled else {
                    throw MediaError(.cancelled, "cancelled")
                }
                begin(unwanted)
                defer {
                    end(unwanted)
                    // If reading was cancelled, the file remains cancelled, even if the frame had already been found:
                    // the next request reopens it.
                    if unwanted.release() { (search.finder, search.keyframes) = (nil, nil) }
                }
                let track = try track(&search, configuration)
                if search.finder == nil || search.threads != configuration.threads {
                    search.finder = try FrameFinder(
                        asset, track: track, threads: configuration.threads, damage: damageLog,
                        cancellation: unwanted)
                    search.threads = configuration.threads
                }
                guard let finder = search.finder else { throw MediaError(.noSuchTrack, "has no pictures") }
                finder.cancellation = unwanted
                finder.upcoming = upcoming
                let found: FrameFinder.Found
                do throws(MediaError) {
                    let (before, after) = (
                        configuration.requestedTimeToleranceBefore, configuration.requestedTimeToleranceAfter
                    )
                    if before > .zero || after > .zero {
                        let keyframes = try keyframes(&search, of: track)
                        keyframes.cancellation = unwanted
                        found = try finder.frame(at: time, before: before, after: after, keyframes)
                    } else {
                        found = try finder.frame(at: time)
                    }
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
    /// Splits ascending times into runs that each cost no more on their own than after the previous ones.
    ///
    /// Several generators may share the runs. The results depend on the runs, not on the generators that process them.
    /// If only reading all packets shows where to split, and the times are far apart, this method reads them.
    package func runs(of times: [MediaTime]) throws(MediaError) -> [Range<Int>] {
        // The segments of a composition are looked up individually.
        if asset.backing.input == nil { return times.isEmpty ? [] : [0..<times.count] }
        let configuration = self.configuration
        do throws(MediaError) {
            return try search.withLock { search throws(MediaError) in
                try keyframes(&search, of: track(&search, configuration)).runs(of: times)
            }
        } catch {
            throw error.at(path: asset.displayName)
        }
    }

    /// Starts a run, so that its results do not depend on earlier requests.
    package func beginRun() { search.withLock { $0.finder?.forgetPlace() } }

    /// Makes the image at a time on the calling thread; `nil` if it would show the same frame as another image.
    ///
    /// - Parameter upcoming: The time of the next request, infinite if there is none. Frames between the two are not
    ///   decoded.
    package func generateNow(
        at time: MediaTime, unlessOf other: GeneratedImage?, before upcoming: MediaTime
    ) throws(MediaError) -> GeneratedImage? {
        let configuration = self.configuration
        if let compositing {
            if let other, other.actualTime <= time, time < other.actualTime + other.duration { return nil }
            return try compositing.image(
                of: self, at: time, configuration, born: currentGeneration, unlessCancelled: Cancellation())
        }
        let (found, track) = try locate(time, configuration, upcoming: upcoming, born: currentGeneration)
        if found.time == other?.actualTime { return nil }
        return try render(found, of: track, for: time, configuration)
    }
}

/// A backing that finds the frames of its tracks in other assets.
protocol FrameLocatingBacking: AssetBacking {
    /// Returns the frame that a track shows at a time, and the track.
    func locate(
        _ time: MediaTime, for generator: ImageGenerator, _ configuration: ImageGenerator.Configuration,
        unlessCancelled unwanted: Cancellation
    ) throws(MediaError) -> (ImageGenerator.Located, AssetTrack)
}

/// A backing whose images are composited from the frames of another asset.
protocol CompositedBacking: AssetBacking {
    /// The asset with the tracks that are composited.
    var frames: Asset { get }
    /// Returns what composites them; `nil` without video.
    func compositing() -> (any ImageCompositing)?
}

/// Makes images that show several tracks at once.
protocol ImageCompositing: Sendable {
    /// Returns the same compositing without any decoders, for a generator on another thread.
    func restarted() -> any ImageCompositing
    /// Returns the frame on screen at a time as an image.
    func image(
        of generator: ImageGenerator, at time: MediaTime, _ configuration: ImageGenerator.Configuration, born: Int,
        unlessCancelled unwanted: Cancellation
    ) throws(MediaError) -> ImageGenerator.GeneratedImage
}

extension Asset {
    /// Returns the video track at an index, or otherwise the first one that is enabled and not a cover picture.
    ///
    /// If there is none, it returns the first video track that is not a cover picture, or else the first video track.
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
