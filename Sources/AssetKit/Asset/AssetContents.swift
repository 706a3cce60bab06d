import LibAV
import MediaBase

/// What an open container says of itself, read once: the value behind every property of an ``Asset``.
struct AssetContents: Sendable {
    var container: ContainerInfo
    var duration: MediaTime
    var tracks: [AssetTrack]
    var metadata: [MetadataItem]
    var chapters: [Chapter]
    var warnings: [String]
    /// The container's time that is the presentation's zero, but for the streams in ``programOrigins``.
    var origin: MediaTime
    /// The same for streams of programs that have clocks of their own, by the stream's index.
    private(set) var programOrigins: [Int: MediaTime] = [:]
    /// How far random access can be relied on.
    var format: ContainerFormat { container.format }
    /// Whether durations are exact: by the container's nature, or because all packets were read.
    var isTimingPrecise: Bool
    /// How the edit lists have packets shown, by stream: for every opening of the file.
    var edits: [Int: StreamEdits] = [:]
    /// What the container's own tables say of streams' first and last samples: for every opening of the file.
    var times: [Int: ListedTimes] = [:]
    /// How many bytes come before the media.
    var skippedBytes: Int64 = 0

    /// The contents of a file that was just opened.
    ///
    /// - Parameters:
    ///   - scan: What reading all packets showed; `nil` where they were not read.
    ///   - programOrigins: ``programOrigins`` of the contents by which the packets were read; `nil` to find them.
    init(
        _ file: InputFile, scan: PacketScan?, programOrigins: [Int: MediaTime]? = nil
    ) throws(MediaError) {
        skippedBytes = file.passedOver
        var streams = (0..<file.streamCount).compactMap { file.stream($0) }
        var warnings: [String] = []
        let movie = try ISOMovie(file, warnings: &warnings)
        warnings += movie?.warnings ?? []
        let matroska = MatroskaTracks(file)
        warnings += matroska?.warnings ?? []
        for place in streams.indices {
            movie?.complete(&streams[place], warnings: &warnings)
            matroska?.complete(&streams[place], warnings: &warnings)
            streams[place].stateCodedFrameRate()
            try EncoderDelay.complete(&streams[place], of: file)
            EncoderDelay.endOpus(&streams[place], of: file)
        }
        var entries = Self.settleTimecodes(of: &streams, in: file)
        movie?.completeDate(of: &entries)
        // What a clock says that was not set; libavformat 9.0 passes it on, and earlier versions do not.
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
        self.programOrigins = programOrigins ?? ProgramClocks.origins(of: streams, in: file)
        if !self.programOrigins.isEmpty {
            for place in streams.indices {
                ProgramClocks.forgetForeignTimes(of: &streams[place], origins: self.programOrigins, in: file)
            }
        }
        container = ContainerInfo(file, start: start, movie: movie)
        let keySpace = MetadataItem.KeySpace(format: file.format, majorBrand: container.majorBrand)
        // What is a property of the container is not repeated as metadata.
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

    /// The container's time that is the presentation's zero for a stream.
    func origin(ofStream index: Int) -> MediaTime { programOrigins[index] ?? origin }

    /// The time of a stream's media that is shown at the presentation's zero, as the first part of its edit list has it.
    func mediaOrigin(ofStream index: Int) -> MediaTime {
        guard let edits = edits[index], let track = tracks.first(where: { $0.index == index }) else {
            return origin(ofStream: index)
        }
        return origin(ofStream: index) - edits.shift(in: track.timeBase)
    }

    /// Notes which parts of a stream's media are shown, and when it begins by that.
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

    /// The earliest start of the streams that are seen or heard: libavformat's `start_time`, but exact.
    private static func start(of streams: [StreamInfo]) -> MediaTime? {
        let sounding = streams.filter {
            ($0.format.mediaType == .video || $0.format.mediaType == .audio) && $0.attachedPicture == nil
        }
        return (sounding.isEmpty ? streams : sounding).compactMap(\.startTime).min()
    }

    /// What a file that breaks off says of a track, and what there is; `nil` where the track is whole.
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
        // An ISO movie lasts as long as its longest track (ISO/IEC 14496-12, 8.2.2), but cameras let their data run on.
        let kinds: [MediaType] = isISO ? [.video, .audio, .subtitle] : [.video, .audio]
        let media = tracks.filter { kinds.contains($0.mediaType) }
        let ends = (media.isEmpty ? tracks : media).filter { !$0.isAttachedPicture }.map { track in
            // Without an edit list an ISO track lasts as long as its samples, though composition offsets may show the
            // last of them later (ISO/IEC 14496-12, 8.3.2).
            isISO && track.segments.isEmpty && track.editedEnd == nil
                ? track.mediaDuration ?? track.timeRange.end : track.timeRange.end
        }
        if let longest = ends.filter(\.isNumeric).max() { return longest }
        return file.duration ?? .indefinite
    }
}

