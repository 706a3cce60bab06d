import ContainerFacts
import ISOMedia
import LibAV
public import MediaBase
import Threading

/// A track of an asset: `AVAssetTrack`.
public struct AssetTrack: Sendable, Hashable {
    /// The track's position in the container, from 0; `probe` and the other commands name the track by it.
    public let index: Int
    /// The container's own number for the track (track ID, PID…).
    public let id: Int
    /// The kind of media in the track.
    public let mediaType: MediaType
    /// True if the track is meant to be used without being requested explicitly.
    public let isEnabled: Bool
    /// The number of the group of tracks of which one is to be used at a time, such as one for each language.
    ///
    /// It is 0 if the track belongs to none, and `nil` if the container has no such groups: `alternate_group` of
    /// ISO/IEC 14496-12, 8.3.2.
    public let alternateGroup: Int?
    /// The ISO 639-2 code of the track's language; `nil` if the container does not state it.
    public let language: String?
    /// The range from the first sample to the end of the track on the presentation timeline; unknown parts are
    /// indefinite.
    public private(set) var timeRange: MediaTimeRange
    /// The duration of the stored media, before any edits; `nil` if unknown.
    public private(set) var mediaDuration: MediaTime?
    /// The edit list; empty if the media plays from its start to its end.
    public let segments: [TrackSegment]
    /// The formats of the samples: the one with which decoding starts, then any others.
    public let formatDescriptions: [FormatDescription]
    /// The nine numbers of the transform of frames for display, as the file stores them (``PictureTransform/matrix``).
    ///
    /// It is `nil` if the file states none.
    public let displayMatrix: [Int32]?
    /// The sizes that QuickTime stores for a track, before rotation; `nil` if the file has none.
    public let trackAperture: TrackAperture?
    /// The frames per second stated by the container or the codec, or otherwise suggested by the first timestamps.
    ///
    /// It is `nil` if unknown or if there are no frames.
    public let nominalFrameRate: Rational?
    /// True if the frame rates are not stated, but estimated by libavformat from the first timestamps.
    public let isFrameRateEstimated: Bool
    /// The average frames per second of the track; `nil` if unknown.
    public let averageFrameRate: Rational?
    /// True if the frame rate is constant throughout; `nil` if this is unknown without reading all packets.
    public let hasConstantFrameRate: Bool?
    /// The colours stated by the container, independently of the coded pictures; `nil` if it states none.
    public let containerColor: ColorInfo?
    /// The display size that Matroska states for the cropped frames; `nil` if the file does not state it.
    public let containerDisplay: ContainerDisplay?
    /// The field order stated by the container: progressive, top field first or bottom field first.
    ///
    /// It is independent of the coded pictures, and `nil` if the container does not state it.
    public let containerFieldOrder: FieldOrder?
    /// The frame size declared by the container, independently of the coded pictures; `nil` if not declared or not
    /// read.
    package let containerSize: Dimensions?
    /// The sample rate declared by the container, independently of the coded audio; `nil` if not declared or not read.
    package let containerSampleRate: Int?
    /// The loudspeakers of the channels in stored order, by libavutil's short names.
    ///
    /// It is `nil` if the format's channel layout already states them, or if they are unknown.
    package let containerSpeakers: [String]?
    /// The shortest duration of a frame; `nil` if this is unknown without reading all packets.
    public let minimumFrameDuration: MediaTime?
    /// The number of samples, as stated by the container or counted by a scan; `nil` if unknown.
    public let sampleCount: Int64?
    /// The roles of the track, such as `default`, `forced` or `attached_pic`, by libavformat's names.
    public let dispositions: [String]
    /// The track's own metadata.
    public let metadata: [MetadataItem]
    /// The ``id``s of the tracks to which this one refers, by the type of reference, such as `chap` or `tmcd`.
    public internal(set) var associatedTracks: [String: [Int]]
    /// The timecode of the first frame as written by the container; `nil` if it has none.
    public let startTimecode: String?
    /// The timecode of a timecode track; `nil` for other tracks.
    public let timecode: TrackTimecode?
    /// The picture of a cover art track, as stored; `nil` for other tracks.
    public let attachedPicture: [UInt8]?

    /// The asset that the track was loaded from; equal tracks of two assets are equal.
    private(set) var owner = Owner(asset: nil)

    /// The end of the track according to its edit list, or otherwise to iTunes; `nil` if neither states it.
    let editedEnd: MediaTime?
    /// The unit of the stream's timestamps.
    package let timeBase: Rational
    /// The byte range of the first sample in the file; `nil` if no table states it.
    let firstSample: Range<UInt64>?
    /// The total duration of the samples from the tables of an MP4 or QuickTime file; `nil` for other formats.
    let tableDuration: MediaTime?
    /// True if the first picture is that of all times from the track's start on, although its own time may be later.
    var startsWithFirstPicture = false
    /// The description of a track of text, timecode or data in an MP4 or QuickTime file; `nil` for other tracks.
    var carriage: Carriage?
    /// The coding parameters of the samples, for a writer that copies them unchanged.
    let codecParameters: CodecParameters?

