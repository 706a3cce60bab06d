import Bitstreams
import ContainerFacts
import ISOMedia
import LibAV
public import MediaBase

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
    /// The jumps of the container's clock, applied to every opening of the file.
    var clockJumps = ClockJumps()
    /// The number of bytes before the media.
    var skippedBytes: Int64 = 0

    /// The number of bytes in which a JPEG picture's orientation is looked for; a segment has 64 KiB.
    private static let orientationBytes = 128 << 10

    /// Reads the contents of a file that was just opened.
    ///
    /// - Parameters:
    ///   - scan: The result of reading all packets; `nil` if they were not read.
    ///   - programOrigins: The ``programOrigins`` of the contents with which the packets were read; `nil` to determine
    ///     them.
    ///   - clockJumps: The jumps of the clock with which the packets were read.
    init(
        _ file: InputFile, scan: PacketScan?, programOrigins: [Int: MediaTime]? = nil,
        clockJumps: ClockJumps = ClockJumps()
    ) throws(MediaError) {
        skippedBytes = file.passedOver
        self.clockJumps = clockJumps
        var streams = (0..<file.streamCount).compactMap { file.stream($0) }
        var warnings: [String] = []
        let movie = file.format == .isoMedia ? try ISOMovie(file, warnings: &warnings) : nil
        warnings += movie?.warnings ?? []
        let matroska = file.format == .matroska ? MatroskaTracks(file) : nil
        warnings += matroska?.warnings ?? []
        for place in streams.indices {
            movie?.complete(&streams[place], warnings: &warnings)
            matroska?.complete(&streams[place], warnings: &warnings)
            if streams[place].statedFrameRate == nil, streams[place].format.video != nil {
                streams[place].stateCodedFrameRate()
            }
            // Most audio's priming is known by now, and only CAF states it more exactly elsewhere.
            if let audio = streams[place].format.audio, audio.priming == nil || file.format == .caf {
                try EncoderDelay.complete(&streams[place], of: file)
            }
            if file.format == .ogg { EncoderDelay.endOpus(&streams[place], of: file) }
            if file.format == .jpeg, let size = streams[place].format.video?.encodedSize {
                let start = (try? file.bytes(at: 0, count: Self.orientationBytes)) ?? []
                streams[place].displayMatrix = ImageOrientation(jpeg: start)?.transform(of: size).matrix
            }
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
        container.isDurationEstimated = !isTimingPrecise && file.duration != nil && file.isDurationEstimated
        let keySpace = MetadataKeySpace(format: file.format, majorBrand: container.majorBrand)
        // Properties of the container are not repeated as metadata.
        let known: Set<String> =
            container.majorBrand == nil ? [] : ["major_brand", "minor_version", "compatible_brands"]
        var items = MetadataItem.list(
            entries.filter { !known.contains($0.key) }, keySpace: keySpace,
            movie: movie?.metadata)
        if let movie { items = movie.metadata(completing: items) }
        let tags = try ContainerTags(file, matroska: matroska)
        items = MetadataItem.merging(items, with: tags.ofFile)
        for picture in streams.compactMap(\.attachedPicture) {
            guard !items.contains(where: { $0.value == .data(picture) }) else { continue }
            items.append(MetadataItem(keySpace: keySpace, name: "artwork", value: .data(picture)))
        }
        metadata = items
        chapters = movie?.shown(file.chapters, of: streams, by: edits) ?? file.chapters
        let (common, ofPrograms, edits) = (origin, self.programOrigins, edits)
        tracks = streams.map { stream in
            AssetTrack(
                stream, origin: ofPrograms[stream.index] ?? common, keySpace: keySpace, edits: movie?.track(stream),
                shown: edits[stream.index], tags: tags.ofStreams[stream.index] ?? [], scan: scan)
        }
        if file.format.hasDecodeTimesOnly {
            for place in tracks.indices { tracks[place].startsWithFirstPicture = true }
        }
        if let warning = clockJumps.warning(since: origin) { warnings.append(warning) }
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

    /// Makes a newly opened file report presentation times.
    func apply(to file: InputFile) {
        if !edits.isEmpty || !times.isEmpty || !clockJumps.all.isEmpty { file.apply(edits, times, clockJumps) }
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

/// The properties of a container as a whole.
public struct ContainerInfo: Sendable, Hashable {
    /// The kind of container.
    public var format: ContainerFormat
    /// The major brand of an ISO or QuickTime file, such as `isom` or `qt `; `nil` for other formats.
    public var majorBrand: String?
    /// The version of the major brand; `nil` for other formats.
    public var majorBrandVersion: Int?
    /// The other brands with which the file claims to be compatible.
    public var compatibleBrands: [String]
    /// The size in bytes; `nil` for a stream.
    public var sizeBytes: Int64?
    /// The total bit rate of all tracks in bits per second; `nil` if unknown.
    public var bitRate: Int64?
    /// True if durations are estimates from the size of the file and a bit rate.
    public var isDurationEstimated = false
    /// The earliest timestamp on the container's own clock; `nil` if unknown.
    ///
    /// If that clock starts at an arbitrary time (TS, PS, MTS), all times of the asset are relative to this one.
    public var startTime: MediaTime?
    /// The timecode of the first frame, from the first timecode track or the container as a whole; `nil` if there is
    /// none.
    public var startTimecode: String?
    /// True if the samples are stored in fragments (`moof`); `nil` for formats without fragments.
    public var isFragmented: Bool?
    /// True if the index (`moov`) precedes the media; `nil` for formats without such an index.
    public var isIndexFirst: Bool?
    /// The programs of a transport stream.
    public var programs: [Program]

    /// A program of a transport stream.
    public struct Program: Sendable, Hashable {
        /// The program number from the program map.
        public var number: Int
        /// The name of the service; `nil` if it has none.
        public var name: String?
        /// The indices of the program's tracks.
        public var trackIndices: [Int]
        /// The timestamp, on the program's own clock, to which the times of its tracks are relative; `nil` if unknown.
        public var startTime: MediaTime?
        /// The duration up to the end of the program's last video or audio track; `nil` if unknown.
        public var duration: MediaTime?
    }

    /// Creates the description of media that is not stored in one file, and starts at zero.
    init(format: ContainerFormat) {
        self.format = format
        compatibleBrands = []
        startTime = .zero
        programs = []
    }

    init(_ file: InputFile, start: MediaTime?, movie: ISOMovie?) {
        format = file.format
        majorBrand = movie?.header.fileType?.majorBrand.text
        majorBrandVersion = movie?.header.fileType.map { Int($0.minorVersion) }
        compatibleBrands = movie?.header.fileType?.compatibleBrands.map(\.text) ?? []
        sizeBytes = file.length.map { $0 + file.passedOver }
        bitRate = file.bitRate
        startTime = start
        isFragmented = movie?.header.isFragmented
        isIndexFirst = movie?.header.isMovieBeforeMedia
        programs = file.programs.map { Program(number: $0.number, name: $0.name, trackIndices: $0.streams) }
    }
}

extension ContainerInfo {
    /// Sets the start times and durations of the programs.
    ///
    /// - Parameter origin: Returns the container's time that is zero for a track; `nil` if unknown.
    mutating func completePrograms(_ tracks: [AssetTrack], origin: (_ index: Int) -> MediaTime?) {
        for place in programs.indices {
            let media = programs[place].trackIndices.compactMap { index in tracks.first { $0.index == index } }
                .filter { [.video, .audio].contains($0.mediaType) && !$0.isAttachedPicture }
            let lead = media.first { $0.mediaType == .video } ?? media.first
            programs[place].startTime = lead.flatMap { origin($0.index) }
            programs[place].duration = media.map(\.timeRange.end).filter(\.isNumeric).max()
        }
    }
    /// Computes the bit rate from the measured duration, rounded down to whole bits.
    ///
    /// libavformat uses the header's duration instead, and its versions round differently.
    mutating func setBitRate(duration: MediaTime) {
        guard let sizeBytes, let bytes = UInt64(exactly: sizeBytes), duration.isNumeric,
            let ticks = UInt64(exactly: duration.value), let scale = UInt64(exactly: duration.timescale), ticks > 0
        else { return }
        let (bits, overflow) = bytes.multipliedReportingOverflow(by: 8)
        let product = bits.multipliedFullWidth(by: scale)
        guard !overflow, product.high < ticks else { return }
        bitRate = Int64(exactly: ticks.dividingFullWidth(product).quotient)
    }
}

/// The frame rates of a track, and their reliability.
struct FrameRate: Sendable, Hashable {
    /// The stated rate, or otherwise a rate whose clock fits the first frames; `nil` if unknown.
    var nominal: Rational?
    /// The average rate of the track or of its first frames; `nil` if unknown.
    var average: Rational?
    /// True if neither rate is stated, so that both are libavformat's estimates from the first timestamps.
    var isEstimate = false

    /// Creates unknown rates.
    init() {}

    /// Determines the frame rates of a video stream.
    ///
    /// The tables of an MP4 or QuickTime file take precedence. Next come the rate stated by the container's header or
    /// the codec, and the result of reading all packets. The last resort is libavformat's estimate (`r_frame_rate`),
    /// which differs between its versions.
    ///
    /// - Parameters:
    ///   - edits: The track's data from the boxes; `nil` for other formats.
    ///   - measured: The result of reading all packets; `nil` if they were not read.
    init(of stream: StreamInfo, edits: MovieTrackFacts?, measured: PacketStatistics?) {
        // For an empty track, libavformat makes up a rate of one clock tick per frame.
        if edits?.isEmpty == true, measured == nil { return }
        nominal = stream.nominalFrameRate
        average = stream.averageFrameRate
        guard stream.attachedPicture == nil else { return }
        let found = measured?.frameDuration.average.flatMap { Rational($0)?.inverse }
        if let rate = edits?.constantRate {
            nominal = rate
        } else if edits != nil, edits?.isFragmented == false, edits?.isConstantRate == false {
            // The average comes from the tables, but the clock on which all frames lie is a guess.
            isEstimate = true
        } else if let rate = stream.statedFrameRate {
            // libavformat averages only over the first timestamps.
            nominal = rate
            average = measured?.isEven == false ? found ?? rate : rate
        } else if let found {
            // Millisecond clocks round the measured rate; an estimated rate that fits is the correct one.
            let isFitting = nominal.map { (found.doubleValue / $0.doubleValue - 1).magnitude < 0.002 } ?? false
            average = measured?.isEven == true && isFitting ? nominal : found
            nominal = measured?.isEven == true ? average : nil
        } else {
            isEstimate = nominal != nil || average != nil
        }
    }
}
