import CFFmpeg
import Glibc
package import MediaBase

/// Owner of one `AVFrame` with references to its planes: a decoded picture, or decoded sound.
///
/// Nothing changes a frame once it left the decoder or converter that made it, so it may be shared between threads.
package struct Frame: ~Copyable, @unchecked Sendable {
    let pointer: UnsafeMutablePointer<AVFrame>
    /// Where the empty frame goes in the end; `nil` for nowhere.
    private let shelf: Shelf<AVFrame>?

    /// An empty frame for a decoder to fill.
    init() throws(MediaError) {
        guard let pointer = av_frame_alloc() else { throw MediaError(.outOfResources, "out of memory") }
        self.pointer = pointer
        shelf = nil
    }

    /// An empty frame from a shelf, to which it returns.
    init(from shelf: Shelf<AVFrame>) throws(MediaError) {
        guard let pointer = shelf.take() else { throw MediaError(.outOfResources, "out of memory") }
        self.pointer = pointer
        self.shelf = shelf
    }

    deinit {
        if let shelf { return shelf.put(pointer) }
        var pointer: UnsafeMutablePointer<AVFrame>? = pointer
        av_frame_free(&pointer)
    }

    /// A second owner of the same planes (`av_frame_clone`); no pixels or samples are copied.
    package func shared() throws(MediaError) -> Frame {
        let copy = try Frame()
        try AVStatus.check(av_frame_ref(copy.pointer, pointer), "av_frame_ref", doing: "share a frame")
        return copy
    }

    /// When it is to be shown, in the packet's time base: libav's best estimate; `nil` where there is none.
    package var pts: Int64? {
        let best = pointer.pointee.best_effort_timestamp
        if best != shim_no_pts { return best }
        return pointer.pointee.pts == shim_no_pts ? nil : pointer.pointee.pts
    }

    /// How long it is shown by the packet's word, in the packet's time base; 0 where unknown.
    package var duration: Int64 { shim_frame_duration(pointer) }

    /// Whether it came from a sync sample.
    package var isKey: Bool { shim_frame_is_key(pointer) != 0 }

    /// Whether the decoder saw damage in it.
    package var isCorrupt: Bool { shim_frame_is_corrupt(pointer) != 0 }
}

// MARK: - Pictures

extension Frame {
    /// The picture's size in pixels, after the cropping that the codec asks for.
    package var dimensions: Dimensions {
        Dimensions(width: Int(pointer.pointee.width), height: Int(pointer.pointee.height))
    }

    /// How the pixels are stored.
    package var pixelFormat: PixelFormat { PixelFormat(AVPixelFormat(rawValue: pointer.pointee.format)) }

    /// Width of a pixel by its height; `nil` where the stream does not say.
    package var sampleAspectRatio: Rational? { Rational(pointer.pointee.sample_aspect_ratio) }

    /// The stream's word on colours for this frame.
    package var color: ColorInfo {
        ColorInfo(
            primaries: pointer.pointee.color_primaries, transfer: pointer.pointee.color_trc,
            matrix: pointer.pointee.colorspace, range: pointer.pointee.color_range,
            chromaLocation: pointer.pointee.chroma_location)
    }

    /// How many planes there are.
    package var planeCount: Int {
        max(0, Int(av_pix_fmt_count_planes(AVPixelFormat(rawValue: pointer.pointee.format))))
    }

    /// Rows of a plane, and bytes of a row that hold pixels (the stride may be larger); (0, 0) for one that does not exist.
    package func planeShape(_ plane: Int) -> (rows: Int, rowBytes: Int) {
        guard plane >= 0, plane < planeCount else { return (0, 0) }
        let format = AVPixelFormat(rawValue: pointer.pointee.format)
        let rowBytes = Int(av_image_get_linesize(format, pointer.pointee.width, Int32(plane)))
        guard let descriptor = av_pix_fmt_desc_get(format) else { return (0, 0) }
        let isChroma = (plane == 1 || plane == 2) && descriptor.pointee.nb_components > 2
        let shift = isChroma ? Int(descriptor.pointee.log2_chroma_h) : 0
        let height = Int(pointer.pointee.height)
        return (rows: (height + (1 << shift) - 1) >> shift, rowBytes: max(0, rowBytes))
    }

    /// Lends one plane: its bytes from the first row's first to the last row's last, and the stride between rows.
    ///
    /// An empty span for a plane that does not exist.
    package func withPlane<Result, Failure: Error>(
        _ plane: Int, _ body: (RawSpan, _ stride: Int) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard (0..<planeCount).contains(plane), let start = data(plane), linesize(plane) > 0 else {
            return try body(UnsafeRawBufferPointer(start: nil, count: 0).bytes, 0)
        }
        let shape = planeShape(plane)
        let stride = linesize(plane)
        let count = max(0, stride * (shape.rows - 1) + shape.rowBytes)
        return try body(UnsafeRawBufferPointer(start: start, count: count).bytes, stride)
    }

