import CFFmpeg
package import MediaBase

extension Frame {
    /// A picture with memory of its own, its pixels not yet written.
    static func picture(format: AVPixelFormat, dimensions: Dimensions) throws(MediaError) -> Frame {
        try dimensions.checkLimit()
        let frame = try Frame()
        frame.pointer.pointee.format = format.rawValue
        frame.pointer.pointee.width = Int32(dimensions.width)
        frame.pointer.pointee.height = Int32(dimensions.height)
        try AVStatus.check(av_frame_get_buffer(frame.pointer, 0), "av_frame_get_buffer", doing: "hold a picture")
        return frame
    }
}

extension Dimensions {
    /// Throws unless a picture of this size may be made.
    func checkLimit() throws(MediaError) {
        guard width > 0, height > 0, case let (pixels, overflow) = width.multipliedReportingOverflow(by: height),
            !overflow, pixels <= Limits.pixels
        else {
            throw MediaError(.limitExceeded, "a picture of \(self) is outside the limit of \(Limits.pixels) pixels")
        }
    }
}

/// Owner of an `SwsContext`: pictures in any format and size to one format and size, in one step.
///
/// The matrix and the range are taken from each picture's own tags. Where it has none, ITU-R BT.601 is assumed up to
/// 576 lines and 1024 pixels across, BT.709 above; limited range unless the format says full (`yuvj…`).
/// One thread uses it at a time.
package struct PixelConverter: ~Copyable, @unchecked Sendable {
    private var context: OpaquePointer?
    private var configured: Configuration?
    private let format: AVPixelFormat
    private let dimensions: Dimensions?

    private struct Configuration: Equatable {
        var width: Int32
        var height: Int32
        var format: Int32
        var matrix: Int32
        var isFullRange: Bool
    }

    /// A converter to a format and size.
    ///
    /// - Parameters:
    ///   - format: What to convert to.
    ///   - dimensions: What to scale to; `nil` keeps each picture's own.
    package init(to format: PixelFormat, dimensions: Dimensions? = nil) throws(MediaError) {
        guard let native = format.native, sws_isSupportedOutput(native) != 0 else {
            throw MediaError(.invalidArgument, "cannot convert pictures to the pixel format \(format)")
        }
        self.format = native
        self.dimensions = dimensions
    }

    deinit { sws_freeContext(context) }

    /// The picture in the asked format and size, with the times of the original; shares its planes where it is so already.
    package mutating func convert(_ frame: borrowing Frame) throws(MediaError) -> Frame {
        let size = dimensions ?? frame.dimensions
        if frame.pointer.pointee.format == format.rawValue, frame.dimensions == size { return try frame.shared() }
        try size.checkLimit()
        try configure(for: frame, size: size)
        let result = try Frame.picture(format: format, dimensions: size)
        try AVStatus.check(
            av_frame_copy_props(result.pointer, frame.pointer), "av_frame_copy_props", doing: "convert a picture")
        let rows = withUnsafePointer(to: &frame.pointer.pointee.data) { source in
            source.withMemoryRebound(to: UnsafePointer<UInt8>?.self, capacity: 8) { source in
                withUnsafePointer(to: &frame.pointer.pointee.linesize) { strides in
                    strides.withMemoryRebound(to: Int32.self, capacity: 8) { strides in
                        Self.scale(context, source, strides, frame.pointer.pointee.height, result)
                    }
                }
            }
        }
        try AVStatus.check(rows, "sws_scale", doing: "convert a picture")
        // The tags say what the pixels are now.
        if isRGB(format) {
            result.pointer.pointee.colorspace = AVCOL_SPC_RGB
        } else if result.pointer.pointee.colorspace == AVCOL_SPC_RGB {
            result.pointer.pointee.colorspace =
                Self.matrix(of: frame) == SWS_CS_ITU709 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M
        }
        if isRGB(format) || frame.pointer.pointee.color_range != AVCOL_RANGE_UNSPECIFIED || isJPEG(format) {
            result.pointer.pointee.color_range = becomesFullRange(from: frame) ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        }
        return result
    }

    private static func scale(
        _ context: OpaquePointer?, _ source: UnsafePointer<UnsafePointer<UInt8>?>, _ strides: UnsafePointer<Int32>,
        _ height: Int32, _ result: borrowing Frame
    ) -> Int32 {
        withUnsafePointer(to: &result.pointer.pointee.data) { target in
            target.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 8) { target in
                withUnsafePointer(to: &result.pointer.pointee.linesize) { targetStrides in
                    targetStrides.withMemoryRebound(to: Int32.self, capacity: 8) { targetStrides in
                        sws_scale(context, source, strides, 0, height, target, targetStrides)
                    }
                }
            }
        }
    }

    private mutating func configure(for frame: borrowing Frame, size: Dimensions) throws(MediaError) {
        let fields = frame.pointer.pointee
        let wanted = Configuration(
            width: fields.width, height: fields.height, format: fields.format,
            matrix: Self.matrix(of: frame), isFullRange: Self.isFullRange(frame))
        guard wanted != configured else { return }
        sws_freeContext(context)
        context = nil
        configured = nil
        let flags = SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP
        guard
            let made = sws_getContext(
                fields.width, fields.height, AVPixelFormat(rawValue: fields.format), Int32(size.width),
                Int32(size.height), format, flags, nil, nil, nil)
        else {
            throw MediaError(
                .unsupported, "cannot convert pictures from \(frame.pixelFormat) to \(PixelFormat(format)) \(size)")
        }
        context = made
        configured = wanted
        let coefficients = sws_getCoefficients(wanted.matrix)
        let unit: Int32 = 1 << 16
        // Fails for formats that have no matrix, where there is nothing to set.
        _ = sws_setColorspaceDetails(
            made, coefficients, wanted.isFullRange ? 1 : 0, coefficients,
            becomesFullRange(from: frame) ? 1 : 0, 0, unit, unit)
    }

    /// Whether what comes out uses all numbers: RGB does, and so does what was so before.
    private func becomesFullRange(from frame: borrowing Frame) -> Bool {
        if isRGB(format) || isJPEG(format) { return true }
        return Self.isFullRange(frame) && !isRGB(AVPixelFormat(rawValue: frame.pointer.pointee.format))
    }

    private static func matrix(of frame: borrowing Frame) -> Int32 {
        switch frame.pointer.pointee.colorspace {
        case AVCOL_SPC_BT709: SWS_CS_ITU709
        case AVCOL_SPC_FCC: SWS_CS_FCC
        case AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M: SWS_CS_ITU601
        case AVCOL_SPC_SMPTE240M: SWS_CS_SMPTE240M
        case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL: SWS_CS_BT2020
        default: frame.dimensions.height > 576 || frame.dimensions.width > 1024 ? SWS_CS_ITU709 : SWS_CS_ITU601
        }
    }

    private static func isFullRange(_ frame: borrowing Frame) -> Bool {
        isJPEG(AVPixelFormat(rawValue: frame.pointer.pointee.format))
            || frame.pointer.pointee.color_range == AVCOL_RANGE_JPEG
    }
}

private func isRGB(_ format: AVPixelFormat) -> Bool {
    guard let descriptor = av_pix_fmt_desc_get(format) else { return false }
    return descriptor.pointee.flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0
}

/// Whether a format is one of those that imply full range.
private func isJPEG(_ format: AVPixelFormat) -> Bool {
    switch format {
    case AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_YUVJ440P, AV_PIX_FMT_YUVJ411P: true
    default: false
    }
}
