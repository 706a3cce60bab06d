package import MediaBase

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
