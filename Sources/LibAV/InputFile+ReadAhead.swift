import CFFmpeg
package import MediaBase

// Learning the parameters of every stream: from the codecs' own headers, else by libavformat's reading ahead.

/// The properties of a stream by its codec's header.
///
/// Where one is `nil`, the container's value stays.
package struct StreamFacts: Sendable, Hashable {
    /// The profile as libavcodec numbers it.
    package var profile: Int?
    /// The level as the codec numbers it.
    package var level: Int?
    /// How many pictures a decoder may hold back because others are shown earlier.
    package var reorderedPictures: Int?
    /// How decoded pictures are stored.
    package var pixelFormat: PixelFormat?
    /// The codec's word on the shape of a pixel.
    package var sampleAspectRatio: Rational?
    /// Significant bits of a sample of pictures or sound.
    package var bitsPerSample: Int?
    /// Primaries, transfer, matrix and range: the codec's, and the container's where the codec states none.
    package var color: ColorInfo?
    /// The order of fields as ``VideoFormat/fieldOrder`` has it.
    package var fieldOrder: String?
    /// How decoded sound is stored, and whether each channel has a plane of its own.
    package var sampleFormat: (SampleFormat, isPlanar: Bool)? {
        get { storedSampleFormat.map { ($0, arePlanes) } }
        set { (storedSampleFormat, arePlanes) = (newValue?.0, newValue?.isPlanar ?? false) }
    }
    /// Samples a second and channel that are decoded.
    package var sampleRate: Int?
    /// The channels that are decoded.
    package var channelLayout: ChannelLayout?
    /// Samples in a packet, where that is always the same.
    package var frameSize: Int?
    /// When the stream begins, in its time base.
    package var startTicks: Int64?
    private var storedSampleFormat: SampleFormat?
    private var arePlanes = false

    /// Says nothing.
    package init() {}
}

extension InputFile {
    /// Tells what codecs' headers say of a file's streams: all that decoders would find out of a stream, by its index.
    package typealias Describer = (InputFile) -> [Int: StreamFacts]

    /// Learns each stream's parameters.
    ///
    /// Of MP4, QuickTime and Matroska, streams whose codec's header says all are described by that. Where such streams
    /// are all there are, and the container tells times and rates, no packet is read. Otherwise libavformat reads ahead
    /// for what is left.
    func readAhead(describing describe: Describer?) {
        let facts = isDescribable ? describe?(self) ?? [:] : [:]
        var isAllKnown = context.pointee.ctx_flags & AVFMTCTX_NOHEADER == 0 && areChaptersWhole
        for index in 0..<streamCount {
            guard let stream = pointer(toStream: index) else { continue }
            guard let facts = facts[index] else {
                isAllKnown = false
                continue
            }
            write(facts, into: stream.pointee.codecpar)
            if let start = facts.startTicks, stream.pointee.start_time == shim_no_pts {
                stream.pointee.start_time = start
            }
            if !Self.tellsTimes(stream, startIsListed: tellsAllTimes(ofStream: index)) { isAllKnown = false }
        }
        described = Set(facts.keys)
        isDescribedByHeaders = isAllKnown
        // Of MP4 and QuickTime all is known that it takes to read packets; of Matroska not when they are decoded.
        isReadyForPackets = isAllKnown && format == .isoMedia
        if !isAllKnown { prepareForPackets() }
    }

    /// Notes the rates that are known before any packet is read.
    ///
    /// Those of MP4 and QuickTime are averages, which its tables tell better; GIF has none, and those of pictures in files
    /// of their own are made up.
    func noteStatedFrameRates() {
        guard format != .isoMedia, format != .gif, !format.name.hasSuffix("_pipe") else { return }
        for index in 0..<streamCount {
            guard let stream = pointer(toStream: index) else { continue }
            // MXF counts time in frames (SMPTE ST 377-1, Edit Rate).
            let rate =
                format == .mxf
                ? Rational(stream.pointee.time_base)?.inverse : Rational(stream.pointee.avg_frame_rate)
            if let rate, rate.isPositive { statedFrameRates[index] = rate }
        }
    }

