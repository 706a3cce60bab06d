import CFFmpeg

// The index that a container has, or that reading has built, and seeking by it; edit lists are ignored.

extension InputFile {
    /// Seeks to the last sync sample whose decode time is `ticks` or earlier, ignoring edit lists.
    func seekStored(stream index: Int, to ticks: Int64) -> Bool {
        prepareForPackets()
        // Some demuxers read packets while they seek.
        io.readsAhead = true
        if io.isSlow { fetchSamples(stream: index, from: ticks) }
        return isSeekable && av_seek_frame(context, Int32(index), ticks, AVSEEK_FLAG_BACKWARD) >= 0
    }

    /// Has a slow source fetch the sync sample before a time in one request, with the samples that are decoded with it.
    private func fetchSamples(stream index: Int, from ticks: Int64) {
        guard let first = storedIndexPosition(stream: index, notAfter: ticks),
            let stream = pointer(toStream: index), let start = avformat_index_get_entry(stream, Int32(first)),
            start.pointee.pos >= 0
        else { return }
        var end = start.pointee.pos
        for position in first...first + Self.samplesAfterSeek {
            guard let entry = avformat_index_get_entry(stream, Int32(clamping: position)),
                case let (sum, overflow) = entry.pointee.pos.addingReportingOverflow(Int64(entry.pointee.size)),
                !overflow, sum >= start.pointee.pos, sum - start.pointee.pos <= Self.bytesAfterSeek.upperBound
            else { break }
            end = max(end, sum)
        }
        if start.pointee.size == 0 {
            // The index of Matroska names clusters without their sizes, and no other samples.
            let next = avformat_index_get_entry(stream, Int32(clamping: first + 1))?.pointee.pos ?? length ?? 0
            end = max(end, min(next, start.pointee.pos &+ Self.bytesAfterSeek.upperBound))
        }
        end = max(end, start.pointee.pos &+ Self.bytesAfterSeek.lowerBound)
        io.willRead(UInt64(start.pointee.pos)..<max(UInt64(start.pointee.pos), UInt64(clamping: end)))
    }

    /// The number of samples after a sync sample that show which frame follows it.
    private static let samplesAfterSeek = 8
    /// The minimum and maximum number of bytes to fetch at once after a seek.
    private static let bytesAfterSeek: ClosedRange<Int64> = 1 << 17...1 << 20

    /// Returns an entry of the index that the container has for a stream or that reading has built, ignoring edit
    /// lists.
    ///
    /// Uses `avformat_index_get_entry`. Time stamps are decode times in the stream's time base.
    func storedIndexEntry(stream index: Int, at position: Int) -> (ticks: Int64, isKey: Bool)? {
        guard let stream = pointer(toStream: index), let position = Int32(exactly: position),
            let entry = avformat_index_get_entry(stream, position)
        else { return nil }
        return (entry.pointee.timestamp, entry.pointee.flags & AVINDEX_KEYFRAME != 0)
    }

    /// True if the index ends with a sample of a selected stream that lies beyond the end of the file.
    package var isCutShort: Bool {
        guard let length else { return false }
        return (0..<streamCount).contains { index in
            guard let stream = pointer(toStream: index), stream.pointee.discard != AVDISCARD_ALL,
                case let count = avformat_index_get_entries_count(stream), count > 0,
                let last = avformat_index_get_entry(stream, count - 1)
            else { return false }
            let (end, overflow) = last.pointee.pos.addingReportingOverflow(Int64(last.pointee.size))
            return overflow || end > length
        }
    }

    /// Returns the index position of the last sample at `ticks` or earlier, ignoring edit lists; `nil` if there is
    /// none.
    ///
    /// Only sync samples count unless `isAny` is true.
    func storedIndexPosition(stream index: Int, notAfter ticks: Int64, ofAnySample isAny: Bool = false) -> Int? {
        guard let stream = pointer(toStream: index) else { return nil }
        let flags = AVSEEK_FLAG_BACKWARD | (isAny ? AVSEEK_FLAG_ANY : 0)
        let position = av_index_search_timestamp(stream, ticks, flags)
        return position < 0 ? nil : Int(position)
    }
}
