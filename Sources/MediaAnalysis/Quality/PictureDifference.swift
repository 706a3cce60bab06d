internal import Glibc

/// How far the samples of a picture are from those of another one: the measure behind PSNR.
package enum PictureDifference {
    /// The sum of the squared differences of two planes, exact; `nil` where they are not of one size.
    package static func squares(
        _ plane: Span<UInt8>, _ shape: PlaneShape, _ other: Span<UInt8>, _ otherShape: PlaneShape
    ) -> Int? {
        sum(shape, plane.count, otherShape, other.count) { row, range, otherRange in
            let (one, two) = (plane.extracting(range), other.extracting(otherRange))
            let count = min(one.count, two.count)
            var total = 0
            var start = 0
            while start < count {
                // So many squares of 8 bits fit into the sum.
                let end = min(start &+ 1 << 16, count)
                var sum: UInt32 = 0
                for x in start..<end {
                    let difference = Int32(one[x]) &- Int32(two[x])
                    sum &+= UInt32(bitPattern: difference &* difference)
                }
                total &+= Int(sum)
                start = end
            }
            return total
        }
    }

    /// The same for samples of 16 bits.
    package static func squares(
        _ plane: Span<UInt16>, _ shape: PlaneShape, _ other: Span<UInt16>, _ otherShape: PlaneShape
    ) -> Int? {
        sum(shape, plane.count, otherShape, other.count) { row, range, otherRange in
            let (one, two) = (plane.extracting(range), other.extracting(otherRange))
            var total: UInt64 = 0
            for x in 0..<min(one.count, two.count) {
                let difference = UInt32(max(one[x], two[x]) &- min(one[x], two[x]))
                total &+= UInt64(difference &* difference)
            }
            return Int(clamping: total)
        }
    }

    @inline(__always)
    private static func sum(
        _ shape: PlaneShape, _ count: Int, _ otherShape: PlaneShape, _ otherCount: Int,
        _ body: (Int, Range<Int>, Range<Int>) -> Int
    ) -> Int? {
        guard shape.fits(count), otherShape.fits(otherCount), shape.width == otherShape.width,
            shape.rows == otherShape.rows
        else { return nil }
        var total = 0
        for row in 0..<shape.rows {
            total = total.addingReportingOverflow(body(row, shape.row(row), otherShape.row(row))).partialValue
        }
        return total
    }

    /// The peak signal-to-noise ratio in dB; infinite where nothing differs.
    ///
    /// - Parameters:
    ///   - error: The mean of the squared differences.
    ///   - peak: The largest code, such as 255.
    package static func psnr(error: Double, peak: Double) -> Double { 10 * log10(peak * peak / error) }
}

/// Finds where a video stands still, from whether each picture looks like the one with which it last moved.
///
/// A run begins with the picture that then stays, and ends where another one is shown, or with the track. Units are ticks
/// of the track's time base.
package struct FreezeDetector: Sendable, Hashable {
    private var finder: RunFinder
    private var ticks: Int64 = 0
    private var pictures = 0

    /// - Parameter minimum: How many ticks a freeze lasts at least.
    package init(minimum: Int64) { finder = RunFinder(minimum: minimum) }

    /// Takes the next picture.
    ///
    /// - Parameters:
    ///   - ticks: How long it is shown.
    ///   - isSame: Whether it looks like the picture with which the run under way began; `false` begins another one.
    package mutating func append(ticks count: Int64, isSame: Bool) {
        if !isSame { closeRun() }
        ticks += max(0, count)
        pictures += 1
    }

    /// Where the video stood still, so far.
    package var result: RunFinder {
        var copy = self
        copy.closeRun()
        return copy.finder
    }

    private mutating func closeRun() {
        // One picture alone does not stand still, however long it is shown.
        finder.append(count: ticks, holds: pictures > 1)
        finder.endRun()
        (ticks, pictures) = (0, 0)
    }
}