    /// Has libavformat read ahead where that was not done yet: `avformat_find_stream_info`.
    ///
    /// It opens decoders for the streams that are not described alone, and for H.264 in Matroska, where it concludes from
    /// decoded pictures when each was to be decoded.
    func prepareForPackets() {
        guard !isReadyForPackets else { return }
        isReadyForPackets = true
        var options = [OpaquePointer?](repeating: nil, count: streamCount)
        defer { for index in options.indices { av_dict_free(&options[index]) } }
        for index in options.indices {
            let codec = pointer(toStream: index)?.pointee.codecpar.pointee.codec_id
            let isTimed = codec != AV_CODEC_ID_H264 || format == .isoMedia
            if described.contains(index), isTimed {
                // No decoder has this name.
                av_dict_set(&options[index], "codec_whitelist", "none", 0)
            } else {
                // The decoders that libavformat opens for this know no limit of their own.
                av_dict_set_int(&options[index], "max_pixels", Int64(limits.pixels), 0)
            }
        }
        // A failure here is no reason to give up: the streams are there, some of their parameters are unknown.
        // One codec thread: a stream's parameters show in its first frame, and threads would cost more to start.
        let known = Set((0..<streamCount).filter { pointer(toStream: $0)?.pointee.start_time != shim_no_pts })
        _ = avformat_find_stream_info(context, &options)
        settleStarts(besides: known)
        _ = LibraryLog.takeLastLine()
    }

    /// Whether streams may be described by their codecs' headers.
    ///
    /// Not so where a result depends on how far libavformat has read: the start of subtitles in Matroska, and the times of
    /// cameras' data.
    private var isDescribable: Bool {
        if format == .isoMedia { return !hasCameraData }
        return format == .matroska && !hasSubtitles
    }

    /// Whether the file states the end of every chapter.
    ///
    /// libavformat works out a missing one as it reads ahead.
    private var areChaptersWhole: Bool {
        (0..<Int(context.pointee.nb_chapters)).allSatisfy {
            context.pointee.chapters?[$0]?.pointee.end != shim_no_pts
        }
    }

    /// The format of a stream by the container's header; `nil` where it is complete already, and for covers.
    package func openFormat(ofStream index: Int) -> FormatDescription? {
        guard let stream = pointer(toStream: index), stream.pointee.codecpar.pointee.format == -1,
            stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
        else { return nil }
        return FormatDescription(stream)
    }

    /// The unit of a stream's time stamps.
    package func timeBase(ofStream index: Int) -> Rational? {
        pointer(toStream: index).flatMap { Rational($0.pointee.time_base) }
    }

    /// The beginning of a stream's first sample, where an index tells where that lies; else nothing.
    package func beginningOfFirstSample(ofStream index: Int, count: Int) -> [UInt8] {
        // What others' files hold lies elsewhere.
        guard !allowsNested, let stream = pointer(toStream: index),
            let entry = avformat_index_get_entry(stream, 0), entry.pointee.pos >= 0
        else { return [] }
        return (try? bytes(at: UInt64(entry.pointee.pos), count: min(count, max(0, Int(entry.pointee.size))))) ?? []
    }

    /// Whether a table of the container lists the times of all samples of a stream.
    ///
    /// Fragments have none.
    package func tellsAllTimes(ofStream index: Int) -> Bool {
        format == .isoMedia && (pointer(toStream: index)?.pointee.nb_frames ?? 0) > 0
    }

    /// Whether the start and, for pictures, the frame rate of a stream are known.
    ///
    /// - Parameter startIsListed: Whether the container's own tables tell when it begins, whatever libavformat says.
    private static func tellsTimes(_ stream: UnsafeMutablePointer<AVStream>, startIsListed: Bool) -> Bool {
        let fields = stream.pointee
        let hasStart = startIsListed || fields.start_time != shim_no_pts
        switch fields.codecpar.pointee.codec_type {
        case AVMEDIA_TYPE_VIDEO:
            return hasStart && fields.r_frame_rate.num > 0 && fields.avg_frame_rate.num > 0
        case AVMEDIA_TYPE_AUDIO: return hasStart
        default: return true
        }
    }

