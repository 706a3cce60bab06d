import AssetKit
import MediaBase

/// Makes the images of moments in rising order, in one sweep over the file.
///
/// No more than one image is held at a time: each is delivered before the next one is made.
struct ThumbsSweep {
    /// What makes the images, configured.
    let generator: ImageGenerator
    /// Whether an image must show the picture on screen at its time.
    let isExact: Bool

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
        isExact = tolerance.isExact
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
            // Many moments within one picture's time on screen are answered by one decoded and converted picture.
            if isExact, let last, last.actualTime <= time, time < last.actualTime + last.duration {
                try deliver(index, .success(last))
                continue
            }
            let result = Result { () throws(MediaError) in try generator.generateNow(at: time) }
            last = try? result.get()
            try deliver(index, result)
        }
    }
}
