/// The meaning of a frame's luma codes, by bit depth and range (ITU-R BT.709 and BT.2100).
package struct PictureLevels: Sendable, Hashable {
    /// The number of bits per sample.
    package let depth: Int
    /// True if all codes are used, from 0 for black to the highest for white; otherwise 16 to 235 in 8 bits.
    package let isFullRange: Bool

    /// Creates levels.
    ///
    /// - Parameters:
    ///   - depth: The number of bits per sample, 8 to 16; other values are clamped.
    ///   - isFullRange: True if all codes are used.
    package init(depth: Int, isFullRange: Bool) {
        self.depth = min(max(depth, 8), 16)
        self.isFullRange = isFullRange
    }

    private var scale: Double { Double(1 << (depth - 8)) }

    /// The code of black.
    package var black: Double { isFullRange ? 0 : 16 * scale }
    /// The number of codes between black and white.
    package var span: Double { isFullRange ? Double(1 << depth) - 1 : 219 * scale }

    /// Returns the highest luma code that is at most the given fraction of the way from black to white.
    package func code(atMost part: Double) -> Int { Int(min(max((black + part * span).rounded(.down), 0), 65_535)) }

    /// The luma codes that EBU R 103 allows: −1 % to 103 %, or all codes for full range.
    package var legalLuma: ClosedRange<Int> {
        guard !isFullRange else { return 0...65_535 }
        return Int((black - 0.01 * span).rounded(.up))...Int((black + 1.03 * span).rounded(.down))
    }
}

/// The layout of one component's samples in a span.
package struct PlaneShape: Sendable, Hashable {
    /// The number of samples per row.
    package let width: Int
    /// The number of rows.
    package let rows: Int
    /// The distance from the first sample of a row to the first sample of the next row, in samples.
    package let stride: Int

    /// Creates a shape; its fit into a span is checked on use.
    package init(width: Int, rows: Int, stride: Int) {
        self.width = width
        self.rows = rows
        self.stride = stride
    }

    /// Returns true if a span of `count` samples holds all rows.
    func fits(_ count: Int) -> Bool {
        guard width > 0, rows > 0, stride >= width,
            case let (end, overflow) = (rows - 1).multipliedReportingOverflow(by: stride), !overflow
        else { return false }
        return end <= count - width
    }

    func row(_ row: Int) -> Range<Int> { row * stride..<row * stride + width }
}

/// Loops over the samples of a frame.
///
/// They report nothing (0 or `nil`) if a span is too short for its shape; differences are then `Int.max`.
package enum PlaneKernels {
    /// Returns the number of samples that are at most `limit`, or `nil` if more than `others` samples are above it.
    package static func countAtMost(
        _ limit: Int, in plane: Span<UInt8>, _ shape: PlaneShape, others: Int
    ) -> Int? { atMost(UInt8(clamping: limit), plane, shape, others) }

    /// Counts the samples up to a limit, for 16-bit samples.
    package static func countAtMost(
        _ limit: Int, in plane: Span<UInt16>, _ shape: PlaneShape, others: Int
    ) -> Int? { atMost(UInt16(clamping: limit), plane, shape, others) }

    /// Returns the number of samples outside a range.
    package static func countOutside(_ range: ClosedRange<Int>, in plane: Span<UInt8>, _ shape: PlaneShape) -> Int {
        outside(UInt8(clamping: range.lowerBound), UInt8(clamping: range.upperBound), plane, shape)
    }

    /// Returns the number of samples outside a range, for 16-bit samples.
    package static func countOutside(_ range: ClosedRange<Int>, in plane: Span<UInt16>, _ shape: PlaneShape) -> Int {
        outside(UInt16(clamping: range.lowerBound), UInt16(clamping: range.upperBound), plane, shape)
    }

    /// Returns the sum of absolute differences of two planes; if it exceeds `limit`, any number above `limit`.
    package static func difference(
        _ plane: Span<UInt8>, _ shape: PlaneShape, _ other: Span<UInt8>, _ otherShape: PlaneShape, limit: Int
    ) -> Int {
        absolute(plane, shape, other, otherShape, limit) { one, two, count in
            // Written like this, the loop is compiled to the instruction for sums of absolute differences.
            var sum: Int32 = 0
            for x in 0..<count {
                let difference = Int32(one[x]) &- Int32(two[x])
                sum &+= difference < 0 ? 0 &- difference : difference
            }
            return Int(sum)
        }
    }

    /// Returns the sum of absolute differences of two planes, for 16-bit samples.
    package static func difference(
        _ plane: Span<UInt16>, _ shape: PlaneShape, _ other: Span<UInt16>, _ otherShape: PlaneShape, limit: Int
    ) -> Int {
        absolute(plane, shape, other, otherShape, limit) { one, two, count in
            var sum: UInt32 = 0
            for x in 0..<count { sum &+= UInt32(max(one[x], two[x]) &- min(one[x], two[x])) }
            return Int(sum)
        }
    }

    /// Returns the number of rows and columns at each edge whose mean is at most `limit`.
    package static func bars(atMost limit: Int, in plane: Span<UInt8>, _ shape: PlaneShape) -> PictureBars {
        edges(limit, plane, shape)
    }

    /// Returns the number of dark rows and columns at each edge, for 16-bit samples.
    package static func bars(atMost limit: Int, in plane: Span<UInt16>, _ shape: PlaneShape) -> PictureBars {
        edges(limit, plane, shape)
    }
}

