public import MediaBase

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
