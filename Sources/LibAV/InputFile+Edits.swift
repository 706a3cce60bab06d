import CFFmpeg
import MediaBase

// Packets at the times that the container's edit list assigns to them.

extension InputFile {
    /// The maximum shift from the media's own times for streams that are read together with others.
    ///
    /// A stream with a larger shift is read through its own opening of the file.
    private static let maximumShift = MediaTime(value: 2, timescale: 1)

    /// Makes ``readPacket()``, ``seek(stream:to:)`` and the index use presentation times.
    ///
    /// A stream whose edit list is only a small shift is read together with the others. A stream is read through its
    /// own opening of the file if its edit list jumps in the media, changes the speed or lies far from the other
    /// streams. Its packets are merged with the others in order of time. Call this method before reading any packet.
    ///
    /// - Parameters:
    ///   - edits: The edits by stream index, in ticks of each stream's time base.
    ///   - times: The sample times stated by the container's own tables, without edits, by stream index.
    ///   - jumps: The jumps of the container's clock.
    package func apply(_ edits: [Int: StreamEdits], _ times: [Int: ListedTimes], _ jumps: ClockJumps) {
        self.edits = edits
        clockJumps = jumps
        self.times = times
        for (index, times) in times {
            // libavformat reports the start only after it has read packets.
            guard let start = times.start, let stream = pointer(toStream: index),
                stream.pointee.start_time == shim_no_pts
            else { continue }
            stream.pointee.start_time = start
        }
        edited = [:]
        for (index, list) in edits where !isReadWithOthers(index, list) {
            pointer(toStream: index)?.pointee.discard = AVDISCARD_ALL
            edited[index] = EditedStream(of: self, index: index, list)
        }
    }

    private func isReadWithOthers(_ index: Int, _ list: StreamEdits) -> Bool {
        guard let part = list.simple, let stream = pointer(toStream: index) else { return false }
        let most = Self.maximumShift
        let (start, media) = (
            MediaTime(ticks: part.start, timeBase: stream.pointee.time_base),
            MediaTime(ticks: part.mediaStart, timeBase: stream.pointee.time_base)
        )
        return media <= most && (start <= most || streamCount == 1)
    }

    /// Opens the same file again at its start, for a stream that is read separately.
    func openedAgain() throws(MediaError) -> InputFile {
        let source = spool.map { InputSource.descriptor($0.descriptor) } ?? source
        let file = try InputFile(
            opening: source, allowsNested: allowsNested, readsAhead: false, limits: limits,
            recordedBy: spool == nil ? io.record : nil)
        file.times = times
        return file
    }

    /// The effect of an edit-list part on a packet.
    enum Edited {
        /// The packet is used, with changed times.
        case shown
        /// The packet is not used.
        case unused
        /// Neither this packet nor any later one in the media is used.
        case over
    }

    /// Changes a packet's times to presentation times.
    ///
    /// - Parameter trims: Whether the decoder skips audio samples outside the part, as required if other parts follow.
    ///   Otherwise the samples keep their places and the reader cuts them.
    func edit(
        _ packet: borrowing Packet, by part: StreamEdits.Part, trims: Bool
    ) -> Edited {
        guard let stream = pointer(toStream: packet.streamIndex) else { return .unused }
        let native = packet.pointer
        let (shown, decoded) = (packet.pts, packet.dts)
        guard let media = shown ?? decoded else { return .shown }
        let time = part.time(ofMedia: media)
        native.pointee.dts = decoded.map { part.time(ofMedia: $0) } ?? shim_no_pts
        if shown != nil { native.pointee.pts = time }
        defer { native.pointee.duration = part.duration(ofMedia: native.pointee.duration) }
        switch stream.pointee.codecpar.pointee.codec_type {
        case AVMEDIA_TYPE_AUDIO:
            guard media < part.mediaEnd else { return .over }
            // Audio that stands still or would have another pitch is replaced by silence.
            guard part.rate == .one else { return .unused }
            if trims { trim(packet, at: media, by: part, rate: stream.pointee.codecpar.pointee.sample_rate) }
        case AVMEDIA_TYPE_VIDEO:
            if media < part.firstPicture {
                native.pointee.flags |= AV_PKT_FLAG_DISCARD
            } else if media >= part.mediaEnd {
                if (decoded ?? media) >= part.mediaEnd { return .over }
                // Frames that are shown before this one need it.
                native.pointee.flags |= AV_PKT_FLAG_DISCARD
            } else if time < part.start {
                native.pointee.pts = part.start
                native.pointee.duration = shortened(packet.duration, to: media.addingClamped(packet.duration), part)
            }
        default:
            guard media < part.mediaEnd else { return .over }
            let end = media.addingClamped(packet.duration)
            if media < part.mediaStart {
                guard end > part.mediaStart else { return .unused }
                native.pointee.pts = part.start
                native.pointee.dts = part.start
                native.pointee.duration = shortened(packet.duration, to: end, part)
            }
        }
        return .shown
    }

