import CFFmpeg
package import MediaBase

/// What libavformat knows of one stream, read off once as a value.
package struct StreamInfo: Sendable {
    /// Its place in the container, from 0.
    package var index: Int
    /// The container's own number of it (track ID, PID…).
    package var id: Int
    /// The unit of its time stamps.
    package var timeBase: Rational
    /// When its first sample is shown; `nil` where unknown.
    package var startTime: MediaTime?
    /// The header's word on how long it is; `nil` where unknown.
    package var duration: MediaTime?
    /// The header's word on how many samples it has; `nil` where unknown.
    package var frameCount: Int64?
    /// Frames a second that the container's header states, or the codec's; `nil` where neither does.
    package var statedFrameRate: Rational?
    /// Frames a second as libavformat supposes by the first time stamps, and as averaged over the file; `nil` where unknown.
    package var nominalFrameRate: Rational?
    /// See ``nominalFrameRate``.
    package var averageFrameRate: Rational?
    /// The names of the `AV_DISPOSITION_…` flags that are set, in the order of their bits.
    package var dispositions: [String]
    /// The stream's metadata, in its order.
    package var metadata: [(key: String, value: String)]
    /// The nine numbers of the display matrix; `nil` where there is none.
    package var displayMatrix: [Int32]?
    /// The stream's format.
    package var format: FormatDescription
    /// Further formats that samples may have, where the container describes several.
    package var furtherFormats: [FormatDescription] = []
    /// What the container says of colours, apart from the coded pictures; `nil` where it says nothing that is known.
    package var containerColor: ColorInfo?
    /// The size in which Matroska wants the cropped pictures to be shown; `nil` where the file does not say.
    package var containerDisplay: ContainerDisplay?
    /// The coded pictures' own word on the shape of a pixel; `nil` where they have none.
    package var codedPixelAspect: Rational?
    /// What the container says of fields: `progressive`, `tt` or `bb`; `nil` where it says nothing that is known.
    package var containerFieldOrder: String?
    /// The container's word on the stored picture, which libavformat replaces by the coded pictures'; `nil` where it has
    /// none.
    package var containerSize: Dimensions?
    /// The container's word on the samples a second; `nil` where it has none, or is not read.
    package var containerSampleRate: Int?
    /// Which loudspeakers the channels are for in stored order, by the container's word, where libavformat does not say
    /// it or has them in another order; `nil` else.
    package var containerSpeakers: [String]?
    /// The same as libav's own structure, for a muxer that takes the samples as they are.
    package var codecParameters: CodecParameters?
    /// The picture that a cover art stream holds; `nil` for other streams.
    package var attachedPicture: [UInt8]?

    /// What is said of a stream that is in no file.
    package init(
        index: Int, id: Int, timeBase: Rational, format: FormatDescription, metadata: [(key: String, value: String)]
    ) {
        self.index = index
        self.id = id
        self.timeBase = timeBase
        self.format = format
        self.metadata = metadata
        dispositions = []
    }

    init(_ stream: UnsafeMutablePointer<AVStream>, of context: UnsafeMutablePointer<AVFormatContext>) {
        let fields = stream.pointee
        index = Int(fields.index)
        id = Int(fields.id)
        timeBase = Rational(Int64(fields.time_base.num), Int64(fields.time_base.den))
        func time(_ ticks: Int64) -> MediaTime? {
            ticks == shim_no_pts ? nil : MediaTime(ticks: ticks, timeBase: fields.time_base)
        }
        startTime = time(fields.start_time)
        duration = fields.duration > 0 ? time(fields.duration) : nil
        frameCount = fields.nb_frames > 0 ? fields.nb_frames : nil
        nominalFrameRate = Rational(fields.r_frame_rate)
        averageFrameRate = Rational(fields.avg_frame_rate)
        dispositions = (0..<31).compactMap { bit in
            let flag = Int32(1) << bit
            guard fields.disposition & flag != 0 else { return nil }
            return av_disposition_to_string(flag).map { String(cString: $0) }
        }
        metadata = entries(of: fields.metadata)
        var size = 0
        if let matrix = shim_stream_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size), size >= 36 {
            displayMatrix = (0..<9).map { shim_display_matrix_at(matrix, $0) }
        }
        format = FormatDescription(stream)
        codedPixelAspect = fields.codecpar.flatMap { Rational($0.pointee.sample_aspect_ratio) }
        codecParameters = CodecParameters(stream)
        if fields.disposition & AV_DISPOSITION_ATTACHED_PIC != 0, let data = fields.attached_pic.data {
            attachedPicture = Array(UnsafeBufferPointer(start: data, count: max(0, Int(fields.attached_pic.size))))
        }
    }
}

