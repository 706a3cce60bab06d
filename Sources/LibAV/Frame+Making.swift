import CFFmpeg
package import MediaBase

// Frames whose content comes from Swift.

extension Frame {
    /// Sound with memory of its own, its samples not yet written.
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

    /// Sound of nothing but silence.
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

    /// Sound whose samples `fill` writes, plane by plane.
    ///
    /// - Parameter fill: Called once for each plane with its memory, which is zero: one plane a channel where planar,
    ///   else one with all channels sample by sample.
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

    /// Marks a picture that is not shared yet with its pixel aspect and its colours.
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

    /// Has `fill` write each plane: all of its memory from the first row on, and the stride between rows.
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
