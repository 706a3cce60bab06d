package import MediaBase

/// Peaks of audio whose length is not known beforehand, in about as many points as a picture needs.
///
/// A point begins as one sample. Whenever there are ``capacity`` points, neighbours are joined, so that in the end
/// there are between half the capacity and the capacity of them however long the audio was, and memory stays flat. The
/// result depends on the samples alone, not on how they were cut into spans.
package struct OverviewBuilder: Sendable {
    /// The most points that are held, an even number.
    package let capacity: Int

    private let channels: Int
    private var builder: PeakBuilder
    private var spacing: Int
    /// Frames that still fit before points have to be joined.
    private var room: Int

    /// Starts with no points.
    ///
    /// - Parameters:
    ///   - sampleRate: Frames a second.
    ///   - channels: The interleaved channels of what is fed, all of which get peaks.
    ///   - points: At least how many points there are to be in the end, where there are as many samples; 1…2^20.
    ///   - frames: How many frames the audio has at least, which saves joining; the result does not depend on it.
    ///   - start: How many frames of the audio lie before what is fed; see ``append(_:)-(OverviewBuilder)``.
    /// - Throws: ``MediaError`` `invalidArgument` where a parameter is out of range.
    package init(
        sampleRate: Int, channels: Int, points: Int, atLeast frames: Int64 = 0, startingAt start: Int64 = 0
    ) throws(MediaError) {
        guard (1...1 << 20).contains(points) else {
            throw MediaError(.invalidArgument, "an overview has 1 to \(1 << 20) points, not \(points)")
        }
        self.channels = channels
        capacity = 2 * points
        var spacing = 1
        while spacing < 1 << 40, frames / Int64(spacing) >= Int64(capacity) { spacing *= 2 }
        self.spacing = spacing
        room = capacity * spacing - Int(clamping: start)
        builder = try PeakBuilder(
            sampleRate: sampleRate, channels: channels, spacing: Peaks.Spacing(samples: spacing), mode: .split,
            measuresMeanSquares: true, startingAt: start)
    }

    /// Measures interleaved frames; throws as ``PeakBuilder/append(_:)`` does.
    package mutating func append(_ samples: Span<Int16>) throws(MediaError) {
        var start = 0
        while start < samples.count {
            let fitting = room.multipliedReportingOverflow(by: channels)
            let taken = min(fitting.overflow ? .max : fitting.partialValue, samples.count - start)
            try builder.append(samples.extracting(start..<start + taken))
            start += taken
            try advance(taken / channels)
        }
    }

    /// Measures frames of silence; nothing for a negative number.
    package mutating func appendSilence(frames: Int64) throws(MediaError) {
        var left = frames
        while left > 0 {
            let taken = Int(min(left, Int64(room)))
            try builder.appendSilence(frames: Int64(taken))
            left -= Int64(taken)
            try advance(taken)
        }
    }

    /// Takes over what another builder measured of the frames that follow.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` where it was not begun for the same audio, as long at least, at the
    ///   frame that this one has come to.
    package mutating func append(_ next: OverviewBuilder) throws(MediaError) {
        try builder.append(next.builder)
        room = next.room
        while room <= 0 { try widen() }
    }

    /// Writes the last, partial point and returns the peaks.
    package consuming func finish() throws(MediaError) -> Peaks { try builder.finish() }

    private mutating func advance(_ frames: Int) throws(MediaError) {
        room -= frames
        // All points are whole here, so that joining them is what a coarser builder would have given.
        if room <= 0 { try widen() }
    }

    private mutating func widen() throws(MediaError) {
        try builder.coarsen()
        room += capacity * spacing
        spacing *= 2
    }
}

/// Peaks brought to a number of pixel columns: what a picture draws, normalised to −1…1.
///
/// Column `c` of `W` covers the points `floor(c · n / W) ..< ceil((c + 1) · n / W)` of `n`, so that every point is
/// in at least one column and neighbouring columns may share a point. Without points every column is 0.
package struct WaveformColumns: Sendable, Hashable {
    /// One channel's columns, each array `width` long.
    package struct Channel: Sendable, Hashable {
        /// The lowest value of each column, full scale 1 (8 bits: value / 128, 16 bits: value / 32768).
        package let minimums: [Float]
        /// The highest value of each column.
        package let maximums: [Float]
        /// The root mean square of each column, 0…1; `nil` where the peaks do not have mean squares.
        package let rootMeanSquares: [Float]?
    }

    /// The number of columns.
    package let width: Int
    /// The columns of each channel of the peaks.
    package let channels: [Channel]

    /// Computes `width` columns over all points.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` where `width` is not in 1…2^24.
    package init(_ peaks: Peaks, width: Int) throws(MediaError) {
        guard width >= 1, width <= 1 << 24 else {
            throw MediaError(.invalidArgument, "a picture cannot be \(width) columns wide")
        }
        self.width = width
        let points = peaks.length
        let columns = (0..<width).map { Self.points(ofColumn: $0, of: width, among: points) }
        let scale: Float = peaks.bits == 8 ? 1 / 128 : 1 / 32768
        let count = peaks.channels
        channels = (0..<count).map { channel in
            var minimums: [Float] = []
            var maximums: [Float] = []
            var levels: [Float] = []
            minimums.reserveCapacity(width)
            maximums.reserveCapacity(width)
            for column in columns {
                var low = Int16.max
                var high = Int16.min
                var squares: Double = 0
                for point in column {
                    let position = point * count + channel
                    low = min(low, peaks.data[position * 2])
                    high = max(high, peaks.data[position * 2 + 1])
                    if let meanSquares = peaks.meanSquares { squares += Double(meanSquares[position]) }
                }
                minimums.append(column.isEmpty ? 0 : Float(low) * scale)
                maximums.append(column.isEmpty ? 0 : Float(high) * scale)
                levels.append(column.isEmpty ? 0 : Float((squares / Double(column.count)).squareRoot()))
            }
            return Channel(
                minimums: minimums, maximums: maximums, rootMeanSquares: peaks.meanSquares == nil ? nil : levels)
        }
    }

    /// The points that column `column` of `width` covers among `points`.
    ///
    /// The caller keeps `0 ≤ column < width ≤ 2^24` and `0 ≤ points ≤ 2^30`, so that nothing overflows.
    static func points(ofColumn column: Int, of width: Int, among points: Int) -> Range<Int> {
        let start = column * points / width
        let end = ((column + 1) * points + width - 1) / width
        return start..<end
    }
}
