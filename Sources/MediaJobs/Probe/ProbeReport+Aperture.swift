package import MediaBase

/// The part of a picture that the container wants to be seen.
package struct CleanApertureReport: Encodable, Sendable {
    /// Pixels across.
    package var width: Rational
    /// Pixels down.
    package var height: Rational
    /// From the picture's centre to the aperture's, to the right.
    package var horizontalOffset: Rational
    /// From the picture's centre to the aperture's, downwards.
    package var verticalOffset: Rational
    /// What it cuts out, exactly.
    package var rect: ExactRectangle
    /// The whole pixels of the picture in it.
    package var pixelRect: PixelRectangle

    init(_ aperture: CleanAperture) {
        width = aperture.width
        height = aperture.height
        horizontalOffset = aperture.horizontalOffset
        verticalOffset = aperture.verticalOffset
        rect = aperture.rectangle
        pixelRect = aperture.pixelRect
    }
}

/// The sizes that QuickTime keeps for a track (`tapt`).
package struct TrackApertureReport: Encodable, Sendable {
    /// Cropped to the clean aperture, square pixels.
    package var clean: Size?
    /// The whole picture with square pixels.
    package var production: Size?
    /// The whole picture in stored pixels.
    package var encoded: Size?

    /// A size in fractions of a pixel.
    package struct Size: Encodable, Sendable {
        /// Pixels across.
        package var width: Double
        /// Pixels down.
        package var height: Double

        // 16.16 fixed point is exact in a Double.
        init(_ size: TrackAperture.Size) {
            width = size.width.doubleValue
            height = size.height.doubleValue
        }
    }

    init(_ aperture: TrackAperture) {
        clean = aperture.clean.map { Size($0) }
        production = aperture.production.map { Size($0) }
        encoded = aperture.encoded.map { Size($0) }
    }
}
