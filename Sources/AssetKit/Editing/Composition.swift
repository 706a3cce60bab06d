public import MediaBase

/// A timeline assembled from time ranges of several assets' tracks: `AVMutableComposition`.
///
/// ```swift
/// var composition = Composition()
/// let video = try composition.addTrack(mediaType: .video)
/// try composition.insertTimeRange(range, of: track, at: .zero, into: video)
/// let reader = try AssetReader(asset: Asset(composition: composition))
/// ```
///
/// A composition is a value: an asset created from it keeps its state even if the composition changes later. All times
/// are exact. After any number of edits, each segment lies exactly where the sums of the times place it. Sums that need
/// a timescale of more than 32 bits are rounded to the nearest of 2147483647 parts of a second, and are marked as
/// rounded.
///
/// Audio that plays faster or slower keeps its pitch, unless its output says otherwise: ``AudioTimePitchAlgorithm``.
public struct Composition: Sendable {
    /// The tracks, in the order in which they were added.
    public private(set) var tracks: [Track] = []
    /// The size at which video is displayed; by default that of the first video track's first source.
    public var naturalSize: Dimensions?

    /// The maximum number of tracks: libavformat's limit for one file.
    static let maximumTracks = 1000

    /// Creates an empty composition.
    public init() {}

    /// The end of the longest track.
    public var duration: MediaTime { tracks.map(\.end).max() ?? .zero }

    /// Returns the track with an ID; `nil` if there is none.
    public func track(withID id: Int) -> Track? { tracks.first { $0.id == id } }

    /// The types of media that tracks may have.
    private static let mediaTypes: Set<MediaType> = [.video, .audio, .subtitle, .timecode, .data]

