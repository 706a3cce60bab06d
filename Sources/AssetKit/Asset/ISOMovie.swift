import ISOMedia
import LibAV
import MediaBase

/// What the boxes of an MP4 or QuickTime file say that libavformat 5.1 keeps to itself, matched to its streams.
struct ISOMovie: Sendable {
    /// The boxes' contents.
    let header: MovieHeader

    /// Reads the boxes; `nil` for other formats, streams that cannot be rewound, and files too damaged to say anything.
    ///
    /// - Parameter warnings: Gets a word on such damage.
    /// - Throws: ``MediaError/Code-swift.struct/limitExceeded`` where a limit hides the movie box, without which edits and
    ///   much else would be passed over; what ends reading.
    init?(_ file: InputFile, warnings: inout [String]) throws(MediaError) {
        guard file.isSeekable, file.format == .isoMedia else { return nil }
        do throws(MediaError) {
            header = try MovieHeader(reading: FileByteSource(file: file), limits: BoxLimits(file.limits))
        } catch {
            switch error.code {
            case .limitExceeded, .cancelled, .timedOut: throw error
            // A relative of the format that libavformat reads with the same demuxer.
            case .unknownFormat: return nil
            default:
                warnings.append("the movie's boxes could not be read: \(error.message)")
                return nil
            }
        }
    }

    /// Which vocabulary each key of the movie's metadata is of.
    var keySpaces: MetadataKeySpaces { MetadataKeySpaces(header.metadataKeys) }

    /// The movie's metadata with types and languages, from what libavformat tells of it, which takes the tracks' for it too.
    func metadata(completing items: [MetadataItem]) -> [MetadataItem] {
        let own = keySpaces
        let ofTracks = header.tracks.map { MetadataKeySpaces($0.metadataKeys) }
        let ofMovie = items.filter { item in
            own.contains(item.identifier) || !ofTracks.contains { $0.contains(item.identifier) }
        }
        // The header's date is the movie's; named keys may repeat it.
        let keyed = own.items.filter { header.creationTime == nil || $0.identifier != "creation_time" }
        return MetadataItem.merging(ofMovie, with: keyed)
    }

    /// What was odd in the boxes.
    var warnings: [String] { header.warnings }

    /// Whether there are more fragments than were counted, and nothing else says how long they are.
    var hasUncountedFragments: Bool {
        !header.areFragmentsComplete && header.tracks.contains { !TrackEdits($0, in: header).isLengthKnown }
    }

    /// The chapters among the user data; each ends where the next one begins, the last with the movie.
    func chapters(within duration: MediaTime) -> [Chapter] {
        let starts = header.chapters.map { mark in
            MediaTime(value: Int64(clamping: mark.start), timescale: ChapterMark.timescale)
        }
        let ends = starts.dropFirst() + [duration.isNumeric ? duration : starts.last ?? .zero]
        return zip(header.chapters, zip(starts, ends)).map { mark, times in
            Chapter(
                timeRange: MediaTimeRange(start: times.0, end: max(times.0, times.1)),
                title: mark.title.isEmpty ? nil : mark.title)
        }
    }

    /// The track that a stream of libavformat is.
    func track(_ stream: StreamInfo) -> TrackEdits? {
        guard let id = UInt32(exactly: stream.id), let track = header.track(id: id) else { return nil }
        return TrackEdits(track, in: header)
    }
}

/// How a track's media is laid out on the presentation's time line.
struct TrackEdits: Sendable {
    /// The edit list; empty where the file has none, and then the media plays from its start.
    let segments: [AssetTrack.Segment]
    /// How long the media is, without edits; `nil` where unknown.
    let mediaDuration: MediaTime?
    /// Whether that is all of it: not so where fragments were not counted, and neither an index nor the header makes
    /// up for them.
    let isLengthKnown: Bool
    /// Whether the track is meant to be used.
    let isEnabled: Bool
    /// How many samples the tables list; `nil` where unknown.
    let sampleCount: Int64?
    /// The shortest duration of a sample; `nil` where unknown.
    let shortestSample: MediaTime?
    /// Whether some of its samples lie in fragments.
    let isFragmented: Bool
    /// All samples but the last, which takes what is left, have the same duration; `nil` where unknown, and where the
    /// last is not one of several.
    let isConstantRate: Bool?
    /// Samples a second, where all but the last last equally long; else `nil`.
    let constantRate: Rational?
    /// The track has no samples at all.
    let isEmpty: Bool
    /// The name in the track's handler, often the encoder's; `nil` where it is empty.
    let handlerName: String?
    /// The track's name in its user data; `nil` where it has none.
    let name: String?
    /// The first frame's timecode; `nil` for other tracks than timecode tracks.
    let timecode: TrackTimecode?
    /// Where the first sample lies in the file; `nil` where its table does not say.
    let firstSample: Range<UInt64>?
    /// QuickTime's aperture sizes; `nil` where the file has none.
    let aperture: TrackAperture?
    /// Which vocabulary each key of the track's metadata is of.
    let keySpaces: MetadataKeySpaces
    /// The other tracks that this one refers to, by the kind of reference.
    let references: [String: [Int]]

