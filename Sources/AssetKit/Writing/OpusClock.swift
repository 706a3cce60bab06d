import MediaBase

/// Places packets of Opus exactly whose times are rounded to a coarse clock, as Matroska's of milliseconds.
///
/// Packets follow each other without gaps, and the first starts before zero by the delay in the codec's header.
/// Matroska subtracts that delay from the packets' times, and rounds both.
struct OpusClock {
    /// The number of samples per second on Opus's own clock, whatever the rate of the sound.
    static let rate: Int32 = 48_000

    /// The ticks per second of the packets' times; 0 if unknown.
    let timescale: Int32
    /// The start time of the next packet, by the durations of those before.
    private var next: MediaTime?

    /// Creates a clock for packets with times in a timescale.
    init(timescale: Int32) { self.timescale = timescale }

    /// Indicates whether the packets' times cannot tell single samples.
    var isCoarse: Bool { timescale > 0 && timescale < Self.rate }

    /// Returns a packet of Opus with its exact time.
    ///
    /// - Parameter padding: The delay in the codec's header, in samples.
    mutating func placed(_ buffer: SampleBuffer, padding: Int) -> SampleBuffer {
        // All packet durations of 5 ms or more are whole milliseconds.
        guard isCoarse, buffer.presentationTime.isNumeric,
            let length = buffer.duration.sampleIndex(rate: Self.rate), length > 0, length % 240 == 0,
            MediaTime(value: length, timescale: Self.rate) == buffer.duration
        else { return buffer }
        let tick = MediaTime(value: 1, timescale: timescale)
        let padding = MediaTime(value: Int64(padding), timescale: Self.rate)
        let first = (buffer.presentationTime + padding).sampleIndex(rate: Self.rate, rounding: .halfAwayFromZero)
        let number = first.flatMap { Rational($0, length).rounded() }
        let regular = number.map { buffer.duration.multiplied(by: $0) - padding }
        let exact = [next, regular].compactMap(\.self).first {
            ($0 - buffer.presentationTime).absoluteValue <= tick
        }
        let time = exact ?? buffer.presentationTime
        next = time + buffer.duration
        return SampleBuffer(buffer, presentationTime: time, decodeTime: buffer.decodeTime == nil ? nil : time)
    }
}
