import CFFmpeg
package import MediaBase

/// Converts frames of any format and size to one format and size, in one step, with libswscale or zimg.
///
/// zimg scales pictures whose luma and chroma stay in three planes with the same range (``PlaneScaler``). libswscale
/// does the rest: a converter owns an `SwsContext`.
///
/// The matrix, the range and the location of chroma samples are taken from each frame's own tags, completed as in
/// ``Frame/assumedColor``. Scaling is bicubic (a = −0.6) over all contributing pixels, without aliasing when the size
/// is reduced. Only one thread may use a converter at a time.
package struct PixelConverter: ~Copyable, @unchecked Sendable {
    private var context: OpaquePointer?
    private var configured: Configuration?
    private var planeScaler: PlaneScaler?
    private let format: AVPixelFormat
    private let dimensions: Dimensions?
    /// The coding of luma and chroma in the result.
    private let coding: LumaCoding
    /// The converter for frames with another matrix; `nil` if any matrix may be kept.
    private let matrixConverter: MatrixConverter?
    /// True if samples keep their coded meaning, so that their tags apply to the result too.
    private let keepsCoding: Bool
    /// The converters for the fields of interlaced frames; `nil` if both fields are converted together.
    private let fields: FieldConverters?
    /// The field that all frames contain; `nil` for whole frames.
    private let field: Field?
    /// Indicates whether a pixel becomes the mean of the area under it, which takes less time than bicubic scaling if the
    /// size is reduced a lot; set it before the first conversion.
    package var scalesByArea = false

    /// One field of an interlaced frame.
    enum Field: Int {
        case top
        case bottom
    }

    private struct Configuration: Equatable {
        var width: Int32
        var height: Int32
        var format: Int32
        var matrix: Int32
        var isFullRange: Bool
        var chroma: ChromaPlace
        var targetChroma: ChromaPlace
        var becomesFullRange: Bool
    }

    /// The position of the first chroma sample relative to the first luma sample, in 1/256 of a luma sample.
    ///
    /// The coordinates are −513 if chroma is not subsampled.
    private struct ChromaPlace: Equatable {
        var x: Int64
        var y: Int64
    }

    /// Creates a converter to a format and size.
    ///
    /// - Parameters:
    ///   - format: The target pixel format.
    ///   - dimensions: The target size; `nil` keeps each frame's own size.
    ///   - coding: The coding of luma and chroma in the result. RGB formats always have full range.
    ///   - convertsFieldsApart: Whether to resample the chroma rows of interlaced frames separately within each field,
    ///     because the rows of the two fields are from different times. This applies only to frames whose height is a
    ///     multiple of four and does not change.
    package init(
        to format: PixelFormat, dimensions: Dimensions? = nil, coding: LumaCoding = LumaCoding(),
        convertsFieldsApart: Bool = false
    ) throws(MediaError) {
        let fields =
            convertsFieldsApart ? try FieldConverters(to: format, dimensions: dimensions, coding: coding) : nil
        try self.init(to: format, dimensions: dimensions, coding: coding, field: nil, fields: fields)
    }

    /// Creates a converter of whole frames or of single fields.
    init(
        to format: PixelFormat, dimensions: Dimensions?, coding: LumaCoding, field: Field?, fields: FieldConverters?
    ) throws(MediaError) {
        guard let native = format.native, sws_isSupportedOutput(native) != 0 else {
            throw MediaError(.invalidArgument, "cannot convert pictures to the pixel format \(format)")
        }
        let other = try coding.matrix.map { matrix throws(MediaError) in
            try MatrixConverter(
                to: format, dimensions: dimensions, matrix: matrix, range: coding.range, field: field)
        }
        self.format = native
        self.dimensions = dimensions
        self.coding = coding
        matrixConverter = other
        self.field = field
        self.fields = fields
        keepsCoding = false
    }

    /// Creates a converter that only scales: the result is 4:4:4 and keeps matrix and range, regardless of tags.
    ///
    /// Samples of other depths are shifted: 255 in 8 bits becomes 1020 in 10 bits. RGB frames are not supported.
    ///
    /// - Parameters:
    ///   - coded: The target format, `yuv444p10le` or a related one.
    ///   - dimensions: The target size.
    package init(scalingTo coded: PixelFormat, dimensions: Dimensions) throws(MediaError) {
        guard let native = coded.native, !native.isRGB, sws_isSupportedOutput(native) != 0 else {
            throw MediaError(.invalidArgument, "cannot convert pictures to the pixel format \(coded)")
        }
        format = native
        self.dimensions = dimensions
        coding = LumaCoding()
        matrixConverter = nil
        field = nil
        fields = nil
        keepsCoding = true
    }

    deinit { shim_scaler_free(context) }

    /// Returns the frame in the target format and size, with the times of the original.
    ///
    /// The result shares the frame's planes if no conversion is needed.
    ///
    /// - Parameter rectangle: The part of the frame to convert; `nil` for the whole frame.
    package mutating func convert(
        _ frame: borrowing Frame, part rectangle: PixelRectangle? = nil
    ) throws(MediaError) -> Frame {
        guard let rectangle else {
            if let fields, let woven = try fields.convert(frame, to: format, dimensions) { return woven }
            return try convert(frame, color: frame.assumedColor, chromaShift: (0, 0))
        }
        return try convert(
            frame.part(rectangle), color: frame.assumedColor, chromaShift: frame.chromaShift(ofPart: rectangle))
    }

    private mutating func convert(
        _ frame: borrowing Frame, color: ColorInfo, chromaShift: (x: Int, y: Int)
    ) throws(MediaError) -> Frame {
        let size = dimensions ?? frame.dimensions
        let source = frame.native
        let isFullRange = color.range == "pc"
        let coded = source.isRGB && !format.isRGB ? coding.codedAsLuma(frame.color) : nil
        let matrix = try Self.matrix(of: color, coded: coded?.matrix)
        if let matrixConverter, !source.isRGB, !format.isRGB, matrix != Self.matrix(coding.matrix) {
            return try matrixConverter.convert(frame)
        }
        let range = coding.range ?? coded?.range
        let wantsFullRange = range.map { $0 == "pc" } ?? isFullRange
        let becomesFullRange = format.isRGB || format.impliesFullRange || wantsFullRange
        if source == format, frame.dimensions == size, range == nil || isFullRange == becomesFullRange {
            return try frame.shared()
        }
        try size.checkLimit()
        if scalesByArea, format == AV_PIX_FMT_GRAY8, isFullRange == becomesFullRange,
            let reduced = try frame.reducedLuma(to: size)
        {
            return reduced
        }
        // Without a tag, the result's location is the one that its format implies.
        let isSaid = frame.pointer.pointee.chroma_location != AVCHROMA_LOC_UNSPECIFIED
        let target = isSaid ? color.chromaLocation : format.impliesFullRange ? "center" : "left"
        let result: Frame
        if frame.dimensions != size, isFullRange == becomesFullRange, chromaShift == (0, 0),
            let planes = try planesScaled(frame, to: size, isFullRange, color.chromaLocation, target)
        {
            result = planes
        } else {
            try configure(
                Configuration(
                    width: frame.pointer.pointee.width, height: frame.pointer.pointee.height,
                    format: frame.pointer.pointee.format, matrix: matrix, isFullRange: isFullRange,
                    chroma: Self.chromaPlace(color.chromaLocation, in: source, shift: chromaShift, field),
                    targetChroma: Self.chromaPlace(target, in: format, field), becomesFullRange: becomesFullRange),
                size: size)
            result = try scaled(frame, to: size)
        }
        guard !keepsCoding else { return result }
        // The tags must describe the converted pixels.
        if format.isRGB {
            result.pointer.pointee.colorspace = AVCOL_SPC_RGB
        } else if let coded {
            result.pointer.pointee.colorspace = ColorInfo(matrix: coded.matrix).native.matrix
        } else {
            result.keepMatrix(of: color)
        }
        if format.isRGB || coded != nil || frame.pointer.pointee.color_range != AVCOL_RANGE_UNSPECIFIED
            || format.impliesFullRange || isFullRange != becomesFullRange
        {
            result.pointer.pointee.color_range = becomesFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        }
        return result
    }

    /// Returns a frame as zimg scales it; `nil` if it cannot.
    private mutating func planesScaled(
        _ frame: borrowing Frame, to size: Dimensions, _ isFullRange: Bool, _ location: String?,
        _ targetLocation: String?
    ) throws(MediaError) -> Frame? {
        // zimg places the chroma rows of fields differently, and stretches full range to other depths.
        guard !keepsCoding, field == nil,
            let source = PlanarPicture(
                frame.native, frame.dimensions, isFullRange: isFullRange, chromaLocation: location),
            let target = PlanarPicture(format, size, isFullRange: isFullRange, chromaLocation: targetLocation)
        else { return nil }
        if planeScaler?.scales(source, to: target) != true { planeScaler = try PlaneScaler(from: source, to: target) }
        return try planeScaler?.scale(frame)
    }

    /// Returns a frame as the configured context converts it.
    private func scaled(_ frame: borrowing Frame, to size: Dimensions) throws(MediaError) -> Frame {
        let result = try Frame.picture(format: format, dimensions: size)
        try AVStatus.check(
            av_frame_copy_props(result.pointer, frame.pointer), "av_frame_copy_props", doing: "convert a picture")
        let sources = UnsafeMutableRawPointer(frame.pointer.pointee.extended_data)
            .assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
        let targets = result.pointer.pointee.extended_data
        let rows = frame.withLinesizes { strides in
            result.withLinesizes { targetStrides in
                shim_scaler_scale(
                    context, sources, strides, 0, frame.pointer.pointee.height, targets, targetStrides)
            }
        }
        try AVStatus.check(rows, "sws_scale", doing: "convert a picture")
        return result
    }

    private mutating func configure(_ wanted: Configuration, size: Dimensions) throws(MediaError) {
        guard wanted != configured else { return }
        shim_scaler_free(context)
        context = nil
        configured = nil
        let flags = scalesByArea ? shim_area_scaler_flags : shim_scaler_flags
        var options: [(String, Int64)] = [
            ("srcw", Int64(wanted.width)), ("srch", Int64(wanted.height)), ("src_format", Int64(wanted.format)),
            ("dstw", Int64(size.width)), ("dsth", Int64(size.height)), ("dst_format", Int64(format.rawValue)),
            ("sws_flags", Int64(flags)), ("src_h_chr_pos", wanted.chroma.x),
            ("src_v_chr_pos", wanted.chroma.y),
            ("dst_h_chr_pos", wanted.targetChroma.x), ("dst_v_chr_pos", wanted.targetChroma.y),
        ]
        // A range that is set later has no effect for more than 8 bits, or if only the range differs.
        if coding.range ?? coding.fromRGB?.range != nil, wanted.isFullRange != wanted.becomesFullRange {
            options += [
                ("src_range", wanted.isFullRange ? 1 : 0), ("dst_range", wanted.becomesFullRange ? 1 : 0),
            ]
        }
        // The context is owned from here on, so that it is always freed.
        context = shim_scaler_alloc()
        guard let made = context,
            options.allSatisfy({ av_opt_set_int(UnsafeMutableRawPointer(made), $0.0, $0.1, 0) >= 0 }),
            shim_scaler_init(made) >= 0
        else {
            let source = PixelFormat(AVPixelFormat(rawValue: wanted.format))
            throw MediaError(
                .unsupported,
                "cannot convert pictures from \(source) \(wanted.width)x\(wanted.height) to \(PixelFormat(format)) \(size)"
            )
        }
        configured = wanted
        let coefficients = sws_getCoefficients(wanted.matrix)
        let unit: Int32 = 1 << 16
        // If the coding is kept, both sides count as limited: some of libswscale's code paths stretch full range to
        // other depths, and others shift it. The call fails for formats without a matrix, for which there is nothing to
        // set.
        _ = shim_scaler_colors(
            made, coefficients, wanted.isFullRange && !keepsCoding ? 1 : 0, coefficients,
            wanted.becomesFullRange && !keepsCoding ? 1 : 0, 0, unit, unit)
    }

    /// Returns libswscale's number for libavutil's name of a matrix; `nil` if libswscale does not have the matrix.
    private static func matrix(_ name: String?) -> Int32? {
        switch name {
        case "bt709": SWS_CS_ITU709
        case "fcc": SWS_CS_FCC
        case "bt470bg", "smpte170m": SWS_CS_ITU601
        case "smpte240m": SWS_CS_SMPTE240M
        case "bt2020nc", "bt2020c": SWS_CS_BT2020
        default: nil
        }
    }

    /// Returns the matrix number of a conversion: that of the source's luma, or of the luma to produce.
    private static func matrix(of color: ColorInfo, coded: String?) throws(MediaError) -> Int32 {
        guard let coded else { return matrix(color.matrix) ?? SWS_CS_ITU709 }
        guard let number = matrix(coded) else {
            throw MediaError(.unsupported, "cannot convert red, green and blue by the matrix \(coded)")
        }
        return number
    }

    private static func chromaPlace(
        _ location: String?, in format: AVPixelFormat, shift: (x: Int, y: Int) = (0, 0), _ field: Field?
    ) -> ChromaPlace {
        guard let descriptor = format.descriptor, !format.isRGB else {
            return ChromaPlace(x: -513, y: -513)
        }
        let (shiftX, shiftY) = (descriptor.log2_chroma_w, descriptor.log2_chroma_h)
        func place(_ subsampling: UInt8, _ part: Int64, _ shift: Int) -> Int64 {
            guard subsampling > 0 else { return -513 }
            // The distance from the first luma sample to the centre of those that share the chroma sample.
            let distance: Int64 = (128 << Int64(subsampling)) - 128
            let place = part * distance / 128 - 256 * Int64(shift)
            // −1 would mean "unknown".
            return min(max(place, -512), 512)
        }
        // 0 is the first luma sample, 128 the middle and 256 the last.
        let (x, y): (Int64, Int64) =
            switch location {
            case "center": (128, 128)
            case "topleft": (0, 0)
            case "top": (128, 0)
            case "bottomleft": (0, 256)
            case "bottom": (128, 256)
            default: (0, 128)
            }
        // Relative to two rows of a field, chroma lies at one quarter in the top field and at three quarters in the
        // bottom field.
        let row = field.map { y == 128 ? ($0 == .top ? 64 : 192) : y } ?? y
        return ChromaPlace(x: place(shiftX, x, shift.x), y: place(shiftY, row, shift.y))
    }
}

