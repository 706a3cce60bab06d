import LibAV
public import MediaBase

/// One decoded picture: `CVPixelBuffer`, but immutable.
///
/// It refers to the decoder's own memory, counted, and copies nothing; it may be shared between threads.
public final class PixelBuffer: Sendable {
    let frame: Frame

    init(_ frame: consuming Frame) { self.frame = frame }

    /// Its size in pixels.
    public var dimensions: Dimensions { frame.dimensions }
    /// How its pixels are stored.
    public var pixelFormat: PixelFormat { frame.pixelFormat }
    /// Width of a pixel by its height; `nil` where the stream does not say.
    public var sampleAspectRatio: Rational? { frame.sampleAspectRatio }
    /// What the stream says about its colours.
    public var color: ColorInfo { frame.color }
    /// How many planes its pixels are spread over.
    public var planeCount: Int { frame.planeCount }

    /// Rows of a plane, and bytes of each row that hold pixels; (0, 0) for a plane that does not exist.
    public func planeShape(_ plane: Int) -> (rows: Int, rowBytes: Int) {
        frame.planeShape(plane)
    }

    /// Lends one plane.
    ///
    /// The span begins with the first row and ends with the last one's last byte; each row begins `stride` bytes after
    /// the one before and may be followed by padding. An empty span for a plane that does not exist.
    public func withPlane<Result, Failure: Error>(
        _ plane: Int, _ body: (RawSpan, _ stride: Int) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try frame.withPlane(plane, body)
    }

    /// The picture in another pixel format or size; the same one where it is so already.
    ///
    /// Matrix, range and chroma location are taken from ``color``; primaries and transfer function stay as they are, also
    /// where red, green and blue are asked for. Scaling is bicubic, over the whole area when it makes smaller.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for a format that cannot be made.
    public func converted(to format: PixelFormat? = nil, dimensions: Dimensions? = nil) throws(MediaError)
        -> PixelBuffer
    {
        var converter = try PixelConverter(to: format ?? pixelFormat, dimensions: dimensions)
        return PixelBuffer(try converter.convert(frame))
    }

    /// A copy of one plane without padding between rows, as raw video is written; empty for a plane that does not exist.
    public func packedPlane(_ plane: Int) -> [UInt8] {
        frame.packedPlane(plane)
    }
}
