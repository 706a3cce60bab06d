import ContainerFacts
import LibAV
import MediaBase

/// The contents of an open container, read once: the values of all properties of an ``Asset``.
struct AssetContents: Sendable {
    var container: ContainerInfo
    var duration: MediaTime
    var tracks: [AssetTrack]
    var metadata: [MetadataItem]
    var chapters: [Chapter]
    var warnings: [String]
    /// The container's time that is zero in the presentation, except for the streams in ``programOrigins``.
    var origin: MediaTime
    /// The corresponding times for streams of programs with clocks of their own, by stream index.
    private(set) var programOrigins: [Int: MediaTime] = [:]
    /// The container format, which determines the reliability of random access.
    var format: ContainerFormat { container.format }
    /// True if durations are exact, because of the container format or because all packets were read.
    var isTimingPrecise: Bool
    /// The edit lists by stream index, applied to every opening of the file.
    var edits: [Int: StreamEdits] = [:]
    /// The times of streams' first and last samples from the container's own tables, applied to every opening of the
    /// file.
    var times: [Int: ListedTimes] = [:]
    /// The number of bytes before the media.
    var skippedBytes: Int64 = 0

    /// Reads the contents of a file that was just opened.
    ///
    /// - Parameters:
    ///   - scan: The result of reading all packets; `nil` if they were not read.
    ///   - programOrigins: The ``programOrigins`` of the contents with which the packets were read; `nil` to determine
    ///     them.
    init(
        _ file: InputFile, scan: PacketScan?, programOrigins: [Int: MediaTime]? = nil
    ) throws(MediaError) {
        skippedBytes = file.passedOver
        var streams = (0..<file.streamCount).compactMap { file.stream($0) }
        var warnings: [String] = []
        let movie = file.format == .isoMedia ? try ISOMovie(file, warnings: &warnings) : nil
        warnings += movie?.warnings ?? []
        let matroska = file.format == .matroska ? MatroskaTracks(file) : nil
        warnings += matroska?.warnings ?? []
        for place in streams.indices {
            movie?.complete(&streams[place], warnings: &warnings)
            matroska?.complete(&streams[place], warnings: &warnings)
            if streams[place].statedFrameRate == nil { streams[place].stateCodedFrameRate() }
            try EncoderDelay.complete(&streams[place], of: file)
            EncoderDelay.endOpus(&streams[place], of: file)
        }
        var entries = file.metadata
        if file.format == .matroska { MatroskaTimecode.settle(&entries, &streams) }
        movie?.completeDate(of: &entries)
        // This is the time of a clock that was not set; libavformat 9.0 passes it on, and earlier versions do not.
        if file.format == .asf {
            entries.removeAll { $0.key == "creation_time" && $0.value == "1970-01-01T00:00:00.000000Z" }
        }
        for place in streams.indices where streams[place].attachedPicture == nil {
            try Self.edit(&streams[place], of: file, by: movie, &edits, warnings: &warnings)
            let stream = streams[place]
            times[stream.index] =
                movie?.times(of: stream, edits[stream.index]) ?? EncoderDelay.times(of: stream, in: file)
        }
        isTimingPrecise = scan != nil || !file.format.needsScan
        let start = Self.start(of: streams)
        origin = file.format.startsAtZero ? .zero : start ?? .zero
        self.programOrigins =
            programOrigins ?? (file.programs.count > 1 ? ProgramClocks.origins(of: streams, in: file) : [:])
        if !self.programOrigins.isEmpty {
            for place in streams.indices {
                ProgramClocks.forgetForeignTimes(of: &streams[place], origins: self.programOrigins, in: file)
            }
        }
        container = ContainerInfo(file, start: start, movie: movie)
        let keySpace = MetadataItem.KeySpace(format: file.format, majorBrand: container.majorBrand)
        // Properties of the container are not repeated as metadata.
        let known: Set<String> =
            container.majorBrand == nil ? [] : ["major_brand", "minor_version", "compatible_brands"]
        var items = MetadataItem.list(
            entries.filter { !known.contains($0.key) }, keySpace: keySpace,
            spaces: movie?.keySpaces)
        if let movie { items = movie.metadata(completing: items) }
        for picture in streams.compactMap(\.attachedPicture) {
            guard !items.contains(where: { $0.value == .data(picture) }) else { continue }
            items.append(MetadataItem(keySpace: keySpace, identifier: "artwork", value: .data(picture)))
        }
        metadata = items
        chapters = movie?.shown(file.chapters, of: streams, by: edits) ?? file.chapters
        let (common, ofPrograms, edits) = (origin, self.programOrigins, edits)
        tracks = streams.map { stream in
            AssetTrack(
                stream, origin: ofPrograms[stream.index] ?? common, keySpace: keySpace, edits: movie?.track(stream),
                shown: edits[stream.index], scan: scan)
        }
        if scan == nil, let movie, movie.hasUncountedFragments {
            warnings.append(
                "the duration is that of the fragments that were read, and may be longer: reading all packets, or a "
                    + "higher limit boxes, tells")
        }
        if let scan, scan.isTruncated {
            warnings += tracks.compactMap { Self.warning(ofMissingSamplesIn: $0, scan.streams[$0.index]) }
        }
        self.warnings = warnings
        duration = Self.duration(of: tracks, file: file, isISO: movie != nil)
        for place in tracks.indices where tracks[place].isAttachedPicture { tracks[place].last(for: duration) }
        container.completePrograms(tracks) { ofPrograms[$0] ?? start }
        if chapters.isEmpty { chapters = movie?.chapters(within: duration) ?? [] }
        container.setBitRate(duration: duration)
        container.startTimecode =
            (tracks.filter { $0.mediaType == .timecode } + tracks).compactMap(\.startTimecode).first
            ?? entries.first { $0.key == "timecode" }?.value
    }

