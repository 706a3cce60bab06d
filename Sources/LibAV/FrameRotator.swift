import CFFmpeg
package import MediaBase

/// A converter of frames to one format and size that also applies their display rotation in quarter turns.
///
/// The converted frames need no rotation for display. Only one thread may use a rotator at a time.
package struct FrameRotator: ~Copyable, @unchecked Sendable {
    private let transform: PictureTransform
    /// The converter to planes of equal size, which can be rotated.
    private var complete: PixelConverter
    /// The converter from rotated planes to the target format.
    private var target: PixelConverter

    /// Creates a rotator to a format and size.
    ///
    /// - Parameters:
    ///   - transform: The flip and rotation to apply; rotations other than quarter turns are ignored.
    ///   - format: The target pixel format.
    ///   - dimensions: The size after rotation.
    ///   - coding: The coding of luma and chroma, as for ``PixelConverter``.
    package static func open(
        _ transform: PictureTransform, to format: PixelFormat, dimensions: Dimensions,
        coding: LumaCoding = LumaCoding()
    ) throws(MediaError) -> FrameRotator {
        let planes = PixelFormat(rawValue: format.bitDepth > 8 ? "yuv444p10le" : "yuv444p")
        let complete = try PixelConverter(
            to: planes, dimensions: transform.apply(to: dimensions), coding: coding)
        let target = try PixelConverter(to: format, coding: coding)
        return FrameRotator(transform, complete, target)
    }

    private init(
        _ transform: PictureTransform, _ complete: consuming PixelConverter, _ target: consuming PixelConverter
    ) {
        self.transform = transform
        self.complete = complete
        self.target = target
    }

    /// Returns the rotated frame with the times and tags of the original.
    package mutating func convert(_ frame: borrowing Frame) throws(MediaError) -> Frame {
        let turned = try complete.convert(frame).turned(transform)
        turned.keepMatrix(of: frame.assumedColor)
        return try target.convert(turned)
    }
}

extension Frame {
    /// Returns a flipped and rotated copy of a frame whose planes have equal size and 8 or 16 bits per sample.
    fileprivate func turned(_ transform: PictureTransform) throws(MediaError) -> Frame {
        let result = try Frame.picture(
            format: native, dimensions: transform.apply(to: dimensions))
        try AVStatus.check(av_frame_copy_props(result.pointer, pointer), "av_frame_copy_props", doing: "turn a picture")
        if transform.apply(to: Dimensions(width: 1, height: 2)).width == 2 {
            let ratio = pointer.pointee.sample_aspect_ratio
            if ratio.num > 0 { result.pointer.pointee.sample_aspect_ratio = AVRational(num: ratio.den, den: ratio.num) }
        }
        // Chroma is not subsampled, so its former location no longer matters.
        result.pointer.pointee.chroma_location = AVCHROMA_LOC_UNSPECIFIED
        for plane in 0..<result.planeCount {
            if sampleLayout(plane)?.bytesPerSample == 2 {
                turn(plane, transform, into: result, as: UInt16.self)
            } else {
                turn(plane, transform, into: result, as: UInt8.self)
            }
        }
        return result
    }

    private func turn<Sample: FixedWidthInteger>(
        _ plane: Int, _ transform: PictureTransform, into result: borrowing Frame, as _: Sample.Type
    ) {
        let size = MemoryLayout<Sample>.size
        let (width, height) = (dimensions.width, dimensions.height)
        let (stride, targetStride) = (linesize(plane) / size, result.linesize(plane) / size)
        guard stride >= width, targetStride >= result.dimensions.width, let source = data(plane),
            let target = result.data(plane)
        else { return }
        let (lastRow, lastColumn) = ((height - 1) * stride, width - 1)
        // The source offset of the result's first sample, and the source steps to the result's next column and row.
        let (base, across, down) =
            switch (transform.rotation, transform.isMirrored) {
            case (90, false): (lastRow, -stride, 1)
            case (180, false): (lastRow + lastColumn, -1, -stride)
            case (270, false): (lastColumn, stride, -1)
            case (0, true): (lastColumn, -1, stride)
            case (90, true): (lastRow + lastColumn, -stride, -1)
            case (180, true): (lastRow, 1, -stride)
            case (270, true): (0, stride, 1)
            default: (0, 1, stride)
            }
        let shape = result.dimensions
        source.withMemoryRebound(to: Sample.self, capacity: height * stride) { source in
            target.withMemoryRebound(to: Sample.self, capacity: shape.height * targetStride) { target in
                for row in 0..<shape.height {
                    for column in 0..<shape.width {
                        target[row * targetStride + column] = source[base + row * down + column * across]
                    }
                }
            }
        }
    }
}
