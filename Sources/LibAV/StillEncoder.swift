import CFFmpeg
package import MediaBase

/// An encoder of single 8-bit RGBA pictures to files, through libavcodec's encoders `mjpeg` and `libwebp`.
///
/// Each picture is encoded by its own encoder with one thread, and no version is written to the file. Therefore, the
/// same picture produces the same bytes on every thread and in every run.
package enum StillEncoder {
    /// The format of an encoded file.
    package enum Format: Sendable {
        /// JPEG with a JFIF header, in full-range ITU-R BT.601 without alpha.
        ///
        /// Chroma is 4:4:4 from quality 90 on, otherwise 4:2:0.
        case jpeg
        /// Lossy WebP, with alpha if the picture has any; libwebp converts the colours itself.
        case webp

        /// The maximum number of pixels per side.
        package var largestSide: Int {
            switch self {
            case .jpeg: 65_500
            case .webp: 16_383
            }
        }
    }

    /// Encodes one picture.
    ///
    /// For JPEG, `quality` is that of libjpeg. It scales the example tables of ITU-T T.81 Annex K, except for the
    /// quantisation step of the mean, which libavcodec fixes at 8. For WebP, `quality` is libwebp's.
    ///
    /// - Parameters:
    ///   - pixels: The red, green, blue and alpha of each pixel in rows from the top; `width · height · 4` bytes.
    ///   - dimensions: The size of the picture.
    ///   - format: The format to write.
    ///   - quality: A value in 1…100; other values are clamped.
    /// - Throws: `limitExceeded` for a size that the format cannot hold, or libavcodec's error.
    package static func encode(
        _ pixels: Span<UInt8>, dimensions: Dimensions, as format: Format, quality: Int
    ) throws(MediaError) -> [UInt8] {
        LibraryLog.install()
        let quality = min(max(quality, 1), 100)
        guard max(dimensions.width, dimensions.height) <= format.largestSide else {
            throw MediaError(
                .limitExceeded, "\(dimensions) pixels are too many for this format; make the picture smaller")
        }
        switch format {
        case .jpeg:
            let picture = try jpegPicture(pixels, dimensions: dimensions, hasFullChroma: quality >= 90)
            return try encode(picture, with: "mjpeg") { context throws(MediaError) in
                try setJPEGTables(of: context, quality: quality)
            }
        case .webp:
            // libwebp takes packed pixels in the order blue, green, red, alpha.
            let picture = try Frame.bgra(pixels, dimensions: dimensions)
            return try encode(picture, with: "libwebp") { context throws(MediaError) in
                try AVStatus.check(
                    av_opt_set_double(context.pointee.priv_data, "quality", Double(quality), 0), "av_opt_set_double",
                    doing: "set the quality")
            }
        }
    }

    private static func encode(
        _ picture: borrowing Frame, with name: String,
        configure: (UnsafeMutablePointer<AVCodecContext>) throws(MediaError) -> Void
    ) throws(MediaError) -> [UInt8] {
        guard let codec = avcodec_find_encoder_by_name(name) else {
            throw MediaError(.unsupported, "this build of FFmpeg has no encoder \(name); choose another image format")
        }
        let context = try allocated(avcodec_alloc_context3(codec))
        defer {
            // FFmpeg 5.1 does not free this table; later versions find that it is gone.
            let table = context.pointee.chroma_intra_matrix
            context.pointee.chroma_intra_matrix = nil
            var context: UnsafeMutablePointer<AVCodecContext>? = context
            avcodec_free_context(&context)
            av_free(table)
        }
        let frame = picture.pointer
        context.pointee.width = frame.pointee.width
        context.pointee.height = frame.pointee.height
        context.pointee.pix_fmt = AVPixelFormat(rawValue: frame.pointee.format)
        context.pointee.color_range = frame.pointee.color_range
        context.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
        context.pointee.time_base = AVRational(num: 1, den: 1)
        context.pointee.thread_count = 1
        context.pointee.flags |= AV_CODEC_FLAG_BITEXACT
        try configure(context)
        frame.pointee.quality = context.pointee.global_quality
        frame.pointee.pts = 0
        let task = "encode the image"
        try AVStatus.check(avcodec_open2(context, codec, nil), "avcodec_open2", doing: task)
        try AVStatus.check(avcodec_send_frame(context, frame), "avcodec_send_frame", doing: task)
        try AVStatus.check(avcodec_send_frame(context, nil), "avcodec_send_frame", doing: task)
        let packet = try Packet()
        try AVStatus.check(avcodec_receive_packet(context, packet.pointer), "avcodec_receive_packet", doing: task)
        return packet.withBytes { bytes in bytes.withUnsafeBytes { Array($0) } }
    }
}

