public import MediaBase

/// Media put together from time ranges of several assets' tracks: `AVMutableComposition`.
///
/// ```swift
/// var composition = Composition()
/// let video = try composition.addTrack(mediaType: .video)
/// try composition.insertTimeRange(range, of: track, in: asset, at: .zero, into: video)
/// let reader = try AssetReader(asset: Asset(composition: composition))
/// ```
///
/// A value: an asset that is made of it keeps it as it was then, whatever is changed later. All times are exact; after
/// any number of edits a segment lies where the sums of the times say. Sums that need a timescale of more than 32 bits
/// are rounded to the nearest of 2147483647 parts of a second, and say so.
///
/// Sound that is played faster or slower changes its pitch with the speed.
public struct Composition: Sendable {
    /// The tracks, in the order in which they were added.
    public private(set) var tracks: [Track] = []
    /// The size in which pictures are meant to be shown; that of the first video track's first source unless set.
    public var naturalSize: Dimensions?

    /// Tracks at most: what libavformat holds in one file.
    static let maximumTracks = 1000

    /// An empty composition.
    public init() {}

    /// The end of the longest track.
    public var duration: MediaTime { tracks.map(\.end).max() ?? .zero }

    /// The track of a number; `nil` where there is none.
    public func track(withID id: Int) -> Track? { tracks.first { $0.id == id } }

    /// Adds an empty track and gives its number.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` for anything but video and audio, and
    ///   ``MediaError/Code-swift.struct/limitExceeded`` for too many.
    @discardableResult
    public mutating func addTrack(mediaType: MediaType) throws(MediaError) -> Int {
        guard mediaType == .video || mediaType == .audio else {
            throw MediaError(.unsupported, "a composition has no \(mediaType) tracks; only video and audio")
        }
        guard tracks.count < Self.maximumTracks else {
            throw MediaError(.limitExceeded, "a composition has at most \(Self.maximumTracks) tracks")
        }
        let id = (tracks.map(\.id).max() ?? 0) + 1
        tracks.append(Track(id: id, mediaType: mediaType))
        return id
    }

    /// Takes a track away; nothing happens where there is none of this number.
    public mutating func removeTrack(withID id: Int) { tracks.removeAll { $0.id == id } }

    /// Says how a track's pictures are turned for display; nothing happens where there is none of this number.
    public mutating func setPreferredTransform(_ transform: DisplayTransform, ofTrack id: Int) {
        for index in tracks.indices where tracks[index].id == id { tracks[index].preferredTransform = transform }
    }
}

// MARK: - One track

extension Composition {
    /// Inserts a time range of an asset's track; what lies later in the track moves back.
    ///
    /// Where the range begins before the source track or goes on past its end, that part is a gap; so is what lies
    /// between the end of the composition's track and `time`. A source that is itself a composition gives its segments.
    /// - Parameters:
    ///   - range: A stretch of the source's presentation time line.
    ///   - track: A track of `asset` with the media type of the composition's.
    ///   - asset: What is read; a file that can be read more than once.
    ///   - time: Where it is to begin; zero or later.
    ///   - id: The composition's track.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for an empty range, times that are negative or no
    ///   numbers, and tracks that do not fit; what opening the asset throws.
    public mutating func insertTimeRange(
        _ range: MediaTimeRange, of track: AssetTrack, in asset: Asset, at time: MediaTime, into id: Int
    ) throws(MediaError) {
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

    /// Inserts a gap into one track; what lies later moves back.
    public mutating func insertEmptyTimeRange(_ range: MediaTimeRange, intoTrack id: Int) throws(MediaError) {
        try Self.check(range)
        let place = try place(ofTrack: id)
        tracks[place].insertGap(of: range.duration, at: range.start)
    }

    /// Takes a time range out of one track; what lies later moves up.
    public mutating func removeTimeRange(_ range: MediaTimeRange, fromTrack id: Int) throws(MediaError) {
        try Self.check(range)
        let place = try place(ofTrack: id)
        tracks[place].remove(range)
    }

    /// Makes a time range of one track last for another time, by playing it faster or slower; what lies later moves.
    public mutating func scaleTimeRange(
        _ range: MediaTimeRange, toDuration duration: MediaTime, inTrack id: Int
    ) throws(MediaError) {
        let factor = try Self.factor(range, duration)
        let place = try place(ofTrack: id)
        try tracks[place].scale(range, by: factor)
    }

    private func place(ofTrack id: Int) throws(MediaError) -> Int {
        guard let place = tracks.firstIndex(where: { $0.id == id }) else {
            throw MediaError(.noSuchTrack, "the composition has no track \(id)")
        }
        return place
    }
}

// MARK: - All tracks

extension Composition {
    /// A track that takes a source track's media without a change of format: `compatibleTrack(for:)`.
    ///
    /// It is empty, or its first source has the same codec and size, turn, or rate and channels. `nil` where there is none.
    public func compatibleTrack(for track: AssetTrack) -> Track? {
        tracks.first { $0.mediaType == track.mediaType && $0.accepts(track) }
    }

