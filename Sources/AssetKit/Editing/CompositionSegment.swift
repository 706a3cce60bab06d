public import MediaBase
import SystemCalls

extension Composition {
    /// A stretch of a composition's track: some time of a source, or a gap: `AVCompositionTrackSegment`.
    ///
    /// Its times are exact. A gap shows no pictures and sounds silent.
    public struct Segment: Sendable {
        /// Where its media comes from; `nil` for a gap.
        let source: Source?
        /// What of the source it shows, on the source's presentation time line; from zero on for a gap.
        var sourceStart: MediaTime
        var sourceEnd: MediaTime
        /// Where it lies in the composition.
        ///
        /// Neighbours share the very same times, so that nothing can come between.
        var start: MediaTime
        var end: MediaTime
        /// How long a second of the source lasts; `nil` where it plays as it is.
        ///
        /// Kept apart from the times, so that cutting a segment many times never changes its speed.
        var stretch: Rational?

        /// The asset that it is taken from; `nil` for a gap.
        public var asset: Asset? { source?.asset }
        /// The track that it is taken from; `nil` for a gap.
        public var sourceTrack: AssetTrack? { source?.track }
        /// Whether it shows nothing.
        public var isEmpty: Bool { source == nil }
        /// What of the source it shows, on the source's presentation time line.
        public var sourceRange: MediaTimeRange { MediaTimeRange(start: sourceStart, end: sourceEnd) }
        /// Where it lies in the composition.
        public var timeRange: MediaTimeRange { MediaTimeRange(start: start, end: end) }
        /// How much faster than the source it plays; 1 for as it is.
        public var speed: Rational { stretch?.inverse ?? .one }
    }

    /// A track of an asset that segments are taken from, and what its file was when it was put in.
    final class Source: Sendable {
        let asset: Asset
        let track: AssetTrack
        let identity: FileState?

        init(_ asset: Asset, _ track: AssetTrack) {
            self.asset = asset
            self.track = track
            identity = asset.fileState
        }

        /// - Throws: where the file is another one than when it was put in.
        func checkUnchanged() throws(MediaError) {
            guard let identity, let now = asset.fileState, now != identity else { return }
            throw MediaError(
                .inputOutput, "has changed since it was put into the composition; put the composition together anew",
                path: asset.displayName)
        }
    }
}

extension Composition.Segment {
    /// A gap.
    init(gapFrom start: MediaTime, to end: MediaTime) {
        self.init(source: nil, sourceStart: .zero, sourceEnd: end - start, start: start, end: end, stretch: nil)
    }

    /// Some time of a source, played as it is from a moment of the composition on.
    init(_ source: Composition.Source, _ range: MediaTimeRange, at start: MediaTime) {
        self.init(
            source: source, sourceStart: range.start, sourceEnd: range.end, start: start, end: start + range.duration,
            stretch: nil)
    }

    /// The source's moment that a moment of the composition shows.
    func sourceTime(at time: MediaTime) -> MediaTime {
        let passed = time - start
        guard let stretch else { return sourceStart + passed }
        return sourceStart + passed.multiplied(by: stretch.den, dividedBy: stretch.num)
    }

    /// The moment of the composition that shows a moment of the source.
    func time(ofSource moment: MediaTime) -> MediaTime {
        let passed = moment - sourceStart
        guard let stretch else { return start + passed }
        return start + passed.multiplied(by: stretch)
    }

    /// Cuts it in two at a moment inside.
    func split(at time: MediaTime) -> (Self, Self) {
        let moment = sourceTime(at: time)
        var (first, second) = (self, self)
        first.end = time
        first.sourceEnd = moment
        second.start = time
        second.sourceStart = moment
        return (first, second)
    }

    /// The same, so much later.
    func moved(by distance: MediaTime) -> Self {
        var moved = self
        moved.start += distance
        moved.end += distance
        return moved
    }

    /// Whether another one goes on where this ends, as if they had never been cut.
    func continues(in next: Self) -> Bool {
        guard let source, let other = next.source else { return source == nil && next.source == nil }
        return source.asset === other.asset && source.track == other.track && stretch == next.stretch
            && sourceEnd == next.sourceStart && end == next.start
    }
}
