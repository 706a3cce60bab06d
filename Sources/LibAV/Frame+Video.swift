import CFFmpeg
package import MediaBase

// A video frame: how it is made, its colours and fields, its samples as numbers, and frames derived from it.

extension Frame {
    /// The frame's stated colours, completed by those that its pixel format implies and then by players' assumptions.
    ///
    /// Gray without a stated range is assumed to be full range, as by libswscale and the programs that write such
    /// files.
    package var assumedColor: ColorInfo {
        var color = color
        let isGray = native.descriptor.map { $0.nb_components < 3 } ?? false
        if native.impliesFullRange || (isGray && color.range == nil) { color.range = "pc" }
        if native.impliesFullRange, color.chromaLocation == nil { color.chromaLocation = "center" }
        return color.assumed(for: dimensions)
    }

    /// Tags the frame with the matrix assumed at its previous size, if its own size would imply a different one.
    ///
    /// Players guess the matrix from the size; a change of size must not change the colours.
    func keepMatrix(of assumed: ColorInfo) {
        guard pointer.pointee.colorspace == AVCOL_SPC_UNSPECIFIED, !isRGB, assumedColor.matrix != assumed.matrix else {
            return
        }
        pointer.pointee.colorspace = ColorInfo(matrix: assumed.matrix).native.matrix
    }

    /// The HDR brightness metadata that the frame itself carries; `nil` if there is none.
    package var hdr: HDRInfo? {
        func sideData<Value>(_ type: AVFrameSideDataType, as _: Value.Type) -> Value? {
            guard let found = av_frame_get_side_data(pointer, type), found.pointee.size >= MemoryLayout<Value>.size,
                let bytes = found.pointee.data
            else { return nil }
            return UnsafeRawPointer(bytes).loadUnaligned(as: Value.self)
        }
        var info = HDRInfo()
        info.set(
            sideData(AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, as: AVMasteringDisplayMetadata.self),
            sideData(AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, as: AVContentLightMetadata.self))
        return info == HDRInfo() ? nil : info
    }

    /// The order in which the frame's two fields were captured; `nil` if the decoder reports a progressive frame.
    package var fieldOrder: FieldOrder? {
        guard shim_frame_is_interlaced(pointer) != 0 else { return nil }
        return shim_frame_is_top_field_first(pointer) != 0 ? .topFieldFirst : .bottomFieldFirst
    }

    /// Marks the frame as one without fields; call this before it is shared.
    package func markProgressive() { shim_frame_set_progressive(pointer) }

    /// True if the pixels are RGB rather than luma and chroma.
    package var isRGB: Bool { native.isRGB }

    /// True if pixels may be transparent.
    package var hasAlpha: Bool { native.has(AV_PIX_FMT_FLAG_ALPHA) }

    /// The number of significant bits in the first component; 8 if libavutil does not know the format.
    package var bitDepth: Int { native.bitDepth }
}

extension AVPixelFormat {
    /// libavutil's description of the format; `nil` if it has none.
    var descriptor: AVPixFmtDescriptor? { av_pix_fmt_desc_get(self)?.pointee }

    /// Returns true if the format has one of the flags (`AV_PIX_FMT_FLAG_…`).
    func has(_ flags: Int32) -> Bool { descriptor.map { $0.flags & UInt64(flags) != 0 } ?? false }

    /// The number of bits of a component; 8 if that is unknown.
    var bitDepth: Int { descriptor.map { Int($0.comp.0.depth) } ?? 8 }

    /// True if pixels are RGB or treated as such by libswscale, as are indexed and black-and-white pixels.
    var isRGB: Bool {
        if self == AV_PIX_FMT_MONOBLACK || self == AV_PIX_FMT_MONOWHITE { return true }
        return has(AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)
    }

    /// True if the format itself implies full range.
    var impliesFullRange: Bool {
        switch self {
        case AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_YUVJ440P, AV_PIX_FMT_YUVJ411P:
            true
        default: false
        }
    }
}

extension PixelFormat {
    /// True if the pixels are RGB or indices of RGB colours.
    package var isRGB: Bool { native?.isRGB ?? false }

    /// The number of significant bits in the first component; 8 if the format is unknown.
    package var bitDepth: Int { native?.bitDepth ?? 8 }

    /// True if pixels may be transparent.
    package var hasAlpha: Bool { native?.has(AV_PIX_FMT_FLAG_ALPHA) ?? false }
}

