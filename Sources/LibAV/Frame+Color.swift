import CFFmpeg
package import MediaBase

// The colours and fields that a decoded frame states, apart from its pixels.

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