// MARK: - JPEG

extension StillEncoder {
    /// Converts a picture to JFIF's colours: full-range BT.601 with chroma in the middle of its pixels.
    private static func jpegPicture(
        _ pixels: Span<UInt8>, dimensions: Dimensions, hasFullChroma: Bool
    ) throws(MediaError) -> Frame {
        let format = hasFullChroma ? AV_PIX_FMT_YUVJ444P : AV_PIX_FMT_YUVJ420P
        let result = try Frame.picture(format: format, dimensions: dimensions)
        try dimensions.checkByteCount(pixels.count)
        let frame = result.pointer
        frame.pointee.color_range = AVCOL_RANGE_JPEG
        let (width, height) = (frame.pointee.width, frame.pointee.height)
        guard
            let context = shim_scaler_get(width, height, AV_PIX_FMT_RGBA, format)
        else { throw MediaError(.unsupported, "cannot convert a picture of \(dimensions) for JPEG") }
        defer { shim_scaler_free(context) }
        let (matrix, unit) = (sws_getCoefficients(SWS_CS_ITU601), Int32(1 << 16))
        _ = shim_scaler_colors(context, matrix, 1, matrix, 1, 0, unit, unit)
        // The pixels are not copied, because a sheet has many.
        let (data, strides) = (frame.pointee.data, frame.pointee.linesize)
        let rows = pixels.withUnsafeBufferPointer { source in
            shim_scaler_scale(
                context, [source.baseAddress, nil, nil, nil], [width * 4, 0, 0, 0], 0, height,
                [data.0, data.1, data.2, nil], [strides.0, strides.1, strides.2, 0])
        }
        try AVStatus.check(rows, "sws_scale", doing: "convert a picture")
        return result
    }

    private static func setJPEGTables(
        of context: UnsafeMutablePointer<AVCodecContext>, quality: Int
    ) throws(MediaError) {
        // The encoder multiplies by this step and divides by 8, so the tables are used unchanged.
        let step: Int32 = 8
        context.pointee.flags |= AV_CODEC_FLAG_QSCALE
        context.pointee.global_quality = step * FF_QP2LAMBDA
        context.pointee.intra_matrix = try table(luma, quality: quality)
        context.pointee.chroma_intra_matrix = try table(chroma, quality: quality)
    }

    /// Returns a table of T.81 Annex K scaled by libjpeg's rule (`jpeg_quality_scaling`), which libavcodec will own.
    private static func table(_ base: [UInt16], quality: Int) throws(MediaError) -> UnsafeMutablePointer<UInt16> {
        let scale = quality < 50 ? 5000 / quality : 200 - 2 * quality
        let memory = try allocated(av_malloc(base.count * MemoryLayout<UInt16>.stride))
        let table = memory.bindMemory(to: UInt16.self, capacity: base.count)
        for (index, value) in base.enumerated() {
            table[index] = UInt16(min(max((Int(value) * scale + 50) / 100, 1), 255))
        }
        return table
    }

    private static let luma: [UInt16] = [
        16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29,
        51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121,
        120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
    ]

    private static let chroma: [UInt16] = [
        17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99,
        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
        99, 99, 99, 99, 99, 99, 99, 99,
    ]
}

extension Frame {
    /// Creates a BGRA frame from RGBA pixels.
    fileprivate static func bgra(_ pixels: Span<UInt8>, dimensions: Dimensions) throws(MediaError) -> Frame {
        let frame = try picture(format: AV_PIX_FMT_BGRA, dimensions: dimensions)
        try dimensions.checkByteCount(pixels.count)
        let start = try allocated(frame.pointer.pointee.data.0)
        let (rowBytes, stride) = (dimensions.width * 4, Int(frame.pointer.pointee.linesize.0))
        pixels.withUnsafeBufferPointer { source in
            guard let source = source.baseAddress else { return }
            for row in 0..<dimensions.height {
                let (from, to) = (source + row * rowBytes, start + row * stride)
                to.update(from: from, count: rowBytes)
                for x in Swift.stride(from: 0, to: rowBytes, by: 4) {
                    (to[x], to[x + 2]) = (from[x + 2], from[x])
                }
            }
        }
        return frame
    }
}

extension Dimensions {
    /// Throws unless the number of bytes is that of an RGBA picture of this size, whose sides were checked before.
    fileprivate func checkByteCount(_ count: Int) throws(MediaError) {
        guard count == width * height * 4 else {
            throw MediaError(.invalidArgument, "a picture of \(self) does not have \(count) bytes")
        }
    }
}
