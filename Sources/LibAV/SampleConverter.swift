import CFFmpeg
package import MediaBase

/// Owner of an `SwrContext` that converts audio of any format, rate and layout to one format, rate and layout.
///
/// If the rate does not change, the converter neither delays samples nor changes their number. It converts between
/// formats as libswresample does without dither. Only one thread may use it at a time.
package struct SampleConverter: ~Copyable, @unchecked Sendable {
    private var context: OpaquePointer?
    private var configured: Configuration?

    /// The sample format of the output.
    package let format: SampleFormat
    /// True if each channel of the output has its own plane.
    package let isPlanar: Bool
    /// The sample rate of the output in Hz.
    package let sampleRate: Int
    /// The channels of the output.
    package let channelLayout: ChannelLayout
    private let resamplesFinely: Bool

    private struct Configuration: Equatable {
        var format: Int32
        var rate: Int32
        var layout: ChannelLayout
    }

    /// Creates a converter to a format, rate and layout.
    ///
    /// - Parameter resamplesFinely: Whether to resample with an error of about 10⁻⁷ of full scale, at twice the cost.
    ///   Otherwise libswresample's own filter is used, whose error is about 10⁻⁵.
    package init(
        to format: SampleFormat, isPlanar: Bool, sampleRate: Int, channelLayout: ChannelLayout,
        resamplesFinely: Bool = false
    ) throws(MediaError) {
        guard (1...Limits.sampleRate).contains(sampleRate) else {
            throw MediaError(.invalidArgument, "a sample rate of \(sampleRate) is outside 1 to \(Limits.sampleRate)")
        }
        guard (1...Limits.channels).contains(channelLayout.channels) else {
            throw MediaError(
                .limitExceeded, "\(channelLayout.channels) channels are outside the limit of \(Limits.channels)")
        }
        self.format = format
        self.isPlanar = isPlanar
        self.sampleRate = sampleRate
        self.channelLayout = channelLayout
        self.resamplesFinely = resamplesFinely
    }

    deinit {
        var context = context
        swr_free(&context)
    }

    /// True if the input so far had another rate, so that samples are still inside the converter.
    package var resamples: Bool { configured.map { Int($0.rate) != sampleRate } ?? false }

    /// Returns the audio in the target form; shares its planes if it already has that form.
    package mutating func convert(_ frame: borrowing Frame) throws(MediaError) -> Frame {
        let fields = frame.pointer.pointee
        let wanted = Configuration(
            format: fields.format, rate: fields.sample_rate, layout: ChannelLayout(fields.ch_layout))
        if wanted.format == format.native(isPlanar: isPlanar).rawValue, Int(wanted.rate) == sampleRate,
            wanted.layout == channelLayout
        {
            return try frame.shared()
        }
        if wanted != configured { try configure(for: frame, wanted) }
        return try produce(frame.pointer.pointee.extended_data, count: fields.nb_samples)
    }

    /// Returns the samples that are still inside a converter that changes the rate, and resets the converter.
    package mutating func drain() throws(MediaError) -> Frame? {
        guard resamples else { return nil }
        let rest = try produce(nil, count: 0)
        swr_free(&context)
        configured = nil
        if rest.sampleCount == 0 { return nil }
        return rest
    }

    private mutating func produce(
        _ input: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, count: Int32
    ) throws(MediaError) -> Frame {
        let room = try AVStatus.check(
            swr_get_out_samples(context, count), "swr_get_out_samples", doing: "convert sound")
        let result = try Frame()
        result.pointer.pointee.format = format.native(isPlanar: isPlanar).rawValue
        result.pointer.pointee.sample_rate = Int32(sampleRate)
        result.pointer.pointee.nb_samples = max(1, room)
        try channelLayout.copy(into: &result.pointer.pointee.ch_layout)
        try AVStatus.check(av_frame_get_buffer(result.pointer, 0), "av_frame_get_buffer", doing: "hold sound")
        let channels = input.map { planes in
            UnsafeMutableRawPointer(planes).assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
        }
        let written = try AVStatus.check(
            swr_convert(context, result.pointer.pointee.extended_data, room, channels, count), "swr_convert",
            doing: "convert sound")
        result.pointer.pointee.nb_samples = written
        return result
    }

    private mutating func configure(for frame: borrowing Frame, _ wanted: Configuration) throws(MediaError) {
        swr_free(&context)
        configured = nil
        guard (1...Limits.channels).contains(wanted.layout.channels), wanted.rate > 0 else {
            throw MediaError(
                .damaged, "sound of \(wanted.layout.channels) channels at \(wanted.rate) Hz makes no sense")
        }
        var source = AVChannelLayout()
        var target = AVChannelLayout()
        defer {
            av_channel_layout_uninit(&source)
            av_channel_layout_uninit(&target)
        }
        try AVStatus.check(
            av_channel_layout_copy(&source, &frame.pointer.pointee.ch_layout), "av_channel_layout_copy",
            doing: "convert sound")
        try channelLayout.copy(into: &target)
        // Channels without known positions cannot be mixed: if their number does not change, they are passed through as
        // they are.
        if source.order == AV_CHANNEL_ORDER_UNSPEC, target.nb_channels != source.nb_channels {
            av_channel_layout_default(&source, source.nb_channels)
        }
        if target.nb_channels == source.nb_channels, wanted.layout == channelLayout || source.order != target.order {
            av_channel_layout_uninit(&target)
            av_channel_layout_copy(&target, &source)
        }
        try AVStatus.check(
            swr_alloc_set_opts2(
                &context, &target, format.native(isPlanar: isPlanar), Int32(sampleRate), &source,
                AVSampleFormat(rawValue: wanted.format), wanted.rate, 0, nil), "swr_alloc_set_opts2",
            doing: "convert sound from \(wanted.layout) to \(channelLayout)")
        if resamplesFinely, let context {
            let options = UnsafeMutableRawPointer(context)
            av_opt_set_int(options, "filter_size", 64, 0)
            av_opt_set_double(options, "kaiser_beta", 12, 0)
            av_opt_set_int(options, "internal_sample_fmt", Int64(AV_SAMPLE_FMT_FLTP.rawValue), 0)
        }
        try AVStatus.check(
            swr_init(context), "swr_init", doing: "convert sound from \(wanted.layout) to \(channelLayout)")
        configured = wanted
    }
}

