import CFFmpeg
package import MediaBase
import SystemCalls

/// Owner of an `AVCodecContext` that decodes one audio or video stream.
///
/// Packets go in and frames come out. Only one thread may use a decoder at a time.
///
/// ```swift
/// try decoder.send(packet)
/// while case .frame(let frame) = try decoder.receive() { … }
/// ```
package struct Decoder: ~Copyable, @unchecked Sendable {
    private let context: UnsafeMutablePointer<AVCodecContext>
    /// The number of errors that libavcodec has logged; the context's `opaque` points to it.
    private let complaints: UnsafeMutablePointer<Int32>
    /// An empty frame that the last ``receive()`` did not use.
    private var spare: Frame?
    /// The sync flag of the last packet sent, if frames must be marked with it because the decoder (libvpx) does not do
    /// so.
    private var sentKey: Bool?

    /// The result of ``receive()``.
    package enum Output: ~Copyable {
        /// A frame, in presentation order.
        case frame(Frame)
        /// Another packet must be sent first.
        case needsInput
        /// All frames have been returned; call ``flush()`` before sending more packets.
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

    /// The number of errors that libavcodec has logged while decoding, on any of its threads.
    ///
    /// Not every damaged frame is marked as such, and not every error damages a frame.
    package var complaintCount: Int { Int(shim_complaints(complaints)) }

    /// Opens the decoder for a stream.
    ///
    /// - Parameters:
    ///   - file: The file that contains the stream; it need not outlive the decoder.
    ///   - index: The index of the stream.
    ///   - threads: The number of codec threads, of which large pictures get fewer (``DecodingMemory``); 0 for one per
    ///     core. The output for an intact stream does not depend on it.
    ///   - bySlices: Whether the threads work on slices of one frame instead of on several frames, all of which are
    ///     held (`FF_THREAD_SLICE`). This applies only to codecs whose frames are independent and have many slices
    ///     (ProRes, DNxHD).
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` if there is no decoder, or libavcodec's error.
    package static func open(
        _ file: InputFile, stream index: Int, threads: Int, bySlices: Bool = false
    ) throws(MediaError) -> Decoder {
        try open(DecoderSetup(file, stream: index), threads: threads, bySlices: bySlices)
    }

    /// Opens a decoder for the stream from which a setup was created; throws the same errors as for a stream.
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
        let context = try allocated(avcodec_alloc_context3(codec))
        var decoder = Decoder(adopting: context)
        try AVStatus.check(
            avcodec_parameters_to_context(context, parameters), "avcodec_parameters_to_context",
            doing: "set up the \(name) decoder")
        context.pointee.pkt_timebase = setup.timeBase
        context.pointee.max_pixels = Int64(setup.limits.pixels)
        context.pointee.thread_count = Int32(clamping: setup.threads(atMost: threads))
        if bySlices, setup.hasManySlices, codec.pointee.capabilities & AV_CODEC_CAP_SLICE_THREADS != 0 {
            context.pointee.thread_type = FF_THREAD_SLICE
        }
        // With frame threads, libavcodec hits an assertion if a decoder has produced a frame and then rejects the
        // packet. Therefore err_recognition keeps its default, without AV_EF_EXPLODE. The WebP decoder rejects packets
        // like that regardless, so it gets one thread.
        //
        // The MPEG-4 decoder's threads do not always conceal damage in the same way.
        if [AV_CODEC_ID_WEBP, AV_CODEC_ID_MPEG4].contains(parameters.pointee.codec_id) {
            context.pointee.thread_count = 1
        }
        try AVStatus.check(avcodec_open2(context, codec, nil), "avcodec_open2", doing: "open the \(name) decoder")
        if String(cString: codec.pointee.name).hasPrefix("libvpx") { decoder.sentKey = false }
        return decoder
    }

    /// Throws a descriptive error if the header states audio properties that no decoder can handle.
    ///
    /// A sample rate of 0 means that it is unknown. The same is true of 0 channels if the codec itself states their
    /// number.
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

    /// Sends a packet to the decoder, which keeps its own reference.
    ///
    /// Drain ``receive()`` first: sending to a full decoder is an error of the caller and throws.
    ///
    /// - Parameters:
    ///   - packet: The packet to decode.
    ///   - unlessUnreferenced: Whether to skip the packet's frame if no other frame refers to it: `AVDISCARD_NONREF`.
    /// - Throws: ``MediaError/Code-swift.struct/damaged`` if the packet cannot be decoded; the next one may be sent.
    package mutating func send(
        _ packet: borrowing Packet, unlessUnreferenced: Bool = false
    ) throws(MediaError) {
        if sentKey != nil { sentKey = packet.isKey }
        // A drained decoder starts on the packet immediately and passes this setting to the thread that decodes it.
        context.pointee.skip_frame = unlessUnreferenced ? AVDISCARD_NONREF : AVDISCARD_DEFAULT
        Activity.note(
            .decoding, track: packet.streamIndex, time: packet.pts, unit: av_q2d(context.pointee.pkt_timebase))
        try AVStatus.check(
            avcodec_send_packet(context, packet.pointer), "avcodec_send_packet", doing: "decode a packet")
    }

    /// Signals that no packet follows, so that ``receive()`` returns the remaining frames.
    package mutating func finish() throws(MediaError) {
        let status = AVStatus(rawValue: avcodec_send_packet(context, nil))
        guard status.isFailure, status != .endOfFile else { return }
        throw MediaError(status, call: "avcodec_send_packet", doing: "finish decoding")
    }

    /// Returns the next frame, if one is available.
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

    /// Discards everything that was sent, as required after a seek.
    package mutating func flush() { avcodec_flush_buffers(context) }

    /// Discards everything that was sent and all that libavcodec has inferred from time stamps.
    ///
    /// The decoder is then as if newly opened, except for state that the codec itself keeps.
    ///
    /// - Returns: `false` if this version of libavcodec does not allow it.
    package mutating func restart() -> Bool { shim_decoder_restart(context) != 0 }
}

extension DecoderSetup {
    /// True if each frame of the codec is independent and has slices for many threads.
    ///
    /// JPEG 2000 is excluded because its frames may have only one.
    fileprivate var hasManySlices: Bool {
        [AV_CODEC_ID_PRORES, AV_CODEC_ID_DNXHD].contains(parameters.pointee.codec_id)
    }

    /// The decoder for the stream: libavcodec's default, or libvpx if packets carry separate alpha.
    ///
    /// No other decoder supports separate alpha.
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
    /// Returns the frame itself, or a top-to-bottom copy if the decoder stores its rows in reverse order.
    fileprivate consuming func uprighted() throws(MediaError) -> Frame {
        guard sampleCount == 0, (0..<8).contains(where: { linesize($0) < 0 }) else { return self }
        let copy = try Frame.picture(
            format: native, dimensions: dimensions)
        try AVStatus.check(av_frame_copy(copy.pointer, pointer), "av_frame_copy", doing: "copy a picture")
        try AVStatus.check(av_frame_copy_props(copy.pointer, pointer), "av_frame_copy_props", doing: "copy a picture")
        return copy
    }
}

/// Owner of a copy of a stream's parameters, from which any number of decoders can be opened on any thread.
///
/// A demuxer may change a stream's own parameters while it reads; the copy does not change.
package final class DecoderSetup: @unchecked Sendable {
    let parameters: UnsafeMutablePointer<AVCodecParameters>
    let timeBase: AVRational
    /// True if packets carry a second picture with the transparency of the first.
    ///
    /// VP8 and VP9 have such packets in Matroska (`AlphaMode`).
    package let hasAlphaBeside: Bool
    /// The number of channels stated by the header if libavformat does not know it; otherwise `nil`.
    private let statedChannels: Int?
    /// The limits for the stream's frames and audio.
    let limits: MediaLimits

    /// Copies the current parameters of a stream (`avcodec_parameters_copy`).
    ///
    /// - Throws: ``MediaError/Code-swift.struct/noSuchTrack`` if the file has no such stream.
    package init(_ file: InputFile, stream index: Int) throws(MediaError) {
        guard let stream = file.pointer(toStream: index), let source = stream.pointee.codecpar else {
            throw MediaError(.noSuchTrack, "has no track \(index)")
        }
        let copy = try allocated(avcodec_parameters_alloc())
        parameters = copy
        limits = file.limits
        timeBase = stream.pointee.time_base
        let alpha = av_dict_get(stream.pointee.metadata, "alpha_mode", nil, 0).map { String(cString: $0.pointee.value) }
        hasAlphaBeside = alpha == "1"
        statedChannels = source.pointee.ch_layout.nb_channels == 0 ? file.statedChannels : nil
        try AVStatus.check(
            avcodec_parameters_copy(copy, source), "avcodec_parameters_copy", doing: "copy a stream's parameters")
        // Packets state the samples to skip; the decoder would skip this padding in addition or instead.
        copy.pointee.initial_padding = 0
    }

    deinit {
        var parameters: UnsafeMutablePointer<AVCodecParameters>? = parameters
        avcodec_parameters_free(&parameters)
    }
}

extension DecoderSetup {
    /// Returns the number of codec threads: `wanted`, or fewer for large pictures; 0 is one per core.
    func threads(atMost wanted: Int) -> Int {
        let parameters = parameters.pointee
        guard parameters.codec_type == AVMEDIA_TYPE_VIDEO else { return wanted }
        let size = Dimensions(width: Int(parameters.width), height: Int(parameters.height))
        let memory = DecodingMemory(size, AVPixelFormat(parameters.format), limits: limits)
        let number = wanted > 0 ? wanted : availableProcessors()
        let possible = memory.threads(atMost: number)
        // libavcodec's own choice for 0 differs a little.
        return possible < number ? possible : wanted
    }

    /// Throws if the header already exceeds the limits; libavcodec checks values that only packets state.
    func checkLimits() throws(MediaError) {
        // From 7.0 on, libavformat does not know layouts of more than 512 channels.
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
    /// The number of channels stated by a WAV file's own header; `nil` for other formats.
    fileprivate var statedChannels: Int? {
        guard format == .wav, let head = try? io.bytes(at: 0, count: 4096) else { return nil }
        var place = 12
        while place + 12 <= head.count {
            // The number of channels is the fourth field of the chunk (RFC 2361, WAVEFORMAT).
            if head[place..<place + 4].elementsEqual("fmt ".utf8) {
                return Int(head[place + 10]) | Int(head[place + 11]) << 8
            }
            let size = head[place + 4..<place + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
            place += 8 + size + size % 2
        }
        return nil
    }
}
