/// Finds runs of consecutive full-scale samples in each channel: the flat tops of audio that was recorded too loud.
///
/// Full scale is the largest positive code for integers and 1 for floating point. ``append(_:)`` joins detectors of
/// consecutive parts.
package struct ClippingDetector: Sendable, Hashable {
    /// The flat tops of each channel, counted in samples.
    package private(set) var channels: [RunFinder]
    private let threshold: Float

    private static let block = 64

    /// Creates a detector.
    ///
    /// - Parameters:
    ///   - channels: The number of channels.
    ///   - significantBits: The bits of an integer source that carry signal; `nil` for floating point.
    ///   - minimum: The minimum number of consecutive full-scale samples that count as clipping.
    package init(channels: Int, significantBits: Int?, minimum: Int64) {
        self.channels = Array(repeating: RunFinder(minimum: minimum), count: max(0, channels))
        threshold = Self.threshold(significantBits: significantBits)
    }

    /// Returns the largest positive code of a source with the given bits, or 1 for floating point.
    static func threshold(significantBits: Int?) -> Float {
        // From 25 bits, a 32-bit float cannot distinguish the largest code from slightly smaller codes.
        let bits = significantBits.map { min(max($0, 2), 24) } ?? 0
        return bits == 0 ? 1 : 1 - 1 / Float(1 << (bits - 1))
    }

    /// Adds the next samples.
    package mutating func append(_ sound: PlanarSamples) {
        guard sound.channels == channels.count else { return }
        for channel in channels.indices {
            let plane = sound.planes[channel]
            var start = 0
            while start < sound.frames {
                let end = min(start + Self.block, sound.frames)
                let samples = plane.span.extracting(start..<end)
                if Self.holds(samples, atLeast: threshold) {
                    for index in samples.indices {
                        channels[channel].append(count: 1, holds: samples[index].magnitude >= threshold)
                    }
                } else {
                    channels[channel].append(count: Int64(end - start), holds: false)
                }
                start = end
            }
        }
    }

    /// Adds samples of silence in constant time.
    package mutating func appendSilence(frames: Int64) {
        for channel in channels.indices { channels[channel].append(count: frames, holds: false) }
    }

    /// Appends the results for the samples that follow.
    package mutating func append(_ next: ClippingDetector) {
        guard next.channels.count == channels.count else { return }
        for channel in channels.indices { channels[channel].append(next.channels[channel]) }
    }

    private static func holds(_ samples: Span<Float>, atLeast threshold: Float) -> Bool {
        var count: Int32 = 0
        for index in 0..<samples.count { count &+= samples[index].magnitude >= threshold ? 1 : 0 }
        return count > 0
    }
}