    init(_ track: MovieTrack, in movie: MovieHeader) {
        let mediaScale = track.media?.timescale.flatMap { Int32(exactly: $0) }
        func mediaTime(_ value: UInt64?) -> MediaTime? {
            guard let value, let ticks = Int64(exactly: value), let mediaScale else { return nil }
            return MediaTime(value: ticks, timescale: mediaScale)
        }
        let movieScale = movie.timescale.flatMap { Int32(exactly: $0) } ?? 0
        segments = (track.edits ?? []).map { entry in
            let duration = Int64(exactly: entry.segmentDuration).map { MediaTime(value: $0, timescale: movieScale) }
            let rate = Rational(Int64(entry.rateInteger) << 16 + Int64(UInt16(bitPattern: entry.rateFraction)), 1 << 16)
            return AssetTrack.Segment(
                duration: duration ?? .indefinite,
                mediaStart: entry.isEmpty ? nil : MediaTime(value: entry.mediaTime, timescale: mediaScale ?? 0),
                rate: rate)
        }
        let fragments = movie.fragments.first { $0.trackID == track.trackID }
        let listed = mediaTime(track.tables?.timeToSample?.duration)
        if let fragments, let extent = mediaTime(fragments.extent), let end = mediaTime(fragments.endDecodeTime) {
            // Fragments may overlap, or leave a hole; the movie's own samples begin at 0.
            let counted = if let listed, listed > .zero { max(listed, end) } else { extent }
            // Of a very long file, an index or the header tells what was not counted.
            let indexed = movie.areFragmentsComplete ? .zero : Self.duration(of: track, in: movie)
            mediaDuration = max(counted, indexed)
            isLengthKnown = movie.areFragmentsComplete || indexed > .zero
        } else {
            isLengthKnown = true
            // Some writers make the header longer than the samples.
            mediaDuration = [mediaTime(track.media?.duration), listed].compactMap(\.self).filter { $0 > .zero }.min()
        }
        isEnabled = track.header?.isEnabled ?? true
        let inTables = track.tables?.sampleCount.map(Int64.init) ?? 0
        let inFragments = fragments.flatMap { Int64(exactly: $0.sampleCount) } ?? 0
        let isCounted = fragments == nil || movie.areFragmentsComplete
        sampleCount = isCounted && inTables + inFragments > 0 ? inTables + inFragments : nil
        shortestSample = mediaTime(track.tables?.timeToSample?.shortest.map(UInt64.init))
        isFragmented = inFragments > 0
        // Of durations in fragments only the sum is known.
        isConstantRate = track.tables?.timeToSample.flatMap {
            inFragments > 0 || $0.sampleCount < 3 ? nil : $0.constantDeltaButLast != nil
        }
        constantRate = track.tables?.timeToSample?.constantDeltaButLast.flatMap { delta in
            guard inFragments == 0, delta > 0, let mediaScale, mediaScale > 0 else { return nil }
            return Rational(Int64(mediaScale), Int64(delta))
        }
        isEmpty = track.tables?.sampleCount == 0 && inFragments == 0 && movie.areFragmentsComplete
        name = track.name
        handlerName = track.handler.flatMap { $0.name.isEmpty ? nil : $0.name }
        timecode = TrackTimecode(track)
        firstSample = track.tables.flatMap { tables in
            guard track.isSelfContained, let start = tables.firstChunkOffset, let size = tables.firstSampleSize else {
                return nil
            }
            let (end, overflow) = start.addingReportingOverflow(UInt64(size))
            return overflow ? nil : start..<end
        }
        aperture = TrackAperture(track.apertures)
        keySpaces = MetadataKeySpaces(track.metadataKeys)
        // Two codes that are not printable read alike.
        references = Dictionary(
            track.references.map { ($0.key.text, $0.value.map(Int.init)) }, uniquingKeysWith: { $0 + $1 })
    }

    /// How long a fragmented track is by its segment index, or by the movie's header; zero where neither says it.
    private static func duration(of track: MovieTrack, in movie: MovieHeader) -> MediaTime {
        func time(_ value: UInt64, _ timescale: UInt32?) -> MediaTime? {
            guard let ticks = Int64(exactly: value), let timescale = timescale.flatMap({ Int32(exactly: $0) }) else {
                return nil
            }
            return MediaTime(value: ticks, timescale: timescale)
        }
        let index = movie.segmentIndexes.first { $0.streamID == track.trackID }
        return index.flatMap { time($0.end - min($0.start, $0.end), $0.timescale) }
            ?? movie.fragmentedDuration.flatMap { time($0, movie.timescale) } ?? .zero
    }
}

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
            for (start, end) in fragments.outerSamples { times.ends[Int64(clamping: start)] = Int64(clamping: end) }
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
