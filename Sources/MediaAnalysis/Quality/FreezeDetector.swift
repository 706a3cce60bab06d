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
