import ISOMedia
import LibAV
import MediaBase

// Edit lists as our own reader has them: libavformat is told to leave them alone.

extension ISOMovie {
    /// The parts of a stream's media that the presentation shows, in ticks of the stream's time base; `nil` where the media
    /// plays from its start.
    ///
    /// Without an edit list, sound plays as iTunes says it (`iTunSMPB`).
    ///
    /// - Parameter warnings: Gets a sentence on sound that cannot be played as the list says.
    func edits(
        of stream: StreamInfo, besides metadata: [(key: String, value: String)], warnings: inout [String]
    ) -> StreamEdits? {
        guard let id = UInt32(exactly: stream.id), let track = header.track(id: id) else { return nil }
        let segments = TrackEdits(track, in: header).segments
        guard segments.contains(where: { $0.mediaStart != nil }) else {
            let text = metadata.first { $0.key == "iTunSMPB" }?.value
            guard segments.isEmpty, let delay = text.flatMap({ EncoderDelay(iTunes: $0) }) else { return nil }
            return delay.edits(of: stream, media: track.tables?.timeToSample.flatMap { Int64(exactly: $0.duration) })
        }
        if stream.format.audio != nil, segments.contains(where: { $0.mediaStart != nil && $0.rate != .one }) {
            warnings.append("the edit list of track \(id) changes the speed of its sound, which is silent there")
        }
        var parts: [StreamEdits.Part] = []
        var start = MediaTime.zero
        for (place, segment) in segments.enumerated() {
            let isLast = place == segments.count - 1
            // A last part of no duration goes on to the end of the media.
            let isOpen = isLast && segment.duration == .zero || !segment.duration.isNumeric
            let end = isOpen ? MediaTime.positiveInfinity : start + segment.duration
            defer { start = end }
            guard start.isNumeric, isOpen || segment.duration > .zero, let media = segment.mediaStart else { continue }
            func ticks(_ time: MediaTime, _ rule: RoundingRule) -> Int64? {
                time.ticks(in: stream.timeBase, rounding: rule)
            }
            guard let from = ticks(start, .halfAwayFromZero), let mediaStart = ticks(media, .halfAwayFromZero) else {
                continue
            }
            // Of a tick that the end cuts in two, the sample is still shown.
            let to = isOpen ? Int64.max : ticks(end, isLast ? .up : .halfAwayFromZero) ?? .max
            parts.append(
                StreamEdits.Part(
                    start: from, end: max(from, to), mediaStart: mediaStart,
                    firstPicture: track.pictureTimes[mediaStart] ?? mediaStart, rate: segment.rate))
        }
        return parts.isEmpty ? nil : StreamEdits(parts)
    }

    /// What the movie's own tables say of a stream's first and last sample, apart from edits; `nil` without such a track.
    ///
    /// libavformat may not have looked at the first, and has the last one end with the track or with the table by its
    /// version.
    ///
    /// - Parameter edits: The stream's edit list, which tells when the last picture ends where nothing else does.
    func times(of stream: StreamInfo, _ edits: StreamEdits?) -> ListedTimes? {
        guard let id = UInt32(exactly: stream.id), let track = header.track(id: id), let tables = track.tables else {
            return nil
        }
        var times = ListedTimes()
        if (tables.sampleCount ?? 0) > 0 { times.start = tables.earliestTime }
        if let fragments = header.fragments.first(where: { $0.trackID == id }) {
            // Pictures may be shown in another order than that in which fragments hold them.
            guard stream.format.mediaType != .video else { return times }
            for (start, end) in fragments.lastSamples { times.ends[Int64(clamping: start)] = Int64(clamping: end) }
        } else if let latest = tables.latestTime, var end = track.endTime {
            if end <= latest, let edited = edits?.parts.last?.mediaEnd, edited < .max { end = edited }
            times.ends[latest] = end
            times.end = end
        }
        return times
    }
}

extension ISOMovie {
    /// Chapters at the times at which the edit list of their track shows them.
    ///
    /// libavformat reads them from the track of text that others refer to by `chap`, apart from its edits.
    func shown(_ chapters: [Chapter], of streams: [StreamInfo], by edits: [Int: StreamEdits]) -> [Chapter] {
        let named = Set(header.tracks.flatMap { $0.references["chap"] ?? [] }.map(Int.init))
        let stream = streams.first { named.contains($0.id) && $0.format.mediaType != .video }
        guard let stream, let list = edits[stream.index] else { return chapters }
        func shown(_ time: MediaTime) -> MediaTime {
            guard let ticks = time.ticks(in: stream.timeBase, rounding: .halfAwayFromZero) else { return time }
            return MediaTime(ticks: list.time(ofMedia: ticks), timeBase: stream.timeBase)
        }
        return chapters.map { chapter in
            let (start, end) = (shown(chapter.timeRange.start), shown(chapter.timeRange.end))
            return Chapter(timeRange: MediaTimeRange(start: start, end: max(start, end)), title: chapter.title)
        }
    }
}

extension StreamEdits {
    /// When a track's first sample is shown that begins at a time of the media.
    func start(ofMedia time: MediaTime, in timeBase: Rational) -> MediaTime {
        let shown = shift(in: timeBase) + time
        let start = start(in: timeBase)
        return shown > start ? shown : start
    }

    /// When the first part begins; zero where that is at zero, or there is none.
    func start(in timeBase: Rational) -> MediaTime {
        guard let part = parts.first, part.start > 0 else { return .zero }
        return MediaTime(ticks: part.start, timeBase: timeBase)
    }

    /// How much later than the media's own times the first part is shown.
    func shift(in timeBase: Rational) -> MediaTime {
        guard let part = parts.first, part.start != part.mediaStart else { return .zero }
        return MediaTime(ticks: part.start.subtractingClamped(part.mediaStart), timeBase: timeBase)
    }
}
