import CFFmpeg
import Glibc
package import MediaBase

/// Owner of one `AVFrame` with references to its planes: decoded video or audio.
///
/// A frame is immutable once the decoder or converter that made it returns it, so it may be shared between threads.
package struct Frame: ~Copyable, @unchecked Sendable {
    let pointer: UnsafeMutablePointer<AVFrame>

    /// Creates an empty frame for a decoder to fill.
    init() throws(MediaError) {
        pointer = try allocated(av_frame_alloc())
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVFrame>? = pointer
        av_frame_free(&pointer)
    }

    /// Returns a second owner of the same planes (`av_frame_ref`); no pixels or samples are copied.
    package func shared() throws(MediaError) -> Frame {
        let copy = try Frame()
        try AVStatus.check(av_frame_ref(copy.pointer, pointer), "av_frame_ref", doing: "share a frame")
        return copy
    }

    /// The presentation time in the packet's time base, as libav's best estimate; `nil` if unknown.
    package var pts: Int64? {
        let best = pointer.pointee.best_effort_timestamp
        if best != shim_no_pts { return best }
        return pointer.pointee.pts == shim_no_pts ? nil : pointer.pointee.pts
    }

    /// The duration stated by the packet, in the packet's time base; 0 if unknown.
    package var duration: Int64 { shim_frame_duration(pointer) }

    /// True if the frame comes from a sync sample.
    package var isKey: Bool { shim_frame_is_key(pointer) != 0 }

    /// True if the decoder detected damage in the frame.
    package var isCorrupt: Bool { shim_frame_is_corrupt(pointer) != 0 }
}

// MARK: - Video

extension Frame {
    /// The frame size in pixels, after the cropping that the codec requests.
    package var dimensions: Dimensions {
        Dimensions(width: Int(pointer.pointee.width), height: Int(pointer.pointee.height))
    }

    /// The storage format of the pixels.
    package var pixelFormat: PixelFormat { PixelFormat(native) }

    /// The width of a pixel divided by its height; `nil` if the stream does not state it.
    package var sampleAspectRatio: Rational? { Rational(pointer.pointee.sample_aspect_ratio) }

    /// The colours that the stream states for this frame.
    package var color: ColorInfo {
        ColorInfo(
            primaries: pointer.pointee.color_primaries, transfer: pointer.pointee.color_trc,
            matrix: pointer.pointee.colorspace, range: pointer.pointee.color_range,
            chromaLocation: pointer.pointee.chroma_location)
    }

    /// The number of planes.
    package var planeCount: Int {
        max(0, Int(av_pix_fmt_count_planes(native)))
    }

    /// Returns a plane's rows and the bytes of a row that hold pixels; (0, 0) if the plane does not exist.
    ///
    /// The stride may be larger than the number of bytes.
    package func planeShape(_ plane: Int) -> (rows: Int, rowBytes: Int) {
        guard plane >= 0, plane < planeCount else { return (0, 0) }
        let rowBytes = Int(av_image_get_linesize(native, pointer.pointee.width, Int32(plane)))
        guard let descriptor = native.descriptor else { return (0, 0) }
        let isChroma = (plane == 1 || plane == 2) && descriptor.nb_components > 2
        let shift = isChroma ? Int(descriptor.log2_chroma_h) : 0
        let height = Int(pointer.pointee.height)
        return (rows: (height + (1 << shift) - 1) >> shift, rowBytes: max(0, rowBytes))
    }

    /// Calls a closure with one plane, from the start of its first row to the end of its last, and with the stride.
    ///
    /// The span is empty if the plane does not exist.
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

    /// The pixel format as libav's value.
    var native: AVPixelFormat { AVPixelFormat(rawValue: pointer.pointee.format) }

