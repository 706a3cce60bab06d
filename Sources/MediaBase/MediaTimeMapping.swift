/// A range of one time line and the range of another that it becomes: CMTimeMapping.
///
/// ```swift
/// // Ten seconds of media from 5 s on, shown in five.
/// let mapping = MediaTimeMapping(
///     source: MediaTimeRange(start: five, duration: ten), target: MediaTimeRange(start: .zero, duration: five))
/// mapping.sourceTime(of: one)  // 7 s
/// ```
public struct MediaTimeMapping: Sendable, Hashable, Codable {
    /// The range on the source's time line; invalid for an empty mapping, which shows nothing.
    public var source: MediaTimeRange
    /// The range on the target's time line.
    public var target: MediaTimeRange

    /// Creates a mapping (CMTimeMappingMake).
    public init(source: MediaTimeRange, target: MediaTimeRange) {
        self.source = source
        self.target = target
    }

    /// True if nothing of the source is shown (CMTIMEMAPPING_IS_EMPTY).
    public var isEmpty: Bool { !source.isValid && target.isValid }

    /// Returns the time on the target's time line at which a source time is shown; see
    /// ``MediaTime/mapped(from:to:)``.
    public func targetTime(of sourceTime: MediaTime) -> MediaTime { sourceTime.mapped(from: source, to: target) }

    /// Returns the source time that is shown at a time of the target's time line; see ``MediaTime/mapped(from:to:)``.
    ///
    /// Where one moment is shown for the whole range, it is that moment.
    public func sourceTime(of targetTime: MediaTime) -> MediaTime {
        if source.isEmpty, !target.isEmpty, targetTime.isValid { return source.start }
        return targetTime.mapped(from: target, to: source)
    }
}

extension MediaTime {
    /// Returns the time moved and scaled as one range becomes another (CMTimeMapTimeFromRangeToRange).
    ///
    /// The start and the end of `range` become those of `other`; other times, also those outside, are mapped linearly,
    /// rounded at most once each for scaling and adding. Two infinite ranges only move the time.
    ///
    /// - Returns: An invalid time if the time or a range is invalid, or a range is empty.
    public func mapped(from range: MediaTimeRange, to other: MediaTimeRange) -> MediaTime {
        guard isValid, range.isValid, other.isValid else { return .invalid }
        return (self - range.start).durationMapped(from: range, to: other) + other.start
    }

    /// Returns the duration scaled as one range becomes another (CMTimeMapDurationFromRangeToRange).
    ///
    /// - Returns: An invalid time if the duration or a range is invalid, or a range is empty.
    public func durationMapped(from range: MediaTimeRange, to other: MediaTimeRange) -> MediaTime {
        guard isValid, range.isValid, other.isValid, !range.isEmpty, !other.isEmpty else { return .invalid }
        if range.duration == other.duration { return self }
        guard let length = Rational(range.duration), let ratio = Rational(other.duration)?.divided(by: length) else {
            return .invalid
        }
        return multiplied(by: ratio)
    }

    /// Returns the time within a range that repeats without end (CMTimeFoldIntoRange): 23 s in [0 s, 10 s) is 3 s.
    ///
    /// - Returns: An invalid time if the time or the range is not numeric, or the range is empty.
    public func folded(into range: MediaTimeRange) -> MediaTime {
        let passed = self - range.start
        guard range.isValid, !range.isEmpty, let distance = Rational(passed), let length = Rational(range.duration),
            let rounds = distance.divided(by: length)?.rounded(.down)
        else { return .invalid }
        return passed - range.duration.multiplied(by: rounds) + range.start
    }
}

/// An edit of a track: the part of the media to play, for what duration, and at what speed.
///
/// ISO/IEC 14496-12, 8.6.6; AVAssetTrackSegment.
public struct TrackSegment: Sendable, Hashable {
    /// The duration on the presentation timeline; 0 extends to the end of the media.
    public let duration: MediaTime
    /// The start time in the media; `nil` for an empty edit, during which nothing is shown.
    public let mediaStart: MediaTime?
    /// The playback speed; 1 is normal.
    public let rate: Rational

    /// Creates an edit.
    package init(duration: MediaTime, mediaStart: MediaTime?, rate: Rational) {
        self.duration = duration
        self.mediaStart = mediaStart
        self.rate = rate
    }
}

extension TrackSegment {
    /// Returns the segments as mappings from the media's time line to the track's, one after the other:
    /// `AVAssetTrackSegment.timeMapping`.
    ///
    /// An empty edit has an invalid source. A duration of 0 extends to the end of the media.
    ///
    /// - Parameters:
    ///   - segments: The segments of a track.
    ///   - mediaDuration: The duration of the media; `nil` if unknown, in which case such a segment is infinite.
    package static func mappings(of segments: [TrackSegment], mediaDuration: MediaTime?) -> [MediaTimeMapping] {
        var start = MediaTime.zero
        return segments.map { segment in
            var duration = segment.duration
            if duration == .zero {
                let rest = (mediaDuration ?? .positiveInfinity) - (segment.mediaStart ?? .zero)
                duration = rest.multiplied(by: segment.rate.inverse ?? .one)
            }
            let target = MediaTimeRange(start: start, duration: duration)
            start = target.end
            guard let mediaStart = segment.mediaStart else { return MediaTimeMapping(source: .invalid, target: target) }
            // A rate of 0 shows one moment for the whole duration.
            let source = MediaTimeRange(start: mediaStart, duration: duration.multiplied(by: segment.rate))
            return MediaTimeMapping(source: source, target: target)
        }
    }
}
