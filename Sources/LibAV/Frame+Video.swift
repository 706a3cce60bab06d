import CFFmpeg
package import MediaBase

// A video frame: the colours and fields that it states, its samples as numbers, and frames derived from it.

extension Frame {
    /// The frame's stated colours, completed by those that its pixel format implies and then by players' assumptions.
    ///
    /// Gray without a stated range is assumed to be full range, as by libswscale and the programs that write such
    /// files.
    package var assumedColor: ColorInfo {
        var color = color
        let format = AVPixelFormat(rawValue: pointer.pointee.format)
        let isGray = av_pix_fmt_desc_get(format).map { $0.pointee.nb_components < 3 } ?? false
        if format.impliesFullRange || (isGray && color.range == nil) { color.range = "pc" }
        if format.impliesFullRange, color.chromaLocation == nil { color.chromaLocation = "center" }
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
        var info = HDRInfo()
        func sideData<Value>(_ type: AVFrameSideDataType, as _: Value.Type) -> Value? {
            guard let found = av_frame_get_side_data(pointer, type), found.pointee.size >= MemoryLayout<Value>.size,
                let bytes = found.pointee.data
            else { return nil }
            return UnsafeRawPointer(bytes).loadUnaligned(as: Value.self)
        }
        if let display = sideData(AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, as: AVMasteringDisplayMetadata.self) {
            info.masteringDisplay = HDRInfo.MasteringDisplay(display)
        }
        if let light = sideData(AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, as: AVContentLightMetadata.self) {
            info.contentLightLevel = HDRInfo.ContentLightLevel(
                maximum: Int(light.MaxCLL), maximumFrameAverage: Int(light.MaxFALL))
        }
        return info == HDRInfo() ? nil : info
    }

    /// The field of an interlaced frame that was captured first.
    package enum FieldOrder: Sendable {
        /// The field with the first row and every second row after it.
        case topFirst
        /// The field with the other rows.
        case bottomFirst
    }

    /// The order of the frame's two fields; `nil` if the decoder reports a progressive frame.
    package var fieldOrder: FieldOrder? {
        guard shim_frame_is_interlaced(pointer) != 0 else { return nil }
        return shim_frame_is_top_field_first(pointer) != 0 ? .topFirst : .bottomFirst
    }

    /// True if the pixels are RGB rather than luma and chroma.
    package var isRGB: Bool { AVPixelFormat(rawValue: pointer.pointee.format).isRGB }

    /// True if pixels may be transparent.
    package var hasAlpha: Bool {
        guard let descriptor = av_pix_fmt_desc_get(AVPixelFormat(rawValue: pointer.pointee.format)) else {
            return false
        }
        return descriptor.pointee.flags & UInt64(AV_PIX_FMT_FLAG_ALPHA) != 0
    }

    /// The number of significant bits in the first component; 8 if libavutil does not know the format.
    package var bitDepth: Int {
        guard let descriptor = av_pix_fmt_desc_get(AVPixelFormat(rawValue: pointer.pointee.format)) else { return 8 }
        return Int(descriptor.pointee.comp.0.depth)
    }
}

extension AVPixelFormat {
    /// True if pixels are RGB or treated as such by libswscale, as are indexed and black-and-white pixels.
    var isRGB: Bool {
        if self == AV_PIX_FMT_MONOBLACK || self == AV_PIX_FMT_MONOWHITE { return true }
        guard let descriptor = av_pix_fmt_desc_get(self) else { return false }
        return descriptor.pointee.flags & UInt64(AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL) != 0
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
    package var bitDepth: Int { native.flatMap { av_pix_fmt_desc_get($0) }.map { Int($0.pointee.comp.0.depth) } ?? 8 }

    /// True if pixels may be transparent.
    package var hasAlpha: Bool {
        guard let descriptor = native.flatMap({ av_pix_fmt_desc_get($0) }) else { return false }
        return descriptor.pointee.flags & UInt64(AV_PIX_FMT_FLAG_ALPHA) != 0
    }
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
        guard plane >= 0, plane < planeCount,
            let descriptor = av_pix_fmt_desc_get(AVPixelFormat(rawValue: pointer.pointee.format))
        else { return nil }
        let others = AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_FLOAT
        let bigEndian = descriptor.pointee.flags & UInt64(AV_PIX_FMT_FLAG_BE) != 0
        guard descriptor.pointee.flags & UInt64(others) == 0 else { return nil }
        let all = [
            descriptor.pointee.comp.0, descriptor.pointee.comp.1, descriptor.pointee.comp.2, descriptor.pointee.comp.3,
        ].prefix(Int(descriptor.pointee.nb_components))
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
        let native = format.flatMap(\.native) ?? AVPixelFormat(rawValue: pointer.pointee.format)
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
        guard let descriptor = av_pix_fmt_desc_get(AVPixelFormat(rawValue: pointer.pointee.format)) else {
            return (0, 0)
        }
        let (x, y) = (Int(descriptor.pointee.log2_chroma_w), Int(descriptor.pointee.log2_chroma_h))
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
        guard let descriptor = av_pix_fmt_desc_get(AVPixelFormat(rawValue: pointer.pointee.format)) else { return 0 }
        let flags = descriptor.pointee.flags
        if flags & UInt64(AV_PIX_FMT_FLAG_BITSTREAM) != 0 { return 0 }
        let isPacked = descriptor.pointee.log2_chroma_w > 0 && flags & UInt64(AV_PIX_FMT_FLAG_PLANAR) == 0
        let shift = isPacked ? Int(descriptor.pointee.log2_chroma_w) : 0
        return rectangle.x & ~((1 << shift) - 1)
    }
}
