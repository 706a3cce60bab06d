// The helper: it alone reads media, and in its sandbox it can open nothing but the upload.
import AssetKit
import FoundationEssentials
import MediaWorker
import ThumbnailJob

var helper = MediaJobHelper()
helper.register(.thumbnail) { request in
    let generator = ImageGenerator(asset: Asset(path: request.path))
    generator.configuration.requestedTimeToleranceBefore = .zero
    generator.configuration.requestedTimeToleranceAfter = .zero
    generator.configuration.maximumSize = Dimensions(width: request.width, height: 0)
    // The pool has a helper for each processor.
    generator.configuration.threads = 1
    let time = MediaTime(seconds: request.seconds, preferredTimescale: 1000)
    let (image, actualTime) = try await generator.image(at: time)
    return Thumbnail(picture: Data(try PNGFile.encode(image)), seconds: actualTime.seconds)
}
helper.serve()
