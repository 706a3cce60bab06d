import LibAV
public import MediaBase
import Threading

/// One track of an asset: `AVAssetTrack`.
public struct AssetTrack: Sendable, Hashable {
    /// Its place in the container, from 0; how `probe` and the other commands name it.
    public let index: Int
    /// The container's own number of it (track ID, PID…).
    public let id: Int
    /// What it carries.
    public let mediaType: MediaType
    /// Whether it is meant to be used without being asked for.
    public let isEnabled: Bool
    /// ISO 639-2 code of its language; `nil` where the container does not say.
    public let language: String?
    /// From its first sample to its end on the presentation's time line; parts that are unknown are indefinite.
    public private(set) var timeRange: MediaTimeRange
    /// How long the stored media is, before any edits; `nil` where unknown.
    public private(set) var mediaDuration: MediaTime?
    /// The edit list; empty where the media plays from its start to its end.
    public let segments: [Segment]
    /// How the samples are coded: the description that decoders begin with first, then any others.
    public let formatDescriptions: [FormatDescription]
    /// How pictures are turned for display, as the file says; `nil` where it says nothing.
    public let displayTransform: DisplayTransform?
    /// The sizes that QuickTime keeps for a track, before its turn; `nil` where the file has none.
    public let trackAperture: TrackAperture?
    /// Frames a second by the container's word, or the codec's, or as the first time stamps suggest; `nil` where unknown,
    /// or where there are no frames.
    public let nominalFrameRate: Rational?
    /// Nobody states the frame rates: they are libavformat's guess by the first time stamps.
    public let isFrameRateEstimated: Bool
    /// Frames a second averaged over the track; `nil` where unknown.
    public let averageFrameRate: Rational?
    /// Whether frames follow each other at one rate throughout; `nil` where unknown without reading all packets.
    public let hasConstantFrameRate: Bool?
    /// What the container says of colours, apart from the coded pictures; `nil` where it says nothing.
    public let containerColor: ColorInfo?
    /// The size in which Matroska wants the cropped pictures to be shown; `nil` where the file does not say.
    public let containerDisplay: ContainerDisplay?
    /// What the container says of fields, apart from the coded pictures: `progressive`, `tt` (top field first) or `bb`;
    /// `nil` where it says nothing.
    public let containerFieldOrder: String?
    /// The container's word on the stored picture, apart from the coded pictures; `nil` where it has none, or where it is
    /// not read.
    package let containerSize: Dimensions?
    /// The container's word on the samples a second, apart from the coded sound; `nil` likewise.
    package let containerSampleRate: Int?
    /// Which loudspeakers the channels are for in stored order, by libavutil's short names, where the format's layout does
    /// not say it; `nil` else.
    package let containerSpeakers: [String]?
    /// The shortest duration of a frame; `nil` where unknown without reading all packets.
    public let minimumFrameDuration: MediaTime?
    /// How many samples there are, by the container's word or by a scan; `nil` where unknown.
    public let sampleCount: Int64?
    /// Roles such as `default`, `forced` or `attached_pic`, by libavformat's names.
    public let dispositions: [String]
    /// The track's own metadata.
    public let metadata: [MetadataItem]
    /// Other tracks that this one refers to, by the kind of reference such as `chap` or `tmcd`: their ``id``s.
    public let associatedTracks: [String: [Int]]
    /// The first frame's timecode as the container writes it; `nil` where it has none.
    public let startTimecode: String?
    /// What a timecode track counts; `nil` for other tracks.
    public let timecode: TrackTimecode?
    /// The picture that a cover art track holds, as stored; `nil` for other tracks.
    public let attachedPicture: [UInt8]?

    /// Where the edit list ends the track, or what iTunes notes in its place; `nil` where neither says it.
    let editedEnd: MediaTime?
    /// The unit of the stream's time stamps.
    let timeBase: Rational
    /// Where the first sample lies in the file; `nil` where no table says.
    let firstSample: Range<UInt64>?
    /// How long its samples are together by an MP4's or QuickTime file's own tables; `nil` for other formats.
    let tableDuration: MediaTime?
    /// How its samples are coded, for a writer that takes them as they are.
    let codecParameters: CodecParameters?

