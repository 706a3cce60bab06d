import AssetKit
import MediaBase

/// Makes the images of moments in rising order, in one sweep over the file.
///
/// No more than one image is held at a time: each is delivered before the next one is made.
struct ThumbsSweep {
    /// What makes the images, configured.
    let generator: ImageGenerator
    /// How far an image may be from its time.
    let tolerance: ThumbsRequest.Tolerance

    init(_ asset: Asset, track: AssetTrack, request: ThumbsRequest, tolerance: ThumbsRequest.Tolerance) {
        var configuration = ImageGenerator.Configuration()
        configuration.requestedTimeToleranceBefore = tolerance.before
        configuration.requestedTimeToleranceAfter = tolerance.after
        configuration.appliesPreferredTrackTransform = request.appliesRotation
        configuration.maximumSize = request.maximumSize
        configuration.trackIndex = track.index
        configuration.threads = request.threads
        generator = ImageGenerator(asset: asset)
        generator.configuration = configuration
        self.tolerance = tolerance
    }

    /// Makes the images.
    ///
    /// Where one picture stands for several moments, it is prepared once, with the place of the first of them, and what
    /// came of it is delivered for each.
    ///
    /// - Parameters:
    ///   - times: The moments, each later than the one before.
    ///   - workers: How many moments are worked on at once; what is delivered does not depend on it.
    ///   - prepare: Makes of an image what is to be delivered, as a rule the bytes of a file; gets the place of a moment
    ///     in `times` and its image, or why there is none. Called on any thread, in any order, several times at once.
    ///   - deliver: Gets the place of a moment and what was prepared for it, in rising order, on the calling thread.
    /// - Throws: what `prepare` or `deliver` throws, which ends the sweep.
    func run<Prepared: Sendable>(
        _ times: [MediaTime], workers: Int = 1,
        prepare: @Sendable (Int, Result<ImageGenerator.GeneratedImage, MediaError>) throws(MediaError) -> Prepared,
        deliver: (Int, Prepared) throws(MediaError) -> Void
    ) throws(MediaError) {
        var last: (image: ImageGenerator.GeneratedImage, prepared: Prepared)?
        for (index, time) in times.enumerated() {
            if let last, isOnlyOne(last.image, for: time) {
                try deliver(index, last.prepared)
                continue
            }
            let result = Result { () throws(MediaError) in try generator.generateNow(at: time) }
            let prepared = try prepare(index, result)
            last = (try? result.get()).map { ($0, prepared) }
            try deliver(index, prepared)
        }
    }

    /// Whether no other picture is allowed for a moment: all that is near enough lies in this one's time on screen.
    ///
    /// Then many moments are answered by one decoded and converted picture.
    private func isOnlyOne(_ image: ImageGenerator.GeneratedImage, for time: MediaTime) -> Bool {
        image.actualTime <= time - tolerance.before && time + tolerance.after < image.actualTime + image.duration
    }
}