    /// Calls `body` with the address of the planes' strides.
    func withLinesizes<Result>(_ body: (UnsafeMutablePointer<Int32>) -> Result) -> Result {
        withUnsafeMutablePointer(to: &pointer.pointee.linesize) {
            $0.withMemoryRebound(to: Int32.self, capacity: 8, body)
        }
    }

    func linesize(_ plane: Int) -> Int {
        withUnsafeBytes(of: &pointer.pointee.linesize) { Int($0.load(fromByteOffset: plane * 4, as: Int32.self)) }
    }

    func data(_ plane: Int) -> UnsafeMutablePointer<UInt8>? {
        guard let planes = pointer.pointee.extended_data else { return nil }
        return planes[plane]
    }
}

// MARK: - Audio

extension Frame {
    /// The number of samples in each channel.
    package var sampleCount: Int { max(0, Int(pointer.pointee.nb_samples)) }

    /// The sample rate in Hz.
    package var sampleRate: Int { Int(pointer.pointee.sample_rate) }

    /// The channels and their order.
    package var channelLayout: ChannelLayout { ChannelLayout(pointer.pointee.ch_layout) }

    /// The storage format of a sample; `isPlanar` is true if each channel has its own plane.
    package var sampleFormat: (format: SampleFormat, isPlanar: Bool)? {
        SampleFormat.make(AVSampleFormat(rawValue: pointer.pointee.format))
    }

    /// Calls a closure with samples `range` of one channel's plane, or of all channels interleaved if not planar.
    ///
    /// The byte count is samples × bytes per sample (× channels), never the padded `linesize`.
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
    /// Returns true if another frame holds audio of the same format, rate, layout, length and time stamp.
    package func hasShape(of other: borrowing Frame) -> Bool {
        pointer.pointee.format == other.pointer.pointee.format
            && pointer.pointee.sample_rate == other.pointer.pointee.sample_rate
            && pointer.pointee.nb_samples == other.pointer.pointee.nb_samples
            && pts == other.pts && channelLayout == other.channelLayout
    }

    /// Returns true if another frame holds bit-identical audio.
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

    /// Calls a closure with samples `range` of one plane as numbers; the span is empty if the format stores another
    /// type.
    package func withSamples<Sample: BitwiseCopyable, Result, Failure: Error>(
        of type: Sample.Type, plane: Int, in range: Range<Int>, _ body: (Span<Sample>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withSamples(plane: plane, in: range) { (bytes: RawSpan) throws(Failure) -> Result in
            guard sampleFormat?.format.isStored(as: Sample.self) == true else {
                return try body(UnsafeBufferPointer<Sample>(start: nil, count: 0).span)
            }
            // The bytes are whole samples, aligned by libavutil's allocator, of a type without invalid bit patterns.
            return try body(unsafe bytes._unsafeView(as: Sample.self))
        }
    }
}

extension SampleFormat {
    /// Returns true if the format stores samples as numbers of this type.
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
    /// Returns a copy of one plane without the padding between rows.
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

extension Frame {
    /// Adds the pixels to a digest as raw video holds them, and returns the number of their bytes.
    ///
    /// These are the planes one after the other without padding, then the palette if there is one:
    /// `av_image_copy_to_buffer` with an alignment of 1.
    package func addPixels(to digest: inout MessageDigest) -> Int {
        var total = 0
        for plane in 0..<planeCount {
            let (rows, rowBytes) = planeShape(plane)
            // The stride of pictures that are stored from the bottom up is negative.
            guard let start = data(plane), rowBytes > 0, case let stride = linesize(plane), abs(stride) >= rowBytes
            else { continue }
            for row in 0..<rows {
                digest.update(UnsafeRawBufferPointer(start: start + row * stride, count: rowBytes).bytes)
            }
            total += rows * rowBytes
        }
        if native.has(AV_PIX_FMT_FLAG_PAL), let palette = data(1) {
            digest.update(UnsafeRawBufferPointer(start: palette, count: Int(AVPALETTE_SIZE)).bytes)
            total += Int(AVPALETTE_SIZE)
        }
        return total
    }
}

// Frames with content created in Swift.

extension Frame {
    /// Creates an audio frame with its own memory and uninitialised samples.
    static func sound(
        _ count: Int, format: SampleFormat, isPlanar: Bool, sampleRate: Int, channelLayout: ChannelLayout
    ) throws(MediaError) -> Frame {
        guard count > 0, count <= Limits.samplesInFrame, (1...Limits.sampleRate).contains(sampleRate) else {
            throw MediaError(.invalidArgument, "\(count) samples at \(sampleRate) Hz cannot be held")
        }
        let frame = try Frame()
        frame.pointer.pointee.format = format.native(isPlanar: isPlanar).rawValue
        frame.pointer.pointee.sample_rate = Int32(sampleRate)
        frame.pointer.pointee.nb_samples = Int32(count)
        try channelLayout.copy(into: &frame.pointer.pointee.ch_layout)
        try AVStatus.check(av_frame_get_buffer(frame.pointer, 0), "av_frame_get_buffer", doing: "hold sound")
        return frame
    }