    init(
        _ stream: StreamInfo, origin: MediaTime, keySpace: MetadataKeySpace, edits: MovieTrackFacts?,
        shown: StreamEdits? = nil, tags: [MetadataItem] = [], scan: PacketScan?
    ) {
        let scanned = scan?.streams[stream.index]
        var stream = stream
        if scan != nil, scanned == nil, edits == nil, stream.attachedPicture == nil {
            // libavformat gives the container's times to a track without packets.
            stream.duration = nil
            stream.startTime = nil
        }
        index = stream.index
        id = stream.id
        mediaType = stream.format.mediaType
        isEnabled = edits?.isEnabled ?? true
        alternateGroup = edits?.alternateGroup
        language = stream.metadata.first { $0.key == "language" }.map(\.value)
        let scannedDuration = scanned.flatMap { $0.isEndKnown ? $0.range.duration : nil }
        // If fragments exceed a limit, reading all packets is more complete than the boxes.
        let measured = edits?.isLengthKnown == false ? scannedDuration : nil
        mediaDuration = measured ?? edits?.mediaDuration ?? scannedDuration ?? stream.duration
        segments = edits?.segments ?? []
        editedEnd = Self.end(segments, shown, in: stream.timeBase)
        timeRange = Self.timeRange(
            stream, origin: origin, earliest: shown?.start(in: stream.timeBase) ?? .zero, end: editedEnd, edits: edits,
            scanned: scanned)
        let isVideo = stream.format.mediaType == .video
        formatDescriptions = [stream.format] + stream.furtherFormats
        // libavformat does not expose an identity matrix; an ISO track always has a matrix.
        displayMatrix = stream.displayMatrix ?? (isVideo && edits != nil ? PictureTransform.identity.matrix : nil)
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
        // Packets of linear PCM are of any size.
        let isPCM = stream.format.codec.hasPrefix("pcm_")
        let counted = isPCM ? nil : scanned.map { Int64($0.statistics.frameCount) }
        sampleCount = edits?.sampleCount ?? counted ?? stream.frameCount
        dispositions = stream.dispositions
        let items = MetadataItem.list(
            stream.metadata.compactMap { entry in
                guard entry.key != "language" else { return nil }
                // Since 8.1, libavformat also passes on the name under the name of its box.
                if entry.key == "name", entry.value == edits?.name { return nil }
                // libavformat mistakes the byte that counts the characters of a QuickTime name for one of them.
                guard entry.key == "handler_name", let edits else { return entry }
                return edits.handlerName.map { (entry.key, $0) }
            } + Self.name(edits, besides: stream), keySpace: keySpace, movie: edits?.metadata)
        // The track's name is taken from elsewhere, and may differ.
        metadata = MetadataItem.merging(items, with: (edits?.metadata.items ?? []).filter { $0.name != "title" } + tags)
        associatedTracks = edits?.references ?? [:]
        startTimecode = stream.metadata.first { $0.key == "timecode" }.map(\.value)
        timecode = edits?.timecode
        attachedPicture = stream.attachedPicture
        firstSample = edits?.firstSample
        timeBase = stream.timeBase
        tableDuration = edits?.mediaDuration
        carriage = edits?.carriage
        codecParameters = stream.codecParameters
    }

    /// Returns true if the first picture, which is on screen from `start` to `end`, is that of an earlier time.
    func showsFirstPicture(at time: MediaTime, from start: MediaTime, to end: MediaTime) -> Bool {
        startsWithFirstPicture && time >= timeRange.start || start - time < end - start
    }

    /// Returns the track's name as a metadata entry if libavformat does not pass it on.
    private static func name(_ edits: MovieTrackFacts?, besides stream: StreamInfo) -> [(key: String, value: String)] {
        guard let name = edits?.name, !stream.metadata.contains(where: { $0.key == "title" }) else { return [] }
        return [("title", name)]
    }

    private static func end(_ segments: [TrackSegment], _ shown: StreamEdits?, in timeBase: Rational) -> MediaTime? {
        if let end = segments.end { return end }
        guard let last = shown?.parts.last, last.end < .max else { return nil }
        return MediaTime(ticks: last.end, timeBase: timeBase)
    }

    /// Sets the end of the last sample, of which the container says nothing.
    mutating func settle(end: MediaTime) {
        timeRange = MediaTimeRange(start: timeRange.start, end: max(timeRange.start, end))
        mediaDuration = timeRange.duration
    }

    /// Extends a cover, which is a single packet, to the duration of the asset.
    mutating func last(for duration: MediaTime) {
        timeRange = MediaTimeRange(start: .zero, duration: duration)
        mediaDuration = duration.isNumeric ? duration : nil
    }