    /// Returns the remaining duration of a sample that starts before the part and ends at a given media time.
    private func shortened(_ duration: Int64, to end: Int64, _ part: StreamEdits.Part) -> Int64 {
        duration > 0 ? max(1, end.subtractingClamped(part.mediaStart)) : duration
    }

    /// Makes the decoder skip the samples of a packet that lie outside a part.
    private func trim(_ packet: borrowing Packet, at media: Int64, by part: StreamEdits.Part, rate: Int32) {
        guard packet.duration > 0, let stream = pointer(toStream: packet.streamIndex) else { return }
        let end = media.addingClamped(packet.duration)
        guard end > part.mediaStart else {
            packet.pointer.pointee.flags |= AV_PKT_FLAG_DISCARD
            return
        }
        func samples(_ ticks: Int64) -> Int {
            let time = MediaTime(ticks: max(0, ticks), timeBase: stream.pointee.time_base)
            return time.sampleIndex(rate: rate, rounding: .halfAwayFromZero).map { Int(clamping: $0) } ?? 0
        }
        packet.leaveOut(
            first: samples(part.mediaStart.subtractingClamped(media)),
            last: part.mediaEnd == .max ? 0 : samples(end.subtractingClamped(part.mediaEnd)))
    }
}

// MARK: - Reading

/// The next packet of the file or of a separately read stream.
final class ReadHead {
    /// The index of the separately read stream; `nil` for the file's own packets.
    let stream: Int?
    /// The packet that was read ahead; `nil` after it was taken.
    private var packet: Packet?
    /// The decode time of the packet; `nil` if there is no packet.
    private(set) var time: MediaTime?
    /// True if all packets were read.
    var isOver = false

    init(stream: Int?) { self.stream = stream }

    /// Keeps a packet until its turn; a packet without a decode time comes first.
    func keep(_ packet: consuming Packet, decodedAt time: MediaTime?) {
        self.packet = consume packet
        self.time = time ?? .negativeInfinity
    }

    /// Removes and returns the waiting packet.
    func take() -> Packet? {
        time = nil
        return packet.take()
    }
}

extension InputFile {
    /// Returns the next packet of a file some of whose streams have edits.
    func readEdited() throws(MediaError) -> Packet? {
        edited.isEmpty ? try readFile() : try readInTurn()
    }

    /// Returns the next packet of a stream that is not read separately.
    private func readFile() throws(MediaError) -> Packet? {
        while !isOver, let packet = try readStored() {
            let index = packet.streamIndex
            guard let list = edits[index], let part = list.simple else { return packet }
            switch edit(packet, by: part, trims: list.trims) {
            case .shown: return packet
            case .unused: continue
            case .over: finished.insert(index)
            }
        }
        return nil
    }

    /// Returns the packet with the earliest decode time of the file's own and the separately read streams.
    private func readInTurn() throws(MediaError) -> Packet? {
        if heads.isEmpty {
            let apart = edited.keys.sorted().filter { selection?.contains($0) ?? true }
            let hasOthers = selection?.contains { edited[$0] == nil } ?? true
            heads = (hasOthers ? [ReadHead(stream: nil)] : []) + apart.map { ReadHead(stream: $0) }
        }
        for head in heads where head.time == nil && !head.isOver {
            let read: Packet? = if let stream = head.stream { try edited[stream]?.next() } else { try readFile() }
            guard let packet = read else {
                head.isOver = true
                continue
            }
            let stream = pointer(toStream: packet.streamIndex)
            let time = (packet.dts ?? packet.pts).flatMap { ticks in
                stream.map { MediaTime(ticks: ticks, timeBase: $0.pointee.time_base) }
            }
            head.keep(packet, decodedAt: time)
        }
        return heads.filter { $0.time != nil }.min { ($0.time ?? .zero) < ($1.time ?? .zero) }?.take()
    }

    /// True if the edit lists of all selected streams have ended.
    private var isOver: Bool {
        guard let selection, !finished.isEmpty else { return false }
        return selection.allSatisfy { finished.contains($0) || edited[$0] != nil }
    }
}

// MARK: - Seeking and the index

