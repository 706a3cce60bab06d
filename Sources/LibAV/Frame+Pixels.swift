import CFFmpeg
package import MediaBase

// A frame's samples as numbers, and frames derived from other frames.

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