/// The number of dark rows and columns at each edge of a frame.
package struct PictureBars: Encodable, Sendable, Hashable {
    /// The dark rows at the top and bottom, and the dark columns at the left and right.
    package var top, bottom, left, right: Int

    /// Creates bars of the given thicknesses.
    package init(top: Int = 0, bottom: Int = 0, left: Int = 0, right: Int = 0) {
        (self.top, self.bottom, self.left, self.right) = (top, bottom, left, right)
    }

    /// Returns the bars that are dark in both frames.
    package func common(with other: PictureBars) -> PictureBars {
        PictureBars(
            top: min(top, other.top), bottom: min(bottom, other.bottom), left: min(left, other.left),
            right: min(right, other.right))
    }
}

private typealias PictureSample = FixedWidthInteger & UnsignedInteger & BitwiseCopyable

extension PlaneKernels {
    @inline(__always)
    private static func atMost<Sample: PictureSample>(
        _ limit: Sample, _ plane: Span<Sample>, _ shape: PlaneShape, _ others: Int
    ) -> Int? {
        guard shape.fits(plane.count) else { return nil }
        var above = 0
        for row in 0..<shape.rows {
            let samples = plane.extracting(shape.row(row))
            var count: Int32 = 0
            for x in 0..<samples.count { count &+= samples[x] > limit ? 1 : 0 }
            above &+= Int(count)
            if above > others { return nil }
        }
        return shape.rows * shape.width - above
    }

    @inline(__always)
    private static func outside<Sample: PictureSample>(
        _ low: Sample, _ high: Sample, _ plane: Span<Sample>, _ shape: PlaneShape
    ) -> Int {
        guard shape.fits(plane.count) else { return 0 }
        var total = 0
        for row in 0..<shape.rows {
            let samples = plane.extracting(shape.row(row))
            // Finding extrema is faster than counting, and most rows have nothing to count.
            var (least, greatest) = (Sample.max, Sample.min)
            for x in 0..<samples.count {
                least = min(least, samples[x])
                greatest = max(greatest, samples[x])
            }
            if least >= low, greatest <= high { continue }
            var count: Int32 = 0
            for x in 0..<samples.count { count &+= samples[x] < low || samples[x] > high ? 1 : 0 }
            total &+= Int(count)
        }
        return total
    }

    @inline(__always)
    private static func absolute<Sample: PictureSample>(
        _ plane: Span<Sample>, _ shape: PlaneShape, _ other: Span<Sample>, _ otherShape: PlaneShape, _ limit: Int,
        _ sum: (Span<Sample>, Span<Sample>, _ count: Int) -> Int
    ) -> Int {
        guard shape.fits(plane.count), otherShape.fits(other.count), shape.width == otherShape.width,
            shape.rows == otherShape.rows
        else { return .max }
        var total = 0
        // Rows from all over the picture come first, since what moves may fill a part of it only.
        for first in 0..<min(rowStep, shape.rows) {
            for row in stride(from: first, to: shape.rows, by: rowStep) {
                let (one, two) = (plane.extracting(shape.row(row)), other.extracting(otherShape.row(row)))
                // The 32-bit sum of a row can hold 2^16 samples of 16 bits.
                total &+= sum(one, two, min(one.count, two.count, 1 << 16))
                if total > limit { return total }
            }
        }
        return total
    }

    /// The distance between rows that are compared one after the other.
    private static let rowStep = 16

    @inline(__always)
    private static func edges<Sample: PictureSample>(
        _ limit: Int, _ plane: Span<Sample>, _ shape: PlaneShape
    ) -> PictureBars {
        guard shape.fits(plane.count) else { return PictureBars() }
        func isDark(row: Int) -> Bool {
            var sum = 0
            for x in 0..<shape.width { sum &+= Int(plane[row &* shape.stride &+ x]) }
            return sum <= limit * shape.width
        }
        func isDark(column: Int) -> Bool {
            var sum = 0
            for row in 0..<shape.rows { sum &+= Int(plane[row &* shape.stride &+ column]) }
            return sum <= limit * shape.rows
        }
        var bars = PictureBars()
        while bars.top < shape.rows, isDark(row: bars.top) { bars.top += 1 }
        if bars.top == shape.rows {
            return PictureBars(top: shape.rows, bottom: shape.rows, left: shape.width, right: shape.width)
        }
        while isDark(row: shape.rows - 1 - bars.bottom) { bars.bottom += 1 }
        while bars.left < shape.width, isDark(column: bars.left) { bars.left += 1 }
        while bars.right < shape.width - bars.left, isDark(column: shape.width - 1 - bars.right) { bars.right += 1 }
        return bars
    }
}
