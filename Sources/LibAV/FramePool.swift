import CFFmpeg
package import MediaBase

/// Owner of an `AVBufferPool`: memory for frames of one size and format, which is reused after their release.
///
/// Frames may outlive the pool and may be released on any thread.
package final class FramePool: @unchecked Sendable {
    private let pool: OpaquePointer
    private let native: AVPixelFormat
    private static let alignment: Int32 = 64

    /// The size of the frames in pixels.
    package let dimensions: Dimensions
    /// The pixel format of the frames.
    package var pixelFormat: PixelFormat { PixelFormat(native) }

    /// Creates a pool that has not allocated any memory yet.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for an unknown format,
    ///   ``MediaError/Code-swift.struct/limitExceeded`` for a frame that is too large.
    package init(dimensions: Dimensions, pixelFormat: PixelFormat) throws(MediaError) {
        guard let native = pixelFormat.native else {
            throw MediaError(.invalidArgument, "there is no pixel format \(pixelFormat)")
        }
        try dimensions.checkLimit()
        let size = try AVStatus.check(
            av_image_get_buffer_size(native, Int32(dimensions.width), Int32(dimensions.height), Self.alignment),
            "av_image_get_buffer_size", doing: "hold pictures of \(pixelFormat)")
        // Codecs read slightly beyond the last row.
        guard let pool = av_buffer_pool_init(Int(size) + 64, nil) else {
            throw MediaError(.outOfResources, "out of memory")
        }
        self.pool = pool
        self.native = native
        self.dimensions = dimensions
    }

    deinit {
        var pool: OpaquePointer? = pool
        av_buffer_pool_uninit(&pool)
    }

    /// Returns a frame whose planes `fill` writes; bytes that it does not write keep their previous content.
    package func picture(
        sampleAspectRatio: Rational? = nil, color: ColorInfo = ColorInfo(),
        fill: (_ plane: Int, inout MutableRawSpan, _ stride: Int) -> Void
    ) throws(MediaError) -> Frame {
        let frame = try Frame()
        guard let buffer = av_buffer_pool_get(pool) else { throw MediaError(.outOfResources, "out of memory") }
        frame.pointer.pointee.buf.0 = buffer
        frame.pointer.pointee.format = native.rawValue
        frame.pointer.pointee.width = Int32(dimensions.width)
        frame.pointer.pointee.height = Int32(dimensions.height)
        let status = withUnsafeMutablePointer(to: &frame.pointer.pointee.data) { planes in
            planes.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 8) { planes in
                withUnsafeMutablePointer(to: &frame.pointer.pointee.linesize) { strides in
                    strides.withMemoryRebound(to: Int32.self, capacity: 8) { strides in
                        av_image_fill_arrays(
                            planes, strides, buffer.pointee.data, native, Int32(dimensions.width),
                            Int32(dimensions.height), Self.alignment)
                    }
                }
            }
        }
        try AVStatus.check(status, "av_image_fill_arrays", doing: "hold a picture")
        frame.fillPlanes(fill)
        return frame.tagged(sampleAspectRatio: sampleAspectRatio, color: color)
    }
}
