/// Finds the stretches of at least a given length in which something holds: silence, black, clipping.
///
/// It counts in whole units that the user chooses: samples, or ticks of a track's time base. Stretches of which nothing
/// is known beforehand come one after the other by ``append(count:holds:)``; finders of parts that follow each other are
/// joined by ``append(_:)``, and runs across the seam are one run. Memory is bounded: beyond ``maximumRuns`` runs they are
/// counted, and no longer listed.
package struct RunFinder: Sendable, Hashable {
    /// How many runs are listed at most.
    package static let maximumRuns = 10_000

    /// How long a run is at least.
    package let minimum: Int64
    /// How many units came so far.
    package private(set) var length: Int64 = 0
    /// The runs that lie inside: they neither begin with the first unit nor end with the last one so far.
    private var inner: [Range<Int64>] = []
    /// How many runs were found and not listed, and how long they are together.
    private var unlisted: Int64 = 0
    private var unlistedLength: Int64 = 0
    /// How long the run is that began with the first unit, where it has ended.
    private var leading: Int64 = 0
    /// How long the run is that is still going on.
    private var open: Int64 = 0

    /// - Parameter minimum: How long a run is at least; less than one counts as one.
    package init(minimum: Int64) { self.minimum = max(1, minimum) }

    /// Takes the units that come next, in all of which something holds or does not hold.
    package mutating func append(count: Int64, holds: Bool) {
        guard count > 0 else { return }
        if !holds { close() }
        length = Self.sum(length, count)
        if holds { open = Self.sum(open, count) }
    }

    /// Ends the run that is going on: what holds from here on is another run.
    package mutating func endRun() { close() }

    /// Takes what was found in the units that come next.
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

    /// The runs so far, in order, with the ones at both ends; at most ``maximumRuns`` and two.
    package var runs: [Range<Int64>] {
        var runs = inner
        if leading >= minimum { runs.insert(0..<leading, at: 0) }
        if open >= minimum { runs.append(length - open..<length) }
        return runs
    }

    /// How many runs there are, with those that are not listed.
    package var count: Int64 { Int64(runs.count) + unlisted }

    /// How long all runs are together.
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

/// Finds silence in each channel, and where all channels are silent at once, exact to the sample.
///
/// A sample is silent when its magnitude is below the threshold, as in ffmpeg's `silencedetect`. Detectors of parts that
/// follow each other are joined by ``append(_:)``.
package struct SilenceDetector: Sendable, Hashable {
    /// Silence in each channel, counted in samples.
    package private(set) var channels: [RunFinder]
    /// Where all channels are silent.
    package private(set) var all: RunFinder
    private let threshold: Float

    private static let block = 64

    /// - Parameters:
    ///   - channels: How many channels there are.
    ///   - threshold: Magnitudes below it are silence; full scale is 1.
    ///   - minimum: How many samples silence lasts at least. Less than 64 counts as 64.
    package init(channels: Int, threshold: Float, minimum: Int64) {
        let finder = RunFinder(minimum: max(Int64(Self.block), minimum))
        self.channels = Array(repeating: finder, count: max(0, channels))
        all = finder
        self.threshold = threshold
    }

    /// Takes the samples that come next.
    package mutating func append(_ sound: PlanarSamples) {
        guard sound.channels == channels.count else { return }
        var start = 0
        while start < sound.frames {
            let end = min(start + Self.block, sound.frames)
            let count = end - start
            // Runs within a block are too short to count; so only its ends matter where it is not silent as a whole.
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

    /// Takes samples of silence, in constant time.
    package mutating func appendSilence(frames: Int64) {
        for channel in channels.indices { channels[channel].append(count: frames, holds: threshold > 0) }
        all.append(count: frames, holds: threshold > 0)
    }

    /// Takes what was found in the samples that come next.
    package mutating func append(_ next: SilenceDetector) {
        guard next.channels.count == channels.count else { return }
        for channel in channels.indices { channels[channel].append(next.channels[channel]) }
        all.append(next.all)
    }

    /// How many samples at both ends are silent; all of them twice where nothing is heard.
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
