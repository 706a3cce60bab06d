import CFFmpeg
package import MediaBase
package import SystemPackage

/// Owner of an `AVFormatContext` that writes: one container that comes into being.
///
/// Add streams, write the header, write packets in the order in which they are to lie in the file, write the trailer.
/// A class, because streams point into the context. One thread uses it at a time; ``cancel()`` alone may be called from
/// any thread at any moment.
package final class MuxerFile: @unchecked Sendable {
    private let io: OutputIO
    private let context: UnsafeMutablePointer<AVFormatContext>
    private var lastDecodeTimes: [Int64?] = []
    private var firstDecodeTimes: [Int64?] = []
    private let isMatroska: Bool
    /// Pictures that are written as the packets of streams of their own, by those.
    private var coverPackets: [(stream: Int32, bytes: [UInt8])] = []

    /// What one stream is to be.
    package struct Stream: Sendable {
        /// How its samples are coded.
        package var parameters: CodecParameters
        /// The unit in which its times are to be kept, where the container has a choice.
        package var timeBase: Rational
        /// Frames a second; `nil` where unknown or without pictures.
        package var frameRate: Rational?
        /// Width of a pixel by its height; `nil` for what the codec says.
        package var sampleAspectRatio: Rational?
        /// The nine numbers of the display matrix; `nil` for none.
        package var displayMatrix: [Int32]?
        /// Names and values that the container keeps with the stream.
        package var metadata: [(key: String, value: String)] = []
        /// libavformat's names of the stream's roles.
        package var dispositions: [String] = []
        /// The container's name of the codec, where it is to be another than the usual.
        package var codecTag: String?
        /// HDR metadata that the encoder does not pass on; `nil` for what the parameters hold.
        package var hdr: HDRInfo?

        /// A stream without anything else.
        package init(parameters: CodecParameters, timeBase: Rational) {
            self.parameters = parameters
            self.timeBase = timeBase
        }
    }

    /// Begins a container.
    ///
    /// - Parameters:
    ///   - descriptor: Open for writing for as long as this object lives; it stays its owner's.
    ///   - isSeekable: Whether it is a regular file.
    ///   - format: libavformat's name of the muxer, such as `mov`.
    ///   - mayGrow: Asked before the file becomes so many bytes longer; where it gives `false`, writing fails and
    ///     ``isOverLimit`` tells why.
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` where this build of FFmpeg has no such muxer.
    package init(
        writingTo descriptor: FileDescriptor, isSeekable: Bool, format: String,
        mayGrow: @escaping @Sendable (Int64) -> Bool = { _ in true }
    ) throws(MediaError) {
        LibraryLog.install()
        guard let muxer = av_guess_format(format, nil, nil) else {
            throw MediaError(.unsupported, "this build of FFmpeg cannot write \(format)")
        }
        let io = try OutputIO(descriptor, isSeekable: isSeekable, mayGrow: mayGrow)
        var allocated: UnsafeMutablePointer<AVFormatContext>?
        try AVStatus.check(
            avformat_alloc_output_context2(&allocated, muxer, nil, nil), "avformat_alloc_output_context2",
            doing: "write \(format)")
        guard let context = allocated else { throw MediaError(.outOfResources, "out of memory") }
        self.io = io
        self.context = context
        context.pointee.pb = io.context
        context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO | AVFMT_FLAG_BITEXACT
        context.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
        // Packets come in the order in which they are to be written; none waits for others inside libavformat.
        context.pointee.max_interleave_delta = 0
        // An encoder's priming lies before zero. libavformat would move all tracks for it, or none: that depends on the
        // first packet.
        isMatroska = ["matroska", "webm"].contains(format)
        if isMatroska { context.pointee.avoid_negative_ts = 0 }
        context.pointee.io_open = { _, _, _, _, _ in shim_error_not_permitted }
    }

    deinit { avformat_free_context(context) }

    /// What muxers take of which `avformat_query_codec` says that it does not know.
    private static let untoldCodecs: [String: Set<String>] = [
        "ogg": ["vorbis", "opus", "flac", "speex", "theora", "vp8"]
    ]

    /// Whether a container of this name can hold a codec, by libavformat's word (`avformat_query_codec`).
    package static func format(_ format: String, canHold codec: String) -> Bool {
        guard let muxer = av_guess_format(format, nil, nil), let descriptor = avcodec_descriptor_get_by_name(codec)
        else { return false }
        let answer = avformat_query_codec(muxer, descriptor.pointee.id, FF_COMPLIANCE_EXPERIMENTAL)
        return answer < 0 ? untoldCodecs[format]?.contains(codec) ?? false : answer == 1
    }

    /// Whether the container wants the codec's header in its own.
    package var wantsGlobalHeaders: Bool { context.pointee.oformat.pointee.flags & AVFMT_GLOBALHEADER != 0 }

    /// Ends the call that is under way, and all later ones, with ``MediaError/Code-swift.struct/cancelled``.
    package func cancel() { io.cancel() }

    /// Why the system could not write; `nil` as long as it could.
    package var writeFailure: Errno? { io.failure }

    /// Whether the file would have become longer than it may.
    package var isOverLimit: Bool { io.isOverLimit }
}

// MARK: - Before the header

extension MuxerFile {
    /// Says how many samples a packet of Apple Lossless has, which QuickTime's description of sound states: by the codec's
    /// own configuration (ALACSpecificConfig, behind the head of its atom), as CAF's reader does not tell before 8.1.
    private func completeFrameSize(of parameters: UnsafeMutablePointer<AVCodecParameters>) {
        guard parameters.pointee.codec_id == AV_CODEC_ID_ALAC, parameters.pointee.frame_size == 0,
            parameters.pointee.extradata_size >= 16, let config = parameters.pointee.extradata
        else { return }
        parameters.pointee.frame_size = Int32(clamping: (12..<16).reduce(0) { $0 << 8 | Int(config[$1]) })
    }

    /// Adds a stream; gives its index.
    package func add(_ description: Stream) throws(MediaError) -> Int {
        guard let stream = avformat_new_stream(context, nil), let timeBase = description.timeBase.native else {
            throw MediaError(.outOfResources, "out of memory")
        }
        try AVStatus.check(
            avcodec_parameters_copy(stream.pointee.codecpar, description.parameters.pointer),
            "avcodec_parameters_copy", doing: "describe a track")
        shim_forget_display_matrix(stream.pointee.codecpar)
        stream.pointee.time_base = timeBase
        // From 7.0 on libavformat writes a delay, and adds it, for all sound; players know it of Opus alone.
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
        // The stream's own ratio is what muxers take; the parameters' is the codec's.
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

    /// Keeps the codec's tag only where it is one that this container uses for the codec.
    private func setTag(of stream: UnsafeMutablePointer<AVStream>, wanted: String?) {
        let parameters = stream.pointee.codecpar
        if let wanted { parameters?.pointee.codec_tag = CodecParameters.tag(wanted) }
        guard let tag = parameters?.pointee.codec_tag, let id = parameters?.pointee.codec_id, tag != 0 else { return }
        let tags = context.pointee.oformat.pointee.codec_tag
        // The same tag for another codec, or none in a container that has a table: libavformat picks one itself.
        let isUsual = tags == nil || av_codec_get_id(tags, tag) == id
        if !isUsual { parameters?.pointee.codec_tag = 0 }
    }

    private func add(
        _ bytes: [UInt8], _ type: AVPacketSideDataType, to stream: UnsafeMutablePointer<AVStream>
    ) throws(MediaError) {
        guard let memory = shim_stream_new_side_data(stream, type, bytes.count) else {
            throw MediaError(.outOfResources, "out of memory")
        }
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

    /// Sets the names and values that the container keeps as a whole.
    package func setMetadata(_ metadata: [(key: String, value: String)]) throws(MediaError) {
        av_dict_free(&context.pointee.metadata)
        context.pointee.metadata = try OptionDictionary(metadata).release()
    }

    /// Adds a cover picture: an attached file in Matroska, a block in FLAC, a frame of ID3 in AIFF, a comment in Ogg.
    ///
    /// - Parameter index: The index of the stream whose comment it is, in Ogg.
    /// - Returns: Whether the container has a place for it; if not, nothing is added.
    package func addCover(_ picture: [UInt8], ofStream index: Int) throws(MediaError) -> Bool {
        guard let format = PictureFileFormat(picture) else { return false }
        let size = PictureFileFormat.dimensions(of: picture)
        switch String(cString: context.pointee.oformat.pointee.name) {
        case "matroska":
            let stream = try addedStream()
            stream.pointee.codecpar.pointee.codec_type = AVMEDIA_TYPE_ATTACHMENT
            let names = [("filename", "cover.\(format.pathExtension)"), ("mimetype", format.mimeType)]
            stream.pointee.metadata = try OptionDictionary(names.map { (key: $0, value: $1) }).release()
            try CodecParameters.setExtradata(picture, of: stream.pointee.codecpar)
        case "flac", "aiff":
            guard let size, let width = Int32(exactly: size.width), let height = Int32(exactly: size.height),
                width > 0, height > 0, format != .bmp, picture.count < Self.largestBlock
            else { return false }
            let stream = try addedStream()
            stream.pointee.codecpar.pointee.codec_type = AVMEDIA_TYPE_VIDEO
            stream.pointee.codecpar.pointee.codec_id = format == .png ? AV_CODEC_ID_PNG : AV_CODEC_ID_MJPEG
            stream.pointee.codecpar.pointee.width = width
            stream.pointee.codecpar.pointee.height = height
            stream.pointee.disposition = AV_DISPOSITION_ATTACHED_PIC
            // The third of ID3's kinds of pictures.
            stream.pointee.metadata = try OptionDictionary([("comment", "Cover (front)")]).release()
            coverPackets.append((stream.pointee.index, picture))
        case "ogg":
            guard let stream = context.pointee.streams?[index] else { return false }
            let text = Self.base64(Self.pictureBlock(picture, format, size))
            try AVStatus.check(
                av_dict_set(&stream.pointee.metadata, "METADATA_BLOCK_PICTURE", text, 0), "av_dict_set",
                doing: "add a cover picture")
        default: return false
        }
        return true
    }

    /// The largest cover in FLAC, where 24 bits count the bytes of a block, and some are its names.
    private static let largestBlock = (1 << 24) - 1024

    private func addedStream() throws(MediaError) -> UnsafeMutablePointer<AVStream> {
        guard let stream = avformat_new_stream(context, nil) else {
            throw MediaError(.outOfResources, "out of memory")
        }
        return stream
    }

    /// FLAC's block of a front cover, which Ogg's comments have too (RFC 9639, 8.8).
    private static func pictureBlock(_ picture: [UInt8], _ format: PictureFileFormat, _ size: Dimensions?) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        let type = Array(format.mimeType.utf8)
        let measures = [size?.width ?? 0, size?.height ?? 0, 0, 0].flatMap(number)
        return number(3) + number(type.count) + type + number(0) + measures + number(picture.count) + picture
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        var text = [CChar](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        guard let count = Int32(exactly: bytes.count), let room = Int32(exactly: text.count),
            av_base64_encode(&text, room, bytes, count) != nil
        else { return "" }
        return String(decoding: text.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Sets the chapters, in milliseconds as most containers keep them.
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

    /// Writes the header; no stream can be added after that.
    ///
    /// - Parameter options: The muxer's own options; one that is not known is an error.
    package func writeHeader(options: [(key: String, value: String)] = []) throws(MediaError) {
        var dictionary = try OptionDictionary(options)
        let status = dictionary.withPointer { avformat_write_header(context, $0) }
        guard status >= 0 else {
            throw failure(status, "avformat_write_header", doing: "write the header")
        }
        try dictionary.refuseUnused(by: "the muxer")
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
    /// Writes a packet of a stream, whose times are in units of `timeBase`.
    ///
    /// Decode times that do not rise by at least one unit of the container's are moved up to do so.
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
        // What the muxer is going to add.
        let added = shift > 0 ? MatroskaDelay.added(to: stream.pointee.codecpar, in: stream.pointee.time_base) : 0
        if let decode = copy.dts {
            var raised = decode
            if let last = lastDecodeTimes[index], decode <= last { raised = last + 1 }
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

    /// By how much Matroska's times are later than those of the samples.
    ///
    /// Opus has a `CodecDelay` there, which readers subtract.
    private func codecDelay(of parameters: UnsafePointer<AVCodecParameters>?, in timeBase: AVRational) -> Int64 {
        guard isMatroska, let parameters, parameters.pointee.codec_id == AV_CODEC_ID_OPUS else { return 0 }
        return av_rescale_q(
            Int64(max(0, parameters.pointee.initial_padding)), AVRational(num: 1, den: 48000), timeBase)
    }

    /// The decode time of a stream's first packet as the container counts it; `nil` where none was written.
    package func firstDecodeTime(ofStream index: Int) -> MediaTime? {
        guard firstDecodeTimes.indices.contains(index), let ticks = firstDecodeTimes[index],
            let stream = context.pointee.streams?[index]
        else { return nil }
        return MediaTime(ticks: ticks, timeBase: stream.pointee.time_base)
    }

    /// Writes what the container has at its end; nothing can be written after that.
    package func writeTrailer() throws(MediaError) {
        let status = av_write_trailer(context)
        guard status >= 0 else { throw failure(status, "av_write_trailer", doing: "finish the file") }
        avio_flush(context.pointee.pb)
        // Muxers do not look at each write.
        if let status = context.pointee.pb?.pointee.error, status < 0 {
            throw failure(status, "avio_flush", doing: "finish the file")
        }
    }

    private func failure(_ status: Int32, _ call: String, doing: String) -> MediaError {
        if io.isCancelled { return MediaError(.cancelled, "cancelled") }
        let error = MediaError(AVStatus(rawValue: status), call: call, doing: doing)
        // Muxers say "invalid argument" and "invalid data" of tracks that they cannot hold.
        let isRefusal = [AVStatus.invalidArgument, .invalidData].contains(AVStatus(rawValue: status))
        guard isRefusal, io.failure == nil else { return error }
        return MediaError(.unsupported, "cannot \(doing): the container does not take it", cause: error.cause)
    }
}