    /// Adds an empty track and returns its ID.
    ///
    /// Subtitles, timecode and data are read as they are stored.
    /// - Parameters:
    ///   - mediaType: The media type: video, audio, subtitles, timecode or data.
    ///   - preferredTrackID: The ID to use if no other track has it; above 0. `nil` for the next free one.
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` for other media types, and
    ///   ``MediaError/Code-swift.struct/limitExceeded`` if there are too many tracks.
    @discardableResult
    public mutating func addTrack(mediaType: MediaType, preferredTrackID: Int? = nil) throws(MediaError) -> Int {
        guard Self.mediaTypes.contains(mediaType) else {
            throw MediaError(.unsupported, "a composition has no \(mediaType) tracks")
        }
        guard tracks.count < Self.maximumTracks else {
            throw MediaError(.limitExceeded, "a composition has at most \(Self.maximumTracks) tracks")
        }
        let last = tracks.map(\.id).max() ?? 0
        var id = last < Int32.max ? last + 1 : 1
        if let wanted = preferredTrackID, 0 < wanted, wanted <= Int32.max, track(withID: wanted) == nil { id = wanted }
        while track(withID: id) != nil { id += 1 }
        tracks.append(Track(id: id, mediaType: mediaType))
        return id
    }

    /// Removes a track; does nothing if no track has this ID.
    public mutating func removeTrack(withID id: Int) { tracks.removeAll { $0.id == id } }

    /// Sets the transform that players apply to a track's video; does nothing if no track has this ID.
    public mutating func setPreferredTransform(_ transform: PictureTransform, ofTrack id: Int) {
        for index in tracks.indices where tracks[index].id == id { tracks[index].preferredTransform = transform }
    }
}

// MARK: - Editing

extension Composition {
    /// Inserts a time range of an asset's track; subsequent segments of the track shift later.
    ///
    /// Any part of the range before the start or after the end of the source track becomes a gap, and so does the time
    /// between the end of the composition's track and `time`. If the source is itself a composition, its segments are
    /// inserted.
    /// - Parameters:
    ///   - range: A time range on the source's presentation time line.
    ///   - track: A track with the media type of the composition's track, whose asset can be read more than once.
    ///   - asset: The source asset; `nil` for the one that the track was loaded from.
    ///   - time: The start time in the composition; zero or later.
    ///   - id: The ID of the composition's track.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for an empty range, for times that are negative or
    ///   not numeric, and for tracks that do not match; errors from opening the asset.
    public mutating func insertTimeRange(
        _ range: MediaTimeRange, of track: AssetTrack, in asset: Asset? = nil, at time: MediaTime, into id: Int
    ) throws(MediaError) {
        guard let asset = asset ?? track.asset else {
            throw MediaError(.invalidArgument, "the track belongs to no asset; take it from those that an asset loads")
        }
        try Self.check(range, in: asset)
        try Self.check(time)
        let place = try place(ofTrack: id)
        guard tracks[place].mediaType == track.mediaType else {
            throw MediaError(
                .invalidArgument, "a \(track.mediaType) track cannot go into a track of \(tracks[place].mediaType)",
                path: asset.displayName)
        }
        guard try asset.contents().tracks.contains(track) else {
            throw MediaError(.invalidArgument, "the track is not of this asset", path: asset.displayName)
        }
        guard !asset.isStream else {
            throw MediaError(
                .unsupported, "can be read only once; write it to a file to edit it", path: asset.displayName)
        }
        if let inner = asset.composition?.track(withID: track.id) {
            tracks[place].insert(range, of: inner, at: time)
        } else {
            asset.letGoOfFile()
            tracks[place].insert(range, of: Source(asset, track), at: time)
        }
    }

    /// Inserts a gap; subsequent segments shift later.
    ///
    /// - Parameters:
    ///   - range: The time range of the gap.
    ///   - id: The ID of the track; `nil` for all tracks.
    public mutating func insertEmptyTimeRange(
        _ range: MediaTimeRange, intoTrack id: Int? = nil
    ) throws(MediaError) {
        try Self.check(range)
        for index in try places(ofTrack: id) { tracks[index].insertGap(of: range.duration, at: range.start) }
    }

    /// Removes a time range; subsequent segments shift earlier.
    ///
    /// - Parameters:
    ///   - range: The time range, on the composition's time line.
    ///   - id: The ID of the track; `nil` for all tracks.
    public mutating func removeTimeRange(_ range: MediaTimeRange, fromTrack id: Int? = nil) throws(MediaError) {
        try Self.check(range)
        for index in try places(ofTrack: id) { tracks[index].remove(range) }
    }

    /// Changes the duration of a time range by playing it faster or slower; subsequent segments shift accordingly.
    ///
    /// - Parameters:
    ///   - range: The time range, on the composition's time line.
    ///   - duration: The duration that it gets.
    ///   - id: The ID of the track; `nil` for all tracks.
    public mutating func scaleTimeRange(
        _ range: MediaTimeRange, toDuration duration: MediaTime, inTrack id: Int? = nil
    ) throws(MediaError) {
        let factor = try Self.factor(range, duration)
        if let id { return try tracks[try place(ofTrack: id)].scale(range, by: factor) }
        var edited = self
        for index in tracks.indices { try edited.tracks[index].scale(range, by: factor) }
        self = edited
    }

    private func places(ofTrack id: Int?) throws(MediaError) -> Range<Int> {
        guard let id else { return tracks.indices }
        let place = try place(ofTrack: id)
        return place..<place + 1
    }

    private func place(ofTrack id: Int) throws(MediaError) -> Int {
        guard let place = tracks.firstIndex(where: { $0.id == id }) else {
            throw MediaError(.noSuchTrack, "the composition has no track \(id)")
        }
        return place
    }
}

// MARK: - Inserting all tracks of an asset

extension Composition {
    /// Returns a track that can take a source track's media without a change of format: `compatibleTrack(for:)`.
    ///
    /// The track is either empty, or its first source has the same codec and the same size and rotation, or rate and
    /// channels. `nil` if there is no such track.
    public func compatibleTrack(for track: AssetTrack) -> Track? {
        tracks.first { $0.mediaType == track.mediaType && $0.accepts(track) }
    }

    /// Inserts a time range of all of an asset's video, audio and subtitle tracks.
    ///
    /// Subsequent segments of all tracks shift later. Each source track goes into a compatible track that no other uses,
    /// or into a new one. Tracks that receive no media get a gap as long as the range, so that all tracks stay in sync.
    /// Tracks of timecode and data are inserted one by one.
    public mutating func insertTimeRange(
        _ range: MediaTimeRange, of asset: Asset, at time: MediaTime
    ) throws(MediaError) {
        try Self.check(range, in: asset)
        try Self.check(time)
        let all = try asset.contents().tracks
        let chapters = Set(all.flatMap { $0.associatedTracks["chap"] ?? [] })
        let sources = all.filter {
            [.video, .audio, .subtitle].contains($0.mediaType) && !$0.isAttachedPicture && !chapters.contains($0.id)
        }
        guard sources.contains(where: { $0.mediaType != .subtitle }) else {
            throw MediaError(.noSuchTrack, "has neither video nor audio", path: asset.displayName)
        }
        var edited = self
        var used: Set<Int> = []
        for source in sources {
            let free = edited.tracks.first {
                $0.mediaType == source.mediaType && !used.contains($0.id) && $0.accepts(source)
            }
            let id: Int
            if let free { id = free.id } else { id = try edited.addTrack(mediaType: source.mediaType) }
            used.insert(id)
            try edited.insertTimeRange(range, of: source, in: asset, at: time, into: id)
        }
        for index in edited.tracks.indices where !used.contains(edited.tracks[index].id) {
            // A track that ends before the insertion needs no gap to stay in sync.
            if edited.tracks[index].end > time { edited.tracks[index].insertGap(of: range.duration, at: time) }
        }
        self = edited
    }

    // MARK: Checks

    private static func check(_ range: MediaTimeRange, in asset: Asset? = nil) throws(MediaError) {
        guard range.isValid, range.start.isNumeric, range.duration.isNumeric, range.start >= .zero,
            range.end.isNumeric
        else {
            throw MediaError(
                .invalidArgument, "\(range) is not a time range from zero on; give its start and its duration",
                path: asset?.displayName)
        }
        guard !range.isEmpty else {
            throw MediaError(
                .invalidArgument, "the time range at \(range.start) is empty; a segment must have a duration",
                path: asset?.displayName)
        }
    }

    private static func check(_ time: MediaTime) throws(MediaError) {
        guard time.isNumeric, time >= .zero else {
            throw MediaError(.invalidArgument, "\(time) is not a time of a composition, which starts at zero")
        }
    }

    private static func factor(_ range: MediaTimeRange, _ duration: MediaTime) throws(MediaError) -> Rational {
        try check(range)
        guard duration.isNumeric, duration > .zero, let new = Rational(duration), let old = Rational(range.duration),
            let factor = new.divided(by: old)
        else { throw MediaError(.invalidArgument, "\(duration) is not a duration that a time range can have") }
        return factor
    }
}

extension Composition.Track {
    /// Returns true if the source's media has the format of the media in this track.
    fileprivate func accepts(_ track: AssetTrack) -> Bool {
        guard let mine = segments.lazy.compactMap(\.source?.track).first else { return true }
        guard let format = mine.formatDescriptions.first, let other = track.formatDescriptions.first,
            format.codec == other.codec
        else { return false }
        return format.video?.encodedSize == other.video?.encodedSize
            && mine.preferredTransform == track.preferredTransform
            && format.audio?.sampleRate == other.audio?.sampleRate
            && format.audio?.channelLayout == other.audio?.channelLayout
    }

    /// Inserts a time range of another composition's track; parts outside that track become gaps.
    fileprivate mutating func insert(_ range: MediaTimeRange, of other: Composition.Track, at time: MediaTime) {
        if segments.allSatisfy(\.isEmpty) {
            preferredTransform = preferredTransform ?? other.preferredTransform
            language = language ?? other.language
        }
        insert(other.segments(in: range, from: time), at: time)
    }
}

extension Composition {
    /// A track of a composition, which consists of consecutive segments from zero on: `AVCompositionTrack`.
    public struct Track: Sendable {
        /// The track's ID in the composition, from 1; also the ``AssetTrack/id`` in an asset of the composition.
        public let id: Int
        /// The media type: video, audio or subtitles.
        public let mediaType: MediaType
        /// The segments in order, including gaps, without holes between them.
        public private(set) var segments: [Segment] = []
        /// The transform that players apply to the video.
        ///
        /// The first source's transform unless set.
        public var preferredTransform: PictureTransform?
        /// The ISO 639-2 code of the language; that of the first source unless set.
        public var language: String?

        /// The end time of the track.
        public var end: MediaTime { segments.last?.end ?? .zero }
        /// The time range from zero to the end.
        public var timeRange: MediaTimeRange { MediaTimeRange(start: .zero, end: end) }

        init(id: Int, mediaType: MediaType) {
            self.id = id
            self.mediaType = mediaType
        }

        /// Returns the segment at a time; `nil` before zero and from the end on.
        public func segment(at time: MediaTime) -> Segment? {
            let place = place(of: time)
            return segments.indices.contains(place) && time >= .zero ? segments[place] : nil
        }
    }
}

extension Composition.Track {
    /// Returns the index of the segment that contains a time, or of the first one that starts later.
    private func place(of time: MediaTime) -> Int {
        var (low, high) = (0, segments.count)
        while low < high {
            let middle = (low + high) / 2
            if segments[middle].end <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Makes a time the boundary of two segments, and returns the index of the segment that starts there.
    ///
    /// If the time lies past the end, a gap extends the track to it.
    private mutating func cut(at time: MediaTime) -> Int {
        if time > end { segments.append(Composition.Segment(gapFrom: end, to: time)) }
        let place = place(of: time)
        guard place < segments.count, segments[place].start < time else { return place }
        let (first, second) = segments[place].split(at: time)
        segments[place] = first
        segments.insert(second, at: place + 1)
        return place + 1
    }

    /// Inserts segments whose times are already set, and shifts subsequent segments later.
    mutating func insert(_ inserted: [Composition.Segment], at time: MediaTime) {
        guard let last = inserted.last else { return }
        let place = cut(at: time)
        let distance = last.end - time
        for index in segments[place...].indices { segments[index] = segments[index].moved(by: distance) }
        segments.insert(contentsOf: inserted, at: place)
    }

    /// Inserts a time range of a source; parts that the source does not have become gaps.
    mutating func insert(_ range: MediaTimeRange, of source: Composition.Source, at time: MediaTime) {
        if segments.allSatisfy(\.isEmpty) {
            preferredTransform = preferredTransform ?? source.track.statedTransform
            language = language ?? source.track.language
        }
        var known = source.track.timeRange
        if !known.duration.isNumeric { known.duration = .positiveInfinity }
        let shown = range.intersection(known)
        guard !shown.isEmpty else { return insertGap(of: range.duration, at: time) }
        let first = time + (shown.start - range.start)
        var inserted = [Composition.Segment(source, shown, at: first)]
        if first > time { inserted.insert(Composition.Segment(gapFrom: time, to: first), at: 0) }
        if let last = inserted.last, case let end = time + range.duration, last.end < end {
            inserted.append(Composition.Segment(gapFrom: last.end, to: end))
        }
        insert(inserted, at: time)
    }

    /// Returns the segments of a time range, moved to start at another time; a gap for the part after the end.
    func segments(in range: MediaTimeRange, from time: MediaTime) -> [Composition.Segment] {
        var copy = self
        let (first, last) = (copy.cut(at: range.start), copy.cut(at: range.end))
        return copy.segments[first..<last].map { $0.moved(by: time - range.start) }
    }

    mutating func insertGap(of duration: MediaTime, at time: MediaTime) {
        insert([Composition.Segment(gapFrom: time, to: time + duration)], at: time)
    }

    /// Removes a time range; subsequent segments shift earlier.
    mutating func remove(_ range: MediaTimeRange) {
        guard range.start < end else { return }
        let last = min(range.end, end)
        let (from, to) = (cut(at: range.start), cut(at: last))
        segments.removeSubrange(from..<to)
        let distance = range.start - last
        for index in segments[from...].indices { segments[index] = segments[index].moved(by: distance) }
    }

    /// Changes the duration of a time range by a factor; subsequent segments shift accordingly.
    mutating func scale(_ range: MediaTimeRange, by factor: Rational) throws(MediaError) {
        guard range.start < end else { return }
        let last = min(range.end, end)
        let (from, to) = (cut(at: range.start), cut(at: last))
        func scaled(_ time: MediaTime) -> MediaTime { range.start + (time - range.start).multiplied(by: factor) }
        let distance = scaled(last) - last
        for index in from..<to {
            guard let stretch = (segments[index].stretch ?? .one).multiplied(by: factor), stretch.isPositive else {
                throw MediaError(.limitExceeded, "a segment cannot be played at this speed")
            }
            segments[index].start = scaled(segments[index].start)
            segments[index].end = scaled(segments[index].end)
            if segments[index].isEmpty {
                segments[index].sourceEnd = segments[index].end - segments[index].start
            } else {
                segments[index].stretch = stretch == .one ? nil : stretch
            }
        }
        for index in segments[to...].indices { segments[index] = segments[index].moved(by: distance) }
    }
}
