/// A stretch of time from a start for a duration; the end itself is outside.
///
/// Equal ranges have equal starts and equal durations. Stands for CMTimeRange.
public struct MediaTimeRange: Sendable, Hashable, Codable {
    /// The first moment.
    public var start: MediaTime

    /// The length; a negative one makes the range invalid.
    public var duration: MediaTime

    /// Makes a range from its start and its length (CMTimeRangeMake).
    public init(start: MediaTime, duration: MediaTime) {
        self.start = start
        self.duration = duration
    }

    /// Makes the range from `start` up to, and without, `end` (CMTimeRangeFromTimeToTime).
    ///
    /// Invalid where the end is before the start. The length is `end - start` and rounded where that is.
    public init(start: MediaTime, end: MediaTime) {
        let isOrdered = start.isValid && end.isValid && start <= end
        // From −∞ to a number cannot be told by start and length, and −∞ to −∞ has no length.
        let isKnown = !start.isNegativeInfinity || end.isPositiveInfinity
        guard isOrdered, isKnown else {
            self = .invalid
            return
        }
        self.init(start: start, duration: start == end ? .zero : end - start)
    }

    /// The empty range at zero (kCMTimeRangeZero).
    public static let zero = MediaTimeRange(start: .zero, duration: .zero)

    /// No range at all (kCMTimeRangeInvalid).
    public static let invalid = MediaTimeRange(start: .invalid, duration: .invalid)

    /// True where start and duration are valid and the duration is not negative.
    public var isValid: Bool { start.isValid && duration.isValid && duration >= .zero }

    /// True for a valid range without length; it contains no time.
    public var isEmpty: Bool { isValid && duration == .zero }

    /// True for a valid range of which the start or the length is not known.
    public var isIndefinite: Bool { isValid && (start.isIndefinite || duration.isIndefinite) }

    /// The first moment after the range, `start + duration` (CMTimeRangeGetEnd); +∞ for an infinite length.
    public var end: MediaTime {
        guard isValid else { return .invalid }
        return duration.isPositiveInfinity ? .positiveInfinity : start + duration
    }
}

extension MediaTimeRange {
    /// True where `time` is at or after the start and before the end (CMTimeRangeContainsTime).
    ///
    /// Never true for an invalid or empty range, nor for a time that is indefinite or invalid.
    public func contains(_ time: MediaTime) -> Bool {
        guard isValid, time.isValid, !time.isIndefinite else { return false }
        return start <= time && time < end
    }

    /// True where `other` begins and ends within this range (CMTimeRangeContainsTimeRange).
    ///
    /// An empty range is contained where its start is within this range or at its end. False where either is invalid.
    public func contains(_ other: MediaTimeRange) -> Bool {
        guard isValid, other.isValid else { return false }
        return start <= other.start && other.end <= end
    }

    /// The smallest range with all times of both (CMTimeRangeGetUnion), and of what lies between them.
    ///
    /// An empty range adds nothing. Invalid where either is invalid.
    public func union(_ other: MediaTimeRange) -> MediaTimeRange {
        guard isValid, other.isValid else { return .invalid }
        if other.isEmpty { return self }
        if isEmpty { return other }
        return MediaTimeRange(start: min(start, other.start), end: max(end, other.end))
    }

    /// The times that are in both (CMTimeRangeGetIntersection); ``zero`` where there are none.
    ///
    /// Invalid where either is invalid.
    public func intersection(_ other: MediaTimeRange) -> MediaTimeRange {
        guard isValid, other.isValid else { return .invalid }
        let (start, end) = (max(start, other.start), min(end, other.end))
        return start < end ? MediaTimeRange(start: start, end: end) : .zero
    }

    /// The time itself where it is within the range, else the nearer of start and end (CMTimeClampToRange).
    ///
    /// Invalid for an empty or invalid range and for an invalid time.
    public func clamping(_ time: MediaTime) -> MediaTime {
        guard isValid, !isEmpty, time.isValid else { return .invalid }
        return min(max(time, start), end)
    }
}

extension MediaTimeRange: CustomStringConvertible {
    /// Start and end as exact text, `[0/1, 9009/30000)`; `invalid` for an invalid range.
    public var description: String { isValid ? "[\(start), \(end))" : "invalid" }
}

/// Rounds the times between which media is cut, so that every time counted from the cut is exact.
///
/// People and scripts ask for times with any denominator. Media has times of its own, whole in ticks of its timescale. The
/// two have a common timescale only by chance; past 32 bits a difference of them would be rounded, each one by itself. So
/// a time that is asked for is rounded here, once, half away from zero, to a tick of ``timescale``: the track's own one
/// times the least whole number that makes it 48,000 or more. Each time of the track less such a start is exact, and a
/// start is never off by more than a hundred-thousandth of a second.
package struct TrimGrid: Sendable, Hashable {
    /// Ticks a second of the times that cuts are rounded to: a multiple of the track's.
    package let timescale: Int32
    /// Ticks a second of the track's own times.
    private let own: Int32

    /// Makes the grid of a track.
    ///
    /// - Parameter own: Ticks a second of the track's times: the timescale of pictures, the sample rate of audio. What is
    ///   not positive counts as 1.
    package init(timescale own: Int32) {
        self.own = max(1, own)
        let multiple = max(1, (Int64(48_000) + Int64(self.own) - 1) / Int64(self.own))
        timescale = Int32(clamping: Int64(self.own) * multiple)
    }

    /// The nearest time of the grid, half away from zero.
    ///
    /// It is an exact time in the least multiple of the track's timescale in which it is whole: the timescale in which all
    /// of the track's times, counted from it, are whole. What is not a number, or beyond 64 bits, stays as it is.
    package func rounded(_ time: MediaTime) -> MediaTime {
        let ticks = time.converted(toTimescale: timescale)
        guard ticks.isNumeric else { return time }
        // How many times finer than the track's own ticks it has to be: a divisor of `timescale / own`.
        let finest = timescale / own
        let common = Int32(clamping: greatestCommonDivisor(ticks.value.magnitude, UInt64(finest.magnitude)))
        return MediaTime(value: ticks.value / Int64(common), timescale: own * (finest / common))
    }

    /// The range between the nearest times of the grid; one without end stays so.
    package func rounded(_ range: MediaTimeRange) -> MediaTimeRange {
        MediaTimeRange(start: rounded(range.start), end: rounded(range.end))
    }
}

extension MediaTime {
    /// The least timescale that is a multiple of some; `nil` where it has more than 32 bits.
    ///
    /// - Parameter scales: Those that are not positive do not count.
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