    /// One edit: for how long it plays which part of the media, and how fast (ISO/IEC 14496-12, 8.6.6).
    public struct Segment: Sendable, Hashable {
        /// How long it lasts on the presentation's time line; 0 means to the end of the media.
        public let duration: MediaTime
        /// Where in the media it begins; `nil` for an empty edit, during which nothing is shown.
        public let mediaStart: MediaTime?
        /// The speed; 1 is normal.
        public let rate: Rational
    }

    init(
        _ stream: StreamInfo, origin: MediaTime, keySpace: MetadataItem.KeySpace, edits: TrackEdits?,
        shown: StreamEdits? = nil, scan: PacketScan?
    ) {
        let scanned = scan?.streams[stream.index]
        var stream = stream
        if scan != nil, scanned == nil, edits == nil, stream.attachedPicture == nil {
            // libavformat gives a track without packets the container's times.
            stream.duration = nil
            stream.startTime = nil
        }
        index = stream.index
        id = stream.id
        mediaType = stream.format.mediaType
        isEnabled = edits?.isEnabled ?? true
        language = stream.metadata.first { $0.key == "language" }.map(\.value)
        let scannedDuration = scanned.flatMap { $0.isEndKnown ? $0.range.duration : nil }
        // Of fragments beyond a limit, reading all packets tells more than the boxes.
        let counted = edits?.isLengthKnown == false ? scannedDuration : nil
        mediaDuration = counted ?? edits?.mediaDuration ?? scannedDuration ?? stream.duration
        segments = edits?.segments ?? []
        editedEnd = Self.end(segments, shown, in: stream.timeBase)
        timeRange = Self.timeRange(
            stream, origin: origin, earliest: shown?.start(in: stream.timeBase) ?? .zero, end: editedEnd, edits: edits,
            scanned: scanned)
        let isVideo = stream.format.mediaType == .video
        formatDescriptions = [stream.format] + stream.furtherFormats
        // libavformat keeps an identity matrix to itself; an ISO track always has one.
        displayTransform =
            stream.displayMatrix.map { DisplayTransform(matrix: $0) } ?? (isVideo && edits != nil ? .identity : nil)
        trackAperture = edits?.aperture
        hasConstantFrameRate = isVideo ? edits?.isConstantRate ?? scanned?.statistics.isEven : nil
        containerColor = isVideo ? stream.containerColor : nil
        containerDisplay = stream.containerDisplay
        containerFieldOrder = isVideo ? stream.containerFieldOrder : nil
        containerSize = isVideo ? stream.containerSize : nil
        containerSampleRate = isVideo ? nil : stream.containerSampleRate
        containerSpeakers = stream.containerSpeakers
        let rate = isVideo ? FrameRate(of: stream, edits: edits, measured: scanned?.statistics) : FrameRate()
        nominalFrameRate = rate.nominal
        averageFrameRate = rate.average
        isFrameRateEstimated = rate.isEstimate
        minimumFrameDuration = isVideo ? edits?.shortestSample ?? scanned?.statistics.frameDuration.minimum : nil
        sampleCount = edits?.sampleCount ?? scanned.map { Int64($0.statistics.frameCount) } ?? stream.frameCount
        dispositions = stream.dispositions
        let items = MetadataItem.list(
            stream.metadata.compactMap { entry in
                guard entry.key != "language" else { return nil }
                // From 8.1 on it passes the name on by the name of its box.
                if entry.key == "name", entry.value == edits?.name { return nil }
                // libavformat takes the byte that counts the characters of a QuickTime name for one of them.
                guard entry.key == "handler_name", let edits else { return entry }
                return edits.handlerName.map { (entry.key, $0) }
            } + Self.name(edits, besides: stream), keySpace: keySpace, spaces: edits?.keySpaces)
        // The name has its own place, which may be another.
        metadata = MetadataItem.merging(items, with: (edits?.keySpaces.items ?? []).filter { $0.identifier != "title" })
        associatedTracks = edits?.references ?? [:]
        startTimecode = stream.metadata.first { $0.key == "timecode" }.map(\.value)
        timecode = edits?.timecode
        attachedPicture = stream.attachedPicture
        firstSample = edits?.firstSample
        timeBase = stream.timeBase
        tableDuration = edits?.mediaDuration
        codecParameters = stream.codecParameters
    }