/// The coding of luma and chroma in a conversion's result; a `nil` property keeps the source's coding.
package struct LumaCoding: Sendable, Hashable {
    /// The matrix, by libavutil's name.
    package var matrix: String?
    /// The range: `tv` (limited) or `pc` (full).
    package var range: String?
    /// The coding of converted RGB if the two properties above are `nil`.
    ///
    /// See ``ColorInfo/codedAsLuma(wanted:)`` for the values that this property does not state either.
    package var fromRGB: ColorInfo?

    /// Creates a coding; all properties are unspecified by default.
    package init(matrix: String? = nil, range: String? = nil, fromRGB: ColorInfo? = nil) {
        self.matrix = matrix
        self.range = range
        self.fromRGB = fromRGB
    }

    /// Returns the matrix and range for converting RGB of these colours to luma and chroma.
    func codedAsLuma(_ color: ColorInfo) -> (matrix: String, range: String) {
        let usual = color.codedAsLuma(wanted: fromRGB)
        return (matrix ?? usual.matrix, range ?? usual.range)
    }
}

/// A converter of luma and chroma from one matrix to another by way of RGB.
///
/// libswscale can convert in one step, but then ignores the location of chroma samples.
final class MatrixConverter {
    private var toRGB: PixelConverter
    private var toLuma: PixelConverter

    /// Creates a converter to a pixel format and matrix.
    ///
    /// - Parameters:
    ///   - matrix: The target matrix.
    ///   - range: The target range; `nil` for limited.
    init(
        to format: PixelFormat, dimensions: Dimensions?, matrix: String, range: String?, field: PixelConverter.Field?
    ) throws(MediaError) {
        toRGB = try PixelConverter(
            to: PixelFormat(rawValue: "gbrp12le"), dimensions: dimensions, coding: LumaCoding(), field: field,
            fields: nil)
        let coding = LumaCoding(fromRGB: ColorInfo(matrix: matrix, range: range))
        toLuma = try PixelConverter(to: format, dimensions: nil, coding: coding, field: field, fields: nil)
    }

    /// Returns the frame converted to the target matrix and tagged with it.
    func convert(_ frame: borrowing Frame) throws(MediaError) -> Frame {
        try toLuma.convert(toRGB.convert(frame))
    }
}

extension Frame {
    /// The layout of a plane's samples if they are whole bytes in native byte order.
    package struct SampleLayout: Sendable, Equatable {
        /// The number of bytes per sample, 1 or 2.
        package let bytesPerSample: Int
        /// The distance between consecutive samples of the same component, in samples.
        package let step: Int
    }

    /// Returns the layout of a plane's samples; `nil` if they are not whole bytes in native byte order or are indices.
    package func sampleLayout(_ plane: Int) -> SampleLayout? {
        guard plane >= 0, plane < planeCount, let descriptor = native.descriptor else { return nil }
        let others = AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_FLOAT
        let bigEndian = descriptor.flags & UInt64(AV_PIX_FMT_FLAG_BE) != 0
        guard descriptor.flags & UInt64(others) == 0 else { return nil }
        let all = [
            descriptor.comp.0, descriptor.comp.1, descriptor.comp.2, descriptor.comp.3,
        ].prefix(Int(descriptor.nb_components))
        let here = all.filter { $0.plane == Int32(plane) }
        guard let first = here.first, let widest = here.map(\.step).max() else { return nil }
        let bytes = first.depth <= 8 ? 1 : 2
        // Excludes formats whose components share bytes (rgb565, x2rgb10).
        let isWhole = here.allSatisfy {
            $0.depth <= 16 && ($0.depth <= 8) == (bytes == 1) && Int($0.offset) % bytes == 0
        }
        let offsets = Set(here.map(\.offset))
        guard isWhole, offsets.count == here.count, Int(widest) >= bytes, Int(widest) % bytes == 0,
            !(bigEndian && bytes == 2), here.map(\.step).min() ?? 0 >= Int32(bytes), bytes * here.count <= Int(widest)
        else { return nil }
        return SampleLayout(bytesPerSample: bytes, step: Int(widest) / bytes)
    }