    /// Returns the container's time that is zero in the presentation of a stream.
    func origin(ofStream index: Int) -> MediaTime { programOrigins[index] ?? origin }

    /// Returns the time in a stream's media that is shown at time zero, according to the first part of its edit list.
    func mediaOrigin(ofStream index: Int) -> MediaTime {
        guard let edits = edits[index], let track = tracks.first(where: { $0.index == index }) else {
            return origin(ofStream: index)
        }
        return origin(ofStream: index) - edits.shift(in: track.timeBase)
    }

    /// Stores the edit list of a stream, and adjusts the stream's start time to it.
    private static func edit(
        _ stream: inout StreamInfo, of file: InputFile, by movie: ISOMovie?, _ edits: inout [Int: StreamEdits],
        warnings: inout [String]
    ) throws(MediaError) {
        let list =
            if let movie {
                movie.edits(of: stream, besides: stream.metadata + file.metadata, warnings: &warnings)
            } else {
                try EncoderDelay(caf: file)?.edits(of: stream, media: nil)
            }
        if let first = movie?.times(of: stream, nil)?.start {
            stream.startTime = MediaTime(ticks: first, timeBase: stream.timeBase)
        }
        guard let list else { return }
        edits[stream.index] = list
        stream.startTime = stream.startTime.map { list.start(ofMedia: $0, in: stream.timeBase) }
    }

    /// Returns the earliest start time of the video and audio streams: libavformat's `start_time`, but exact.
    private static func start(of streams: [StreamInfo]) -> MediaTime? {
        let sounding = streams.filter {
            ($0.format.mediaType == .video || $0.format.mediaType == .audio) && $0.attachedPicture == nil
        }
        return (sounding.isEmpty ? streams : sounding).compactMap(\.startTime).min()
    }

    /// Returns a warning with the declared and the actual end of a track in a truncated file; `nil` if the track is
    /// complete.
    private static func warning(ofMissingSamplesIn track: AssetTrack, _ found: PacketScan.Stream?) -> String? {
        guard let listed = track.sampleCount, track.mediaType == .video || track.mediaType == .audio,
            listed > found?.packetCount ?? 0
        else { return nil }
        let end = (found?.range.end).flatMap { $0.isNumeric ? $0.clockText() : nil } ?? "0"
        let header = track.timeRange.end.isNumeric ? track.timeRange.end.clockText() : "an unknown time"
        return "the file breaks off: track \(track.index) ends at \(end) instead of \(header), "
            + "with \(found?.packetCount ?? 0) of \(listed) samples"
    }

    private static func duration(of tracks: [AssetTrack], file: InputFile, isISO: Bool) -> MediaTime {
        // An ISO movie lasts as long as its longest track (ISO/IEC 14496-12, 8.2.2), but cameras let data tracks run
        // on.
        let kinds: [MediaType] = isISO ? [.video, .audio, .subtitle] : [.video, .audio]
        let media = tracks.filter { kinds.contains($0.mediaType) }
        let ends = (media.isEmpty ? tracks : media).filter { !$0.isAttachedPicture }.map { track in
            // Without an edit list, an ISO track lasts as long as its samples, although composition offsets may present
            // the last one later (ISO/IEC 14496-12, 8.3.2).
            isISO && track.segments.isEmpty && track.editedEnd == nil
                ? track.mediaDuration ?? track.timeRange.end : track.timeRange.end
        }
        if let longest = ends.filter(\.isNumeric).max() { return longest }
        return file.duration ?? .indefinite
    }
}