extension MetadataItem.KeySpace {
    /// The vocabulary that a container's reader takes its keys from.
    init(format: ContainerFormat, majorBrand: String?) {
        switch format {
        // QuickTime's own files have its user data and keys; all others of the family have iTunes's atoms.
        case .isoMedia: self = majorBrand == nil || majorBrand == "qt  " ? .quickTime : .iTunes
        case .mp3, .adts: self = .id3
        case .matroska: self = .matroska
        case .ogg, .flac: self = .vorbis
        default: self = .common
        }
    }
}

extension MetadataItem {
    /// The items of a dictionary of libavformat, in its order.
    ///
    /// An item that libavformat repeats for each language is kept with its language only, and what it makes of an
    /// empty vendor is left out.
    ///
    /// - Parameters:
    ///   - entries: The keys, with a language behind some, and their texts.
    ///   - keySpace: The vocabulary that the container's reader takes its keys from.
    ///   - spaces: What is known of single keys; `nil` for containers with one vocabulary.
    static func list(
        _ entries: [(key: String, value: String)], keySpace: KeySpace, spaces: MetadataKeySpaces? = nil
    ) -> [MetadataItem] {
        let items = entries.filter { $0.value != "[0][0][0][0]" && $0.key != "timecode" }.map {
            var item = MetadataItem(keySpace: keySpace, key: $0.key, text: $0.value)
            if let spaces { item.keySpace = spaces.space(of: item.identifier) }
            return item
        }
        let inLanguages = Set(items.filter { $0.language != nil }.map { [$0.identifier, $0.value.text ?? ""] })
        return items.filter { $0.language != nil || !inLanguages.contains([$0.identifier, $0.value.text ?? ""]) }
    }

    /// Puts items whose values are read with their types and languages in the place of libavformat's of the same key.
    static func merging(_ known: [MetadataItem], with own: [MetadataItem]) -> [MetadataItem] {
        var result: [MetadataItem] = []
        var placed: Set<String> = []
        let byKey = Dictionary(grouping: own, by: \.identifier)
        for item in known {
            guard let same = byKey[item.identifier] else {
                result.append(item)
                continue
            }
            if placed.insert(item.identifier).inserted { result += same }
        }
        return result + own.filter { !placed.contains($0.identifier) }
    }

    /// An item from libavformat's key and text; the type of the value follows from the key.
    init(keySpace: KeySpace, key: String, text: String) {
        // libavformat's readers of these formats write a tag's language behind its key: `title-deu`.
        var identifier = key
        var language: String?
        let marksLanguage = keySpace == .iTunes || keySpace == .quickTime || keySpace == .matroska || keySpace == .id3
        if marksLanguage, let dash = key.lastIndex(of: "-"),
            key.distance(from: dash, to: key.endIndex) == 4
        {
            let suffix = key[key.index(after: dash)...]
            if suffix.allSatisfy({ $0.isASCII && $0.isLowercase }) {
                identifier = String(key[..<dash])
                language = String(suffix)
            }
        }
        let value = Value(text: text, identifier: identifier)
        let isQuickTime = identifier.hasPrefix("com.apple.quicktime.")
        self.init(
            keySpace: isQuickTime ? .quickTime : keySpace, identifier: identifier, value: value, language: language)
    }
}

extension MetadataItem.Value {
    /// Reads the text of a value, by what its key is for.
    init(text: String, identifier: String) {
        switch identifier.lowercased() {
        case "creation_time", "date", "com.apple.quicktime.creationdate", "date_released", "date_recorded":
            self = .date(text)
        case "location", "com.apple.quicktime.location.iso6709": self = .location(text)
        case "compilation", "gapless_playback", "bpm", "tbpm": self = Double(text).map { .number($0) } ?? .text(text)
        default: self = .text(text)
        }
    }
}
