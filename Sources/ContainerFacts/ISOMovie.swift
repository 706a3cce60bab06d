package import ISOMedia
package import LibAV
package import MediaBase

/// The data in the boxes of an MP4 or QuickTime file that libavformat 5.1 does not expose, matched to its streams.
package struct ISOMovie: Sendable {
    /// The contents of the boxes.
    package let header: MovieHeader

    /// Reads the boxes; `nil` for streams that cannot be rewound, and for files too damaged to be
    /// read.
    ///
    /// - Parameter warnings: Receives a description of such damage.
    /// - Throws: ``MediaError/Code-swift.struct/limitExceeded`` if a limit hides the movie box, without which edits and
    ///   much else would be ignored; errors that end reading, such as cancellation.
    package init?(_ file: InputFile, warnings: inout [String]) throws(MediaError) {
        guard file.isSeekable else { return nil }
        do throws(MediaError) {
            header = try MovieHeader(reading: FileByteSource(file), limits: BoxLimits(file.limits))
        } catch {
            switch error.code {
            case .limitExceeded, .cancelled, .timedOut: throw error
            // A related format that libavformat reads with the same demuxer.
            case .unknownFormat: return nil
            default:
                warnings.append("the movie's boxes could not be read: \(error.message)")
                return nil
            }
        }
    }

    /// The movie's own metadata, as its boxes have it.
    package var metadata: MovieMetadata { MovieMetadata(header.metadataKeys) }

    /// Returns the movie's metadata with types and languages.
    ///
    /// - Parameter items: The metadata reported by libavformat, which also includes that of the tracks.
    package func metadata(completing items: [MetadataItem]) -> [MetadataItem] {
        let own = metadata
        let ofTracks = header.tracks.map { MovieMetadata($0.metadataKeys) }
        let ofMovie = items.filter { item in
            own.contains(item.name) || !ofTracks.contains { $0.contains(item.name) }
        }
        // The header's date is that of the movie; named keys may repeat it.
        let keyed = own.items.filter { header.creationTime == nil || $0.name != "creation_time" }
        return MetadataItem.merging(ofMovie, with: keyed)
    }

    /// The irregularities found in the boxes.
    package var warnings: [String] { header.warnings }

    /// True if some fragments were not counted and nothing else states their duration.
    package var hasUncountedFragments: Bool {
        !header.areFragmentsComplete && header.tracks.contains { !MovieTrackFacts($0, in: header).isLengthKnown }
    }

    /// Returns the chapters in the user data; each ends at the start of the next one, the last at the end of the movie.
    package func chapters(within duration: MediaTime) -> [Chapter] {
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

    /// Returns the track that corresponds to a libavformat stream.
    package func track(_ stream: StreamInfo) -> MovieTrackFacts? {
        guard let id = UInt32(exactly: stream.id), let track = header.track(id: id) else { return nil }
        return MovieTrackFacts(track, in: header)
    }
}

/// The facts about a track in its boxes: its edit list, the extent and regularity of its samples, its names.
package struct MovieTrackFacts: Sendable {
    /// The edit list; if it is empty, the file has none and the media plays from its start.
    package let segments: [TrackSegment]
    /// The duration of the media, before edits; `nil` if unknown.
    package let mediaDuration: MediaTime?
    /// The duration of the media that is shown by an edit without an end, as fragmented files have it; `nil` with another
    /// edit list, and for video, whose frames are shown in another order than they are decoded.
    package let openDuration: MediaTime?
    /// True if ``mediaDuration`` is complete.
    ///
    /// It is not if some fragments were not counted and neither an index nor the header covers them.
    package let isLengthKnown: Bool
    /// True if the track is meant to be used.
    package let isEnabled: Bool
    /// The group of tracks of which one is to be used at a time; 0 for none.
    package let alternateGroup: Int
    /// The number of samples in the tables and fragments; `nil` if unknown.
    package let sampleCount: Int64?
    /// The shortest duration of a sample; `nil` if unknown.
    package let shortestSample: MediaTime?
    /// True if some of the samples are stored in fragments.
    package let isFragmented: Bool
    /// True if all samples have the same duration, except for the last one, which takes the rest.
    ///
    /// It is `nil` if unknown, or if there are fewer than three samples.
    package let isConstantRate: Bool?
    /// The samples per second if all samples except the last have the same duration; otherwise `nil`.
    package let constantRate: Rational?
    /// True if the track has no samples at all.
    package let isEmpty: Bool
    /// The name in the track's handler, often that of the encoder; `nil` if it is empty.
    package let handlerName: String?
    /// The track's name in its user data; `nil` if it has none.
    package let name: String?
    /// The timecode of the first frame; `nil` if this is not a timecode track.
    package let timecode: TrackTimecode?
    /// The byte range of the first sample in the file; `nil` if the tables do not state it.
    package let firstSample: Range<UInt64>?
    /// QuickTime's aperture sizes; `nil` if the file has none.
    package let aperture: TrackAperture?
    /// The track's metadata, as its boxes have it.
    package let metadata: MovieMetadata
    /// The IDs of the tracks to which this one refers, by the type of reference.
    package let references: [String: [Int]]
    /// The description of a track of text, timecode or data for another movie; `nil` for video and audio.
    package let carriage: Carriage?

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
            return TrackSegment(
                duration: duration ?? .indefinite,
                mediaStart: entry.isEmpty ? nil : MediaTime(value: entry.mediaTime, timescale: mediaScale ?? 0),
                rate: rate)
        }
        let fragments = movie.fragments.first { $0.trackID == track.trackID }
        let listed = mediaTime(track.tables?.timeToSample?.duration)
        if let fragments, let extent = mediaTime(fragments.extent), let end = mediaTime(fragments.endDecodeTime) {
            // Fragments may overlap or leave a gap; the movie's own samples start at 0.
            let counted = if let listed, listed > .zero { max(listed, end) } else { extent }
            // For a very long file, an index or the header covers the fragments that were not counted.
            let indexed = movie.areFragmentsComplete ? .zero : Self.duration(of: track, in: movie)
            mediaDuration = max(counted, indexed)
            isLengthKnown = movie.areFragmentsComplete || indexed > .zero
        } else {
            isLengthKnown = true
            // Some writers declare a longer duration in the header than that of the samples.
            mediaDuration = [mediaTime(track.media?.duration), listed].compactMap(\.self).filter { $0 > .zero }.min()
        }
        // The media of fragments may begin late: its end counts, not its extent.
        let end = [mediaTime(fragments?.endDecodeTime), listed].compactMap(\.self).max()
        if let end, let last = segments.last, last.duration == .zero, let start = last.mediaStart, isLengthKnown,
            track.handler?.type != "vide"
        {
            openDuration = max(.zero, end - start)
        } else {
            openDuration = nil
        }
        isEnabled = track.header?.isEnabled ?? true
        alternateGroup = Int(track.header?.alternateGroup ?? 0)
        let inTables = track.tables?.sampleCount.map(Int64.init) ?? 0
        let inFragments = fragments.flatMap { Int64(exactly: $0.sampleCount) } ?? 0
        let isCounted = fragments == nil || movie.areFragmentsComplete
        sampleCount = isCounted && inTables + inFragments > 0 ? inTables + inFragments : nil
        shortestSample = mediaTime(track.tables?.timeToSample?.shortest.map(UInt64.init))
        isFragmented = inFragments > 0
        // For fragments, only the sum of the durations is known.
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
        carriage = track.carriage
        metadata = MovieMetadata(track.metadataKeys)
        // Two codes that are not printable have the same text.
        references = Dictionary(
            track.references.map { ($0.key.text, $0.value.map(Int.init)) }, uniquingKeysWith: { $0 + $1 })
    }

    /// Returns the duration of a fragmented track from its segment index or the movie's header; zero if neither states
    /// it.
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