extension InputFile {
    /// Seeks to the last sync sample whose decode time is `ticks` (in the stream's time base) or earlier.
    ///
    /// The other selected streams move to the same time or earlier.
    ///
    /// - Returns: True if the demuxer was able to seek; otherwise the position is undefined.
    package func seek(stream index: Int, to ticks: Int64) -> Bool {
        (heads, finished) = ([], [])
        guard !edits.isEmpty, let stream = pointer(toStream: index) else {
            return seekStored(stream: index, to: ticks)
        }
        let time = MediaTime(ticks: ticks, timeBase: stream.pointee.time_base)
        let wanted = selection ?? Set(0..<streamCount)
        for (other, reader) in edited where other == index || wanted.contains(other) {
            let ticks = other == index ? ticks : pointer(toStream: other).flatMap { time.ticks(in: $0) } ?? .min
            guard reader.seek(to: ticks) else { return false }
        }
        guard edited[index] == nil else {
            // Moves the file's own packets to the earliest position that one of their streams needs.
            guard let other = wanted.first(where: { edited[$0] == nil }), let base = pointer(toStream: other)
            else { return true }
            return seekStored(stream: other, to: mediaTicks(ofStream: other, at: time.ticks(in: base) ?? .min))
        }
        return seekStored(stream: index, to: mediaTicks(ofStream: index, at: ticks))
    }

    /// Returns the media time of a stream to seek to for a presentation time.
    ///
    /// The time is early enough for the selected stream whose presentation is latest relative to its media's own times.
    private func mediaTicks(ofStream index: Int, at ticks: Int64) -> Int64 {
        guard let stream = pointer(toStream: index) else { return ticks }
        let read = (selection ?? Set(0..<streamCount)).filter { edited[$0] == nil }
        let latest = read.map(shift).max() ?? .zero
        let shift = max(latest, shift(ofStream: index)).ticks(in: stream, rounding: .up) ?? 0
        return ticks.subtractingClamped(shift)
    }

    /// Returns the difference between a stream's presentation times and its media's own times.
    private func shift(ofStream index: Int) -> MediaTime {
        guard let part = edits[index]?.simple, let stream = pointer(toStream: index) else { return .zero }
        return MediaTime(
            ticks: part.start.subtractingClamped(part.mediaStart), timeBase: stream.pointee.time_base)
    }

    /// Seeks to a byte offset and discards parsed data; for streams of packets without a header.
    package func seek(toByte position: Int64) -> Bool {
        prepareForPackets()
        (clockPositions, clockStart) = ([:], position)
        return isSeekable && av_seek_frame(context, -1, position, AVSEEK_FLAG_BYTE) >= 0
    }

    /// Returns an entry of the index that the container has for a stream or that reading has built so far.
    ///
    /// Time stamps are decode times on the presentation timeline, in the stream's time base.
    package func indexEntry(stream index: Int, at position: Int) -> (ticks: Int64, isKey: Bool)? {
        if let reader = edited[index] { return reader.indexEntry(at: position) }
        guard let entry = storedIndexEntry(stream: index, at: position) else { return nil }
        guard let part = edits[index]?.simple else { return entry }
        return (part.time(ofMedia: entry.ticks), entry.isKey)
    }

    /// Returns the index position of the last sync sample at `ticks` or earlier; `nil` if there is none.
    package func indexOfKeyframe(stream index: Int, notAfter ticks: Int64) -> Int? {
        if let reader = edited[index] { return reader.indexOfKeyframe(notAfter: ticks) }
        let media = edits[index]?.simple?.mediaTime(at: ticks) ?? ticks
        return storedIndexPosition(stream: index, notAfter: media)
    }
}

extension MediaTime {
    /// Returns the time in a stream's ticks; `nil` if it is not numeric or out of range.
    fileprivate func ticks(
        in stream: UnsafeMutablePointer<AVStream>, rounding rule: RoundingRule = .down
    ) -> Int64? {
        Rational(stream.pointee.time_base).flatMap { ticks(in: $0, rounding: rule) }
    }
}

extension Packet {
    /// Sets the numbers of samples to skip at the packet's start and end (`AV_PKT_DATA_SKIP_SAMPLES`).
    ///
    /// The numbers replace those of the demuxer. Call this method before the packet is shared.
    func leaveOut(first: Int, last: Int) {
        var size = 0
        var data = av_packet_get_side_data(pointer, AV_PKT_DATA_SKIP_SAMPLES, &size)
        if data == nil || size < 10 {
            guard first > 0 || last > 0 else { return }
            data = av_packet_new_side_data(pointer, AV_PKT_DATA_SKIP_SAMPLES, 10)
        }
        guard let data else { return }
        data.update(repeating: 0, count: 10)
        for (place, number) in [first, last].enumerated() {
            for byte in 0..<4 { data[4 * place + byte] = UInt8(truncatingIfNeeded: number >> (8 * byte)) }
        }
    }
}
