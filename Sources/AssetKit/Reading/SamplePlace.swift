import MediaBase

/// Counts where each run of decoded samples belongs on the presentation's time line.
///
/// Runs follow each other without a gap unless a time stamp says that a hole of more than a tolerance lies between:
/// less is the rounding of time stamps, or the jitter of a recorder's clock.
struct SamplePlace {
    private let timeBase: Rational
    private let snapsToZero: Bool
    private var next: Int64?
    private var rate = 0
    private var hole: Range<Int64>?

    /// The smallest hole that is one: a single lost packet of the codec is longer.
    private let tolerance: MediaTime

    /// The tolerance for a codec.
    ///
    /// Where short Vorbis blocks meet long ones, muxers write the end of a page too late by what the long block would
    /// have had: 448 samples with libvorbis's block sizes, just over 10 ms at 44.1 kHz.
    static func tolerance(of codec: String) -> MediaTime {
        MediaTime(value: 1, timescale: codec == "vorbis" ? 50 : 100)
    }

    /// - Parameters:
    ///   - timeBase: The unit of the track's time stamps, which tells how coarse they are.
    ///   - snapsToZero: Whether the first run is the track's first, so that a time stamp within one tick of zero is zero.
    ///   - codec: libavcodec's name of the codec.
    init(timeBase: Rational, snapsToZero: Bool, codec: String) {
        tolerance = Self.tolerance(of: codec)
        self.timeBase = timeBase
        self.snapsToZero = snapsToZero
    }

    /// The place of a run's first sample, in samples from zero; negative for priming.
    ///
    /// - Parameters:
    ///   - count: How many samples the run has.
    ///   - rate: Samples a second; where it changes in mid-stream, the count goes on at the same moment.
    ///   - time: The run's time stamp; `nil` where it has none.
    mutating func place(count: Int, rate: Int, time: MediaTime?) -> Int64 {
        let scale = Int32(clamping: rate)
        if rate != self.rate, let place = next, self.rate > 0 {
            let moment = MediaTime(value: place, timescale: Int32(clamping: self.rate))
            next = moment.sampleIndex(rate: scale, rounding: .halfAwayFromZero)
        }
        self.rate = rate
        let stamped = time?.sampleIndex(rate: scale, rounding: .halfAwayFromZero)
        var start = next ?? stamped ?? 0
        if let expected = next, let time, let stamped {
            let due = MediaTime(value: expected, timescale: scale)
            if time > due + tolerance + MediaTime(timeBase) + MediaTime(timeBase) {
                start = stamped
                if expected < stamped { hole = expected..<stamped }
            }
        } else if next == nil, snapsToZero, let time, isCoarse(at: rate) {
            let slack = MediaTime(timeBase)
            if time <= slack, time >= -slack { start = 0 }
        }
        let (after, overflow) = start.addingReportingOverflow(Int64(count))
        next = overflow ? .max : after
        return start
    }

    /// The hole before a run that was placed since this was asked for the last time, in samples from zero at the run's
    /// rate; `nil` where there is none.
    mutating func takeHole() -> Range<Int64>? { hole.take() }

    /// Whether time stamps cannot name every sample.
    private func isCoarse(at rate: Int) -> Bool {
        MediaTime(timeBase) > MediaTime(value: 1, timescale: Int32(clamping: rate))
    }
}
