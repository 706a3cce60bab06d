internal import Glibc

/// Measures the difference between the samples of two frames, which PSNR is based on.
package enum PictureDifference {
    /// Returns the exact sum of squared differences of two planes, or `nil` if their sizes differ.
    package static func squares(
        _ plane: Span<UInt8>, _ shape: PlaneShape, _ other: Span<UInt8>, _ otherShape: PlaneShape
    ) -> Int? {
        sum(shape, plane.count, otherShape, other.count) { row, range, otherRange in
            let (one, two) = (plane.extracting(range), other.extracting(otherRange))
            let count = min(one.count, two.count)
            var total = 0
            var start = 0
            while start < count {
                // The 32-bit sum can hold this number of 8-bit squares.
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

    /// Returns the sum of squared differences of two planes, for 16-bit samples.
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

    /// Returns the peak signal-to-noise ratio in dB; infinite if nothing differs.
    ///
    /// - Parameters:
    ///   - error: The mean squared difference.
    ///   - peak: The largest code, such as 255.
    package static func psnr(error: Double, peak: Double) -> Double { 10 * log10(peak * peak / error) }
}

/// Finds freezes in a video, by comparing each frame with the frame that started the current run.
///
/// A run starts with the frame that then stays, and ends when a different frame is shown or the track ends. Units are
/// ticks of the track's time base.
package struct FreezeDetector: Sendable, Hashable {
    private var finder: RunFinder
    private var ticks: Int64 = 0
    private var pictures = 0

    /// - Parameter minimum: The minimum duration of a freeze in ticks.
    package init(minimum: Int64) { finder = RunFinder(minimum: minimum) }

    /// Adds the next frame.
    ///
    /// - Parameters:
    ///   - ticks: The duration of the frame.
    ///   - isSame: True if the frame looks like the frame that started the current run; false starts a new run.
    package mutating func append(ticks count: Int64, isSame: Bool) {
        if !isSame { closeRun() }
        ticks += max(0, count)
        pictures += 1
    }

    /// The freezes found so far.
    package var result: RunFinder {
        var copy = self
        copy.closeRun()
        return copy.finder
    }

    private mutating func closeRun() {
        // A single frame is not a freeze, however long it is shown.
        finder.append(count: ticks, holds: pictures > 1)
        finder.endRun()
        (ticks, pictures) = (0, 0)
    }
}
