import CFFmpeg
package import MediaBase

/// A reader of one stream in the order of its edit list, through its own opening of the file.
///
/// Each part is read from a sync sample that its first frame needs. Audio is read from slightly earlier to warm up the
/// decoder. Only one thread may use a reader at a time.
final class EditedStream {
    private unowned let owner: InputFile
    private let index: Int
    private let edits: StreamEdits
    /// The second opening of the file; `nil` if it was not needed yet or failed.
    private var file: InputFile?
    /// The index of the part being read.
    private var part = 0
    /// True if ``file`` was moved to the start of the part.
    private var isInPart = false
    /// The first packet after a seek, which was read to check the position.
    private var first: Packet?
    /// The number of entries of the media's index before each part's first one, followed by the total.
    private var indexSums: [Int]?
    /// The entry of the media's index with which each part starts.
    private var indexStarts: [Int] = []
    /// The parts of sync samples that are decoded before their part starts, by decode time.
    private var partsOfEarly: [Int64: Int] = [:]

    /// The duration of audio to decode before the audible samples, so that the decoder has the earlier data it needs.
    private static let preRoll = MediaTime(value: 1, timescale: 2)
    /// The maximum number of frames that H.264 and HEVC hold back.
    private static let maximumReordering = 16
    /// The maximum number of attempts to seek to an earlier sync sample if one is shown after the wanted time.
    private static let maximumSteps = 4

    init(of owner: InputFile, index: Int, _ edits: StreamEdits) {
        self.owner = owner
        self.index = index
        self.edits = edits
    }

    /// Returns the next packet at its presentation time; `nil` after the last part.
    func next() throws(MediaError) -> Packet? {
        while edits.parts.indices.contains(part) {
            let file = try opened()
            if !isInPart { try begin(file, at: edits.parts[part].firstPicture) }
            var read = first.take()
            if read == nil { read = try file.readStored() }
            guard let packet = read.take() else {
                leavePart()
                continue
            }
            guard packet.streamIndex == index else { continue }
            switch file.edit(packet, by: edits.parts[part], trims: edits.trims) {
            case .shown: return packet
            case .unused: continue
            case .over: leavePart()
            }
        }
        return nil
    }

    /// Seeks to the last sync sample whose decode time is the given presentation time or earlier.
    func seek(to time: Int64) -> Bool {
        part = partsOfEarly[time] ?? edits.part(at: time)
        guard edits.parts.indices.contains(part), let file = try? opened() else { return false }
        let wanted = edits.parts[part].mediaTime(at: time)
        return (try? begin(file, at: max(wanted, edits.parts[part].firstPicture))) != nil
    }

    private func leavePart() {
        part += 1
        isInPart = false
        first = nil
    }

    private func opened() throws(MediaError) -> InputFile {
        if let file { return file }
        let opened = try owner.openedAgain()
        opened.select(streams: [index])
        file = opened
        return opened
    }

    /// Moves the file so that decoding can start for a media time.
    private func begin(_ file: InputFile, at moment: Int64) throws(MediaError) {
        isInPart = true
        first = nil
        guard let stream = file.pointer(toStream: index) else { return }
        var target = moment
        if stream.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO,
            let timeBase = Rational(stream.pointee.time_base),
            let ticks = Self.preRoll.ticks(in: timeBase, rounding: .up)
        {
            target = target.subtractingClamped(ticks)
        }
        for _ in 0..<Self.maximumSteps {
            guard file.seekStored(stream: index, to: target) else { break }
            guard let packet = try file.readStored() else { break }
            let (shown, decoded) = (packet.pts ?? packet.dts ?? .min, packet.dts)
            first = consume packet
            guard shown > moment, let decoded, decoded > .min else { return }
            target = min(target, decoded).subtractingClamped(1)
        }
        first = nil
        _ = file.seekStored(stream: index, to: .min / 2)
    }
}

// MARK: - The index

extension EditedStream {
    /// Returns an entry of the media's index with its time in the presentation; positions count through all parts.
    func indexEntry(at position: Int) -> (ticks: Int64, isKey: Bool)? {
        guard let (sums, file) = counted(), position >= 0, position < sums.last ?? 0 else { return nil }
        var (number, end) = (0, edits.parts.count - 1)
        while number < end {
            let middle = number + (end - number + 1) / 2
            if sums[middle] <= position { number = middle } else { end = middle - 1 }
        }
        let place = indexStarts[number] + position - sums[number]
        guard let entry = file.storedIndexEntry(stream: index, at: place) else { return nil }
        let shown = edits.parts[number]
        let time = shown.time(ofMedia: entry.ticks)
        if time < shown.start, entry.isKey { partsOfEarly[time] = number }
        return (time, entry.isKey)
    }

    /// Returns the position of the last sync sample that is decoded at a time or earlier; `nil` if there is none.
    func indexOfKeyframe(notAfter time: Int64) -> Int? {
        guard let (sums, file) = counted() else { return nil }
        var number = edits.part(at: time)
        while number >= 0, edits.parts.indices.contains(number) {
            let media = edits.parts[number].mediaTime(at: time)
            if let found = file.storedIndexPosition(stream: index, notAfter: media) {
                let place = min(found, indexStarts[number] + sums[number + 1] - sums[number] - 1)
                if place >= indexStarts[number] { return sums[number] + place - indexStarts[number] }
            }
            number -= 1
        }
        return nil
    }