    /// The track's name, where libavformat does not pass it on.
    private static func name(_ edits: TrackEdits?, besides stream: StreamInfo) -> [(key: String, value: String)] {
        guard let name = edits?.name, !stream.metadata.contains(where: { $0.key == "title" }) else { return [] }
        return [("title", name)]
    }

    private static func end(_ segments: [Segment], _ shown: StreamEdits?, in timeBase: Rational) -> MediaTime? {
        if let end = segments.end { return end }
        guard segments.isEmpty, let last = shown?.parts.last, last.end < .max else { return nil }
        return MediaTime(ticks: last.end, timeBase: timeBase)
    }

    /// Has a cover, which is one packet, shown as long as the asset lasts.
    mutating func last(for duration: MediaTime) {
        timeRange = MediaTimeRange(start: .zero, duration: duration)
        mediaDuration = duration.isNumeric ? duration : nil
    }

    private static func timeRange(
        _ stream: StreamInfo, origin: MediaTime, earliest: MediaTime, end: MediaTime?, edits: TrackEdits?,
        scanned: PacketScan.Stream?
    ) -> MediaTimeRange {
        // Samples before the first edit (priming, frames that others need) are not shown.
        let first = scanned?.range.start ?? stream.startTime.map { $0 - origin }
        let start = stream.attachedPicture == nil ? first.map { $0 > earliest ? $0 : earliest } ?? .zero : .zero
        if let end { return MediaTimeRange(start: min(start, end), end: end) }
        if let scanned, stream.attachedPicture == nil, scanned.isEndKnown || stream.duration == nil {
            return MediaTimeRange(start: start, end: max(start, scanned.range.end))
        }
        if let duration = edits?.mediaDuration { return MediaTimeRange(start: start, duration: duration) }
        guard let duration = stream.duration else { return MediaTimeRange(start: start, duration: .indefinite) }
        return MediaTimeRange(start: start, duration: duration)
    }
}

extension AssetTrack {
    /// How pictures are turned for display; not at all where the file says nothing.
    ///
    /// Unequal scales are left out: they are part of the pixels' shape, ``VideoFormat/sampleAspectRatio``.
    public var preferredTransform: DisplayTransform { displayTransform?.withoutStretch ?? .identity }

    /// Whether it is a cover picture rather than moving ones.
    public var isAttachedPicture: Bool { attachedPicture != nil }

    /// Ticks a second of the clock that its samples' times are counted by, such as 90000 in a transport stream.
    ///
    /// Where one tick lasts several such parts (1001/30000 s), the number below the line; all times are whole in it.
    public var naturalTimeScale: Int32 { Int32(clamping: timeBase.den) }

    /// Where the track can be cut so that every time counted from there is exact.
    package var trimGrid: TrimGrid {
        let rate = mediaType == .audio ? formatDescriptions.first?.audio?.sampleRate : nil
        return TrimGrid(timescale: rate.map { Int32(clamping: $0) } ?? naturalTimeScale)
    }

    /// The size in which its pictures are shown: clean aperture, pixel aspect and turn applied, in whole pixels; `nil`
    /// without pictures.
    public var naturalSize: Dimensions? {
        formatDescriptions.first?.video.map {
            preferredTransform.apply(to: $0.presentationDimensions(usePixelAspectRatio: true, useCleanAperture: true))
        }
    }

    /// Whether a person perceives something of this kind in the track.
    public func has(_ characteristic: MediaCharacteristic) -> Bool {
        switch characteristic {
        case .visual: mediaType == .video || mediaType == .subtitle
        case .audible: mediaType == .audio
        case .legible: mediaType == .subtitle
        }
    }
}

