import CFFmpeg
package import MediaBase

/// Owner of an `AVCodecContext` that decodes one stream of sound or pictures.
///
/// Packets in, frames out; one thread uses it at a time.
///
/// ```swift
/// try decoder.send(packet)
/// while case .frame(let frame) = try decoder.receive() { … }
/// ```
package struct Decoder: ~Copyable, @unchecked Sendable {
    private let context: UnsafeMutablePointer<AVCodecContext>
    /// How often libavcodec has logged an error; the context's `opaque` points here.
    private let complaints: UnsafeMutablePointer<Int32>
    /// An empty frame that the last call found no use for.
    private var spare: Frame?
    /// Whether the packet that was sent last is a sync sample, where that must be said of its frame: libvpx does not.
    private var sentKey: Bool?

    /// What ``receive()`` answers.
    package enum Output: ~Copyable {
        /// A frame, in presentation order.
        case frame(Frame)
        /// Another packet is wanted first.
        case needsInput
        /// All that was sent has come out; ``flush()`` before sending again.
        case ended
    }

    private init(adopting context: UnsafeMutablePointer<AVCodecContext>) {
        self.context = context
        complaints = .allocate(capacity: 1)
        complaints.initialize(to: 0)
        context.pointee.opaque = UnsafeMutableRawPointer(complaints)
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = context
        avcodec_free_context(&context)
        complaints.deallocate()
    }

    /// How many errors libavcodec has logged while it decoded, on any of its threads: not every damaged picture is
    /// marked, and not every error spoils a picture.
    package var complaintCount: Int { Int(shim_complaints(complaints)) }

    /// Opens the decoder for a stream.
    ///
    /// - Parameters:
    ///   - file: The file that the stream is in; it need not outlive the decoder.
    ///   - index: The stream.
    ///   - threads: Codec threads; 0 for as many as there are cores. What comes out of an intact stream does not depend on it.
    ///   - bySlices: Whether the threads work on parts of one picture, where each stands by itself and has many (ProRes, DNxHD),
    ///     rather than on several pictures, all of which are held (`FF_THREAD_SLICE`).
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` where no decoder exists, and what libavcodec says.
    package static func open(
        _ file: InputFile, stream index: Int, threads: Int, bySlices: Bool = false
    ) throws(MediaError) -> Decoder {
        try open(DecoderSetup(file, stream: index), threads: threads, bySlices: bySlices)
    }

    /// Opens a decoder as it would be opened for the stream that a setup was taken of; throws as for a stream.
    package static func open(
        _ setup: DecoderSetup, threads: Int, bySlices: Bool = false
    ) throws(MediaError) -> Decoder {
        let parameters = setup.parameters
        try setup.checkLimits()
        let name = String(cString: avcodec_get_name(parameters.pointee.codec_id))
        guard let codec = setup.decoder else {
            throw MediaError(.unsupported, "this build of FFmpeg has no decoder for \(name)")
        }
        if parameters.pointee.codec_type == AVMEDIA_TYPE_AUDIO { try checkSound(parameters.pointee, name) }
        guard let context = avcodec_alloc_context3(codec) else { throw MediaError(.outOfResources, "out of memory") }
        var decoder = Decoder(adopting: context)
        try AVStatus.check(
            avcodec_parameters_to_context(context, parameters), "avcodec_parameters_to_context",
            doing: "set up the \(name) decoder")
        context.pointee.pkt_timebase = setup.timeBase
        context.pointee.max_pixels = Int64(setup.limits.pixels)
        context.pointee.thread_count = Int32(clamping: threads)
        if bySlices, setup.hasManySlices, codec.pointee.capabilities & AV_CODEC_CAP_SLICE_THREADS != 0 {
            context.pointee.thread_type = FF_THREAD_SLICE
        }
        // Threads that work on several pictures meet an assertion where a decoder has made a picture and then refuses the
        // packet. So err_recognition stays as it is, without AV_EF_EXPLODE; and the WebP decoder does so by itself.
        if parameters.pointee.codec_id == AV_CODEC_ID_WEBP { context.pointee.thread_count = 1 }
        try AVStatus.check(avcodec_open2(context, codec, nil), "avcodec_open2", doing: "open the \(name) decoder")
        if String(cString: codec.pointee.name).hasPrefix("libvpx") { decoder.sentKey = false }
        return decoder
    }

    /// What a header says of sound that no decoder makes anything of, said in words; 0 for the rate stands for an unknown
    /// one, as 0 channels do where the codec tells their number.
    private static func checkSound(_ parameters: AVCodecParameters, _ name: String) throws(MediaError) {
        guard (0...Limits.sampleRate).contains(Int(parameters.sample_rate)) else {
            throw MediaError(
                .limitExceeded, "a sample rate of \(parameters.sample_rate) is outside 1 to \(Limits.sampleRate)")
        }
        let channels = parameters.ch_layout.nb_channels
        guard (0...Limits.channels).contains(Int(channels)) else {
            throw MediaError(.limitExceeded, "\(channels) channels are outside the limit of \(Limits.channels)")
        }
        if channels == 0, name.hasPrefix("pcm_") {
            throw MediaError(.damaged, "the header says that there are 0 channels")
        }
    }

    /// Hands over a packet; the decoder keeps a reference of its own.
    ///
    /// Drain ``receive()`` first: a full decoder is a fault of the caller and throws.
    ///
    /// - Parameters:
    ///   - packet: What to decode.
    ///   - unlessUnreferenced: Whether its picture is left out if no other refers to it: `AVDISCARD_NONREF`.
    /// - Throws: ``MediaError/Code-swift.struct/damaged`` for a packet that cannot be decoded; the next may be sent.
    package mutating func send(
        _ packet: borrowing Packet, unlessUnreferenced: Bool = false
    ) throws(MediaError) {
        if sentKey != nil { sentKey = packet.isKey }
        // A drained decoder begins with the packet at once, and hands this on to the thread that decodes it.
        context.pointee.skip_frame = unlessUnreferenced ? AVDISCARD_NONREF : AVDISCARD_DEFAULT
        try AVStatus.check(
            avcodec_send_packet(context, packet.pointer), "avcodec_send_packet", doing: "decode a packet")
    }

    /// Says that no packet follows, so that ``receive()`` yields what is still inside.
    package mutating func finish() throws(MediaError) {
        let status = AVStatus(rawValue: avcodec_send_packet(context, nil))
        guard status.isFailure, status != .endOfFile else { return }
        throw MediaError(status, call: "avcodec_send_packet", doing: "finish decoding")
    }

    /// The next frame, if there is one.
    package mutating func receive() throws(MediaError) -> Output {
        let frame: Frame
        if let kept = spare.take() { frame = kept } else { frame = try Frame() }
        let status = AVStatus(rawValue: avcodec_receive_frame(context, frame.pointer))
        if status == .again || status == .endOfFile {
            spare = consume frame
            return status == .again ? .needsInput : .ended
        }
        guard !status.isFailure else {
            throw MediaError(status, call: "avcodec_receive_frame", doing: "decode a packet")
        }
        if let sentKey { shim_frame_set_key(frame.pointer, sentKey ? 1 : 0) }
        return .frame(try frame.uprighted())
    }

    /// Forgets all that was sent, as is due after a seek.
    package mutating func flush() { avcodec_flush_buffers(context) }

    /// Forgets all that was sent and what libavcodec has concluded from time stamps, so that it is as if opened anew but
    /// for what the codec itself keeps; `false` where this version does not allow that.
    package mutating func restart() -> Bool { shim_decoder_restart(context) != 0 }
}

extension DecoderSetup {
    /// Whether each picture of the codec stands by itself and has parts for many threads; JPEG 2000 may have one alone.
    fileprivate var hasManySlices: Bool {
        [AV_CODEC_ID_PRORES, AV_CODEC_ID_DNXHD].contains(parameters.pointee.codec_id)
    }

    /// The decoder for the stream: libavcodec's first one, but libvpx where there is alpha beside, which no other decodes.
    fileprivate var decoder: UnsafePointer<AVCodec>? {
        let codec = parameters.pointee.codec_id
        if hasAlphaBeside {
            let name = codec == AV_CODEC_ID_VP9 ? "libvpx-vp9" : codec == AV_CODEC_ID_VP8 ? "libvpx" : nil
            if let name, let found = avcodec_find_decoder_by_name(name) { return found }
        }
        return avcodec_find_decoder(codec)
    }
}

extension Frame {
    /// The frame itself, or a copy whose rows run from top to bottom where a decoder stores them the other way round.
    fileprivate consuming func uprighted() throws(MediaError) -> Frame {
        guard sampleCount == 0, (0..<8).contains(where: { linesize($0) < 0 }) else { return self }
        let copy = try Frame.picture(
            format: AVPixelFormat(rawValue: pointer.pointee.format), dimensions: dimensions)
        try AVStatus.check(av_frame_copy(copy.pointer, pointer), "av_frame_copy", doing: "copy a picture")
        try AVStatus.check(av_frame_copy_props(copy.pointer, pointer), "av_frame_copy_props", doing: "copy a picture")
        return copy
    }
}

/// Owner of a copy of a stream's parameters, of which any number of decoders can be opened, on any thread.
///
/// A demuxer may change a stream's own parameters while it reads; a copy stays as it was.
package final class DecoderSetup: @unchecked Sendable {
    let parameters: UnsafeMutablePointer<AVCodecParameters>
    let timeBase: AVRational
    /// Whether packets bring a second picture that says how transparent the first one is, as VP8 and VP9 have it in
    /// Matroska (`AlphaMode`).
    package let hasAlphaBeside: Bool
    /// The header's word on the channels, where libavformat knows none; `nil` else.
    private let statedChannels: Int?
    /// What the stream's pictures and sound may ask for.
    let limits: MediaLimits

    /// Copies what is known of a stream now (`avcodec_parameters_copy`).
    ///
    /// - Throws: ``MediaError/Code-swift.struct/noSuchTrack`` where the file has no such stream.
    package init(_ file: InputFile, stream index: Int) throws(MediaError) {
        guard let stream = file.pointer(toStream: index), let source = stream.pointee.codecpar else {
            throw MediaError(.noSuchTrack, "has no track \(index)")
        }
        guard let copy = avcodec_parameters_alloc() else { throw MediaError(.outOfResources, "out of memory") }
        parameters = copy
        limits = file.limits
        timeBase = stream.pointee.time_base
        let alpha = av_dict_get(stream.pointee.metadata, "alpha_mode", nil, 0).map { String(cString: $0.pointee.value) }
        hasAlphaBeside = alpha == "1"
        statedChannels = source.pointee.ch_layout.nb_channels == 0 ? file.statedChannels : nil
        try AVStatus.check(
            avcodec_parameters_copy(copy, source), "avcodec_parameters_copy", doing: "copy a stream's parameters")
        // Packets say what is left out; a decoder would leave this out once more, or instead.
        copy.pointee.initial_padding = 0
    }

    deinit {
        var parameters: UnsafeMutablePointer<AVCodecParameters>? = parameters
        avcodec_parameters_free(&parameters)
    }
}

extension DecoderSetup {
    /// Throws where the header already claims more than the limits allow; what only packets say, libavcodec checks.
    func checkLimits() throws(MediaError) {
        // From 7.0 on libavformat knows no layouts of more than 512.
        let known = Int(parameters.pointee.ch_layout.nb_channels)
        let channels = known > 0 ? known : statedChannels ?? 0
        guard channels <= limits.channels else {
            throw limits.error(.channels, "the track has \(channels) channels")
        }
        let size = Dimensions(width: Int(parameters.pointee.width), height: Int(parameters.pointee.height))
        let (pixels, overflow) = size.width.multipliedReportingOverflow(by: size.height)
        guard !overflow, pixels <= limits.pixels else {
            throw limits.error(.pixels, "the track has pictures of \(size)")
        }
    }
}

extension InputFile {
    /// The channels by a WAV file's own header; `nil` for other formats.
    fileprivate var statedChannels: Int? {
        guard format == .wav, let head = try? io.bytes(at: 0, count: 4096) else { return nil }
        var place = 12
        while place + 12 <= head.count {
            // The fourth field of the chunk is the number of channels (RFC 2361, WAVEFORMAT).
            if head[place..<place + 4].elementsEqual("fmt ".utf8) {
                return Int(head[place + 10]) | Int(head[place + 11]) << 8
            }
            let size = head[place + 4..<place + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
            place += 8 + size + size % 2
        }
        return nil
    }
}
