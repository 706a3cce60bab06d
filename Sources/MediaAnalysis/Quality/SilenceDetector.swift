/// Finds the runs of at least a given length in which a condition holds, such as silence, black or clipping.
///
/// Lengths are integers in units chosen by the caller: samples, or ticks of a track's time base.
/// ``append(count:holds:)`` adds the next units, and ``append(_:)`` joins finders of consecutive parts; a run that
/// crosses the seam is one run. Memory is bounded: beyond ``maximumRuns``, runs are counted but no longer listed.
package struct RunFinder: Sendable, Hashable {
    /// The maximum number of runs listed.
    package static let maximumRuns = 10_000

    /// The minimum length of a run.
    package let minimum: Int64
    /// The number of units added so far.
    package private(set) var length: Int64 = 0
    /// The inner runs, which neither start with the first unit nor end with the last unit so far.
    private var inner: [Range<Int64>] = []
    /// The number of runs that were found but not listed, and their total length.
    private var unlisted: Int64 = 0
    private var unlistedLength: Int64 = 0
    /// The length of the run that started with the first unit, once it has ended.
    private var leading: Int64 = 0
    /// The length of the run that is still open.
    private var open: Int64 = 0

    /// - Parameter minimum: The minimum length of a run; values below one count as one.
    package init(minimum: Int64) { self.minimum = max(1, minimum) }

    /// Adds the next units, for all of which the condition either holds or does not hold.
    package mutating func append(count: Int64, holds: Bool) {
        guard count > 0 else { return }
        if !holds { close() }
        length = Self.sum(length, count)
        if holds { open = Self.sum(open, count) }
    }

    /// Ends the open run: if the condition holds for the next unit, a new run starts.
    package mutating func endRun() { close() }

    /// Appends the results for the units that follow.
    package mutating func append(_ next: RunFinder) {
        guard next.length > 0 else { return }
        if next.open == next.length {
            open = Self.sum(open, next.length)
            length = Self.sum(length, next.length)
            return
        }
        append(count: next.leading, holds: true)
        close()
        let start = length - next.leading
        for run in next.inner {
            note(Self.sum(start, run.lowerBound)..<Self.sum(start, run.upperBound))
        }
        unlisted += next.unlisted
        unlistedLength = Self.sum(unlistedLength, next.unlistedLength)
        length = Self.sum(start, next.length)
        open = next.open
    }

    /// The runs so far in order, including the runs at both ends; at most ``maximumRuns`` plus two.
    package var runs: [Range<Int64>] {
        var runs = inner
        if leading >= minimum { runs.insert(0..<leading, at: 0) }
        if open >= minimum { runs.append(length - open..<length) }
        return runs
    }

    /// The number of runs, including those that are not listed.
    package var count: Int64 { Int64(runs.count) + unlisted }

    /// The total length of all runs.
    package var total: Int64 { runs.reduce(unlistedLength) { Self.sum($0, Int64($1.count)) } }

    private mutating func close() {
        guard open > 0 else { return }
        if open == length {
            leading = open
        } else if open >= minimum {
            note(length - open..<length)
        }
        open = 0
    }

    private mutating func note(_ run: Range<Int64>) {
        if inner.count < Self.maximumRuns {
            inner.append(run)
        } else {
            unlisted += 1
            unlistedLength = Self.sum(unlistedLength, Int64(run.count))
        }
    }

    private static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }
}

/// Finds silence in each channel and in all channels at once, with sample accuracy.
///
/// A sample is silent if its magnitude is below the threshold, as in ffmpeg's `silencedetect`. ``append(_:)`` joins
/// detectors of consecutive parts.
package struct SilenceDetector: Sendable, Hashable {
    /// The silence in each channel, counted in samples.
    package private(set) var channels: [RunFinder]
    /// The silence common to all channels.
    package private(set) var all: RunFinder
    private let threshold: Float

    private static let block = 64

    /// Creates a detector.
    ///
    /// - Parameters:
    ///   - channels: The number of channels.
    ///   - threshold: The magnitude below which a sample is silent; full scale is 1.
    ///   - minimum: The minimum length of silence in samples. Values below 64 count as 64.
    package init(channels: Int, threshold: Float, minimum: Int64) {
        let finder = RunFinder(minimum: max(Int64(Self.block), minimum))
        self.channels = Array(repeating: finder, count: max(0, channels))
        all = finder
        self.threshold = threshold
    }

    /// Adds the next samples.
    package mutating func append(_ sound: PlanarSamples) {
        guard sound.channels == channels.count else { return }
        var start = 0
        while start < sound.frames {
            let end = min(start + Self.block, sound.frames)
            let count = end - start
            // Runs within a block are too short to report, so unless the whole block is silent, only its ends matter.
            var common = (first: count, last: count)
            for channel in channels.indices {
                let plane = sound.planes[channel]
                let (first, last) = ends(of: plane.span.extracting(start..<end))
                Self.append(first, last, count, to: &channels[channel])
                common = (min(common.first, first), min(common.last, last))
            }
            Self.append(common.first, common.last, count, to: &all)
            start = end
        }
    }

    /// Adds samples of silence in constant time.
    package mutating func appendSilence(frames: Int64) {
        for channel in channels.indices { channels[channel].append(count: frames, holds: threshold > 0) }
        all.append(count: frames, holds: threshold > 0)
    }

    /// Appends the results for the samples that follow.
    package mutating func append(_ next: SilenceDetector) {
        guard next.channels.count == channels.count else { return }
        for channel in channels.indices { channels[channel].append(next.channels[channel]) }
        all.append(next.all)
    }

    /// Returns the number of silent samples at each end; if all are silent, both are the number of samples.
    private func ends(of samples: Span<Float>) -> (first: Int, last: Int) {
        var first = 0
        while first < samples.count, samples[first].magnitude < threshold { first += 1 }
        if first == samples.count { return (first, first) }
        var last = 0
        while samples[samples.count - 1 - last].magnitude < threshold { last += 1 }
        return (first, last)
    }

    private static func append(_ first: Int, _ last: Int, _ count: Int, to finder: inout RunFinder) {
        finder.append(count: Int64(first), holds: true)
        guard first < count else { return }
        finder.append(count: Int64(count - first - last), holds: false)
        finder.append(count: Int64(last), holds: true)
    }
}
