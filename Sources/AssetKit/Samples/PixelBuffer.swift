import LibAV
import MediaAnalysis
public import MediaBase
public import Pictures

/// A decoded video frame: `CVPixelBuffer`, but immutable.
///
/// It refers to the decoder's own reference-counted memory without copying, and may be shared between threads.
public final class PixelBuffer: Sendable {
    let frame: Frame

    init(_ frame: consuming Frame) { self.frame = frame }

    /// The size in pixels.
    public var dimensions: Dimensions { frame.dimensions }
    /// The storage format of the pixels.
    public var pixelFormat: PixelFormat { frame.pixelFormat }
    /// The width of a pixel divided by its height; `nil` if the stream does not state it.
    public var sampleAspectRatio: Rational? { frame.sampleAspectRatio }
    /// The colours stated by the stream.
    public var color: ColorInfo { frame.color }
    /// The number of planes.
    public var planeCount: Int { frame.planeCount }

    /// Returns the number of rows in a plane, and the bytes of pixels in each row; (0, 0) if the plane does not exist.
    public func planeShape(_ plane: Int) -> (rows: Int, rowBytes: Int) {
        frame.planeShape(plane)
    }

    /// Lends the bytes of one plane.
    ///
    /// The span starts with the first row and ends with the last byte of the last row. Each row starts `stride` bytes
    /// after the previous one, and may be followed by padding. The span is empty if the plane does not exist.
    public func withPlane<Result, Failure: Error>(
        _ plane: Int, _ body: (RawSpan, _ stride: Int) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try frame.withPlane(plane, body)
    }

    /// Returns the frame in another pixel format or size, or unchanged if it already has them.
    ///
    /// Matrix, range and chroma location are taken from ``color``. Primaries and transfer function stay as they are,
    /// even if red, green and blue are requested. Scaling is bicubic, and covers the whole source area if it reduces
    /// the size.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` if the format cannot be produced.
    public func converted(to format: PixelFormat? = nil, dimensions: Dimensions? = nil) throws(MediaError)
        -> PixelBuffer
    {
        var converter = try PixelConverter(to: format ?? pixelFormat, dimensions: dimensions)
        return PixelBuffer(try converter.convert(frame))
    }

    /// Returns a copy of one plane without padding between rows, as in raw video; empty if the plane does not exist.
    public func packedPlane(_ plane: Int) -> [UInt8] {
        frame.packedPlane(plane)
    }
}

/// The treatment of frames that are brighter than an ordinary display can show:
/// `AVAssetImageGenerator.DynamicRangePolicy`.
public enum DynamicRangePolicy: Sendable, Hashable {
    /// PQ and HLG are mapped to sRGB.
    case forceSDR
    /// PQ and HLG keep their coded values, in red, green and blue of their own primaries.
    case matchSource
}

extension PixelBuffer {
    /// Converts the frame to a bitmap in sRGB, scaled to `dimensions` if given.
    ///
    /// Matrix, range, chroma location, primaries and transfer function are those of ``color``, completed by
    /// ``ColorInfo/assumed(for:)``. Wide primaries become sRGB's. PQ and HLG are mapped by the curve of ITU-R BT.2390
    /// (`docs/decisions/0005-colour.md`). Pixels are scaled once, from the decoder's samples; luma and chroma are
    /// scaled before the conversion to red, green and blue. Colours are weighted by their alpha. The pixel aspect ratio
    /// is ignored.
    /// - Parameters:
    ///   - dimensions: The size; `nil` to keep that of the frame.
    ///   - dynamicRange: The treatment of HDR.
    /// - Throws: ``MediaError`` `limitExceeded` if no bitmap may have the size, `unsupported` if the pixel format
    ///   cannot be converted.
    public func bitmap(dimensions: Dimensions? = nil, dynamicRange: DynamicRangePolicy = .forceSDR) throws(MediaError)
        -> Bitmap
    {
        try bitmap(part: nil, dimensions: dimensions, dynamicRange: dynamicRange, hdr: nil)
    }

