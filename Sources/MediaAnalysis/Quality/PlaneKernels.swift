/// Which codes of a picture's luma mean what, by its depth and range (ITU-R BT.709 and BT.2100).
package struct PictureLevels: Sendable, Hashable {
    /// Bits a sample.
    package let depth: Int
    /// Whether all codes are used, 0 for black and the highest for white; otherwise 16 to 235 of 8 bits.
    package let isFullRange: Bool

    /// - Parameters:
    ///   - depth: Bits a sample, 8 to 16; others are clamped.
    ///   - isFullRange: Whether all codes are used.
    package init(depth: Int, isFullRange: Bool) {
        self.depth = min(max(depth, 8), 16)
        self.isFullRange = isFullRange
    }

    private var scale: Double { Double(1 << (depth - 8)) }

    /// The code of black.
    package var black: Double { isFullRange ? 0 : 16 * scale }
    /// How many codes lie between black and white.
    package var span: Double { isFullRange ? Double(1 << depth) - 1 : 219 * scale }

    /// The highest code of luma that is at most so great a part of the way from black to white.
    package func code(atMost part: Double) -> Int { Int(min(max((black + part * span).rounded(.down), 0), 65_535)) }

    /// The codes of luma that EBU R 103 allows: −1 % to 103 %; all where the range is full.
    package var legalLuma: ClosedRange<Int> {
        guard !isFullRange else { return 0...65_535 }
        return Int((black - 0.01 * span).rounded(.up))...Int((black + 1.03 * span).rounded(.down))
    }

    /// Whether EBU R 103 allows a colour: each of red, green and blue is −5 % to 105 % of the way from black to white.
    package static func isLegal(red: Double, green: Double, blue: Double) -> Bool {
        min(red, green, blue) >= -0.05 && max(red, green, blue) <= 1.05
    }
}

/// Where the samples of one component lie in a span.
package struct PlaneShape: Sendable, Hashable {
    /// Samples a row.
    package let width: Int
    /// Rows.
    package let rows: Int
    /// From the first sample of a row to that of the next one, in samples.
    package let stride: Int

    /// Makes a shape; whether a span has room for it is checked where it is used.
    package init(width: Int, rows: Int, stride: Int) {
        self.width = width
        self.rows = rows
        self.stride = stride
    }

    /// Whether a span of so many samples holds all rows.
    func fits(_ count: Int) -> Bool {
        guard width > 0, rows > 0, stride >= width,
            case let (end, overflow) = (rows - 1).multipliedReportingOverflow(by: stride), !overflow
        else { return false }
        return end <= count - width
    }

    func row(_ row: Int) -> Range<Int> { row * stride..<row * stride + width }
}

/// The loops over the samples of a picture; all give 0 or nothing where a span is too short for its shape.
package enum PlaneKernels {
    /// How many samples are at most `limit`, as long as no more than `others` are above it; `nil` from there on.
    package static func countAtMost(
        _ limit: Int, in plane: Span<UInt8>, _ shape: PlaneShape, others: Int
    ) -> Int? { atMost(UInt8(clamping: limit), plane, shape, others) }

    /// The same for samples of 16 bits.
    package static func countAtMost(
        _ limit: Int, in plane: Span<UInt16>, _ shape: PlaneShape, others: Int
    ) -> Int? { atMost(UInt16(clamping: limit), plane, shape, others) }

    /// How many samples lie outside a range.
    package static func countOutside(_ range: ClosedRange<Int>, in plane: Span<UInt8>, _ shape: PlaneShape) -> Int {
        outside(UInt8(clamping: range.lowerBound), UInt8(clamping: range.upperBound), plane, shape)
    }

    /// The same for samples of 16 bits.
    package static func countOutside(_ range: ClosedRange<Int>, in plane: Span<UInt16>, _ shape: PlaneShape) -> Int {
        outside(UInt16(clamping: range.lowerBound), UInt16(clamping: range.upperBound), plane, shape)
    }

    /// The sum of the absolute differences of two planes, or any greater number than `limit` where it is greater.
    package static func difference(
        _ plane: Span<UInt8>, _ shape: PlaneShape, _ other: Span<UInt8>, _ otherShape: PlaneShape, limit: Int
    ) -> Int { absolute(plane, shape, other, otherShape, limit) }

    /// The same for samples of 16 bits.
    package static func difference(
        _ plane: Span<UInt16>, _ shape: PlaneShape, _ other: Span<UInt16>, _ otherShape: PlaneShape, limit: Int
    ) -> Int { absolute(plane, shape, other, otherShape, limit) }

    /// How many rows and columns from each edge have a mean of at most `limit`.
    package static func bars(atMost limit: Int, in plane: Span<UInt8>, _ shape: PlaneShape) -> PictureBars {
        edges(limit, plane, shape)
    }

    /// The same for samples of 16 bits.
    package static func bars(atMost limit: Int, in plane: Span<UInt16>, _ shape: PlaneShape) -> PictureBars {
        edges(limit, plane, shape)
    }
}

/// How many rows and columns at each edge of a picture are dark.
package struct PictureBars: Sendable, Hashable {
    /// Rows at the top and at the bottom; columns at the left and at the right.
    package var top, bottom, left, right: Int

    /// Makes bars of a thickness each.
    package init(top: Int = 0, bottom: Int = 0, left: Int = 0, right: Int = 0) {
        (self.top, self.bottom, self.left, self.right) = (top, bottom, left, right)
    }

    /// What is dark in both pictures.
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
            // Extrema are found faster than samples are counted, and most rows have nothing to count.
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
        _ plane: Span<Sample>, _ shape: PlaneShape, _ other: Span<Sample>, _ otherShape: PlaneShape, _ limit: Int
    ) -> Int {
        guard shape.fits(plane.count), otherShape.fits(other.count), shape.width == otherShape.width,
            shape.rows == otherShape.rows
        else { return .max }
        var total = 0
        for row in 0..<shape.rows {
            let (one, two) = (plane.extracting(shape.row(row)), other.extracting(otherShape.row(row)))
            let count = min(one.count, two.count)
            var sum: UInt32 = 0
            // A row of 2^16 samples of 16 bits fits into the sum.
            for x in 0..<min(count, 1 << 16) {
                sum &+= UInt32(max(one[x], two[x]) &- min(one[x], two[x]))
            }
            total &+= Int(sum)
            if total > limit { return total }
        }
        return total
    }

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
