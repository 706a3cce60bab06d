import CFFmpeg
package import MediaBase

/// Owner of an `AVAudioFifo`: sound that comes in runs of any length and goes out in frames of one.
///
/// One thread uses it at a time.
package struct SampleQueue: ~Copyable, @unchecked Sendable {
    private let fifo: OpaquePointer
    private let format: SampleFormat
    private let isPlanar: Bool
    private let sampleRate: Int
    private let channelLayout: ChannelLayout

    /// An empty queue for sound of one form.
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

    /// Samples in each channel that wait.
    package var count: Int { Int(av_audio_fifo_size(fifo)) }

    /// Adds samples `range` of a frame, which has to be of the queue's form.
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

    /// Adds samples without sound.
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

    /// Takes the next samples out, at most `count`; `nil` where there are none.
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
