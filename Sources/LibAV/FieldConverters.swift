import CFFmpeg
import MediaBase

/// Converts the two fields of interlaced pictures each by itself and weaves what comes of them.
final class FieldConverters {
    private var top: PixelConverter
    private var bottom: PixelConverter

    init(to format: PixelFormat, dimensions: Dimensions?, coding: LumaCoding) throws(MediaError) {
        let half = dimensions.map { Dimensions(width: $0.width, height: $0.height / 2) }
        top = try PixelConverter(to: format, dimensions: half, coding: coding, field: .top, fields: nil)
        bottom = try PixelConverter(to: format, dimensions: half, coding: coding, field: .bottom, fields: nil)
    }

    /// The picture, woven of its converted fields; `nil` where both may be converted as one.
    func convert(
        _ frame: borrowing Frame, to format: AVPixelFormat, _ wanted: Dimensions?
    ) throws(MediaError) -> Frame? {
        let size = Dimensions(width: wanted?.width ?? frame.dimensions.width, height: frame.dimensions.height)
        guard frame.fieldOrder != nil, wanted.map({ $0 == size }) ?? true, size.height % 4 == 0,
            let source = av_pix_fmt_desc_get(AVPixelFormat(rawValue: frame.pointer.pointee.format)),
            let target = av_pix_fmt_desc_get(format),
            source.pointee.log2_chroma_h != target.pointee.log2_chroma_h,
            // A field of pictures whose chroma has a quarter of the rows may end between two of them.
            max(source.pointee.log2_chroma_h, target.pointee.log2_chroma_h) == 1
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
    /// Every second row, as a picture that shares the planes.
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

    /// Writes every second row.
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