    private var hasCameraData: Bool {
        (0..<streamCount).contains { index in
            guard let stream = pointer(toStream: index), stream.pointee.nb_frames > 1 else { return false }
            let type = stream.pointee.codecpar.pointee.codec_type
            let isTold = [CodecParameters.tag("tmcd"), CodecParameters.tag("text")].contains(
                stream.pointee.codecpar.pointee.codec_tag)
            return (type == AVMEDIA_TYPE_DATA || type == AVMEDIA_TYPE_UNKNOWN) && !isTold
        }
    }

    private var hasSubtitles: Bool {
        (0..<streamCount).contains {
            pointer(toStream: $0)?.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_SUBTITLE
        }
    }

    private func write(_ facts: StreamFacts, into parameters: UnsafeMutablePointer<AVCodecParameters>) {
        func write<Number: BinaryInteger>(_ value: Int?, _ field: inout Number) {
            if let value { field = Number(clamping: value) }
        }
        write(facts.profile, &parameters.pointee.profile)
        write(facts.level, &parameters.pointee.level)
        // A decoder never holds back less than the container's times ask for.
        parameters.pointee.video_delay = max(
            parameters.pointee.video_delay, Int32(clamping: facts.reorderedPictures ?? 0))
        write(facts.bitsPerSample, &parameters.pointee.bits_per_raw_sample)
        if let format = facts.pixelFormat?.native { parameters.pointee.format = format.rawValue }
        if let ratio = facts.sampleAspectRatio?.native { parameters.pointee.sample_aspect_ratio = ratio }
        if let color = facts.color?.native {
            parameters.pointee.color_primaries = color.primaries
            parameters.pointee.color_trc = color.transfer
            parameters.pointee.color_space = color.matrix
            parameters.pointee.color_range = color.range
            parameters.pointee.chroma_location = color.chromaLocation
        }
        if let order = facts.fieldOrder { parameters.pointee.field_order = AVFieldOrder(name: order) }
        if let (format, isPlanar) = facts.sampleFormat {
            parameters.pointee.format = format.native(isPlanar: isPlanar).rawValue
        }
        write(facts.sampleRate, &parameters.pointee.sample_rate)
        write(facts.frameSize, &parameters.pointee.frame_size)
        if let layout = facts.channelLayout { try? layout.copy(into: &parameters.pointee.ch_layout) }
        let bits = Int64(av_get_bits_per_sample(parameters.pointee.codec_id))
        if parameters.pointee.bit_rate == 0, bits > 0 {
            let channels = Int64(parameters.pointee.ch_layout.nb_channels)
            let (samples, overflow) = Int64(parameters.pointee.sample_rate).multipliedReportingOverflow(by: channels)
            let rate = samples.multipliedReportingOverflow(by: bits)
            if !overflow, !rate.overflow { parameters.pointee.bit_rate = rate.partialValue }
        }
    }

    /// How many packets of a WAV file libavformat looks through for DTS that passes for 16-bit samples.
    ///
    /// One, unless a frame of DTS seems to begin in the first 64 kilobytes: each packet is held against every format
    /// that there is.
    static func probedPackets(ofWAV io: InputIO) -> Int32 {
        guard io.isSeekable else { return 16 }
        // Big and little end, 16 and 14 bits of a word (ETSI TS 102 114, 5.4).
        let marks: (UInt32, UInt32, UInt32, UInt32) = (0x7FFE_8001, 0xFE7F_0180, 0x1FFF_E800, 0xFF1F_00E8)
        var word: UInt32 = 0
        for byte in (try? io.bytes(at: 0, count: 1 << 16)) ?? [] {
            word = word << 8 | UInt32(byte)
            if word == marks.0 || word == marks.1 || word == marks.2 || word == marks.3 { return 16 }
        }
        return 1
    }
}
