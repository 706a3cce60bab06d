import CFFmpeg
package import MediaBase

extension MediaTime {
    /// The moment `ticks` in units of `timeBase` seconds; ``MediaTime/indefinite`` for `AV_NOPTS_VALUE`, and invalid for
    /// a time base without a denominator.
    ///
    /// Exact wherever the result fits a timescale of 32 bits, as every time base of libavformat does.
    package init(ticks: Int64, timeBase: Rational) {
        guard ticks != shim_no_pts, let timescale = Int32(exactly: timeBase.den) else {
            self = .indefinite
            return
        }
        self = MediaTime(value: timeBase.num, timescale: timescale).multiplied(by: ticks)
    }

    init(ticks: Int64, timeBase: AVRational) {
        self.init(ticks: ticks, timeBase: Rational(Int64(timeBase.num), Int64(timeBase.den)))
    }

    /// The time in units of `timeBase` seconds; `nil` where it is no number or does not fit.
    package func ticks(in timeBase: Rational, rounding: RoundingRule) -> Int64? {
        guard isNumeric, timeBase.num > 0, let timescale = Int32(exactly: timeBase.den) else { return nil }
        // Dividing first by the numerator leaves one rounding, at the end.
        let scaled = multiplied(by: 1, dividedBy: timeBase.num).converted(toTimescale: timescale, rounding: rounding)
        return scaled.isNumeric ? scaled.value : nil
    }
}

extension Rational {
    /// An `AVRational`; `nil` where its denominator is 0 or either part is negative or 0, libav's way to say unknown.
    init?(_ value: AVRational) {
        guard value.num > 0, value.den > 0 else { return nil }
        self.init(Int64(value.num), Int64(value.den))
    }
}
