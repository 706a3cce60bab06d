import LibAV
import MediaBase
import Pictures

/// Which part of a stored picture images show, and whether its pixels are made square:
/// `AVAssetImageGenerator.ApertureMode`.
public enum ApertureMode: Sendable, Hashable {
    /// The clean aperture, its pixels made square; the whole picture where there is none.
    case cleanAperture
    /// The whole picture, its pixels made square.
    case productionAperture
    /// The whole picture, pixel by pixel.
    case encodedPixels
}

/// Turns a decoded picture into the bitmap that a person should see: part, shape, size and turn applied.
struct ImageRenderer: Sendable {
    /// The largest size that comes out, after the turn; a side of 0 sets no limit.
    var maximumSize = Dimensions(width: 0, height: 0)
    /// Whether the track's turn is applied.
    var appliesTransform = true
    /// Which part is shown, in which shape.
    var apertureMode = ApertureMode.cleanAperture
    /// What becomes of HDR.
    var dynamicRangePolicy = DynamicRangePolicy.forceSDR
    /// Whether fields are made one picture.
    var deinterlaces = false
    /// The track's turn.
    let transform: DisplayTransform
    /// What the container says of the pictures, which goes before their own word; `nil` where it says nothing.
    let format: VideoFormat?

    /// Converts, scales (once, from the decoder's pixels) and turns a picture.
    func render(_ picture: PixelBuffer) throws(MediaError) -> Bitmap {
        let picture = deinterlaces ? try picture.deinterlaced() : picture
        var format = VideoFormat(
            encodedSize: picture.dimensions,
            sampleAspectRatio: self.format?.sampleAspectRatio ?? picture.sampleAspectRatio)
        // The aperture holds for pictures of the size that it was made for.
        if let stated = self.format, stated.encodedSize == picture.dimensions, apertureMode == .cleanAperture {
            format.cleanAperture = stated.cleanAperture
        }
        let shown = format.presentationDimensions(
            usePixelAspectRatio: apertureMode != .encodedPixels, useCleanAperture: true)
        let turned = appliesTransform ? transform.apply(to: shown) : shown
        let fitted = turned.fitted(into: maximumSize)
        let stored = appliesTransform ? transform.apply(to: fitted) : fitted
        let bitmap = try picture.bitmap(
            part: format.cleanAperture?.pixelRect, dimensions: stored, dynamicRange: dynamicRangePolicy,
            hdr: self.format?.hdr)
        guard appliesTransform else { return bitmap }
        return bitmap.oriented(
            try Bitmap.Orientation(clockwiseDegrees: transform.rotation, isMirrored: transform.isMirrored))
    }
}