    /// Converts the frame to sRGB, as ``bitmap(dimensions:dynamicRange:)`` does.
    func inSRGB() throws(MediaError) -> PixelBuffer {
        try PixelBuffer(try bitmap(), sampleAspectRatio: sampleAspectRatio)
    }

    /// Creates a pixel buffer with the pixels of a bitmap, in the pixel format `rgba`.
    ///
    /// Its colours are tagged as BT.709 in full range, which sRGB is in video.
    ///
    /// - Parameters:
    ///   - bitmap: The pixels, which are copied.
    ///   - sampleAspectRatio: The width of a pixel divided by its height.
    /// - Throws: ``MediaError`` `limitExceeded` if no picture may have the size.
    public convenience init(_ bitmap: Bitmap, sampleAspectRatio: Rational? = nil) throws(MediaError) {
        let size = Dimensions(width: bitmap.width, height: bitmap.height)
        let pool = try FramePool(dimensions: size, pixelFormat: .rgba)
        let tags = ColorInfo(primaries: "bt709", transfer: "bt709", matrix: "gbr", range: "pc")
        let width = bitmap.width * 4
        let frame = try pool.picture(sampleAspectRatio: sampleAspectRatio, color: tags) { _, bytes, stride in
            for row in 0..<bitmap.height {
                for column in 0..<width {
                    bytes.storeBytes(
                        of: bitmap.bytes[row * width + column], toByteOffset: row * stride + column, as: UInt8.self)
                }
            }
        }
        self.init(frame)
    }

    /// Converts a part of the frame to a bitmap.
    ///
    /// - Parameter hdr: The container's data on brightness, which takes precedence over that of the frame.
    func bitmap(
        part: PixelRectangle?, dimensions: Dimensions?, dynamicRange: DynamicRangePolicy, hdr: HDRInfo?
    ) throws(MediaError) -> Bitmap {
        let size = dimensions ?? part?.size ?? self.dimensions
        let peak = hdr?.peakLuminance ?? frame.hdr?.peakLuminance
        let rendering = ColorTransform(
            frame.assumedColor, storedBits: frame.bitDepth, peak: peak ?? ToneCurve.usualPeak,
            mapsHDR: dynamicRange == .forceSDR)
        guard frame.isRGB || frame.hasAlpha else {
            var scaler = try PixelConverter(
                scalingTo: PixelFormat(rawValue: "yuv444p\(rendering.bits)le"), dimensions: size)
            return try Self.rendered(scaler.convert(frame, part: part), by: rendering)
        }
        if frame.hasAlpha, size != part?.size ?? self.dimensions {
            return try weightedByAlpha(part: part, dimensions: size, by: rendering)
        }
        if rendering.keepsRGB {
            var converter = try PixelConverter(to: .rgba, dimensions: size)
            let picture = PixelBuffer(try converter.convert(frame, part: part))
            return try Bitmap(width: size.width, height: size.height, bytes: picture.packedPlane(0))
        }
        var converter = try PixelConverter(to: .rgba64, dimensions: size)
        return try Self.rendered(rgba: converter.convert(frame, part: part), by: rendering)
    }

