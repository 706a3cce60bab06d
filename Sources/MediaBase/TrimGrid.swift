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
