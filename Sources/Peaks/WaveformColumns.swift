package import MediaBase

/// Builds peaks of audio of unknown length, in about as many points as an image needs.
///
/// A point starts as one sample. Whenever there are ``capacity`` points, neighbours are joined. In the end there are
/// between half the capacity and the full capacity of points, however long the audio is, and memory stays constant. The
/// result depends only on the samples, not on how they were split into spans.
package struct OverviewBuilder: Sendable {
    /// The maximum number of points held, an even number.
    package let capacity: Int

    private let channels: Int
    private var builder: PeakBuilder
    private var spacing: Int
    /// The number of frames that still fit before points have to be joined.
    private var room: Int

    /// Creates a builder without points.
    ///
    /// - Parameters:
    ///   - sampleRate: Frames per second.
    ///   - channels: The number of interleaved channels in the input, all of which get peaks.
    ///   - points: The minimum number of points in the result if there are enough samples; 1…2^20.
    ///   - frames: The minimum number of frames in the audio. A good value saves joining, but does not affect the
    ///     result.
    ///   - start: The number of frames of the audio that precede the input; see ``append(_:)-(OverviewBuilder)``.
    /// - Throws: ``MediaError`` `invalidArgument` if a parameter is out of range.
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

    /// Measures frames of silence; does nothing for a negative number.
    package mutating func appendSilence(frames: Int64) throws(MediaError) {
        var left = frames
        while left > 0 {
            let taken = Int(min(left, Int64(room)))
            try builder.appendSilence(frames: Int64(taken))
            left -= Int64(taken)
            try advance(taken)
        }
    }

    /// Appends the measurements of another builder for the frames that follow.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` if `next` was not created for the same audio and length, starting at
    ///   the frame that this builder has reached.
    package mutating func append(_ next: OverviewBuilder) throws(MediaError) {
        try builder.append(next.builder)
        room = next.room
        while room <= 0 { try widen() }
    }

    /// Writes the last, partial point and returns the peaks.
    package consuming func finish() throws(MediaError) -> Peaks { try builder.finish() }

    private mutating func advance(_ frames: Int) throws(MediaError) {
        room -= frames
        // All points are complete here, so joining them gives the same result as a coarser builder.
        if room <= 0 { try widen() }
    }

    private mutating func widen() throws(MediaError) {
        try builder.coarsen()
        room += capacity * spacing
        spacing *= 2
    }
}

/// Peaks reduced to a number of pixel columns for drawing, normalised to −1…1.
///
/// Column `c` of `W` covers the points `floor(c · n / W) ..< ceil((c + 1) · n / W)` of `n`. Every point is therefore in
/// at least one column, and neighbouring columns may share a point. Without points, every column is 0.
package struct WaveformColumns: Sendable, Hashable {
    /// The columns of one channel, in arrays of `width` elements.
    package struct Channel: Sendable, Hashable {
        /// The lowest value of each column, with full scale at 1 (8 bits: value / 128, 16 bits: value / 32768).
        package let minimums: [Float]
        /// The highest value of each column.
        package let maximums: [Float]
        /// The root mean square of each column, 0…1; `nil` if the peaks do not have mean squares.
        package let rootMeanSquares: [Float]?
    }

    /// The number of columns.
    package let width: Int
    /// The columns of each channel of the peaks.
    package let channels: [Channel]

    /// Computes `width` columns over all points.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` if `width` is not in 1…2^24.
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
                let (low, high) = peaks.extrema(of: column, channel: channel)
                minimums.append(column.isEmpty ? 0 : Float(low) * scale)
                maximums.append(column.isEmpty ? 0 : Float(high) * scale)
                levels.append(
                    column.isEmpty ? 0 : Float((peaks.meanSquare(of: column, channel: channel) ?? 0).squareRoot()))
            }
            return Channel(
                minimums: minimums, maximums: maximums, rootMeanSquares: peaks.meanSquares == nil ? nil : levels)
        }
    }

    /// Returns the points that column `column` of `width` covers among `points`.
    ///
    /// The caller ensures `0 ≤ column < width ≤ 2^24` and `0 ≤ points ≤ 2^30`, so that nothing overflows.
    static func points(ofColumn column: Int, of width: Int, among points: Int) -> Range<Int> {
        let start = column * points / width
        let end = ((column + 1) * points + width - 1) / width
        return start..<end
    }
}
