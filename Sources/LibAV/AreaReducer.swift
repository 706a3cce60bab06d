import CFFmpeg
import MediaBase

extension Frame {
    /// Returns a gray frame in which a pixel is the mean of the luma of an equal rectangle of this frame.
    ///
    /// This is libswscale's scaling by area (`SWS_AREA`) for whole factors, in half the time. Half a code is rounded up.
    /// The result has the frame's times and tags.
    ///
    /// - Parameter size: The size of the result.
    /// - Returns: `nil` unless width and height are 2 to 256 times those of `size` and luma is stored as one byte per
    ///   pixel in a plane of its own.
    func reducedLuma(to size: Dimensions) throws(MediaError) -> Frame? {
        guard !isRGB, sampleLayout(0) == SampleLayout(bytesPerSample: 1, step: 1), native.bitDepth == 8,
            dimensions.width.isMultiple(of: size.width), dimensions.height.isMultiple(of: size.height),
            case let (columns, rows) = (dimensions.width / size.width, dimensions.height / size.height),
            (2...256).contains(columns), (2...256).contains(rows), let source = data(0)
        else { return nil }
        let result = try Frame.picture(format: AV_PIX_FMT_GRAY8, dimensions: size)
        try AVStatus.check(
            av_frame_copy_props(result.pointer, pointer), "av_frame_copy_props", doing: "reduce a picture")
        guard let target = result.data(0) else { return nil }
        let (width, area) = (dimensions.width, UInt64(columns * rows))
        // A sum is below 2²⁴ and an area at most 2¹⁶, so that the quotient is exact.
        let reciprocal = ((1 << 40) + area - 1) / area
        // 256 rows of 255 fit in 16 bits.
        withUnsafeTemporaryAllocation(of: UInt16.self, capacity: width) { sums in
            guard let sums = sums.baseAddress else { return }
            for y in 0..<size.height {
                sums.initialize(repeating: 0, count: width)
                for row in y * rows..<(y + 1) * rows {
                    let row = source + row * linesize(0)
                    for x in 0..<width { sums[x] &+= UInt16(row[x]) }
                }
                let row = target + y * result.linesize(0)
                for x in 0..<size.width {
                    var sum = UInt32(area / 2)
                    for column in x * columns..<(x + 1) * columns { sum &+= UInt32(sums[column]) }
                    row[x] = UInt8(truncatingIfNeeded: (UInt64(sum) &* reciprocal) >> 40)
                }
            }
        }
        return result
    }
}