    /// Scales with colours weighted by their alpha: transparent pixels have a colour too, which must not show.
    private func weightedByAlpha(
        part: PixelRectangle?, dimensions: Dimensions, by rendering: ColorTransform
    ) throws(MediaError) -> Bitmap {
        var converter = try PixelConverter(to: .rgba)
        let pixels = try converter.convert(frame, part: part)
        // Use planes of luma and chroma, because their values are scaled unchanged.
        let format = PixelFormat(rawValue: "yuva444p16le")
        let planes = try pixels.rewritten(as: UInt16.self, format: format) { plane, row, target in
            pixels.withPlane(0, of: UInt8.self) { source, stride in
                let range = Self.range(row, stride, target.count * 4, in: source.count)
                ColorTransform.weight(source.extracting(range), channel: plane, into: &target)
            }
        }
        var scaler = try PixelConverter(scalingTo: format, dimensions: dimensions)
        let scaled = try scaler.convert(planes)
        let width = dimensions.width
        return try Self.bitmap(width: width, height: dimensions.height) { y, pixels in
            for channel in 0..<4 {
                scaled.withPlane(channel, of: UInt16.self) { samples, stride in
                    scaled.withPlane(3, of: UInt16.self) { alpha, alphaStride in
                        rendering.convert(
                            weighted: samples.extracting(Self.range(y, stride, width, in: samples.count)),
                            alpha: alpha.extracting(Self.range(y, alphaStride, width, in: alpha.count)),
                            channel: channel, into: &pixels, at: y * width * 4)
                    }
                }
            }
            rendering.map(&pixels, in: y * width * 4..<(y + 1) * width * 4)
        }
    }

    /// Converts 4:4:4 luma and chroma to a bitmap.
    private static func rendered(_ frame: consuming Frame, by rendering: ColorTransform) throws(MediaError) -> Bitmap {
        let frame = frame
        let (width, height) = (frame.dimensions.width, frame.dimensions.height)
        return try frame.withPlane(0, of: UInt16.self) { luma, lumaStride throws(MediaError) in
            try frame.withPlane(1, of: UInt16.self) { cb, cbStride throws(MediaError) in
                try frame.withPlane(2, of: UInt16.self) { cr, crStride throws(MediaError) in
                    try bitmap(width: width, height: height) { y, pixels in
                        rendering.convert(
                            luma: luma.extracting(range(y, lumaStride, width, in: luma.count)),
                            cb: cb.extracting(range(y, cbStride, width, in: cb.count)),
                            cr: cr.extracting(range(y, crStride, width, in: cr.count)),
                            into: &pixels, at: y * width * 4)
                    }
                }
            }
        }
    }

    /// Converts 16-bit RGBA to a bitmap.
    private static func rendered(rgba frame: consuming Frame, by rendering: ColorTransform) throws(MediaError) -> Bitmap
    {
        let frame = frame
        let (width, height) = (frame.dimensions.width, frame.dimensions.height)
        return try frame.withPlane(0, of: UInt16.self) { samples, stride throws(MediaError) in
            try bitmap(width: width, height: height) { y, pixels in
                rendering.convert(
                    rgba: samples.extracting(range(y, stride, width * 4, in: samples.count)), into: &pixels,
                    at: y * width * 4)
            }
        }
    }

    private static func bitmap(
        width: Int, height: Int, writeRow: (Int, inout MutableSpan<UInt8>) -> Void
    ) throws(MediaError) -> Bitmap {
        // The size is that of an existing frame, which the limits allow.
        var bytes = [UInt8](repeating: 0, count: width * height * 4)
        var pixels = bytes.mutableSpan
        for y in 0..<height { writeRow(y, &pixels) }
        return try Bitmap(width: width, height: height, bytes: bytes)
    }

    /// Returns the range of a row's samples in a plane; empty if the row does not exist.
    private static func range(_ row: Int, _ stride: Int, _ count: Int, in length: Int) -> Range<Int> {
        let start = row * stride
        return start + count <= length ? start..<start + count : 0..<0
    }
}

extension PixelBuffer {
    /// True if the decoder reports that the frame consists of two fields, captured one after the other.
    public var isInterlaced: Bool { frame.fieldOrder != nil }

    /// True if the top field of an interlaced frame is the first one.
    package var isTopFieldFirst: Bool { frame.fieldOrder == .topFieldFirst }