    /// Inserts a time range of all of an asset's video and audio tracks; everything later moves back in all tracks.
    ///
    /// Each goes into a compatible track of its own; where there is none left, one is added. Tracks that get nothing get a
    /// gap as long as the range, so that all stay together.
    public mutating func insertTimeRange(
        _ range: MediaTimeRange, of asset: Asset, at time: MediaTime
    ) throws(MediaError) {
        try Self.check(range, in: asset)
        try Self.check(time)
        let sources = try asset.contents().tracks.filter {
            ($0.mediaType == .video || $0.mediaType == .audio) && !$0.isAttachedPicture
        }
        guard !sources.isEmpty else {
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
            // Behind a track's end there is nothing to keep in step.
            if edited.tracks[index].end > time { edited.tracks[index].insertGap(of: range.duration, at: time) }
        }
        self = edited
    }

    /// Inserts a gap into all tracks.
    public mutating func insertEmptyTimeRange(_ range: MediaTimeRange) throws(MediaError) {
        try Self.check(range)
        for index in tracks.indices { tracks[index].insertGap(of: range.duration, at: range.start) }
    }

    /// Takes a time range out of all tracks.
    public mutating func removeTimeRange(_ range: MediaTimeRange) throws(MediaError) {
        try Self.check(range)
        for index in tracks.indices { tracks[index].remove(range) }
    }

    /// Makes a time range of all tracks last for another time, by playing it faster or slower.
    public mutating func scaleTimeRange(
        _ range: MediaTimeRange, toDuration duration: MediaTime
    ) throws(MediaError) {
        let factor = try Self.factor(range, duration)
        var edited = self
        for index in edited.tracks.indices { try edited.tracks[index].scale(range, by: factor) }
        self = edited
    }

    // MARK: Checks

    private static func check(_ range: MediaTimeRange, in asset: Asset? = nil) throws(MediaError) {
        guard range.isValid, range.start.isNumeric, range.duration.isNumeric, range.start >= .zero,
            range.end.isNumeric
        else {
            throw MediaError(
                .invalidArgument, "\(range) is no time range from zero on; give its start and its length",
                path: asset?.displayName)
        }
        guard !range.isEmpty else {
            throw MediaError(
                .invalidArgument, "the time range at \(range.start) is empty; a segment has to have a length",
                path: asset?.displayName)
        }
    }

    private static func check(_ time: MediaTime) throws(MediaError) {
        guard time.isNumeric, time >= .zero else {
            throw MediaError(.invalidArgument, "\(time) is no time of a composition, which begins at zero")
        }
    }

    private static func factor(_ range: MediaTimeRange, _ duration: MediaTime) throws(MediaError) -> Rational {
        try check(range)
        guard duration.isNumeric, duration > .zero, let new = Rational(duration), let old = Rational(range.duration),
            let factor = new.divided(by: old)
        else { throw MediaError(.invalidArgument, "\(duration) is no length that a time range can be given") }
        return factor
    }
}

extension Composition.Track {
    /// Whether a source's media has the format that is here already.
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