/// A pair of converters for the two fields of interlaced frames, whose results are woven together.
final class FieldConverters {
    private var top: PixelConverter
    private var bottom: PixelConverter

    init(to format: PixelFormat, dimensions: Dimensions?, coding: LumaCoding) throws(MediaError) {
        let half = dimensions.map { Dimensions(width: $0.width, height: $0.height / 2) }
        top = try PixelConverter(to: format, dimensions: half, coding: coding, field: .top, fields: nil)
        bottom = try PixelConverter(to: format, dimensions: half, coding: coding, field: .bottom, fields: nil)
    }

    /// Returns the frame woven from its converted fields; `nil` if both fields may be converted together.
    func convert(
        _ frame: borrowing Frame, to format: AVPixelFormat, _ wanted: Dimensions?
    ) throws(MediaError) -> Frame? {
        let size = Dimensions(width: wanted?.width ?? frame.dimensions.width, height: frame.dimensions.height)
        guard frame.fieldOrder != nil, wanted.map({ $0 == size }) ?? true, size.height % 4 == 0,
            let source = frame.native.descriptor, let target = format.descriptor,
            source.log2_chroma_h != target.log2_chroma_h,
            // If chroma has a quarter of the rows, a field may end between two chroma rows.
            max(source.log2_chroma_h, target.log2_chroma_h) == 1
        else { return nil }
        let upper = try top.convert(frame.field(.top))
        let result = try Frame.picture(format: format, dimensions: size)
        try AVStatus.check(
            av_frame_copy_props(result.pointer, upper.pointer), "av_frame_copy_props", doing: "convert a picture")
        result.weave(upper, as: .top)
        result.weave(try bottom.convert(frame.field(.bottom)), as: .bottom)
        return result
    }
}

extension Frame {
    /// Returns every second row as a frame that shares the planes.
    fileprivate func field(_ field: PixelConverter.Field) throws(MediaError) -> Frame {
        let half = try shared()
        for plane in 0..<half.planeCount {
            let stride = Int32(clamping: linesize(plane))
            half.pointer.pointee.extended_data?[plane]? += field.rawValue * Int(stride)
            withUnsafeMutableBytes(of: &half.pointer.pointee.linesize) {
                $0.storeBytes(of: stride &* 2, toByteOffset: plane * 4, as: Int32.self)
            }
        }
        half.pointer.pointee.height /= 2
        return half
    }

    /// Writes a field to every second row.
    fileprivate func weave(_ half: borrowing Frame, as field: PixelConverter.Field) {
        for plane in 0..<planeCount {
            let (rows, rowBytes) = half.planeShape(plane)
            guard let target = data(plane), let source = half.data(plane), planeShape(plane).rows >= rows * 2 else {
                continue
            }
            av_image_copy_plane(
                target + field.rawValue * linesize(plane), Int32(clamping: linesize(plane) * 2), source,
                Int32(clamping: half.linesize(plane)), Int32(clamping: rowBytes), Int32(clamping: rows))
        }
    }
}