extension [AssetTrack.Segment] {
    /// Where an edit list ends; `nil` where it is empty, or a segment goes on to the end of the media.
    fileprivate var end: MediaTime? {
        guard !isEmpty, !contains(where: { $0.duration == .zero }) else { return nil }
        let end = reduce(MediaTime.zero) { $0 + $1.duration }
        return end.isNumeric ? end : nil
    }
}

/// A property of an asset that takes reading the file to know: `AVAsyncProperty`.
public struct AssetProperty<Value: Sendable>: Sendable {
    let value: @Sendable (AssetContents) -> Value
}

extension AssetProperty where Value == MediaTime {
    /// The end of the longest track that is seen, heard or read on the presentation's time line.
    ///
    /// Indefinite where unknown.
    public static var duration: Self { Self { $0.duration } }
}

extension AssetProperty where Value == Bool {
    /// Whether durations and random access are exact: `AVURLAsset.providesPreciseDurationAndTiming`.
    ///
    /// Always so for ``Asset/Options/isPrecise`` where the file can be read twice; else it depends on the container.
    public static var providesPreciseDurationAndTiming: Self { Self { $0.isTimingPrecise } }
}

extension AssetProperty where Value == [AssetTrack] {
    /// All tracks, in the container's order.
    public static var tracks: Self { Self { $0.tracks } }
}

extension AssetProperty where Value == [MetadataItem] {
    /// The metadata of the container as a whole.
    public static var metadata: Self { Self { $0.metadata } }
}

extension AssetProperty where Value == [Chapter] {
    /// The chapters, in their order.
    public static var chapters: Self { Self { $0.chapters } }
}

extension AssetProperty where Value == ContainerInfo {
    /// What the container says of itself.
    public static var container: Self { Self { $0.container } }
}

extension AssetProperty where Value == [String] {
    /// What was odd in the file's structure, one sentence each.
    public static var warnings: Self { Self { $0.warnings } }
}

/// How far the loading of a property has come: `AVAsyncProperty.Status`.
public enum AssetPropertyStatus<Value: Sendable>: Sendable {
    /// Nobody has asked for it yet.
    case unknown
    /// It is being read.
    case loading
    /// It is known.
    case loaded(Value)
    /// It could not be read.
    case failed(MediaError)
    /// Loading was cancelled.
    case cancelled
}

extension Asset {
    /// Loads a property; the file is opened and its header read with the first one.
    ///
    /// The work is done on a thread of Dispatch, never on Swift's cooperative ones. Cancelling the task cancels loading,
    /// unless others wait for it too.
    public func load<Value: Sendable>(_ property: AssetProperty<Value>) async throws(MediaError) -> Value {
        let interest = Interest(in: self)
        defer { interest.end() }
        let contents = try await offload(onCancel: { interest.withdraw() }) { () throws(MediaError) in
            try self.contentsWhileWanted()
        }
        return property.value(contents)
    }

    /// Loads a property on the calling thread, which may block for as long as reading takes.
    public func loadNow<Value: Sendable>(_ property: AssetProperty<Value>) throws(MediaError) -> Value {
        property.value(try contents())
    }

    /// How far the loading of a property has come; never blocks.
    public func status<Value: Sendable>(of property: AssetProperty<Value>) -> AssetPropertyStatus<Value> {
        let (result, isLoading) = loadState
        switch result {
        case .success(let contents): return .loaded(property.value(contents))
        case .failure(let error): return error.code == .cancelled ? .cancelled : .failed(error)
        case nil: return isLoading ? .loading : .unknown
        }
    }

    /// The tracks that carry something of a kind, in the container's order.
    public func loadTracks(withMediaType type: MediaType) async throws(MediaError) -> [AssetTrack] {
        try await load(.tracks).filter { $0.mediaType == type }
    }

    /// The tracks in which a person perceives something of a kind, in the container's order.
    public func loadTracks(withCharacteristic characteristic: MediaCharacteristic) async throws(MediaError)
        -> [AssetTrack]
    {
        try await load(.tracks).filter { $0.has(characteristic) }
    }
}
