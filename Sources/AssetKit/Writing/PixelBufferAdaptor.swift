public import MediaBase
import Threading

/// Feeds a video input with pictures from a pool of its own: `AVAssetWriterInputPixelBufferAdaptor`.
public final class PixelBufferAdaptor: Sendable {
    /// The input that is fed.
    public let input: AssetWriterInput
    /// Where pictures for it come from.
    public let pixelBufferPool: PixelBufferPool

    /// An adaptor for an input that has none yet.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for an input that encodes no pictures, has an adaptor,
    ///   or for an unknown pixel format.
    public init(input: AssetWriterInput, dimensions: Dimensions, pixelFormat: PixelFormat) throws(MediaError) {
        guard case .video = input.settings else {
            throw MediaError(.invalidArgument, "only an input that encodes pictures takes pixel buffers")
        }
        pixelBufferPool = try PixelBufferPool(dimensions: dimensions, pixelFormat: pixelFormat)
        self.input = input
        let isFree = input.state.withLock { state in
            defer { state.hasAdaptor = true }
            return !state.hasAdaptor
        }
        guard isFree else { throw MediaError(.invalidArgument, "the input has an adaptor already") }
    }

    /// Appends a picture that is on screen from a time on, until the next one's.
    ///
    /// Throws and waits as the synchronous `append` of ``AssetWriterInput`` does.
    public func append(_ picture: PixelBuffer, withPresentationTime time: MediaTime) throws(MediaError) {
        try input.append(SampleBuffer(picture: picture, presentationTime: time))
    }
}