/// Finds audio cut off at a value below full scale, which results from clipping and then lowering the volume.
///
/// A flat top is a run of at least a minimum number of equal samples between two slopes. On either side, the two
/// adjacent samples differ from each other, and the farther one is at least twelve steps of the sample grid closer to
/// zero. Flat tops count if four with the same value lie within ten seconds and no sample between them exceeds that
/// value. The following are therefore excluded: silence and offsets, which have no slopes; square waves and clicks,
/// whose other side is flat too; the crest of a low or quiet tone, whose neighbours are only a few steps away; and two
/// peaks that happen to be equal.
///
/// Sources with fewer than twelve bits have equally flat crests and are not examined. ``append(_:)`` joins detectors of
/// consecutive parts, each of which must be a multiple of ten seconds long, except for the last.
package struct FlatTopDetector: Sendable, Hashable {
    /// The results of each channel.
    private var channels: [Channel]
    private let rule: Rule
    /// The index of the next sample, and the index of the sample at which the next stretch starts.
    private var position: Int64
    private var border: Int64

    /// The length in seconds of a stretch, within which values are compared; parts of the audio start at a multiple of
    /// it.
    package static let stretchSeconds = 10
    private static let block = 64
    /// The minimum number of bits at which crests can be distinguished from flat tops.
    private static let minimumBits = 12

    /// The criteria for a flat top.
    fileprivate struct Rule: Sendable, Hashable {
        var shortest: Int
        var longest: Int
        /// Values from full scale on are left to ``ClippingDetector``.
        var fullScale: Float
        var isOn: Bool
        var stretch: Int64
    }

    /// Creates a detector.
    ///
    /// - Parameters:
    ///   - channels: The number of channels.
    ///   - significantBits: The bits of an integer source that carry signal; `nil` for floating point.
    ///   - sampleRate: Samples per second.
    ///   - minimum: The minimum length of a flat top in samples; values below three count as three.
    ///   - position: The index of the first sample.
    package init(channels: Int, significantBits: Int?, sampleRate: Int, minimum: Int64, startingAt position: Int64 = 0)
    {
        self.channels = Array(repeating: Channel(), count: max(0, channels))
        let rate = max(1, sampleRate)
        let stretch = Int64(rate) * Int64(Self.stretchSeconds)
        rule = Rule(
            shortest: Int(min(max(minimum, 3), 1 << 30)), longest: rate / 20,
            fullScale: ClippingDetector.threshold(significantBits: significantBits),
            isOn: significantBits.map { $0 >= Self.minimumBits } ?? true, stretch: stretch)
        self.position = position
        border = (position / stretch + 1) * stretch
    }

    /// Adds the next samples.
    package mutating func append(_ sound: PlanarSamples) {
        guard sound.channels == channels.count, rule.isOn else { return }
        var start = 0
        while start < sound.frames {
            let place = position + Int64(start)
            if place >= border { closeStretch() }
            let end = min(start + Self.block, sound.frames, start + Int(clamping: border - place))
            for channel in channels.indices {
                let plane = sound.planes[channel]
                channels[channel].take(plane.span.extracting(start..<end), at: place, rule)
            }
            start = end
        }
        position += Int64(sound.frames)
    }

    /// Skips whole stretches in which everything is silent, given that the samples before them are silent too.
    package mutating func skipSilence(stretches: Int64) {
        guard stretches > 0, rule.isOn else { return }
        for channel in channels.indices { channels[channel].closeStretch() }
        position += stretches * rule.stretch
        border += stretches * rule.stretch
    }

    /// Shows the detector the samples that precede the first sample, without reporting flat tops in them.
    package mutating func warmUp(_ sound: PlanarSamples) {
        guard sound.channels == channels.count, rule.isOn else { return }
        for channel in channels.indices {
            let plane = sound.planes[channel]
            channels[channel].take(plane.span.extracting(first: sound.frames), at: position - Int64(sound.frames), rule)
            channels[channel].forget()
        }
    }

    /// Appends the results for the samples that follow.
    package mutating func append(_ next: FlatTopDetector) {
        guard next.channels.count == channels.count else { return }
        for channel in channels.indices {
            channels[channel].closeStretch()
            var joined = next.channels[channel]
            joined.found.prepend(channels[channel].found)
            channels[channel] = joined
        }
        (position, border) = (next.position, next.border)
    }

    /// Returns the flat tops of a channel in order, their number including unlisted ones, and their total length.
    package func result(channel: Int) -> (runs: [Range<Int64>], count: Int64, total: Int64) {
        guard channels.indices.contains(channel) else { return ([], 0, 0) }
        var last = channels[channel]
        last.closeStretch()
        return (last.found.runs.sorted { $0.lowerBound < $1.lowerBound }, last.found.count, last.found.total)
    }

    private mutating func closeStretch() {
        for channel in channels.indices { channels[channel].closeStretch() }
        border += rule.stretch
    }
}

/// Runs, of which a limited number are listed.
private struct FoundRuns: Sendable, Hashable {
    var runs: [Range<Int64>] = []
    var count: Int64 = 0
    var total: Int64 = 0

    mutating func add(_ run: Range<Int64>) {
        count += 1
        total += Int64(run.count)
        if runs.count < RunFinder.maximumRuns { runs.append(run) }
    }

    mutating func add(_ other: FoundRuns) {
        count += other.count
        total += other.total
        runs += other.runs.prefix(max(0, RunFinder.maximumRuns - runs.count))
    }

    mutating func prepend(_ earlier: FoundRuns) {
        var all = earlier
        all.add(self)
        self = all
    }
}

/// The state of one channel while it is examined.
private struct Channel: Sendable, Hashable {
    /// The accepted flat tops.
    var found = FoundRuns()
    /// The magnitudes at which flat tops lie, above and below zero, each no greater than the previous one.
    private var above: [Ceiling] = []
    private var below: [Ceiling] = []
    /// The run to which the last sample belongs, and the two samples before that run, the nearer one first.
    private var value: Float = 0
    private var length = 0
    private var near: Float = 0
    private var far: Float = 0
    /// A flat top after which only one sample is known.
    private var open: Open?
    /// All 24-bit codes seen around flat tops, ORed together: their lowest set bit is the step of the grid.
    private var codes: Int32 = 0

    private struct Ceiling: Sendable, Hashable {
        let magnitude: Float
        var runs: FoundRuns
    }

    private struct Open: Sendable, Hashable {
        let value: Float
        let run: Range<Int64>
        /// The second sample before the flat top, and the first sample after it.
        let before: Float
        let after: Float
    }

    /// The minimum number of flat tops with the same value; fewer may be chance.
    private static let minimumRuns: Int64 = 4
    /// The minimum magnitude of a flat top, and the number of grid steps by which it must stand out.
    private static let minimumMagnitude: Float = 0.01
    private static let minimumSteps: Float = 12
    /// The maximum number of values tracked at a time.
    private static let maximumCeilings = 64