    /// Returns the frame at the time of its first field, without the combing that motion causes between two fields.
    ///
    /// The rows of the first field are kept. Those of the other field are kept to the extent that they fit between
    /// them. A frame that is not interlaced is returned unchanged, and so are formats whose samples are not whole bytes
    /// in native order.
    public func deinterlaced() throws(MediaError) -> PixelBuffer {
        guard let order = frame.fieldOrder else { return self }
        let layouts = (0..<frame.planeCount).map { frame.sampleLayout($0) }
        guard let first = layouts.first ?? nil, layouts.allSatisfy({ $0?.bytesPerSample == first.bytesPerSample })
        else { return self }
        let keepsTop = order == .topFieldFirst
        func plane(_ index: Int, _ stride: Int) -> Deinterlacer.Plane {
            Deinterlacer.Plane(rows: frame.planeShape(index).rows, stride: stride, step: layouts[index]?.step ?? 1)
        }
        let whole =
            if first.bytesPerSample == 1 {
                try frame.rewritten(as: UInt8.self) { index, row, target in
                    frame.withPlane(index, of: UInt8.self) { source, stride in
                        Deinterlacer.process(
                            row: row, of: source, plane(index, stride), keepsTop: keepsTop, into: &target)
                    }
                }
            } else {
                try frame.rewritten(as: UInt16.self) { index, row, target in
                    frame.withPlane(index, of: UInt16.self) { source, stride in
                        Deinterlacer.process(
                            row: row, of: source, plane(index, stride), keepsTop: keepsTop, into: &target)
                    }
                }
            }
        whole.markProgressive()
        return PixelBuffer(whole)
    }
}

// Stored samples as numbers, for measurements.

extension PixelBuffer {
    /// The number of significant bits in a sample of the first component.
    package var bitDepth: Int { frame.bitDepth }

    /// True if the samples are red, green and blue, or are treated as such.
    package var isRGB: Bool { frame.isRGB }

    /// Returns the bytes per sample, and the distance in samples to the next one of the same component.
    ///
    /// Returns `nil` if samples are not whole bytes in native order.
    package func sampleLayout(_ plane: Int) -> (bytesPerSample: Int, step: Int)? {
        frame.sampleLayout(plane).map { ($0.bytesPerSample, $0.step) }
    }

    /// The colours, with unknown values replaced by those that players assume.
    package var assumedColor: ColorInfo { frame.assumedColor }

    /// Lends one plane as numbers of a type, with the stride in such numbers; empty if rows do not start at whole ones.
    package func withSamples<Sample: FixedWidthInteger & BitwiseCopyable, Result, Failure: Error>(
        of type: Sample.Type, plane: Int, _ body: (Span<Sample>, _ stride: Int) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try frame.withPlane(plane, of: type, body)
    }
}

/// A pool of pixel buffers of one size and format, which reuses the memory of released buffers: `CVPixelBufferPool`.
///
/// A pool may be used from any thread.
public final class PixelBufferPool: Sendable {
    private let pool: FramePool

    /// Creates a pool without allocating memory yet.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for an unknown pixel format,
    ///   ``MediaError/Code-swift.struct/limitExceeded`` for dimensions that are too large.
    public init(dimensions: Dimensions, pixelFormat: PixelFormat) throws(MediaError) {
        pool = try FramePool(dimensions: dimensions, pixelFormat: pixelFormat)
    }

    /// The size of the pixel buffers.
    public var dimensions: Dimensions { pool.dimensions }
    /// The pixel format of the buffers.
    public var pixelFormat: PixelFormat { pool.pixelFormat }

    /// Returns a new pixel buffer.
    ///
    /// - Parameters:
    ///   - sampleAspectRatio: The width of a pixel divided by its height.
    ///   - color: The colour tags of the pixel values.
    ///   - fill: Called once for each plane, with the bytes from the first row to the last row's last pixel. A row
    ///     starts `stride` bytes after the previous one. Bytes that `fill` does not write keep arbitrary old content.
    public func makePixelBuffer(
        sampleAspectRatio: Rational? = nil, color: ColorInfo = ColorInfo(),
        fill: (_ plane: Int, inout MutableRawSpan, _ stride: Int) -> Void
    ) throws(MediaError) -> PixelBuffer {
        PixelBuffer(try pool.picture(sampleAspectRatio: sampleAspectRatio, color: color, fill: fill))
    }
}
