import CFFmpeg
import Glibc
package import MediaBase
import SystemCalls

/// Owner of an `AVCodecContext` that encodes one audio or video track.
///
/// Frames go in and packets come out, with times in the encoder's own time base. Only one thread may use an encoder at
/// a time.
package struct Encoder: ~Copyable, @unchecked Sendable {
    private let context: UnsafeMutablePointer<AVCodecContext>

    /// The settings of an encoder.
    package struct Configuration: Sendable {
        /// libavcodec's name of the encoder, such as `libx264`.
        package var name: String
        /// The time base of frames and packets.
        package var timeBase: Rational
        /// The bit rate in bits per second; `nil` leaves it to the encoder or to ``options``.
        package var bitRate: Int64?
        /// The number of codec threads, which is fixed because the output of some encoders depends on it.
        package var threads = 1
        /// The options of the encoder and of `AVCodecContext`; an unknown option is an error.
        package var options: [(key: String, value: String)] = []
        /// Indicates whether the codec's header goes into the container's header, as most containers require.
        package var usesGlobalHeader = true
        /// The format of the audio to encode; `nil` for video.
        package var audio: AudioFormat?
        /// The format of the video to encode; `nil` for audio.
        package var video: VideoFormat?
        /// The frame rate in frames per second, for rate control; `nil` if unknown.
        package var frameRate: Rational?
        /// The codec's four-character tag in the container, if there is a choice.
        package var codecTag: String?

        /// Creates a configuration without options.
        package init(name: String, timeBase: Rational) {
            self.name = name
            self.timeBase = timeBase
        }
    }

    /// True if the processor has AVX-512, as x264 uses it: av_get_cpu_flags(3).
    package static var processorHasAVX512: Bool { av_get_cpu_flags() & AV_CPU_FLAG_AVX512 != 0 }

    /// The result of ``receive()``.
    package enum Output: ~Copyable {
        /// A packet, in decode order.
        case packet(Packet)
        /// Another frame must be sent first.
        case needsInput
        /// All packets have been returned.
        case ended
    }

    /// The parameters of the encoder's output, for a muxer.
    package let parameters: CodecParameters
    /// The number of samples required in each audio frame except the last; 0 for any number.
    package let frameSize: Int

    private init(
        adopting context: UnsafeMutablePointer<AVCodecContext>, parameters: CodecParameters
    ) {
        self.context = context
        self.parameters = parameters
        let takesAnySize = context.pointee.codec.pointee.capabilities & AV_CODEC_CAP_VARIABLE_FRAME_SIZE != 0
        frameSize = takesAnySize ? 0 : max(0, Int(context.pointee.frame_size))
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = context
        avcodec_free_context(&context)
    }

    /// Stops SVT-AV1 from printing to standard error, where it bypasses libav's log.
    ///
    /// This environment variable is the only way to do so. An existing value is kept. Errors are still reported by
    /// status.
    private static func silenceSVT() { setenv("SVT_LOG", "-1", 0) }

    /// Opens an encoder.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` if this build of FFmpeg has no such encoder,
    ///   ``MediaError/Code-swift.struct/invalidArgument`` for an unknown option, or libavcodec's error.
    package static func open(_ configuration: Configuration) throws(MediaError) -> Encoder {
        LibraryLog.install()
        let name = configuration.name
        if name == "libsvtav1" { silenceSVT() }
        guard let codec = avcodec_find_encoder_by_name(name) else {
            throw MediaError(.unsupported, "this build of FFmpeg has no encoder \(name)")
        }
        let context = try allocated(avcodec_alloc_context3(codec))
        do throws(MediaError) {
            try configure(context, configuration)
            var options = try OptionDictionary(configuration.options)
            let status = options.withPointer { avcodec_open2(context, codec, $0) }
            guard status >= 0 else {
                let failure = AVStatus(rawValue: status)
                let error = MediaError(failure, call: "avcodec_open2", doing: "open the encoder \(name)")
                // The cause of "Invalid argument" is always the caller's settings.
                throw failure == .invalidArgument
                    ? MediaError(
                        .invalidArgument, "the encoder \(name) does not take these settings", cause: error.cause)
                    : error
            }
            try options.refuseUnused(by: "the encoder \(name)")
            return Encoder(adopting: context, parameters: try CodecParameters(context))
        } catch {
            var context: UnsafeMutablePointer<AVCodecContext>? = context
            avcodec_free_context(&context)
            throw error
        }
    }

    private static func configure(
        _ context: UnsafeMutablePointer<AVCodecContext>, _ configuration: Configuration
    ) throws(MediaError) {
        guard let timeBase = configuration.timeBase.native, timeBase.num > 0 else {
            throw MediaError(.invalidArgument, "the time base \(configuration.timeBase) makes no sense")
        }
        context.pointee.time_base = timeBase
        context.pointee.thread_count = Int32(clamping: configuration.threads)
        // Without dates and library versions, the same input produces the same file.
        context.pointee.flags |= AV_CODEC_FLAG_BITEXACT
        if configuration.usesGlobalHeader { context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER }
        if let bitRate = configuration.bitRate { context.pointee.bit_rate = bitRate }
        if let tag = configuration.codecTag { context.pointee.codec_tag = CodecParameters.tag(tag) }
        if let audio = configuration.audio {
            context.pointee.sample_rate = Int32(clamping: audio.sampleRate)
            context.pointee.sample_fmt = (audio.sampleFormat ?? .int16).native(isPlanar: audio.isPlanar)
            context.pointee.bits_per_raw_sample = Int32(clamping: audio.bitsPerSample ?? 0)
            try audio.channelLayout.copy(into: &context.pointee.ch_layout)
        }
        if let video = configuration.video { try configure(context, video, rate: configuration.frameRate) }
    }

    private static func configure(
        _ context: UnsafeMutablePointer<AVCodecContext>, _ video: VideoFormat, rate: Rational?
    ) throws(MediaError) {
        try video.encodedSize.checkLimit()
        guard let format = video.pixelFormat?.native else {
            throw MediaError(
                .invalidArgument, "cannot encode the pixel format \(video.pixelFormat?.rawValue ?? "none")")
        }
        context.pointee.width = Int32(video.encodedSize.width)
        context.pointee.height = Int32(video.encodedSize.height)
        context.pointee.pix_fmt = format
        // Codecs store the ratio in 16 bits; an approximation would contradict the container's exact value.
        let ratio = video.sampleAspectRatio?.native ?? AVRational(num: 1, den: 1)
        let isExact = ratio.num <= UInt16.max && ratio.den <= UInt16.max
        context.pointee.sample_aspect_ratio = isExact ? ratio : AVRational(num: 0, den: 1)
        if let rate = rate?.native, rate.num > 0 { context.pointee.framerate = rate }
        let color = video.color.native
        context.pointee.color_primaries = color.primaries
        context.pointee.color_trc = color.transfer
        context.pointee.colorspace = color.matrix
        context.pointee.color_range = color.range
        context.pointee.chroma_sample_location = color.chromaLocation
        context.pointee.field_order = AVFieldOrder(video.fieldOrder)
        switch context.pointee.field_order {
        case AV_FIELD_UNKNOWN, AV_FIELD_PROGRESSIVE: break
        default: context.pointee.flags |= AV_CODEC_FLAG_INTERLACED_DCT
        }
    }

    /// Sends a frame to the encoder, which keeps its own reference.
    ///
    /// Drain ``receive()`` after each frame.
    ///
    /// - Parameters:
    ///   - frame: The frame to encode.
    ///   - ticks: The frame's presentation time in the encoder's time base.
    ///   - isKeyframe: True if decoding must be able to start with this frame; otherwise the encoder decides.
    package mutating func send(
        _ frame: borrowing Frame, at ticks: Int64, isKeyframe: Bool = false
    ) throws(MediaError) {
        let stamped = try frame.shared()
        stamped.pointer.pointee.pts = ticks
        // The picture type that the decoder reported must not bind the encoder.
        stamped.pointer.pointee.pict_type = isKeyframe ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
        Activity.note(.encoding, time: ticks, unit: av_q2d(context.pointee.time_base))
        try AVStatus.check(
            avcodec_send_frame(context, stamped.pointer), "avcodec_send_frame", doing: "encode a frame")
    }

    /// Signals that no frame follows, so that ``receive()`` returns the remaining packets.
    package mutating func finish() throws(MediaError) {
        let status = AVStatus(rawValue: avcodec_send_frame(context, nil))
        guard status.isFailure, status != .endOfFile else { return }
        throw MediaError(status, call: "avcodec_send_frame", doing: "finish encoding")
    }

    /// Returns the next packet, if one is available.
    package mutating func receive() throws(MediaError) -> Output {
        let packet = try Packet()
        let status = AVStatus(rawValue: avcodec_receive_packet(context, packet.pointer))
        if status == .again { return .needsInput }
        if status == .endOfFile { return .ended }
        guard !status.isFailure else {
            throw MediaError(status, call: "avcodec_receive_packet", doing: "encode a frame")
        }
        return .packet(packet)
    }
}