// What the header says.

extension InputFile {
    /// How many streams there are at the moment; formats without a header may find more while reading.
    package var streamCount: Int { Int(context.pointee.nb_streams) }

    /// A stream's facts as a value.
    package func stream(_ index: Int) -> StreamInfo? {
        guard let stream = pointer(toStream: index) else { return nil }
        var info = StreamInfo(stream, of: context)
        info.statedFrameRate = statedFrameRates[index]
        return info
    }

    /// A stream's parameters, for a decoder.
    func pointer(toStream index: Int) -> UnsafeMutablePointer<AVStream>? {
        guard index >= 0, index < streamCount, let streams = context.pointee.streams else { return nil }
        return streams[index]
    }

    /// The container's metadata, in its order.
    package var metadata: [(key: String, value: String)] { entries(of: context.pointee.metadata) }

    /// Bits a second of the whole file, by the header or by its length and duration; `nil` where unknown.
    package var bitRate: Int64? {
        if context.pointee.bit_rate > 0 { return context.pointee.bit_rate }
        guard isDescribedByHeaders, let length, context.pointee.duration > 0 else { return nil }
        // As libavformat does when it reads ahead.
        return Int64(exactly: (Double(length) * 8_000_000 / Double(context.pointee.duration)).rounded(.towardZero))
    }

    /// The container's duration, rounded to a microsecond; `nil` where unknown.
    ///
    /// Streams know it exactly.
    package var duration: MediaTime? {
        let duration = context.pointee.duration
        return duration == shim_no_pts || duration < 0 ? nil : MediaTime(value: duration, timescale: 1_000_000)
    }

    /// The earliest start of a stream, rounded to a microsecond; `nil` where unknown.
    package var startTime: MediaTime? {
        let start = context.pointee.start_time
        return start == shim_no_pts ? nil : MediaTime(value: start, timescale: 1_000_000)
    }

    /// The chapters that the container lists.
    package var chapters: [Chapter] {
        let count = min(Int(context.pointee.nb_chapters), Limits.metadataItems)
        return (0..<count).compactMap { index in
            guard let chapter = context.pointee.chapters?[index]?.pointee else { return nil }
            let start = MediaTime(ticks: chapter.start, timeBase: chapter.time_base)
            let end = MediaTime(ticks: chapter.end, timeBase: chapter.time_base)
            let title = entries(of: chapter.metadata).first { $0.key == "title" }?.value
            return Chapter(timeRange: MediaTimeRange(start: start, duration: end - start), title: title)
        }
    }

    /// The programs of a transport stream: number, name, the packet identifier of their clock (`PCR_PID`; `nil` for none),
    /// and the indices of their streams.
    package var programs: [(number: Int, name: String?, clock: Int?, streams: [Int])] {
        (0..<min(Int(context.pointee.nb_programs), limits.streams)).compactMap { index in
            guard let program = context.pointee.programs?[index]?.pointee else { return nil }
            let streams = (0..<Int(program.nb_stream_indexes)).map { Int(program.stream_index[$0]) }
            let name = entries(of: program.metadata).first { $0.key == "service_name" }?.value
            // ISO/IEC 13818-1, 2.4.4.9: 0x1FFF stands for none.
            let clock = (1..<0x1FFF).contains(program.pcr_pid) ? Int(program.pcr_pid) : nil
            return (Int(program.id), name, clock, streams)
        }
    }
}