// Edit lists for our own reader; libavformat is instructed to ignore them.

extension ISOMovie {
    /// Returns the parts of a stream's media that the presentation shows, in ticks of the stream's time base.
    ///
    /// Returns `nil` if the media plays from its start. Without an edit list, audio is cut as stated by iTunes
    /// (`iTunSMPB`).
    ///
    /// - Parameter warnings: Receives a sentence about audio that cannot be played as the list says.
    package func edits(
        of stream: StreamInfo, besides metadata: [(key: String, value: String)], warnings: inout [String]
    ) -> StreamEdits? {
        guard let id = UInt32(exactly: stream.id), let track = header.track(id: id) else { return nil }
        let facts = MovieTrackFacts(track, in: header)
        let segments = facts.segments
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
            // A last part with a duration of zero extends to the end of the media. In fragments, the last packet of audio may be
            // longer than its sample's duration, as no edit can cut it.
            let known = isLast && facts.isFragmented && segment.duration == .zero ? facts.openDuration : nil
            let isOpen = isLast && segment.duration == .zero && known == nil || !segment.duration.isNumeric
            let end = isOpen ? MediaTime.positiveInfinity : start + (known ?? segment.duration)
            defer { start = end }
            guard start.isNumeric, isOpen || end > start, let media = segment.mediaStart else { continue }
            func ticks(_ time: MediaTime, _ rule: RoundingRule) -> Int64? {
                time.ticks(in: stream.timeBase, rounding: rule)
            }
            guard let from = ticks(start, .halfAwayFromZero), let mediaStart = ticks(media, .halfAwayFromZero) else {
                continue
            }
            // If the end falls within a tick, the sample at this tick is still shown.
            let to = isOpen ? Int64.max : ticks(end, isLast ? .up : .halfAwayFromZero) ?? .max
            parts.append(
                StreamEdits.Part(
                    start: from, end: max(from, to), mediaStart: mediaStart,
                    firstPicture: track.pictureTimes[mediaStart] ?? mediaStart, rate: segment.rate))
        }
        return parts.isEmpty ? nil : StreamEdits(parts)
    }

    /// Returns the times of a stream's first and last samples from the movie's own tables; `nil` if there is no such
    /// track.
    ///
    /// Edits are not applied. libavformat may not have examined the first sample. Depending on its version, it lets the
    /// last one end with the track or with the table.
    ///
    /// - Parameter edits: The stream's edit list, which determines the end of the last frame if nothing else does.
    package func times(of stream: StreamInfo, _ edits: StreamEdits?) -> ListedTimes? {
        guard let id = UInt32(exactly: stream.id), let track = header.track(id: id), let tables = track.tables else {
            return nil
        }
        var times = ListedTimes()
        if (tables.sampleCount ?? 0) > 0 { times.start = tables.earliestTime }
        if let fragments = header.fragments.first(where: { $0.trackID == id }) {
            // The presentation order of frames may differ from their order in the fragments.
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
    /// Moves chapters to the times at which the edit list of their track shows them.
    ///
    /// libavformat reads chapters from the text track to which others refer by `chap`, and ignores its edits.
    package func shown(_ chapters: [Chapter], of streams: [StreamInfo], by edits: [Int: StreamEdits]) -> [Chapter] {
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
    /// Returns the time at which a track's first sample is shown, given its time in the media.
    package func start(ofMedia time: MediaTime, in timeBase: Rational) -> MediaTime {
        let shown = shift(in: timeBase) + time
        let start = start(in: timeBase)
        return shown > start ? shown : start
    }

    /// Returns the start time of the first part; zero if it starts at zero or there is none.
    package func start(in timeBase: Rational) -> MediaTime {
        guard let part = parts.first, part.start > 0 else { return .zero }
        return MediaTime(ticks: part.start, timeBase: timeBase)
    }

    /// Returns the delay from the media's own times to the presentation of the first part.
    package func shift(in timeBase: Rational) -> MediaTime {
        guard let part = parts.first, part.start != part.mediaStart else { return .zero }
        return MediaTime(ticks: part.start.subtractingClamped(part.mediaStart), timeBase: timeBase)
    }
}
