import LibAV
import MediaBase
import Pictures

/// Turns a decoded picture into the bitmap that a person should see: shape, size and turn applied.
struct ImageRenderer: Sendable {
    /// The largest size that comes out, after the turn; a side of 0 sets no limit.
    var maximumSize = Dimensions(width: 0, height: 0)
    /// Whether the track's turn is applied.
    var appliesTransform = true
    /// Whether pixels that are not square are made so.
    var appliesPixelAspect = true
    /// The track's turn.
    let transform: DisplayTransform
    /// The container's word on the shape of a pixel, which goes before the stream's.
    let sampleAspectRatio: Rational?

    /// Converts, scales (once, from the decoder's pixels) and turns a picture.
    func render(_ picture: PixelBuffer) throws(MediaError) -> Bitmap {
        let format = VideoFormat(
            encodedSize: picture.dimensions, sampleAspectRatio: sampleAspectRatio ?? picture.sampleAspectRatio)
        let shown = format.presentationDimensions(usePixelAspectRatio: appliesPixelAspect)
        let turned = appliesTransform ? transform.apply(to: shown) : shown
        let fitted = turned.fitted(into: maximumSize)
        let stored = appliesTransform ? transform.apply(to: fitted) : fitted
        let bitmap = try picture.bitmap(dimensions: stored)
        guard appliesTransform else { return bitmap }
        return bitmap.oriented(
            try Bitmap.Orientation(clockwiseDegrees: transform.rotation, isMirrored: transform.isMirrored))
    }
}