// MARK: - Supported formats

extension Encoder {
    /// Returns the sample formats that an encoder accepts, the preferred one first; empty if it accepts any.
    package static func sampleFormats(of name: String) -> [(format: SampleFormat, isPlanar: Bool)] {
        list(of: name, shim_codec_sample_formats, until: AV_SAMPLE_FMT_NONE).compactMap { SampleFormat.make($0) }
    }

    /// Returns the sample rates that an encoder accepts; empty if it accepts any.
    package static func sampleRates(of name: String) -> [Int] {
        list(of: name, shim_codec_sample_rates, until: 0).map { Int($0) }
    }

    /// Returns the pixel formats that an encoder accepts; empty if it accepts any.
    package static func pixelFormats(of name: String) -> [PixelFormat] {
        list(of: name, shim_codec_pixel_formats, until: AV_PIX_FMT_NONE).map { PixelFormat($0) }
    }

    private static func list<Element: Equatable>(
        of name: String, _ read: (UnsafePointer<AVCodec>) -> UnsafePointer<Element>?, until end: Element
    ) -> [Element] {
        guard let start = avcodec_find_encoder_by_name(name).flatMap(read) else { return [] }
        return Array((0...).lazy.map { start[$0] }.prefix { $0 != end })
    }

    /// Returns the bit depth and chroma subsampling (`400`, `420`, `422`, `444`, otherwise empty) of a pixel format.
    package static func form(of format: PixelFormat) -> (depth: Int, chroma: String) {
        guard let description = format.native?.descriptor else { return (0, "") }
        let depth = Int(description.comp.0.depth)
        if description.nb_components < 3 { return (depth, "400") }
        let shifts = (description.log2_chroma_w, description.log2_chroma_h)
        return (depth, shifts == (1, 1) ? "420" : shifts == (1, 0) ? "422" : shifts == (0, 0) ? "444" : "")
    }

