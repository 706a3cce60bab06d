import LibAV
import MediaAnalysis
public import MediaBase
public import Pictures

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

/// What becomes of pictures that are brighter than an ordinary display can show:
/// `AVAssetImageGenerator.DynamicRangePolicy`.
public enum DynamicRangePolicy: Sendable, Hashable {
    /// PQ and HLG are mapped to sRGB.
    case forceSDR
    /// PQ and HLG keep their coded values, in red, green and blue of their own primaries.
    case matchSource
}

extension PixelBuffer {
    /// The picture as a bitmap in sRGB, scaled to `dimensions` on the way where they are given.
    ///
    /// Matrix, range, chroma location, primaries and transfer function are those of ``color``, completed by
    /// ``ColorInfo/assumed(for:)``. Wide primaries become sRGB's, PQ and HLG are mapped by the curve of ITU-R
    /// BT.2390 (`docs/decisions/0005-colour.md`). Pixels are scaled once, from the decoder's samples, luma and chroma
    /// before they become red, green and blue; colours count by their alpha. The pixel aspect is not looked at.
    /// - Parameters:
    ///   - dimensions: The size; `nil` for the picture's own.
    ///   - dynamicRange: Whether HDR is mapped.
    /// - Throws: ``MediaError`` `limitExceeded` for a size that no bitmap may have, `unsupported` for a pixel
    ///   format that cannot be converted.
    public func bitmap(dimensions: Dimensions? = nil, dynamicRange: DynamicRangePolicy = .forceSDR) throws(MediaError)
        -> Bitmap
    {
        try bitmap(part: nil, dimensions: dimensions, dynamicRange: dynamicRange, hdr: nil)
    }

    /// The picture in sRGB, as ``bitmap(dimensions:dynamicRange:)`` makes it.
    func inSRGB() throws(MediaError) -> PixelBuffer {
        let bitmap = try bitmap()
        let pool = try PixelBufferPool(dimensions: dimensions, pixelFormat: .rgba)
        // Video calls these numbers BT.709.
        let tags = ColorInfo(primaries: "bt709", transfer: "bt709", matrix: "gbr", range: "pc")
        let width = bitmap.width * 4
        return try pool.makePixelBuffer(sampleAspectRatio: sampleAspectRatio, color: tags) { _, bytes, stride in
            for row in 0..<bitmap.height {
                for column in 0..<width {
                    bytes.storeBytes(
                        of: bitmap.bytes[row * width + column], toByteOffset: row * stride + column, as: UInt8.self)
                }
            }
        }
    }

    /// The same for a part of the picture; `hdr` is what the container says of brightness, which goes before the
    /// picture's own word.
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

    /// Scales with colours that count by their alpha: transparent pixels have one too, which must not show.
    private func weightedByAlpha(
        part: PixelRectangle?, dimensions: Dimensions, by rendering: ColorTransform
    ) throws(MediaError) -> Bitmap {
        var converter = try PixelConverter(to: .rgba)
        let pixels = try converter.convert(frame, part: part)
        // Planes of luma and chroma, because those are scaled as they are.
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

    /// Luma and chroma, 4:4:4, as a bitmap.
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

    /// RGBA of 16 bits as a bitmap.
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
        // The size is that of a picture that exists, which the limits allow.
        var bytes = [UInt8](repeating: 0, count: width * height * 4)
        var pixels = bytes.mutableSpan
        for y in 0..<height { writeRow(y, &pixels) }
        return try Bitmap(width: width, height: height, bytes: bytes)
    }

    /// Where a row's samples lie in a plane; nowhere for a row that is not there.
    private static func range(_ row: Int, _ stride: Int, _ count: Int, in length: Int) -> Range<Int> {
        let start = row * stride
        return start + count <= length ? start..<start + count : 0..<0
    }
}

extension PixelBuffer {
    /// Whether the decoder says that the picture consists of two fields, taken one after the other.
    public var isInterlaced: Bool { frame.fieldOrder != nil }

    /// Whether the upper field is the first one; for an interlaced picture.
    package var isTopFieldFirst: Bool { frame.fieldOrder == .topFirst }

    /// The picture at the moment of its first field, without the comb that motion makes of two fields.
    ///
    /// The rows of the first field stay, and those of the other one as far as they fit between them. A picture that is
    /// not interlaced is returned as it is, and so are formats whose samples are no whole bytes in machine order.
    public func deinterlaced() throws(MediaError) -> PixelBuffer {
        guard let order = frame.fieldOrder else { return self }
        let layouts = (0..<frame.planeCount).map { frame.sampleLayout($0) }
        guard let first = layouts.first ?? nil, layouts.allSatisfy({ $0?.bytesPerSample == first.bytesPerSample })
        else { return self }
        let keepsTop = order == .topFirst
        func plane(_ index: Int, _ stride: Int) -> Deinterlacer.Plane {
            Deinterlacer.Plane(rows: frame.planeShape(index).rows, stride: stride, step: layouts[index]?.step ?? 1)
        }
        if first.bytesPerSample == 1 {
            return PixelBuffer(
                try frame.rewritten(as: UInt8.self) { index, row, target in
                    frame.withPlane(index, of: UInt8.self) { source, stride in
                        Deinterlacer.process(
                            row: row, of: source, plane(index, stride), keepsTop: keepsTop, into: &target)
                    }
                })
        }
        return PixelBuffer(
            try frame.rewritten(as: UInt16.self) { index, row, target in
                frame.withPlane(index, of: UInt16.self) { source, stride in
                    Deinterlacer.process(
                        row: row, of: source, plane(index, stride), keepsTop: keepsTop, into: &target)
                }
            })
    }
}

// Stored samples as numbers, for measurements.

extension PixelBuffer {
    /// Significant bits of a sample of the first component.
    package var bitDepth: Int { frame.bitDepth }

    /// Whether the samples are red, green and blue, or are treated as such.
    package var isRGB: Bool { frame.isRGB }

    /// Bytes a sample and samples from one to the next of the same component; `nil` where samples are no whole bytes in
    /// this machine's order.
    package func sampleLayout(_ plane: Int) -> (bytesPerSample: Int, step: Int)? {
        frame.sampleLayout(plane).map { ($0.bytesPerSample, $0.step) }
    }

    /// What is known of its colours, with what is not known as players assume it.
    package var assumedColor: ColorInfo { frame.assumedColor }

    /// Lends one plane as numbers of a type, with the stride in such numbers; empty where rows do not begin at whole ones.
    package func withSamples<Sample: FixedWidthInteger & BitwiseCopyable, Result, Failure: Error>(
        of type: Sample.Type, plane: Int, _ body: (Span<Sample>, _ stride: Int) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try frame.withPlane(plane, of: type, body)
    }
}