    func linesize(_ plane: Int) -> Int {
        withUnsafeBytes(of: &pointer.pointee.linesize) { Int($0.load(fromByteOffset: plane * 4, as: Int32.self)) }
    }

    func data(_ plane: Int) -> UnsafeMutablePointer<UInt8>? {
        guard let planes = pointer.pointee.extended_data else { return nil }
        return planes[plane]
    }
}

// MARK: - Sound

extension Frame {
    /// Samples in each channel.
    package var sampleCount: Int { max(0, Int(pointer.pointee.nb_samples)) }

    /// Samples a second.
    package var sampleRate: Int { Int(pointer.pointee.sample_rate) }

    /// Which channels there are.
    package var channelLayout: ChannelLayout { ChannelLayout(pointer.pointee.ch_layout) }

    /// How one sample is stored, and whether each channel has a plane of its own.
    package var sampleFormat: (format: SampleFormat, isPlanar: Bool)? {
        SampleFormat.make(AVSampleFormat(rawValue: pointer.pointee.format))
    }

    /// Lends samples `range` of one channel's plane, or of all channels interleaved where the format is not planar.
    ///
    /// The byte count is samples × bytes a sample (× channels), never the padded `linesize`.
    package func withSamples<Result, Failure: Error>(
        plane: Int, in range: Range<Int>, _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let channels = Int(pointer.pointee.ch_layout.nb_channels)
        guard let (format, isPlanar) = sampleFormat, range.lowerBound >= 0, range.upperBound <= sampleCount,
            plane >= 0, plane < (isPlanar ? channels : 1), let start = data(plane)
        else { return try body(UnsafeRawBufferPointer(start: nil, count: 0).bytes) }
        let sampleBytes = format.bytesPerSample * (isPlanar ? 1 : channels)
        let buffer = UnsafeRawBufferPointer(
            start: start + range.lowerBound * sampleBytes, count: range.count * sampleBytes)
        return try body(buffer.bytes)
    }
}

extension Frame {
    /// Whether another frame holds sound of the same form, length and time stamp.
    package func hasShape(of other: borrowing Frame) -> Bool {
        pointer.pointee.format == other.pointer.pointee.format
            && pointer.pointee.sample_rate == other.pointer.pointee.sample_rate
            && pointer.pointee.nb_samples == other.pointer.pointee.nb_samples
            && pts == other.pts && channelLayout == other.channelLayout
    }

    /// Whether another frame holds the very same sound, bit for bit.
    package func isIdentical(to other: borrowing Frame) -> Bool {
        guard hasShape(of: other), let (_, isPlanar) = sampleFormat else { return false }
        return (0..<(isPlanar ? channelLayout.channels : 1)).allSatisfy { plane in
            withSamples(plane: plane, in: 0..<sampleCount) { mine in
                other.withSamples(plane: plane, in: 0..<sampleCount) { others in
                    mine.byteCount == others.byteCount
                        && mine.withUnsafeBytes { mine in
                            others.withUnsafeBytes { others in
                                guard let left = mine.baseAddress, let right = others.baseAddress else { return true }
                                return memcmp(left, right, mine.count) == 0
                            }
                        }
                }
            }
        }
    }

    /// Lends samples `range` of one plane as numbers; an empty span where the format stores another type.
    package func withSamples<Sample: BitwiseCopyable, Result, Failure: Error>(
        of type: Sample.Type, plane: Int, in range: Range<Int>, _ body: (Span<Sample>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withSamples(plane: plane, in: range) { (bytes: RawSpan) throws(Failure) -> Result in
            guard sampleFormat?.format.isStored(as: Sample.self) == true else {
                return try body(UnsafeBufferPointer<Sample>(start: nil, count: 0).span)
            }
            // The bytes are whole samples, aligned by libavutil's allocator, of a type without invalid patterns.
            return try body(unsafe bytes._unsafeView(as: Sample.self))
        }
    }
}

extension SampleFormat {
    /// Whether this is how numbers of a type are stored.
    fileprivate func isStored<Sample>(as type: Sample.Type) -> Bool {
        switch self {
        case .uint8: type == UInt8.self
        case .int16: type == Int16.self
        case .int32: type == Int32.self
        case .int64: type == Int64.self
        case .float32: type == Float.self
        case .float64: type == Double.self
        }
    }
}

extension Frame {
    /// A copy of one plane without the padding between rows.
    package func packedPlane(_ plane: Int) -> [UInt8] {
        let (rows, rowBytes) = planeShape(plane)
        guard rows > 0, rowBytes > 0, case let stride = linesize(plane), stride >= rowBytes, let start = data(plane)
        else { return [] }
        return [UInt8](unsafeUninitializedCapacity: rows * rowBytes) { target, count in
            for row in 0..<rows {
                let source = UnsafeBufferPointer(start: start + row * stride, count: rowBytes)
                _ = target[(row * rowBytes)...].update(fromContentsOf: source)
            }
            count = rows * rowBytes
        }
    }
}