    /// Calls a closure with one plane as numbers of a type, and with the stride in such numbers.
    ///
    /// The span is empty if the plane does not exist or if its rows are not aligned for the type.
    package func withPlane<Sample: FixedWidthInteger & BitwiseCopyable, Result, Failure: Error>(
        _ plane: Int, of type: Sample.Type, _ body: (Span<Sample>, _ stride: Int) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withPlane(plane) { (bytes: RawSpan, stride: Int) throws(Failure) -> Result in
            let size = MemoryLayout<Sample>.size
            guard stride % size == 0, isAligned(plane, to: MemoryLayout<Sample>.alignment) else {
                return try body(UnsafeBufferPointer<Sample>(start: nil, count: 0).span, 0)
            }
            let whole = bytes.extracting(first: bytes.byteCount / size * size)
            // The bytes are aligned whole numbers of a type without invalid bit patterns.
            return try body(unsafe whole._unsafeView(as: Sample.self), stride / size)
        }
    }

    /// Returns a frame of the same size and properties whose rows a closure writes.
    ///
    /// - Parameters:
    ///   - type: The type of the samples to write.
    ///   - format: The pixel format of the result; `nil` for this frame's format.
    ///   - write: A closure that receives a plane index, a row index and the row to write, without padding. It is not
    ///     called for planes whose rows are not aligned for the type.
    package func rewritten<Sample: FixedWidthInteger & BitwiseCopyable>(
        as type: Sample.Type, format: PixelFormat? = nil,
        _ write: (_ plane: Int, _ row: Int, inout MutableSpan<Sample>) -> Void
    ) throws(MediaError) -> Frame {
        let native = format.flatMap(\.native) ?? self.native
        let result = try Frame.picture(format: native, dimensions: dimensions)
        try AVStatus.check(
            av_frame_copy_props(result.pointer, pointer), "av_frame_copy_props", doing: "make a picture")
        let size = MemoryLayout<Sample>.size
        for plane in 0..<result.planeCount {
            let (rows, rowBytes) = result.planeShape(plane)
            let stride = result.linesize(plane)
            guard stride >= rowBytes, stride % size == 0,
                result.isAligned(plane, to: MemoryLayout<Sample>.alignment), let start = result.data(plane)
            else { continue }
            for row in 0..<rows {
                (start + row * stride).withMemoryRebound(to: Sample.self, capacity: rowBytes / size) { samples in
                    var target = UnsafeMutableBufferPointer(start: samples, count: rowBytes / size).mutableSpan
                    write(plane, row, &target)
                }
            }
        }
        return result
    }

    private func isAligned(_ plane: Int, to alignment: Int) -> Bool {
        UInt(bitPattern: data(plane)) % UInt(alignment) == 0
    }

    /// Returns the number of luma samples by which a part's first chroma sample lies further left and up than a whole
    /// frame's.
    func chromaShift(ofPart rectangle: PixelRectangle) -> (x: Int, y: Int) {
        guard let descriptor = native.descriptor else { return (0, 0) }
        let (x, y) = (Int(descriptor.log2_chroma_w), Int(descriptor.log2_chroma_h))
        return (firstColumn(of: rectangle) & ((1 << x) - 1), rectangle.y & ((1 << y) - 1))
    }

    /// Returns the part of the frame inside a rectangle, which shares the frame's planes.
    ///
    /// The left edge moves to the left if the format stores several pixels together.
    ///
    /// - Throws: `invalidArgument` if the rectangle is empty or extends beyond the frame.
    func part(_ rectangle: PixelRectangle) throws(MediaError) -> Frame {
        let (width, height) = (dimensions.width, dimensions.height)
        guard rectangle.x >= 0, rectangle.y >= 0, rectangle.width > 0, rectangle.height > 0,
            rectangle.x < width, rectangle.y < height, rectangle.width <= width - rectangle.x,
            rectangle.height <= height - rectangle.y
        else { throw MediaError(.invalidArgument, "cannot cut \(rectangle.size) out of a picture of \(dimensions)") }
        let result = try shared()
        let left = firstColumn(of: rectangle)
        result.pointer.pointee.crop_left = left
        result.pointer.pointee.crop_top = rectangle.y
        result.pointer.pointee.crop_right = width - left - rectangle.width
        result.pointer.pointee.crop_bottom = height - rectangle.y - rectangle.height
        try AVStatus.check(
            av_frame_apply_cropping(result.pointer, Int32(AV_FRAME_CROP_UNALIGNED)),
            "av_frame_apply_cropping", doing: "cut a picture")
        return result
    }

