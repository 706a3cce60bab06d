import LibAV
public import MediaBase

// Samples that do not come from a file.

extension AudioBuffer {
    /// Makes a run of sound whose samples `fill` writes.
    ///
    /// - Parameters:
    ///   - sampleCount: Samples in each channel; at least one.
    ///   - sampleFormat: How a sample is stored.
    ///   - isPlanar: Whether each channel lies by itself.
    ///   - sampleRate: Samples of a channel a second.
    ///   - channelLayout: Which channels.
    ///   - fill: Called once for each plane with its bytes, which are zero at first: one plane a channel where
    ///     `isPlanar`, else one with all channels sample by sample, in the machine's byte order.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for a form that makes no sense.
    public convenience init(
        sampleCount: Int, sampleFormat: SampleFormat, isPlanar: Bool = false, sampleRate: Int,
        channelLayout: ChannelLayout, fill: (_ plane: Int, inout MutableRawSpan) -> Void
    ) throws(MediaError) {
        let frame = try Frame.sound(
            sampleCount, format: sampleFormat, isPlanar: isPlanar, sampleRate: sampleRate,
            channelLayout: channelLayout, fill: fill)
        self.init(whole: frame, sampleFormat: sampleFormat, isPlanar: isPlanar)
    }

    /// Makes a run of interleaved 16-bit sound.
    ///
    /// - Parameters:
    ///   - samples: All channels of the first moment, then of the next; what is over at the end is left out.
    ///   - sampleRate: Samples of a channel a second.
    ///   - channelLayout: Which channels.
    public convenience init(
        interleaved samples: [Int16], sampleRate: Int, channelLayout: ChannelLayout
    ) throws(MediaError) {
        let count = samples.count / max(1, channelLayout.channels)
        try self.init(
            sampleCount: count, sampleFormat: .int16, sampleRate: sampleRate, channelLayout: channelLayout
        ) { _, span in
            for place in 0..<min(samples.count, span.byteCount / 2) {
                span.storeBytes(of: samples[place], toByteOffset: place * 2, as: Int16.self)
            }
        }
    }
}

extension SampleBuffer {
    /// Makes a buffer of sound that is heard from a time on.
    public convenience init(sound: AudioBuffer, presentationTime: MediaTime) {
        let format = AudioFormat(
            sampleRate: sound.sampleRate, channelLayout: sound.channelLayout, sampleFormat: sound.sampleFormat,
            isPlanar: sound.isPlanar)
        self.init(
            presentationTime: presentationTime,
            duration: MediaTime(value: Int64(sound.sampleCount), timescale: Int32(clamping: sound.sampleRate)),
            formatDescription: FormatDescription(mediaType: .audio, codec: "pcm", audio: format),
            content: .sound(sound))
    }

    /// Makes a buffer of one picture that is on screen from a time on.
    ///
    /// - Parameters:
    ///   - picture: The picture; not copied.
    ///   - presentationTime: From when on.
    ///   - duration: How long; indefinite for as long as until the next picture.
    public convenience init(
        picture: PixelBuffer, presentationTime: MediaTime, duration: MediaTime = .indefinite
    ) {
        let format = VideoFormat(
            encodedSize: picture.dimensions, sampleAspectRatio: picture.sampleAspectRatio,
            pixelFormat: picture.pixelFormat, color: picture.color)
        self.init(
            presentationTime: presentationTime, duration: duration,
            formatDescription: FormatDescription(mediaType: .video, codec: "rawvideo", video: format),
            content: .picture(picture))
    }

    /// Makes a buffer of one stored (compressed) sample.
    ///
    /// - Parameters:
    ///   - bytes: The sample as the container is to hold it; copied.
    ///   - formatDescription: How it is coded, with the codec's own header.
    ///   - presentationTime: When it is shown or heard.
    ///   - decodeTime: When it has to be decoded; `nil` where that is the order of presentation.
    ///   - duration: How long.
    ///   - isSync: Whether it can be decoded without those before it.
    public convenience init(
        stored bytes: [UInt8], formatDescription: FormatDescription, presentationTime: MediaTime,
        decodeTime: MediaTime? = nil, duration: MediaTime, isSync: Bool
    ) throws(MediaError) {
        let packet = try Packet.copying(bytes)
        self.init(
            presentationTime: presentationTime, decodeTime: decodeTime ?? presentationTime, duration: duration,
            isSync: isSync, formatDescription: formatDescription, content: .stored(StoredSample(packet)))
    }
}
