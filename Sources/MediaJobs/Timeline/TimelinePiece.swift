internal import AssetKit
internal import MediaBase

/// One stretch of one source at its place in the finished timeline.
struct TimelinePiece {
    /// The clip that it is of, for messages.
    let described: String
    /// Where its media is.
    let source: TimelineSource
    /// What of it is shown.
    let track: AssetTrack
    /// Where it begins in the timeline.
    var start: MediaTime
    /// Where it ends.
    var end: MediaTime
    /// The source's moment that is shown at ``start``.
    var sourceStart: MediaTime
    /// Seconds of the source in a second of the timeline; 0 where one picture stands still.
    let speed: Rational
    /// When it comes in, from nothing to all; `nil` where it is there at once.
    var fadeIn: TimelineFade?
    /// When it goes out, from all to nothing.
    var fadeOut: TimelineFade?
    /// What it lies over: a higher piece has a greater list of numbers, place by place.
    let level: [Int]

    /// The source's moment behind the last that is shown.
    var sourceEnd: MediaTime { sourceStart + (end - start).multiplied(by: speed) }

    /// The part of it within a range of the timeline; `nil` where there is none.
    func clipped(to range: MediaTimeRange) -> TimelinePiece? {
        var piece = self
        piece.start = max(start, range.start)
        piece.end = min(end, range.end)
        guard piece.start < piece.end else { return nil }
        piece.sourceStart = sourceStart + (piece.start - start).multiplied(by: speed)
        let kept = MediaTimeRange(start: piece.start, end: piece.end)
        piece.fadeIn = fadeIn?.clipped(to: kept)
        piece.fadeOut = fadeOut?.clipped(to: kept)
        return piece
    }
}

/// How much of a piece is there while that changes evenly.
struct TimelineFade: Sendable, Hashable {
    /// When it changes.
    let range: MediaTimeRange
    /// How much is there at the start: 0 is nothing, 1 is all.
    let from: Float
    /// How much is there at the end.
    let to: Float

    /// `nil` where the range is empty.
    init?(_ range: MediaTimeRange, from: Float, to: Float) {
        guard range.start < range.end else { return nil }
        (self.range, self.from, self.to) = (range, from, to)
    }

    /// The part of it within a range, which goes on at the same pace; `nil` where there is none.
    func clipped(to limits: MediaTimeRange) -> TimelineFade? {
        let kept = MediaTimeRange(
            start: max(range.start, limits.start), end: max(limits.start, min(range.end, limits.end)))
        return TimelineFade(kept, from: value(at: kept.start), to: value(at: kept.end))
    }

    private func value(at time: MediaTime) -> Float {
        let part = (time - range.start).seconds / (range.end - range.start).seconds
        return Float(Double(from) + (Double(to) - Double(from)) * min(max(part, 0), 1))
    }
}

/// The times of an item's own clock on the timeline: a line.
struct TimelineMap {
    /// A moment of the item's own clock.
    var inner: MediaTime
    /// When that is on the timeline.
    var outer: MediaTime
    /// Seconds of the timeline for a second of the item.
    var stretch: Rational

    /// The timeline's own clock.
    static let identity = TimelineMap(inner: .zero, outer: .zero, stretch: .one)

    /// A moment on the timeline.
    func time(_ time: MediaTime) -> MediaTime { outer + (time - inner).multiplied(by: stretch) }

    /// A range on the timeline.
    func range(_ start: MediaTime, _ end: MediaTime) -> MediaTimeRange {
        MediaTimeRange(start: time(start), end: time(end))
    }
}