    /// Returns the first column of a part, moved to the left if pixels share bytes.
    private func firstColumn(of rectangle: PixelRectangle) -> Int {
        guard let descriptor = native.descriptor else { return 0 }
        let flags = descriptor.flags
        if flags & UInt64(AV_PIX_FMT_FLAG_BITSTREAM) != 0 { return 0 }
        let isPacked = descriptor.log2_chroma_w > 0 && flags & UInt64(AV_PIX_FMT_FLAG_PLANAR) == 0
        let shift = isPacked ? Int(descriptor.log2_chroma_w) : 0
        return rectangle.x & ~((1 << shift) - 1)
    }
}

/// Owner of an `AVBufferPool`: memory for frames of one size and format, which is reused after their release.
///
/// Planes and rows begin at multiples of 64 bytes. Frames may outlive the pool and may be released on any thread.
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
        // Codecs read slightly beyond the last row, and libavutil's memory may begin anywhere.
        let pool = try allocated(av_buffer_pool_init(Int(size) + 64 + Int(Self.alignment), nil))
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
        let frame = try picture()
        frame.fillPlanes(fill)
        return frame.tagged(sampleAspectRatio: sampleAspectRatio, color: color)
    }

    /// Returns a frame without tags whose pixels have any content.
    func picture() throws(MediaError) -> Frame {
        let frame = try Frame()
        let buffer = try allocated(av_buffer_pool_get(pool))
        frame.pointer.pointee.buf.0 = buffer
        frame.pointer.pointee.format = native.rawValue
        frame.pointer.pointee.width = Int32(dimensions.width)
        frame.pointer.pointee.height = Int32(dimensions.height)
        let planes = frame.pointer.pointee.extended_data
        let start = buffer.pointee.data + (-Int(bitPattern: buffer.pointee.data) & Int(Self.alignment - 1))
        let status = frame.withLinesizes { strides in
            av_image_fill_arrays(
                planes, strides, start, native, Int32(dimensions.width), Int32(dimensions.height), Self.alignment)
        }
        try AVStatus.check(status, "av_image_fill_arrays", doing: "hold a picture")
        return frame
    }
}

extension Frame {
    /// Creates a video frame with its own memory and uninitialised pixels.
    static func picture(format: AVPixelFormat, dimensions: Dimensions) throws(MediaError) -> Frame {
        try dimensions.checkLimit()
        let frame = try Frame()
        frame.pointer.pointee.format = format.rawValue
        frame.pointer.pointee.width = Int32(dimensions.width)
        frame.pointer.pointee.height = Int32(dimensions.height)
        try AVStatus.check(av_frame_get_buffer(frame.pointer, 0), "av_frame_get_buffer", doing: "hold a picture")
        return frame
    }

    /// Creates a black, opaque frame (`av_image_fill_black`).
    ///
    /// Formats that libavutil cannot fill, such as indexed colours, are replaced by RGBA.
    /// - Parameters:
    ///   - format: The pixel format.
    ///   - dimensions: The size in pixels.
    ///   - sampleAspectRatio: The width of a pixel divided by its height; `nil` if unknown.
    ///   - color: The colour tags, which also decide on the value of black.
    package static func black(
        _ format: PixelFormat, dimensions: Dimensions, sampleAspectRatio: Rational? = nil,
        color: ColorInfo = ColorInfo()
    ) throws(MediaError) -> Frame {
        let native = format.native ?? AV_PIX_FMT_RGBA
        let frame = try picture(format: native, dimensions: dimensions).tagged(
            sampleAspectRatio: sampleAspectRatio, color: color)
        let range = frame.assumedColor.range == "pc" ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        let strides = (0..<4).map { frame.linesize($0) }
        let status = av_image_fill_black(
            frame.pointer.pointee.extended_data, strides, native, range, Int32(dimensions.width),
            Int32(dimensions.height))
        if status < 0, native != AV_PIX_FMT_RGBA {
            return try black(.rgba, dimensions: dimensions, sampleAspectRatio: sampleAspectRatio)
        }
        try AVStatus.check(status, "av_image_fill_black", doing: "make a black picture")
        return frame
    }
}

extension Dimensions {
    /// Throws unless a frame of this size may be created.
    func checkLimit() throws(MediaError) {
        guard width > 0, height > 0, case let (pixels, overflow) = width.multipliedReportingOverflow(by: height),
            !overflow, pixels <= Limits.pixels
        else {
            throw MediaError(.limitExceeded, "a picture of \(self) is outside the limit of \(Limits.pixels) pixels")
        }
    }
}