extension Frame {
    /// Returns samples `range` as a frame with its own copy, or shares the planes if the range is the whole frame.
    package func cropped(to range: Range<Int>) throws(MediaError) -> Frame {
        if range == 0..<sampleCount { return try shared() }
        guard range.lowerBound >= 0, range.upperBound <= sampleCount, !range.isEmpty else {
            throw MediaError(.invalidArgument, "cannot cut sound of \(sampleCount) samples to \(range)")
        }
        let result = try Frame()
        result.pointer.pointee.format = pointer.pointee.format
        result.pointer.pointee.sample_rate = pointer.pointee.sample_rate
        result.pointer.pointee.nb_samples = Int32(range.count)
        try AVStatus.check(
            av_channel_layout_copy(&result.pointer.pointee.ch_layout, &pointer.pointee.ch_layout),
            "av_channel_layout_copy", doing: "cut sound")
        try AVStatus.check(av_frame_get_buffer(result.pointer, 0), "av_frame_get_buffer", doing: "hold sound")
        try AVStatus.check(
            av_samples_copy(
                result.pointer.pointee.extended_data, pointer.pointee.extended_data, 0, Int32(range.lowerBound),
                Int32(range.count), pointer.pointee.ch_layout.nb_channels,
                AVSampleFormat(rawValue: pointer.pointee.format)), "av_samples_copy", doing: "cut sound")
        return result
    }
}

/// Owner of an `AVAudioFifo`: a queue that receives audio of any length and returns frames of a requested length.
///
/// Only one thread may use a queue at a time.
package struct SampleQueue: ~Copyable, @unchecked Sendable {
    private let fifo: OpaquePointer
    private let format: SampleFormat
    private let isPlanar: Bool
    private let sampleRate: Int
    private let channelLayout: ChannelLayout

    /// Creates an empty queue for audio of one form.
    package init(
        format: SampleFormat, isPlanar: Bool, sampleRate: Int, channelLayout: ChannelLayout
    ) throws(MediaError) {
        guard (1...Limits.channels).contains(channelLayout.channels),
            let fifo = av_audio_fifo_alloc(
                format.native(isPlanar: isPlanar), Int32(channelLayout.channels), 4096)
        else { throw MediaError(.outOfResources, "out of memory") }
        self.fifo = fifo
        self.format = format
        self.isPlanar = isPlanar
        self.sampleRate = sampleRate
        self.channelLayout = channelLayout
    }

    deinit { av_audio_fifo_free(fifo) }

    /// The number of waiting samples in each channel.
    package var count: Int { Int(av_audio_fifo_size(fifo)) }

    /// Adds samples `range` of a frame, which must have the queue's form.
    package mutating func append(_ frame: borrowing Frame, _ range: Range<Int>) throws(MediaError) {
        guard let form = frame.sampleFormat, form.format == format, form.isPlanar == isPlanar,
            frame.channelLayout.channels == channelLayout.channels, range.lowerBound >= 0,
            range.upperBound <= frame.sampleCount
        else { throw MediaError(.invalidArgument, "the sound changes its form") }
        guard !range.isEmpty else { return }
        let step = range.lowerBound * format.bytesPerSample * (isPlanar ? 1 : channelLayout.channels)
        var planes: [UnsafeMutableRawPointer?] = (0..<(isPlanar ? channelLayout.channels : 1)).map { plane in
            frame.data(plane).map { UnsafeMutableRawPointer($0 + step) }
        }
        let written = planes.withUnsafeMutableBufferPointer { buffer in
            av_audio_fifo_write(fifo, buffer.baseAddress, Int32(range.count))
        }
        guard written == range.count else { throw MediaError(.outOfResources, "out of memory") }
    }

    /// Adds silent samples.
    package mutating func appendSilence(_ count: Int) throws(MediaError) {
        var left = count
        while left > 0 {
            let some = min(left, 8192)
            let frame = try Frame.silence(
                some, format: format, isPlanar: isPlanar, sampleRate: sampleRate, channelLayout: channelLayout)
            try append(frame, 0..<some)
            left -= some
        }
    }

    /// Removes and returns the next samples, at most `count`; `nil` if there are none.
    package mutating func take(_ count: Int) throws(MediaError) -> Frame? {
        let taken = min(count, self.count)
        guard taken > 0 else { return nil }
        let frame = try Frame.sound(
            taken, format: format, isPlanar: isPlanar, sampleRate: sampleRate, channelLayout: channelLayout)
        var planes: [UnsafeMutableRawPointer?] = (0..<(isPlanar ? channelLayout.channels : 1)).map { plane in
            frame.data(plane).map { UnsafeMutableRawPointer($0) }
        }
        let read = planes.withUnsafeMutableBufferPointer { buffer in
            av_audio_fifo_read(fifo, buffer.baseAddress, Int32(taken))
        }
        guard read == taken else { throw MediaError(.outOfResources, "out of memory") }
        return frame
    }
}