    /// Creates an audio frame of silence.
    static func silence(
        _ count: Int, format: SampleFormat, isPlanar: Bool, sampleRate: Int, channelLayout: ChannelLayout
    ) throws(MediaError) -> Frame {
        let frame = try sound(
            count, format: format, isPlanar: isPlanar, sampleRate: sampleRate, channelLayout: channelLayout)
        av_samples_set_silence(
            frame.pointer.pointee.extended_data, 0, Int32(count), Int32(channelLayout.channels),
            format.native(isPlanar: isPlanar))
        return frame
    }

    /// Creates an audio frame whose samples `fill` writes plane by plane.
    ///
    /// - Parameter fill: Called once for each plane with its zeroed memory: one plane per channel if planar, otherwise
    ///   one plane with interleaved channels.
    package static func sound(
        _ count: Int, format: SampleFormat, isPlanar: Bool, sampleRate: Int, channelLayout: ChannelLayout,
        fill: (_ plane: Int, inout MutableRawSpan) -> Void
    ) throws(MediaError) -> Frame {
        let frame = try sound(
            count, format: format, isPlanar: isPlanar, sampleRate: sampleRate, channelLayout: channelLayout)
        let planeBytes = count * format.bytesPerSample * (isPlanar ? 1 : channelLayout.channels)
        for plane in 0..<(isPlanar ? channelLayout.channels : 1) {
            guard let start = frame.data(plane) else { continue }
            let buffer = UnsafeMutableRawBufferPointer(start: start, count: planeBytes)
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            var span = buffer.mutableBytes
            fill(plane, &span)
        }
        return frame
    }

    /// Tags a video frame that is not shared yet with its pixel aspect ratio and colours.
    package consuming func tagged(sampleAspectRatio: Rational?, color: ColorInfo) -> Frame {
        if let ratio = sampleAspectRatio?.native { pointer.pointee.sample_aspect_ratio = ratio }
        let native = color.native
        pointer.pointee.color_primaries = native.primaries
        pointer.pointee.color_trc = native.transfer
        pointer.pointee.colorspace = native.matrix
        pointer.pointee.color_range = native.range
        pointer.pointee.chroma_location = native.chromaLocation
        return self
    }

    /// Calls `fill` for each plane with all of its memory from the first row on, and with the stride between rows.
    func fillPlanes(_ fill: (_ plane: Int, inout MutableRawSpan, _ stride: Int) -> Void) {
        for plane in 0..<planeCount {
            guard let start = data(plane), case let stride = linesize(plane), stride > 0 else { continue }
            let (rows, rowBytes) = planeShape(plane)
            let count = max(0, stride * (rows - 1) + rowBytes)
            var span = UnsafeMutableRawBufferPointer(start: start, count: count).mutableBytes
            fill(plane, &span, stride)
        }
    }
}