    /// Returns true if this build of FFmpeg has an encoder of this name.
    package static func exists(_ name: String) -> Bool { avcodec_find_encoder_by_name(name) != nil }
}

/// Owner of an `AVDictionary` of options for a libav call, which removes the options that it uses.
struct OptionDictionary: ~Copyable {
    private var dictionary: OpaquePointer?

    /// Creates a dictionary of names and values; the last of several values with the same name counts.
    init(_ options: [(key: String, value: String)]) throws(MediaError) {
        for option in options { try set(option.key, option.value) }
    }

    deinit {
        var dictionary = dictionary
        av_dict_free(&dictionary)
    }

    /// Adds an option, or replaces the one with the same name.
    mutating func set(_ key: String, _ value: String) throws(MediaError) {
        try AVStatus.check(av_dict_set(&dictionary, key, value, 0), "av_dict_set", doing: "set the option \(key)")
    }

    /// Passes the dictionary to a call that removes the options it has used.
    mutating func withPointer<Result>(_ body: (UnsafeMutablePointer<OpaquePointer?>) -> Result) -> Result {
        body(&dictionary)
    }

    /// Transfers ownership of the dictionary to a libav structure, which frees it.
    consuming func release() -> OpaquePointer? {
        let released = dictionary
        dictionary = nil
        return released
    }

    /// Throws if an option was not used, so that a misspelt option does not go unnoticed.
    borrowing func refuseUnused(by user: String) throws(MediaError) {
        guard let name = entries(of: dictionary).first?.key else { return }
        throw MediaError(.invalidArgument, "\(user) has no option \(name)")
    }
}
