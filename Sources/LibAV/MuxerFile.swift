import CFFmpeg
package import MediaBase
package import SystemPackage

/// Owner of an `AVFormatContext` that writes one container.
///
/// Add streams, write the header, write packets in the order in which the file stores them, and write the trailer. This
/// is a class because streams point into the context. Only one thread may use it at a time, except that ``cancel()``
/// may be called from any thread at any time.
package final class MuxerFile: @unchecked Sendable {
    private let io: OutputIO
    let context: UnsafeMutablePointer<AVFormatContext>
    private var lastDecodeTimes: [Int64?] = []
    private var firstDecodeTimes: [Int64?] = []
    private let isMatroska: Bool
    /// The cover pictures that are written as packets of their own streams, with the indices of these streams.
    var coverPackets: [(stream: Int32, bytes: [UInt8])] = []

    /// The properties of one stream to write.
    package struct Stream: Sendable {
        /// The coding of the stream's samples.
        package var parameters: CodecParameters
        /// The preferred unit for the stream's times, if the container has a choice.
        package var timeBase: Rational
        /// The frame rate in frames per second; `nil` if unknown or not video.
        package var frameRate: Rational?
        /// The width of a pixel divided by its height; `nil` for the codec's value.
        package var sampleAspectRatio: Rational?
        /// The nine numbers of the display matrix; `nil` for none.
        package var displayMatrix: [Int32]?
        /// The names and values that the container stores with the stream.
        package var metadata: [(key: String, value: String)] = []
        /// libavformat's names of the stream's roles.
        package var dispositions: [String] = []
        /// The container's tag for the codec, if it differs from the usual one.
        package var codecTag: String?
        /// The HDR metadata that the encoder does not pass on; `nil` for that of the parameters.
        package var hdr: HDRInfo?

        /// Creates a stream without optional properties.
        package init(parameters: CodecParameters, timeBase: Rational) {
            self.parameters = parameters
            self.timeBase = timeBase
        }
    }

    /// Starts a container.
    ///
    /// - Parameters:
    ///   - descriptor: A descriptor that is open for writing for the lifetime of this object, whose owner closes it; `nil`
    ///     to collect the bytes in memory, where ``cut()`` takes them.
    ///   - isSeekable: Whether the descriptor is a regular file.
    ///   - format: libavformat's name of the muxer, such as `mov`.
    ///   - mayGrow: Called before the file grows by the given number of bytes. If the result is `false`, writing fails
    ///     and ``isOverLimit`` reports why.
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` if this build of FFmpeg has no such muxer.
    package init(
        writingTo descriptor: FileDescriptor?, isSeekable: Bool, format: String,
        mayGrow: @escaping @Sendable (Int64) -> Bool = { _ in true }
    ) throws(MediaError) {
        LibraryLog.install()
        guard let muxer = av_guess_format(format, nil, nil) else {
            throw MediaError(.unsupported, "this build of FFmpeg cannot write \(format)")
        }
        let io = try OutputIO(descriptor, isSeekable: isSeekable, mayGrow: mayGrow)
        var made: UnsafeMutablePointer<AVFormatContext>?
        try AVStatus.check(
            avformat_alloc_output_context2(&made, muxer, nil, nil), "avformat_alloc_output_context2",
            doing: "write \(format)")
        let context = try allocated(made)
        self.io = io
        self.context = context
        context.pointee.pb = io.context
        context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO | AVFMT_FLAG_BITEXACT
        context.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
        // Packets arrive in the order in which they are written, so libavformat must not hold any back.
        context.pointee.max_interleave_delta = 0
        // An encoder's priming lies before time zero. Because of it, libavformat would shift all tracks or none,
        // depending on the first packet.
        isMatroska = ["matroska", "webm"].contains(format)
        if isMatroska { context.pointee.avoid_negative_ts = 0 }
        context.pointee.io_open = { _, _, _, _, _ in shim_error_not_permitted }
    }

    deinit { avformat_free_context(context) }

    /// The codecs that muxers accept although `avformat_query_codec` reports that it does not know.
    private static let untoldCodecs: [String: Set<String>] = [
        "ogg": ["vorbis", "opus", "flac", "speex", "theora", "vp8"]
    ]

    /// Returns true if a container can hold a codec, according to libavformat (`avformat_query_codec`).
    package static func format(_ format: String, canHold codec: String) -> Bool {
        guard let muxer = av_guess_format(format, nil, nil), let descriptor = avcodec_descriptor_get_by_name(codec)
        else { return false }
        let answer = avformat_query_codec(muxer, descriptor.pointee.id, FF_COMPLIANCE_EXPERIMENTAL)
        return answer < 0 ? untoldCodecs[format]?.contains(codec) ?? false : answer == 1
    }

    /// True if the container requires the codec's header in its own header.
    package var wantsGlobalHeaders: Bool { context.pointee.oformat.pointee.flags & AVFMT_GLOBALHEADER != 0 }

    /// Ends the current call and all later ones with ``MediaError/Code-swift.struct/cancelled``.
    package func cancel() { io.cancel() }

    /// The system error that made writing fail; `nil` if there was none.
    package var writeFailure: Errno? { io.failure }

    /// True if the file would have exceeded its permitted length.
    package var isOverLimit: Bool { io.isOverLimit }
}

// MARK: - Before the header

extension MuxerFile {
    /// Sets the number of samples in a packet of Apple Lossless, which QuickTime's sample description states.
    ///
    /// The number comes from the codec's own configuration (ALACSpecificConfig, after its atom's header), because
    /// libavformat's CAF demuxer does not report it before 8.1.
    private func completeFrameSize(of parameters: UnsafeMutablePointer<AVCodecParameters>) {
        guard parameters.pointee.codec_id == AV_CODEC_ID_ALAC, parameters.pointee.frame_size == 0,
            parameters.pointee.extradata_size >= 16, let config = parameters.pointee.extradata
        else { return }
        parameters.pointee.frame_size = Int32(clamping: (12..<16).reduce(0) { $0 << 8 | Int(config[$1]) })
    }

    /// Adds a stream and returns its index.
    package func add(_ description: Stream) throws(MediaError) -> Int {
        guard let stream = avformat_new_stream(context, nil), let timeBase = description.timeBase.native else {
            throw MediaError(.outOfResources, "out of memory")
        }
        try AVStatus.check(
            avcodec_parameters_copy(stream.pointee.codecpar, description.parameters.pointer),
            "avcodec_parameters_copy", doing: "describe a track")
        shim_forget_display_matrix(stream.pointee.codecpar)
        stream.pointee.time_base = timeBase
        // From 7.0 on, libavformat writes a delay for all audio and adds it to the times; players support it only for
        // Opus.
        if isMatroska, stream.pointee.codecpar.pointee.codec_id != AV_CODEC_ID_OPUS {
            stream.pointee.codecpar.pointee.initial_padding = 0
        }
        completeFrameSize(of: stream.pointee.codecpar)
        setTag(of: stream, wanted: description.codecTag)
        if let rate = description.frameRate?.native, rate.num > 0 {
            stream.pointee.avg_frame_rate = rate
            stream.pointee.r_frame_rate = rate
        }
        if let ratio = description.sampleAspectRatio?.native, ratio.num > 0 {
            stream.pointee.codecpar.pointee.sample_aspect_ratio = ratio
        }
        // Muxers use the stream's own ratio; the parameters contain the codec's.
        stream.pointee.sample_aspect_ratio = stream.pointee.codecpar.pointee.sample_aspect_ratio
        stream.pointee.disposition = description.dispositions.reduce(0) { $0 | max(0, av_disposition_from_string($1)) }
        stream.pointee.metadata = try OptionDictionary(description.metadata).release()
        for (type, bytes) in description.parameters.sideData { try add(bytes, type, to: stream) }
        if let matrix = description.displayMatrix, matrix.count == 9 {
            let bytes = matrix.withUnsafeBytes { Array($0) }
            try add(bytes, AV_PKT_DATA_DISPLAYMATRIX, to: stream)
        }
        if let hdr = description.hdr { try add(hdr, to: stream) }
        lastDecodeTimes.append(nil)
        firstDecodeTimes.append(nil)
        return Int(stream.pointee.index)
    }

    /// Keeps the codec's tag only if this container uses it for the codec.
    private func setTag(of stream: UnsafeMutablePointer<AVStream>, wanted: String?) {
        let parameters = stream.pointee.codecpar
        if let wanted { parameters?.pointee.codec_tag = CodecParameters.tag(wanted) }
        guard let tag = parameters?.pointee.codec_tag, let id = parameters?.pointee.codec_id, tag != 0 else { return }
        let tags = context.pointee.oformat.pointee.codec_tag
        // The muxer of QuickTime describes data by its tag, although its table has no such tag.
        if parameters?.pointee.codec_type == AVMEDIA_TYPE_DATA { return }
        // If the container's table has the tag for another codec or does not have it, libavformat picks a tag itself.
        let isUsual = tags == nil || av_codec_get_id(tags, tag) == id
        if !isUsual { parameters?.pointee.codec_tag = 0 }
    }

    private func add(
        _ bytes: [UInt8], _ type: AVPacketSideDataType, to stream: UnsafeMutablePointer<AVStream>
    ) throws(MediaError) {
        let memory = try allocated(shim_stream_new_side_data(stream, type, bytes.count))
        UnsafeMutableRawPointer(memory).copyMemory(from: bytes, byteCount: bytes.count)
    }

    private func add(_ hdr: HDRInfo, to stream: UnsafeMutablePointer<AVStream>) throws(MediaError) {
        if let level = hdr.contentLightLevel {
            var metadata = AVContentLightMetadata()
            metadata.MaxCLL = UInt32(clamping: level.maximum)
            metadata.MaxFALL = UInt32(clamping: level.maximumFrameAverage)
            try add(withUnsafeBytes(of: metadata) { Array($0) }, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, to: stream)
        }
        guard let display = hdr.masteringDisplay else { return }
        var metadata = AVMasteringDisplayMetadata()
        func pair(_ values: [Rational]?) -> (AVRational, AVRational)? {
            guard let values, values.count == 2, let x = values[0].native, let y = values[1].native else { return nil }
            return (x, y)
        }
        if let red = pair(display.red), let green = pair(display.green), let blue = pair(display.blue),
            let white = pair(display.whitePoint)
        {
            metadata.display_primaries = (red, green, blue)
            metadata.white_point = white
            metadata.has_primaries = 1
        }
        if let darkest = display.minimumLuminance?.native, let brightest = display.maximumLuminance?.native {
            metadata.min_luminance = darkest
            metadata.max_luminance = brightest
            metadata.has_luminance = 1
        }
        guard metadata.has_primaries != 0 || metadata.has_luminance != 0 else { return }
        try add(withUnsafeBytes(of: metadata) { Array($0) }, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, to: stream)
    }

    /// Sets the names and values that apply to the container as a whole.
    package func setMetadata(_ metadata: [(key: String, value: String)]) throws(MediaError) {
        av_dict_free(&context.pointee.metadata)
        context.pointee.metadata = try OptionDictionary(metadata).release()
    }

    /// Sets the chapters, in milliseconds as most containers store them.
    package func setChapters(_ chapters: [Chapter]) throws(MediaError) {
        for (index, chapter) in chapters.prefix(Limits.metadataItems).enumerated() {
            let scale = Rational(1, 1000)
            guard let start = chapter.timeRange.start.ticks(in: scale, rounding: .halfAwayFromZero),
                let end = chapter.timeRange.end.ticks(in: scale, rounding: .halfAwayFromZero), end >= start
            else { continue }
            let metadata = try OptionDictionary(chapter.title.map { [("title", $0)] } ?? [])
            guard shim_add_chapter(context, Int64(index), 1000, start, end, metadata.release()) >= 0 else {
                throw MediaError(.outOfResources, "out of memory")
            }
        }
    }

    /// Writes the header; no stream can be added afterwards.
    ///
    /// - Parameter options: The muxer's own options; an unknown one is an error.
    package func writeHeader(options: [(key: String, value: String)] = []) throws(MediaError) {
        var dictionary = try OptionDictionary(options)
        let status = dictionary.withPointer { avformat_write_header(context, $0) }
        guard status >= 0 else {
            throw failure(status, "avformat_write_header", doing: "write the header")
        }
        try dictionary.refuseUnused(by: "the muxer")
        // The muxer of MP4 clears this flag if it writes its header after the first packets; AAC in ADTS needs it.
        context.pointee.flags |= AVFMT_FLAG_AUTO_BSF
        for cover in coverPackets {
            let packet = try Packet.copying(cover.bytes)
            packet.pointer.pointee.stream_index = cover.stream
            packet.pointer.pointee.flags |= AV_PKT_FLAG_KEY
            packet.pointer.pointee.pts = 0
            packet.pointer.pointee.dts = 0
            let status = av_write_frame(context, packet.pointer)
            guard status >= 0 else { throw failure(status, "av_write_frame", doing: "write a cover picture") }
        }
    }
}

// MARK: - After the header

extension MuxerFile {
    /// Writes a packet of a stream, with times in units of `timeBase`.
    ///
    /// Decode times that do not increase by at least one unit of the container's time base are raised to do so.
    package func write(_ packet: borrowing Packet, stream index: Int, timeBase: Rational) throws(MediaError) {
        guard lastDecodeTimes.indices.contains(index), let stream = context.pointee.streams?[index],
            let source = timeBase.native
        else { throw MediaError(.invalidArgument, "the container has no track \(index)") }
        let copy = try packet.shared()
        copy.pointer.pointee.stream_index = Int32(index)
        copy.pointer.pointee.pos = -1
        let shift = codecDelay(of: stream.pointee.codecpar, in: source)
        if let presentation = copy.pts { copy.pointer.pointee.pts = presentation &+ shift }
        if let decode = copy.dts { copy.pointer.pointee.dts = decode &+ shift }
        av_packet_rescale_ts(copy.pointer, source, stream.pointee.time_base)
        // The delay that the muxer is going to add.
        let added = shift > 0 ? MatroskaDelay.added(to: stream.pointee.codecpar, in: stream.pointee.time_base) : 0
        if let decode = copy.dts {
            var raised = decode
            let isData = stream.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_DATA
            // Samples of data may last for no time at all.
            if let last = lastDecodeTimes[index], isData ? decode < last : decode <= last {
                raised = isData ? last : last + 1
            }
            lastDecodeTimes[index] = raised
            firstDecodeTimes[index] = firstDecodeTimes[index] ?? raised
            copy.pointer.pointee.dts = raised
            if let presentation = copy.pts, presentation < raised { copy.pointer.pointee.pts = raised }
        }
        if added > 0 {
            copy.pointer.pointee.pts = copy.pts.map { $0 &- added } ?? shim_no_pts
            copy.pointer.pointee.dts = copy.dts.map { $0 &- added } ?? shim_no_pts
        }
        let status = av_write_frame(context, copy.pointer)
        guard status >= 0 else { throw failure(status, "av_write_frame", doing: "write a packet") }
    }

    /// Returns the difference between Matroska's times and the samples' times.
    ///
    /// Matroska's times for Opus include a `CodecDelay`, which readers subtract.
    private func codecDelay(of parameters: UnsafePointer<AVCodecParameters>?, in timeBase: AVRational) -> Int64 {
        guard isMatroska, let parameters, parameters.pointee.codec_id == AV_CODEC_ID_OPUS else { return 0 }
        return av_rescale_q(
            Int64(max(0, parameters.pointee.initial_padding)), AVRational(num: 1, den: 48000), timeBase)
    }

    /// Returns the decode time of a stream's first packet in the container's units; `nil` if no packet was written.
    package func firstDecodeTime(ofStream index: Int) -> MediaTime? {
        guard firstDecodeTimes.indices.contains(index), let ticks = firstDecodeTimes[index],
            let stream = context.pointee.streams?[index]
        else { return nil }
        return MediaTime(ticks: ticks, timeBase: stream.pointee.time_base)
    }

    /// Writes the end of the container; nothing can be written afterwards.
    package func writeTrailer() throws(MediaError) {
        let status = av_write_trailer(context)
        guard status >= 0 else { throw failure(status, "av_write_trailer", doing: "finish the file") }
        avio_flush(context.pointee.pb)
        // Muxers do not check the result of each write.
        if let status = context.pointee.pb?.pointee.error, status < 0 {
            throw failure(status, "avio_flush", doing: "finish the file")
        }
    }

    /// Ends the current fragment of a fragmented movie and returns everything that was written since the last call.
    ///
    /// The muxer must have been started with the option `frag_custom` and without a descriptor. The first call also
    /// returns the header, which libavformat writes only when it knows the first packets (`delay_moov`).
    package func cut() throws(MediaError) -> [UInt8] {
        let status = av_write_frame(context, nil)
        guard status >= 0 else { throw failure(status, "av_write_frame", doing: "write a fragment") }
        avio_flush(context.pointee.pb)
        if let status = context.pointee.pb?.pointee.error, status < 0 {
            throw failure(status, "avio_flush", doing: "write a fragment")
        }
        return takeOutput()
    }

    /// Returns the bytes that were written to memory since the last call of this or ``cut()``.
    package func takeOutput() -> [UInt8] { io.takeCollected() }

    private func failure(_ status: Int32, _ call: String, doing: String) -> MediaError {
        if io.isCancelled { return MediaError(.cancelled, "cancelled") }
        let error = MediaError(AVStatus(rawValue: status), call: call, doing: doing)
        // Muxers report "invalid argument" and "invalid data" for tracks that they cannot hold.
        let isRefusal = [AVStatus.invalidArgument, .invalidData].contains(AVStatus(rawValue: status))
        guard isRefusal, io.failure == nil else { return error }
        return MediaError(.unsupported, "cannot \(doing): the container does not take it", cause: error.cause)
    }
}
