import CFFmpeg
package import MediaBase

// Determines the parameters of every stream from the codecs' own headers, or else by libavformat's read-ahead.

/// The properties of a stream that its codec's header states.
///
/// If a property is `nil`, the container's value is kept.
package struct StreamFacts: Sendable, Hashable {
    /// The profile, as numbered by libavcodec.
    package var profile: Int?
    /// The level, as numbered by the codec.
    package var level: Int?
    /// The maximum number of frames that a decoder may hold back because others are shown earlier.
    package var reorderedPictures: Int?
    /// The pixel format of decoded frames.
    package var pixelFormat: PixelFormat?
    /// The pixel aspect ratio that the codec states.
    package var sampleAspectRatio: Rational?
    /// The number of significant bits in a video or audio sample.
    package var bitsPerSample: Int?
    /// The primaries, transfer, matrix and range: the codec's, or the container's if the codec states none.
    package var color: ColorInfo?
    /// The field order.
    package var fieldOrder: FieldOrder?
    /// The storage format of decoded audio; `isPlanar` is true if each channel has its own plane.
    package var sampleFormat: (SampleFormat, isPlanar: Bool)? {
        get { storedSampleFormat.map { ($0, arePlanes) } }
        set { (storedSampleFormat, arePlanes) = (newValue?.0, newValue?.isPlanar ?? false) }
    }
    /// The sample rate of decoded audio in Hz.
    package var sampleRate: Int?
    /// The channels of decoded audio.
    package var channelLayout: ChannelLayout?
    /// The number of samples in each packet, if it is constant.
    package var frameSize: Int?
    /// The start time of the stream, in its time base.
    package var startTicks: Int64?
    private var storedSampleFormat: SampleFormat?
    private var arePlanes = false

    /// Creates a value without any known properties.
    package init() {}
}

extension InputFile {
    /// A function that names the ranges of a file that its header and its index take, so that they are fetched in few
    /// requests; it reads what it needs for that.
    package typealias HeaderLocator =
        (ContainerFormat, _ source: any ByteSource, _ willRead: (Range<UInt64>) -> Void) throws(MediaError) -> Void

    /// The bytes of the file, for a ``HeaderLocator``.
    struct HeaderSource: ByteSource {
        let io: InputIO
        var size: UInt64? { io.length.flatMap { UInt64(exactly: $0) } }
        func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] {
            try io.bytes(at: offset, count: count)
        }
    }

    /// A function that returns, by stream index, the facts that codecs' headers state.
    ///
    /// The facts of a stream comprise everything that a decoder would find out about it.
    package typealias Describer = (InputFile) -> [Int: StreamFacts]

    /// Determines each stream's parameters.
    ///
    /// In MP4, QuickTime and Matroska, a stream whose codec's header states everything is described by that header. If
    /// all streams are described and the container states times and rates, no packet is read. Otherwise libavformat
    /// reads ahead for the remaining information.
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
        // For MP4 and QuickTime, this is all that is needed to read packets. For Matroska, decode times are still
        // missing.
        isReadyForPackets = isAllKnown && format == .isoMedia
        if !isAllKnown { prepareForPackets() }
    }

    /// True if streams may be described by their codecs' headers.
    ///
    /// This is not allowed if a result depends on how far libavformat has read: the start of subtitles in Matroska, and
    /// the times of camera data.
    private var isDescribable: Bool {
        if format == .isoMedia { return !hasCameraData }
        return format == .matroska && !hasSubtitles
    }

    /// True if the file states the end of every chapter.
    ///
    /// libavformat computes a missing end while it reads ahead.
    private var areChaptersWhole: Bool {
        (0..<Int(context.pointee.nb_chapters)).allSatisfy {
            context.pointee.chapters?[$0]?.pointee.end != shim_no_pts
        }
    }

    /// Returns a stream's format from the container's header; `nil` if it is already complete, and for cover pictures.
    package func openFormat(ofStream index: Int) -> FormatDescription? {
        guard let stream = pointer(toStream: index), stream.pointee.codecpar.pointee.format == -1,
            stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
        else { return nil }
        return FormatDescription(stream)
    }

    /// Returns a stream's time base.
    package func timeBase(ofStream index: Int) -> Rational? {
        pointer(toStream: index).flatMap { Rational($0.pointee.time_base) }
    }

    /// Returns the first bytes of a stream's first sample if an index states its position; otherwise an empty array.
    package func beginningOfFirstSample(ofStream index: Int, count: Int) -> [UInt8] {
        // Samples in nested files are not at this position of this file.
        guard !allowsNested, let stream = pointer(toStream: index),
            let entry = avformat_index_get_entry(stream, 0), entry.pointee.pos >= 0
        else { return [] }
        return (try? bytes(at: UInt64(entry.pointee.pos), count: min(count, max(0, Int(entry.pointee.size))))) ?? []
    }

    /// Returns true if a table of the container lists the times of all samples of a stream.
    ///
    /// Fragments have no such table.
    package func tellsAllTimes(ofStream index: Int) -> Bool {
        format == .isoMedia && (pointer(toStream: index)?.pointee.nb_frames ?? 0) > 0
    }

    /// Returns true if the start and, for video, the frame rate of a stream are known.
    ///
    /// - Parameter startIsListed: Whether the container's own tables state the start, regardless of libavformat.
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
        // A decoder never holds back fewer frames than the container's times require.
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
        if let order = facts.fieldOrder { parameters.pointee.field_order = AVFieldOrder(order) }
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

    /// Returns the number of packets of a WAV file that libavformat examines for DTS disguised as 16-bit samples.
    ///
    /// The number is 1 unless a DTS frame seems to start in the first 64 kilobytes, because libavformat compares each
    /// packet with every known format.
    static func probedPackets(ofWAV io: InputIO) -> Int32 {
        guard io.isSeekable else { return 16 }
        // The big-endian and little-endian sync words with 16 and 14 bits per word (ETSI TS 102 114, 5.4).
        let marks: (UInt32, UInt32, UInt32, UInt32) = (0x7FFE_8001, 0xFE7F_0180, 0x1FFF_E800, 0xFF1F_00E8)
        var word: UInt32 = 0
        for byte in (try? io.bytes(at: 0, count: 1 << 16)) ?? [] {
            word = word << 8 | UInt32(byte)
            if word == marks.0 || word == marks.1 || word == marks.2 || word == marks.3 { return 16 }
        }
        return 1
    }
}
