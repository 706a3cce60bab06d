import CFFmpeg
package import MediaBase

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