    private static func timeRange(
        _ stream: StreamInfo, origin: MediaTime, earliest: MediaTime, end: MediaTime?, edits: MovieTrackFacts?,
        scanned: PacketScan.Stream?
    ) -> MediaTimeRange {
        // Samples before the first edit (priming, frames needed by others) are not shown.
        let first = scanned?.range.start ?? stream.startTime.map { $0 - origin }
        let start = stream.attachedPicture == nil ? first.map { $0 > earliest ? $0 : earliest } ?? .zero : .zero
        if let end { return MediaTimeRange(start: min(start, end), end: end) }
        if let scanned, stream.attachedPicture == nil, scanned.isEndKnown || stream.duration == nil {
            return MediaTimeRange(start: start, end: max(start, scanned.range.end))
        }
        if let duration = edits?.openDuration ?? edits?.mediaDuration {
            return MediaTimeRange(start: start, duration: duration)
        }
        guard let duration = stream.duration else { return MediaTimeRange(start: start, duration: .indefinite) }
        return MediaTimeRange(start: start, duration: duration)
    }
}

extension AssetTrack {
    /// The asset that a track was loaded from.
    ///
    /// It is no part of what makes tracks equal.
    struct Owner: Sendable, Hashable {
        let asset: Asset?

        static func == (_: Owner, _: Owner) -> Bool { true }
        func hash(into: inout Hasher) {}
    }

    /// The asset that the track was loaded from: `AVAssetTrack.asset`.
    ///
    /// A track keeps its asset in memory. It is `nil` only for tracks that no asset has returned.
    public var asset: Asset? { owner.asset }

    /// Returns the track as one of an asset.
    ///
    /// An asset's own copies of its tracks have no owner; otherwise the asset and the tracks would keep each other in memory.
    func owned(by asset: Asset) -> AssetTrack {
        var track = self
        track.owner = Owner(asset: asset)
        return track
    }

    /// Frames per second as counted by timecodes: the nominal rate, halved if this counts fields.
    package var pictureRate: Rational? {
        guard mediaType == .video else { return nil }
        return Rational.pictureRate(
            nominal: nominalFrameRate, average: averageFrameRate,
            fieldOrder: formatDescriptions.first?.video?.fieldOrder)
    }

    /// The transform of frames for display; the identity if the file states none.
    ///
    /// Unequal scaling is not included. It is part of the pixels' shape: ``VideoFormat/sampleAspectRatio``.
    public var preferredTransform: PictureTransform { statedTransform ?? .identity }

    /// The transform that the file states, without unequal scaling; `nil` if it states none.
    var statedTransform: PictureTransform? { displayMatrix.map { PictureTransform(matrix: $0).withoutStretch } }

    /// True if the track is a cover picture rather than video.
    public var isAttachedPicture: Bool { attachedPicture != nil }

    /// The ticks per second of the clock for sample times, such as 90000 in a transport stream.
    ///
    /// If one tick lasts several such units (1001/30000 s), this is the denominator; all times are multiples of the
    /// unit.
    public var naturalTimeScale: Int32 { Int32(clamping: timeBase.den) }

    /// The grid of times at which the track can be cut so that every time counted from there is exact.
    package var trimGrid: TrimGrid {
        let rate = mediaType == .audio ? formatDescriptions.first?.audio?.sampleRate : nil
        return TrimGrid(timescale: rate.map { Int32(clamping: $0) } ?? naturalTimeScale)
    }

    /// The display size of frames in whole pixels; `nil` without video.
    ///
    /// Clean aperture, pixel aspect ratio and rotation are applied.
    public var naturalSize: Dimensions? {
        formatDescriptions.first?.video.map {
            preferredTransform.apply(to: $0.presentationDimensions(usePixelAspectRatio: true, useCleanAperture: true))
        }
    }
}

extension AssetTrack {
    /// The segments as mappings from the media's time line to the track's; a track without an edit list has one for all.
    public var timeMappings: [MediaTimeMapping] {
        guard segments.isEmpty else { return TrackSegment.mappings(of: segments, mediaDuration: mediaDuration) }
        let whole = MediaTimeRange(start: .zero, duration: timeRange.end)
        return [MediaTimeMapping(source: whole, target: whole)]
    }

    /// Returns the segment that is shown at a time, as a mapping: `AVAssetTrack.segment(forTrackTime:)`.
    ///
    /// - Parameter time: A time of the track's time line.
    /// - Returns: `nil` before the first and after the last segment.
    public func segment(at time: MediaTime) -> MediaTimeMapping? {
        timeMappings.first { $0.target.contains(time) }
    }

    /// Returns the time of the media that is shown at a time of the track's time line, or an invalid time where nothing
    /// is shown: `AVAssetTrack.samplePresentationTime(forTrackTime:)`.
    ///
    /// For a track without an edit list both are the same.
    public func samplePresentationTime(forTrackTime time: MediaTime) -> MediaTime {
        segment(at: time).map { $0.isEmpty ? .invalid : $0.sourceTime(of: time) } ?? .invalid
    }
}

extension [TrackSegment] {
    /// The end of an edit list; `nil` if it is empty or if a segment extends to the end of the media.
    fileprivate var end: MediaTime? {
        guard !isEmpty, !contains(where: { $0.duration == .zero }) else { return nil }
        let end = reduce(MediaTime.zero) { $0 + $1.duration }
        return end.isNumeric ? end : nil
    }
}
