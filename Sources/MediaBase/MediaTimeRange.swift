/// A range of time with a start and a duration; the end is exclusive.
///
/// Two ranges are equal if their starts and durations are equal. Corresponds to CMTimeRange.
public struct MediaTimeRange: Sendable, Hashable, Codable {
    /// The start time.
    public var start: MediaTime

    /// The duration; a negative duration makes the range invalid.
    public var duration: MediaTime

    /// Creates a range from its start and duration (CMTimeRangeMake).
    public init(start: MediaTime, duration: MediaTime) {
        self.start = start
        self.duration = duration
    }

    /// Creates the range from `start` up to, but not including, `end` (CMTimeRangeFromTimeToTime).
    ///
    /// The range is invalid if the end is before the start. The duration is `end - start`, rounded if that difference
    /// is.
    public init(start: MediaTime, end: MediaTime) {
        let isOrdered = start.isValid && end.isValid && start <= end
        // A start and a duration cannot express a range from −∞ to a number, and −∞ to −∞ has no duration.
        let isKnown = !start.isNegativeInfinity || end.isPositiveInfinity
        guard isOrdered, isKnown else {
            self = .invalid
            return
        }
        self.init(start: start, duration: start == end ? .zero : end - start)
    }

    /// The empty range at zero (kCMTimeRangeZero).
    public static let zero = MediaTimeRange(start: .zero, duration: .zero)

    /// An invalid range (kCMTimeRangeInvalid).
    public static let invalid = MediaTimeRange(start: .invalid, duration: .invalid)

    /// True if start and duration are valid and the duration is not negative.
    public var isValid: Bool { start.isValid && duration.isValid && duration >= .zero }

    /// True for a valid range with a duration of zero; it contains no time.
    public var isEmpty: Bool { isValid && duration == .zero }

    /// True for a valid range whose start or duration is unknown.
    public var isIndefinite: Bool { isValid && (start.isIndefinite || duration.isIndefinite) }

    /// The exclusive end, `start + duration` (CMTimeRangeGetEnd); +∞ for an infinite duration.
    public var end: MediaTime {
        guard isValid else { return .invalid }
        return duration.isPositiveInfinity ? .positiveInfinity : start + duration
    }
}

extension MediaTimeRange {
    /// Returns true if `time` is at or after the start and before the end (CMTimeRangeContainsTime).
    ///
    /// Always false for an invalid or empty range, and for an indefinite or invalid time.
    public func contains(_ time: MediaTime) -> Bool {
        guard isValid, time.isValid, !time.isIndefinite else { return false }
        return start <= time && time < end
    }

    /// Returns true if `other` starts and ends within this range (CMTimeRangeContainsTimeRange).
    ///
    /// An empty range is contained if its start is within this range or at its end. False if either range is invalid.
    public func contains(_ other: MediaTimeRange) -> Bool {
        guard isValid, other.isValid else { return false }
        return start <= other.start && other.end <= end
    }

    /// Returns the smallest range that contains both ranges, including any gap between them (CMTimeRangeGetUnion).
    ///
    /// An empty range adds nothing. Invalid if either range is invalid.
    public func union(_ other: MediaTimeRange) -> MediaTimeRange {
        guard isValid, other.isValid else { return .invalid }
        if other.isEmpty { return self }
        if isEmpty { return other }
        return MediaTimeRange(start: min(start, other.start), end: max(end, other.end))
    }

    /// Returns the times common to both ranges (CMTimeRangeGetIntersection); ``zero`` if there are none.
    ///
    /// Invalid if either range is invalid.
    public func intersection(_ other: MediaTimeRange) -> MediaTimeRange {
        guard isValid, other.isValid else { return .invalid }
        let (start, end) = (max(start, other.start), min(end, other.end))
        return start < end ? MediaTimeRange(start: start, end: end) : .zero
    }

    /// Returns the time if it is within the range, else the nearer of start and end (CMTimeClampToRange).
    ///
    /// Invalid for an empty or invalid range and for an invalid time.
    public func clamping(_ time: MediaTime) -> MediaTime {
        guard isValid, !isEmpty, time.isValid else { return .invalid }
        return min(max(time, start), end)
    }
}

extension MediaTimeRange: CustomStringConvertible {
    /// The start and end as exact text, `[0/1, 9009/30000)`; `invalid` for an invalid range.
    public var description: String { isValid ? "[\(start), \(end))" : "invalid" }
}

/// A grid to which the cut points of media are rounded, so that every time relative to a cut is exact.
///
/// People and scripts ask for times with any denominator, while media times are whole ticks of their own timescale.
/// Such times share a 32-bit timescale only by chance; without one, each difference would be rounded separately. A
/// requested time is therefore rounded here once, half away from zero, to a tick of ``timescale``: the track's own
/// timescale times the smallest integer that makes it at least 48,000. The difference of each track time and such a
/// start is exact, and a start is off by at most a hundred-thousandth of a second.
package struct TrimGrid: Sendable, Hashable {
    /// The number of ticks per second that cuts are rounded to: a multiple of the track's timescale.
    package let timescale: Int32
    /// The track's own timescale.
    private let own: Int32

    /// Creates the grid of a track.
    ///
    /// - Parameter own: The track's timescale for video, the sample rate for audio. A value that is not positive
    ///   counts as 1.
    package init(timescale own: Int32) {
        self.own = max(1, own)
        let multiple = max(1, (Int64(48_000) + Int64(self.own) - 1) / Int64(self.own))
        timescale = Int32(clamping: Int64(self.own) * multiple)
    }

    /// Returns the nearest time on the grid, rounding half away from zero.
    ///
    /// The result is exact, in the smallest multiple of the track's timescale that represents it. In that timescale,
    /// all times of the track relative to the result are whole ticks. A non-numeric time, or one beyond 64 bits, is
    /// returned unchanged.
    package func rounded(_ time: MediaTime) -> MediaTime {
        let ticks = time.converted(toTimescale: timescale)
        guard ticks.isNumeric else { return time }
        // The required multiple of the track's own timescale: a divisor of `timescale / own`.
        let finest = timescale / own
        let common = Int32(clamping: greatestCommonDivisor(ticks.value.magnitude, UInt64(finest.magnitude)))
        return MediaTime(value: ticks.value / Int64(common), timescale: own * (finest / common))
    }

    /// Returns the range between the nearest times on the grid; a range without an end stays so.
    package func rounded(_ range: MediaTimeRange) -> MediaTimeRange {
        MediaTimeRange(start: rounded(range.start), end: rounded(range.end))
    }
}

extension MediaTime {
    /// Returns the least common multiple of the timescales; `nil` if it exceeds 32 bits.
    ///
    /// - Parameter scales: The timescales; those that are not positive are ignored.
    package static func commonTimescale(of scales: some Sequence<Int32>) -> Int32? {
        var common: Int32 = 1
        for scale in scales where scale > 0 {
            let divisor = Int32(clamping: greatestCommonDivisor(common.magnitude, scale.magnitude))
            let (product, isTooLarge) = common.multipliedReportingOverflow(by: scale / divisor)
            guard !isTooLarge else { return nil }
            common = product
        }
        return common
    }
}
