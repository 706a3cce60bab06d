import CFFmpeg
package import MediaBase

// What a decoded picture says of its colours and fields, apart from its pixels.

extension Frame {
    /// The frame's word on colours, completed by what its pixel format implies and then as players assume.
    ///
    /// Gray without a word on its range is taken as full range, as libswscale and who writes such files do.
    package var assumedColor: ColorInfo {
        var color = color
        let format = AVPixelFormat(rawValue: pointer.pointee.format)
        let isGray = av_pix_fmt_desc_get(format).map { $0.pointee.nb_components < 3 } ?? false
        if format.impliesFullRange || (isGray && color.range == nil) { color.range = "pc" }
        if format.impliesFullRange, color.chromaLocation == nil { color.chromaLocation = "center" }
        return color.assumed(for: dimensions)
    }

    /// Tags the picture with the matrix that was assumed of it in another size, where in its own another one would be.
    ///
    /// Players guess by the size; one that changes must not change the colours.
    func keepMatrix(of assumed: ColorInfo) {
        guard pointer.pointee.colorspace == AVCOL_SPC_UNSPECIFIED, !isRGB, assumedColor.matrix != assumed.matrix else {
            return
        }
        pointer.pointee.colorspace = ColorInfo(matrix: assumed.matrix).native.matrix
    }

    /// The brightness metadata that came with the picture itself; `nil` where there is none.
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

    /// Which rows were taken first, where the picture consists of two fields.
    package enum FieldOrder: Sendable {
        /// The first row and every second one after it.
        case topFirst
        /// The others.
        case bottomFirst
    }

    /// The order of its two fields; `nil` where the decoder says that it is one picture.
    package var fieldOrder: FieldOrder? {
        guard shim_frame_is_interlaced(pointer) != 0 else { return nil }
        return shim_frame_is_top_field_first(pointer) != 0 ? .topFirst : .bottomFirst
    }

    /// Whether the pixels are red, green and blue rather than luma and chroma.
    package var isRGB: Bool { AVPixelFormat(rawValue: pointer.pointee.format).isRGB }

    /// Whether pixels may be transparent.
    package var hasAlpha: Bool {
        guard let descriptor = av_pix_fmt_desc_get(AVPixelFormat(rawValue: pointer.pointee.format)) else {
            return false
        }
        return descriptor.pointee.flags & UInt64(AV_PIX_FMT_FLAG_ALPHA) != 0
    }

    /// Significant bits of the first component; 8 where libavutil does not know the format.
    package var bitDepth: Int {
        guard let descriptor = av_pix_fmt_desc_get(AVPixelFormat(rawValue: pointer.pointee.format)) else { return 8 }
        return Int(descriptor.pointee.comp.0.depth)
    }
}

extension AVPixelFormat {
    /// Whether pixels are red, green and blue, or are treated as such by libswscale: indexed ones, and black and white.
    var isRGB: Bool {
        if self == AV_PIX_FMT_MONOBLACK || self == AV_PIX_FMT_MONOWHITE { return true }
        guard let descriptor = av_pix_fmt_desc_get(self) else { return false }
        return descriptor.pointee.flags & UInt64(AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL) != 0
    }

    /// Whether it is one of those that say full range by themselves.
    var impliesFullRange: Bool {
        switch self {
        case AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_YUVJ440P, AV_PIX_FMT_YUVJ411P:
            true
        default: false
        }
    }
}

extension PixelFormat {
    /// Whether pixels are red, green and blue, or indices of such.
    package var isRGB: Bool { native?.isRGB ?? false }

    /// Significant bits of the first component; 8 where the format is not known.
    package var bitDepth: Int { native.flatMap { av_pix_fmt_desc_get($0) }.map { Int($0.pointee.comp.0.depth) } ?? 8 }

    /// Whether pixels may be transparent.
    package var hasAlpha: Bool {
        guard let descriptor = native.flatMap({ av_pix_fmt_desc_get($0) }) else { return false }
        return descriptor.pointee.flags & UInt64(AV_PIX_FMT_FLAG_ALPHA) != 0
    }
}

/// How luma and chroma that a conversion makes are coded; what is `nil` stays as the source has it.
package struct LumaCoding: Sendable, Hashable {
    /// The matrix, by libavutil's name of it.
    package var matrix: String?
    /// The range, `tv` (limited) or `pc` (full).
    package var range: String?
    /// What becomes of red, green and blue where the two above are `nil`; see ``ColorInfo/codedAsLuma(wanted:)`` for what
    /// this does not say either.
    package var fromRGB: ColorInfo?

    /// Says nothing unless given.
    package init(matrix: String? = nil, range: String? = nil, fromRGB: ColorInfo? = nil) {
        self.matrix = matrix
        self.range = range
        self.fromRGB = fromRGB
    }

    /// The matrix and range of what is made of red, green and blue of these colours.
    func codedAsLuma(_ color: ColorInfo) -> (matrix: String, range: String) {
        let usual = color.codedAsLuma(wanted: fromRGB)
        return (matrix ?? usual.matrix, range ?? usual.range)
    }
}

/// Brings luma and chroma from one matrix to another, by way of red, green and blue.
///
/// libswscale can do that in one step, but forgets there where chroma lies.
final class MatrixConverter {
    private var toRGB: PixelConverter
    private var toLuma: PixelConverter

    /// - Parameters:
    ///   - matrix: The one that is wanted.
    ///   - range: The range that is wanted; `nil` for limited.
    init(
        to format: PixelFormat, dimensions: Dimensions?, matrix: String, range: String?, field: PixelConverter.Field?
    ) throws(MediaError) {
        toRGB = try PixelConverter(
            to: PixelFormat(rawValue: "gbrp12le"), dimensions: dimensions, coding: LumaCoding(), field: field,
            fields: nil)
        let coding = LumaCoding(fromRGB: ColorInfo(matrix: matrix, range: range))
        toLuma = try PixelConverter(to: format, dimensions: nil, coding: coding, field: field, fields: nil)
    }

    /// The picture by the matrix that is wanted, and tagged so.
    func convert(_ frame: borrowing Frame) throws(MediaError) -> Frame {
        try toLuma.convert(toRGB.convert(frame))
    }
}
