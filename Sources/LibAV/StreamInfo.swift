import CFFmpeg
package import MediaBase

/// The properties of one stream that libavformat knows, copied once to a value.
package struct StreamInfo: Sendable {
    /// The index in the container, from 0.
    package var index: Int
    /// The container's own number for the stream (track ID, PID…).
    package var id: Int
    /// The unit of the time stamps.
    package var timeBase: Rational
    /// The presentation time of the first sample; `nil` if unknown.
    package var startTime: MediaTime?
    /// The duration that the header states; `nil` if unknown.
    package var duration: MediaTime?
    /// The number of samples that the header states; `nil` if unknown.
    package var frameCount: Int64?
    /// The frames per second that the container's header or the codec states; `nil` if neither does.
    package var statedFrameRate: Rational?
    /// The frames per second that libavformat infers from the first time stamps; `nil` if unknown.
    package var nominalFrameRate: Rational?
    /// The frames per second averaged over the file; `nil` if unknown.
    package var averageFrameRate: Rational?
    /// The names of the `AV_DISPOSITION_…` flags that are set, in the order of their bits.
    package var dispositions: [String]
    /// The stream's metadata, in stored order.
    package var metadata: [(key: String, value: String)]
    /// The nine numbers of the display matrix; `nil` if there is none.
    package var displayMatrix: [Int32]?
    /// The stream's format.
    package var format: FormatDescription
    /// The additional formats that samples may have if the container describes several.
    package var furtherFormats: [FormatDescription] = []
    /// The colours that the container states, apart from the coded pictures; `nil` if it states none that are known.
    package var containerColor: ColorInfo?
    /// The size at which Matroska requests the cropped frames to be shown; `nil` if the file does not state it.
    package var containerDisplay: ContainerDisplay?
    /// The pixel aspect ratio that the coded pictures state; `nil` if they state none.
    package var codedPixelAspect: Rational?
    /// The field order that the container states; `nil` if it states none that is known.
    package var containerFieldOrder: FieldOrder?
    /// The size of the stored pictures that the container states; `nil` if it states none.
    ///
    /// libavformat replaces this size with that of the coded pictures.
    package var containerSize: Dimensions?
    /// The sample rate that the container states; `nil` if it states none or if the rate is not read.
    package var containerSampleRate: Int?
    /// The speakers of the channels in stored order, as stated by the container; otherwise `nil`.
    ///
    /// The value is set only if libavformat does not report the speakers or reports them in another order.
    package var containerSpeakers: [String]?
    /// The same properties as libav's own structure, for a muxer that stores the samples unchanged.
    package var codecParameters: CodecParameters?
    /// The picture in a cover art stream; `nil` for other streams.
    package var attachedPicture: [UInt8]?

    /// Creates the description of a stream that is not in a file.
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

// Properties that the header states.

extension InputFile {
    /// The current number of streams; formats without a header may find more while reading.
    package var streamCount: Int { Int(context.pointee.nb_streams) }

    /// Returns the properties of a stream as a value.
    package func stream(_ index: Int) -> StreamInfo? {
        guard let stream = pointer(toStream: index) else { return nil }
        var info = StreamInfo(stream, of: context)
        info.statedFrameRate = statedFrameRates[index]
        return info
    }

    /// Returns libavformat's structure for a stream; `nil` if there is no such stream.
    func pointer(toStream index: Int) -> UnsafeMutablePointer<AVStream>? {
        guard index >= 0, index < streamCount, let streams = context.pointee.streams else { return nil }
        return streams[index]
    }

    /// The container's metadata, in stored order.
    package var metadata: [(key: String, value: String)] { entries(of: context.pointee.metadata) }

    /// The bits per second of the whole file, from the header or from its length and duration; `nil` if unknown.
    package var bitRate: Int64? {
        if context.pointee.bit_rate > 0 { return context.pointee.bit_rate }
        guard isDescribedByHeaders, let length, context.pointee.duration > 0 else { return nil }
        // libavformat computes the same when it reads ahead.
        return Int64(exactly: (Double(length) * 8_000_000 / Double(context.pointee.duration)).rounded(.towardZero))
    }

    /// The container's duration, rounded to a microsecond; `nil` if unknown.
    ///
    /// The streams have exact durations.
    package var duration: MediaTime? {
        let duration = context.pointee.duration
        return duration == shim_no_pts || duration < 0 ? nil : MediaTime(value: duration, timescale: 1_000_000)
    }

    /// True if the duration is an estimate from the size of the file and a bit rate.
    package var isDurationEstimated: Bool {
        context.pointee.duration_estimation_method == AVFMT_DURATION_FROM_BITRATE
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

    /// The programs of a transport stream: number, name, clock and the indices of their streams.
    ///
    /// The clock is a packet identifier (`PCR_PID`); `nil` if there is none.
    package var programs: [(number: Int, name: String?, clock: Int?, streams: [Int])] {
        (0..<min(Int(context.pointee.nb_programs), limits.streams)).compactMap { index in
            guard let program = context.pointee.programs?[index]?.pointee else { return nil }
            let streams = (0..<Int(program.nb_stream_indexes)).map { Int(program.stream_index[$0]) }
            let name = entries(of: program.metadata).first { $0.key == "service_name" }?.value
            // 0x1FFF means that there is no clock (ISO/IEC 13818-1, 2.4.4.9).
            let clock = (1..<0x1FFF).contains(program.pcr_pid) ? Int(program.pcr_pid) : nil
            return (Int(program.id), name, clock, streams)
        }
    }
}