    /// Inserts a time range of another composition's track; what that does not have of it is a gap.
    fileprivate mutating func insert(_ range: MediaTimeRange, of other: Composition.Track, at time: MediaTime) {
        if segments.allSatisfy(\.isEmpty) {
            preferredTransform = preferredTransform ?? other.preferredTransform
            language = language ?? other.language
        }
        insert(other.segments(in: range, from: time), at: time)
    }
}

extension Composition {
    /// One track of a composition: segments one after the other from zero on: `AVCompositionTrack`.
    public struct Track: Sendable {
        /// The composition's number of it, from 1; ``AssetTrack/id`` of the asset that reads it.
        public let id: Int
        /// What it carries: video or audio.
        public let mediaType: MediaType
        /// Its segments without a hole between them, gaps among them, in their order.
        public private(set) var segments: [Segment] = []
        /// How its pictures are turned for display.
        ///
        /// The first source's own unless set.
        public var preferredTransform: DisplayTransform?
        /// ISO 639-2 code of its language; the first source's own unless set.
        public var language: String?

        /// Where it ends.
        public var end: MediaTime { segments.last?.end ?? .zero }
        /// From zero to its end.
        public var timeRange: MediaTimeRange { MediaTimeRange(start: .zero, end: end) }

        init(id: Int, mediaType: MediaType) {
            self.id = id
            self.mediaType = mediaType
        }

        /// The segment that is shown at a time; `nil` before zero and from the end on.
        public func segment(at time: MediaTime) -> Segment? {
            let place = place(of: time)
            return segments.indices.contains(place) && time >= .zero ? segments[place] : nil
        }
    }
}

extension Composition.Track {
    /// The number of the segment in which a time lies, or of the first one that begins later.
    private func place(of time: MediaTime) -> Int {
        var (low, high) = (0, segments.count)
        while low < high {
            let middle = (low + high) / 2
            if segments[middle].end <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Makes a time the border of two segments, and gives the number of the one that begins there.
    ///
    /// A time past the end is reached by a gap.
    private mutating func cut(at time: MediaTime) -> Int {
        if time > end { segments.append(Composition.Segment(gapFrom: end, to: time)) }
        let place = place(of: time)
        guard place < segments.count, segments[place].start < time else { return place }
        let (first, second) = segments[place].split(at: time)
        segments[place] = first
        segments.insert(second, at: place + 1)
        return place + 1
    }

    /// Inserts segments that lie at a time already, and moves what follows.
    mutating func insert(_ inserted: [Composition.Segment], at time: MediaTime) {
        guard let last = inserted.last else { return }
        let place = cut(at: time)
        let distance = last.end - time
        for index in segments[place...].indices { segments[index] = segments[index].moved(by: distance) }
        segments.insert(contentsOf: inserted, at: place)
    }

    /// Inserts a time range of a source; what the source does not have of it is a gap.
    mutating func insert(_ range: MediaTimeRange, of source: Composition.Source, at time: MediaTime) {
        if segments.allSatisfy(\.isEmpty) {
            preferredTransform = preferredTransform ?? source.track.displayTransform?.withoutStretch
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

    /// The segments of a time range as they would lie from another moment on; a gap for what lies behind the end.
    func segments(in range: MediaTimeRange, from time: MediaTime) -> [Composition.Segment] {
        var copy = self
        let (first, last) = (copy.cut(at: range.start), copy.cut(at: range.end))
        return copy.segments[first..<last].map { $0.moved(by: time - range.start) }
    }

    /// Inserts a gap.
    mutating func insertGap(of duration: MediaTime, at time: MediaTime) {
        insert([Composition.Segment(gapFrom: time, to: time + duration)], at: time)
    }

    /// Takes a time range out; what follows moves up.
    mutating func remove(_ range: MediaTimeRange) {
        guard range.start < end else { return }
        let last = min(range.end, end)
        let (from, to) = (cut(at: range.start), cut(at: last))
        segments.removeSubrange(from..<to)
        let distance = range.start - last
        for index in segments[from...].indices { segments[index] = segments[index].moved(by: distance) }
    }

    /// Makes a time range last for another time; what follows moves.
    mutating func scale(_ range: MediaTimeRange, by factor: Rational) throws(MediaError) {
        guard range.start < end else { return }
        let last = min(range.end, end)
        let (from, to) = (cut(at: range.start), cut(at: last))
        func scaled(_ time: MediaTime) -> MediaTime { range.start + (time - range.start).multiplied(by: factor) }
        let distance = scaled(last) - last
        for index in from..<to {
            guard let stretch = (segments[index].stretch ?? .one).multiplied(by: factor), stretch.isPositive else {
                throw MediaError(.limitExceeded, "a segment cannot be played at such a speed")
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