    /// Returns a sync sample of the media's index, by its position, from which a frame can be decoded.
    ///
    /// The index contains decode times, and a few samples that are decoded before a frame may be shown after it. The
    /// result may therefore be an earlier sync sample than needed.
    private func firstEntry(for picture: Int64, of file: InputFile) -> Int {
        let last = file.storedIndexPosition(stream: index, notAfter: picture) ?? 0
        guard let early = file.storedIndexEntry(stream: index, at: max(0, last - Self.maximumReordering))
        else { return 0 }
        return file.storedIndexPosition(stream: index, notAfter: early.ticks) ?? 0
    }

    private func counted() -> (sums: [Int], file: InputFile)? {
        guard let file = try? opened() else { return nil }
        if let indexSums { return (indexSums, file) }
        var sums = [0]
        for part in edits.parts {
            let start = firstEntry(for: part.firstPicture, of: file)
            let end =
                file.storedIndexPosition(
                    stream: index, notAfter: part.mediaEnd.subtractingClamped(1), ofAnySample: true) ?? start
            indexStarts.append(start)
            sums.append(sums[sums.count - 1].addingClamped(max(0, end - start + 1)))
        }
        indexSums = sums
        return (sums, file)
    }
}

/// The presentation of a stream's media, in ticks of its time base: a container's edit list, as read by this package.
///
/// libavformat is configured to ignore edit lists, so that times do not depend on its version. ``InputFile`` assigns to
/// packets the times that these parts specify.
package struct StreamEdits: Hashable, Sendable {
    /// A stretch of the media that is shown without interruption.
    package struct Part: Hashable, Sendable {
        /// The start time on the presentation timeline.
        package var start: Int64
        /// The end time on the presentation timeline; `Int64.max` if the part continues to the end of the media.
        package var end: Int64
        /// The media time that is shown at the start.
        package var mediaStart: Int64
        /// The media time at which the frame starts that is shown at ``mediaStart``; for audio, the same as that.
        package var firstPicture: Int64
        /// The speed relative to normal; 0 if one moment of the media stands still.
        package var rate: Rational

        package init(start: Int64, end: Int64, mediaStart: Int64, firstPicture: Int64, rate: Rational) {
            self.start = start
            self.end = end
            self.mediaStart = mediaStart
            self.firstPicture = min(firstPicture, mediaStart)
            self.rate = rate
        }
    }

    /// The parts in the order of the presentation; the presentation is empty between them.
    package var parts: [Part]

    /// Creates edits from their parts.
    ///
    /// - Parameter parts: The parts in order; consecutive parts that continue each other are merged.
    package init(_ parts: [Part]) {
        self.parts = parts.reduce(into: []) { joined, part in
            if let last = joined.last, last.end == part.start, last.rate == .one, part.rate == .one,
                last.mediaEnd == part.mediaStart
            {
                joined[joined.count - 1].end = part.end
            } else {
                joined.append(part)
            }
        }
    }

    /// The only part, if it plays at normal speed; `nil` if there are several parts or another speed.
    var simple: Part? { parts.count == 1 && parts[0].rate == .one ? parts[0] : nil }

    /// True if the decoder must skip the audio samples that lie outside the parts.
    ///
    /// Readers cut samples before time zero and after the end in any case.
    package var trims: Bool { parts.count > 1 || parts.contains { $0.start > 0 && $0.mediaStart > 0 } }

    /// Returns the time at which a media time is first shown, or at which the part after it starts.
    ///
    /// The media time is returned unchanged if there are no parts.
    package func time(ofMedia ticks: Int64) -> Int64 {
        guard let part = parts.first(where: { ticks < $0.mediaEnd }) ?? parts.last else { return ticks }
        return max(part.start, part.time(ofMedia: ticks))
    }

    /// Returns the index of the part that is shown at a time, or of the one before it; 0 if there is none before.
    func part(at time: Int64) -> Int {
        var (low, high) = (0, parts.count)
        while low < high {
            let middle = low + (high - low) / 2
            if parts[middle].start <= time { low = middle + 1 } else { high = middle }
        }
        return max(0, low - 1)
    }
}

extension StreamEdits.Part {
    /// The media time at which the part ends; just after ``mediaStart`` if the media stands still.
    package var mediaEnd: Int64 {
        if end == .max { return .max }
        if rate.num == 0 { return mediaStart.addingClamped(1) }
        return mediaStart.addingClamped(scaled(end.subtractingClamped(start), by: rate))
    }

    /// Returns the time at which a media time is shown.
    ///
    /// Media before the part's start is treated as if it played at normal speed until there.
    func time(ofMedia ticks: Int64) -> Int64 {
        let passed = ticks.subtractingClamped(mediaStart)
        guard passed > 0, rate != .one else { return start.addingClamped(passed) }
        guard let slowness = rate.inverse else { return start }
        return start.addingClamped(scaled(passed, by: slowness))
    }

    /// Returns the media time that is shown at a time.
    func mediaTime(at time: Int64) -> Int64 {
        let passed = time.subtractingClamped(start)
        guard passed > 0, rate != .one else { return mediaStart.addingClamped(passed) }
        return mediaStart.addingClamped(scaled(passed, by: rate))
    }

    /// Returns the duration for which a duration of the media is shown.
    func duration(ofMedia ticks: Int64) -> Int64 {
        rate == .one || rate.num == 0 ? ticks : scaled(ticks, by: rate.inverse ?? .one)
    }

    private func scaled(_ ticks: Int64, by factor: Rational) -> Int64 {
        guard factor != .one else { return ticks }
        return Rational(ticks, 1).multiplied(by: factor)?.rounded() ?? .max
    }
}
