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
        configuration.apertureMode = request.aperture.mode
        configuration.dynamicRangePolicy = request.keepsDynamicRange ? .matchSource : .forceSDR
        configuration.deinterlaces = request.deinterlaces
        configuration.trackIndex = track.index
        configuration.threads = request.threads
        generator = ImageGenerator(asset: asset)
        generator.configuration = configuration
        self.tolerance = tolerance
    }

    /// Makes the images.
    ///
    /// - Parameters:
    ///   - times: The moments, each later than the one before.
    ///   - deliver: Gets the place of a moment in `times` and its image, or why there is none. What it throws ends the
    ///     sweep.
    func run(
        _ times: [MediaTime],
        deliver: (Int, Result<ImageGenerator.GeneratedImage, MediaError>) throws(MediaError) -> Void
    ) throws(MediaError) {
        var last: ImageGenerator.GeneratedImage?
        for (index, time) in times.enumerated() {
            if let last, isOnlyOne(last, for: time) {
                try deliver(index, .success(last))
                continue
            }
            let result = Result { () throws(MediaError) in try generator.generateNow(at: time) }
            last = try? result.get()
            try deliver(index, result)
        }
    }

    /// Whether no other picture is allowed for a moment: all that is near enough lies in this one's time on screen.
    ///
    /// Then many moments are answered by one decoded and converted picture.
    private func isOnlyOne(_ image: ImageGenerator.GeneratedImage, for time: MediaTime) -> Bool {
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