    mutating func take(_ samples: Span<Float>, at place: Int64, _ rule: FlatTopDetector.Rule) {
        guard samples.count > 4, open == nil, length < 3, !hasRun(samples) else {
            for index in samples.indices { step(samples[index], at: place + Int64(index), rule) }
            return
        }
        if !above.isEmpty || !below.isEmpty {
            let (low, high) = Self.range(of: samples)
            Self.lower(&above, beyond: high, into: &found)
            Self.lower(&below, beyond: -low, into: &found)
        }
        let count = samples.count
        value = samples[count - 1]
        length = samples[count - 2] == value ? 2 : 1
        (near, far) = (samples[count - length - 1], samples[count - length - 2])
    }

    /// Returns true if three consecutive samples, including the previous ones, have the same nonzero value.
    private func hasRun(_ samples: Span<Float>) -> Bool {
        if value != 0, length > 0, samples[0] == value, length == 2 || samples[1] == value { return true }
        var runs: Int32 = 0
        for index in 2..<samples.count {
            let (one, two, three) = (samples[index &- 2], samples[index &- 1], samples[index])
            runs &+= (one == two ? 1 : 0) & (two == three ? 1 : 0) & (three != 0 ? 1 : 0)
        }
        return runs != 0
    }

    private static func range(of samples: Span<Float>) -> (low: Float, high: Float) {
        var (low, high): (Float, Float) = (0, 0)
        for index in samples.indices {
            low = samples[index] < low ? samples[index] : low
            high = samples[index] > high ? samples[index] : high
        }
        return (low, high)
    }

    private mutating func step(_ sample: Float, at place: Int64, _ rule: FlatTopDetector.Rule) {
        if let open {
            if sample != open.after { take(open, then: sample) }
            self.open = nil
        }
        if sample > 0 {
            Self.lower(&above, beyond: sample, into: &found)
        } else {
            Self.lower(&below, beyond: -sample, into: &found)
        }
        guard sample != value || length == 0 else {
            length += 1
            return
        }
        if length >= rule.shortest, length <= rule.longest, value.magnitude >= Self.minimumMagnitude,
            value.magnitude < rule.fullScale, near != far, isBelowTop(near), isBelowTop(sample)
        {
            open = Open(value: value, run: place - Int64(length)..<place, before: far, after: sample)
        }
        (near, far) = length == 1 ? (value, near) : (value, value)
        (value, length) = (sample, 1)
    }

    /// Returns true if a sample lies on the side of the run's value that faces zero.
    private func isBelowTop(_ sample: Float) -> Bool { value > 0 ? sample < value : sample > value }

    /// - Parameter second: The second sample after the flat top.
    private mutating func take(_ open: Open, then second: Float) {
        for sample in [open.value, open.before, open.after] where sample.magnitude <= 1 {
            codes |= Int32(sample * 0x1p23)
        }
        // The grid is no finer than 16 bits, and otherwise as coarse as the samples seen.
        let grid = max(0x1p-15, Float(codes & -codes) * 0x1p-23)
        // The crest of a tone whose three highest samples are equal drops by at most nine steps.
        let drops = [open.before, second].map { open.value > 0 ? open.value - $0 : $0 - open.value }
        guard drops.allSatisfy({ $0 >= Self.minimumSteps * grid }) else { return }
        if open.value > 0 {
            Self.raise(&above, open.value, open.run, into: &found)
        } else {
            Self.raise(&below, -open.value, open.run, into: &found)
        }
    }

    private static func raise(
        _ ceilings: inout [Ceiling], _ magnitude: Float, _ run: Range<Int64>, into found: inout FoundRuns
    ) {
        lower(&ceilings, beyond: magnitude, into: &found)
        if ceilings.last?.magnitude == magnitude {
            ceilings[ceilings.count - 1].runs.add(run)
            return
        }
        if ceilings.count >= maximumCeilings { accept(ceilings.removeFirst(), into: &found) }
        var runs = FoundRuns()
        runs.add(run)
        ceilings.append(Ceiling(magnitude: magnitude, runs: runs))
    }

    /// Stops tracking the values that a sample exceeds.
    private static func lower(_ ceilings: inout [Ceiling], beyond magnitude: Float, into found: inout FoundRuns) {
        while let last = ceilings.last, last.magnitude < magnitude { accept(ceilings.removeLast(), into: &found) }
    }

    private static func accept(_ ceiling: Ceiling, into found: inout FoundRuns) {
        if ceiling.runs.count >= minimumRuns { found.add(ceiling.runs) }
    }

    mutating func closeStretch() {
        for ceiling in above + below { Self.accept(ceiling, into: &found) }
        (above, below) = ([], [])
    }

    /// Keeps only the state that the next samples connect to.
    mutating func forget() {
        (above, below, found) = ([], [], FoundRuns())
    }
}
