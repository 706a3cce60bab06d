import LibAV
public import MediaBase

/// Memory for pictures of one size and format, which is used again when nobody has them any more: `CVPixelBufferPool`.
///
/// It may be used from any thread.
public final class PixelBufferPool: Sendable {
    private let pool: FramePool

    /// A pool that has no memory yet.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for an unknown pixel format,
    ///   ``MediaError/Code-swift.struct/limitExceeded`` for a picture that is too large.
    public init(dimensions: Dimensions, pixelFormat: PixelFormat) throws(MediaError) {
        pool = try FramePool(dimensions: dimensions, pixelFormat: pixelFormat)
    }

    /// The size of the pictures.
    public var dimensions: Dimensions { pool.dimensions }
    /// How their pixels are stored.
    public var pixelFormat: PixelFormat { pool.pixelFormat }

    /// Makes a picture.
    ///
    /// - Parameters:
    ///   - sampleAspectRatio: Width of a pixel by its height.
    ///   - color: How its numbers stand for colours.
    ///   - fill: Called once for each plane, from the first row to the last row's last pixel; a row begins `stride` bytes
    ///     after the one before. What it leaves is whatever lay there before.
    public func makePixelBuffer(
        sampleAspectRatio: Rational? = nil, color: ColorInfo = ColorInfo(),
        fill: (_ plane: Int, inout MutableRawSpan, _ stride: Int) -> Void
    ) throws(MediaError) -> PixelBuffer {
        PixelBuffer(try pool.picture(sampleAspectRatio: sampleAspectRatio, color: color, fill: fill))
    }
}
