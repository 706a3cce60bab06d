/// Finds runs of neighbouring samples at full scale in each channel: the flat tops of sound that was recorded too loud.
///
/// Full scale is the largest positive code of integers and 1 for floating point. Detectors of parts that follow each
/// other are joined by ``append(_:)``.
package struct ClippingDetector: Sendable, Hashable {
    /// Flat tops of each channel, counted in samples.
    package private(set) var channels: [RunFinder]
    private let threshold: Float

    private static let block = 64

    /// - Parameters:
    ///   - channels: How many channels there are.
    ///   - significantBits: The bits of an integer source that carry signal; `nil` for floating point.
    ///   - minimum: How many samples in a row at full scale are clipping.
    package init(channels: Int, significantBits: Int?, minimum: Int64) {
        self.channels = Array(repeating: RunFinder(minimum: minimum), count: max(0, channels))
        threshold = Self.threshold(significantBits: significantBits)
    }

    /// The largest positive code of a source with so many bits, and 1 for floating point.
    static func threshold(significantBits: Int?) -> Float {
        // From 25 bits on a number of 32 bits cannot tell the largest code from one that is a little less.
        let bits = significantBits.map { min(max($0, 2), 24) } ?? 0
        return bits == 0 ? 1 : 1 - 1 / Float(1 << (bits - 1))
    }

    /// Takes the samples that come next.
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

    /// Takes samples of silence, in constant time.
    package mutating func appendSilence(frames: Int64) {
        for channel in channels.indices { channels[channel].append(count: frames, holds: false) }
    }

    /// Takes what was found in the samples that come next.
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

/// Finds sound that is cut off at one value below full scale, as it becomes when it is clipped and then made quieter.
///
/// A flat top is a run of at least so many samples of one value between two slopes: on either side come two samples that
/// differ from each other, the farther one at least twelve steps of the samples' grid closer to zero. Flat tops count where
/// four of one value lie within ten seconds and no sample between them is beyond that value. So the following is none:
/// silence and offsets, which have no slopes; square waves and clicks, whose other side is flat too; the crest of a low or
/// quiet tone, whose neighbours are a few steps away; and two peaks that happen to be equal.
///
/// Sources of fewer than twelve bits have crests as flat as that, and are not looked at. Detectors of parts are joined by
/// ``append(_:)``, where each part but the last is a multiple of ten seconds long.
package struct FlatTopDetector: Sendable, Hashable {
    /// What was found in each channel.
    private var channels: [Channel]
    private let rule: Rule
    /// The number of the next sample, and that with which the next stretch begins.
    private var position: Int64
    private var border: Int64

    /// Seconds in which values are compared; parts of a sound begin at a multiple of them.
    package static let stretchSeconds = 10
    private static let block = 64
    /// The least number of bits with which crests are told from flat tops.
    private static let minimumBits = 12

    /// What counts.
    fileprivate struct Rule: Sendable, Hashable {
        var shortest: Int
        var longest: Int
        /// Above full scale others count.
        var fullScale: Float
        var isOn: Bool
        var stretch: Int64
    }

    /// - Parameters:
    ///   - channels: How many channels there are.
    ///   - significantBits: The bits of an integer source that carry signal; `nil` for floating point.
    ///   - sampleRate: Samples a second.
    ///   - minimum: How many samples in a row are a flat top at least; less than three counts as three.
    ///   - position: The number of the first sample.
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

    /// Takes the samples that come next.
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

    /// Passes over whole stretches in which all is silent, as the samples before them are.
    package mutating func skipSilence(stretches: Int64) {
        guard stretches > 0, rule.isOn else { return }
        for channel in channels.indices { channels[channel].closeStretch() }
        position += stretches * rule.stretch
        border += stretches * rule.stretch
    }

    /// Lets the detector see what comes before the first sample.
    package mutating func warmUp(_ sound: PlanarSamples) {
        guard sound.channels == channels.count, rule.isOn else { return }
        for channel in channels.indices {
            let plane = sound.planes[channel]
            channels[channel].take(plane.span.extracting(first: sound.frames), at: position - Int64(sound.frames), rule)
            channels[channel].forget()
        }
    }

    /// Takes what was found in the samples that come next.
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

    /// The flat tops of a channel in order, how many there are with those that are not listed, and how long all are.
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

/// Runs, of which so many are listed.
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

/// One channel as it is looked through.
private struct Channel: Sendable, Hashable {
    /// Accepted flat tops.
    var found = FoundRuns()
    /// Values at which flat tops lie, none beyond the one before, above and below zero; magnitudes.
    private var above: [Ceiling] = []
    private var below: [Ceiling] = []
    /// The run that the last sample belongs to, and the two samples before it, the nearer one first.
    private var value: Float = 0
    private var length = 0
    private var near: Float = 0
    private var far: Float = 0
    /// A flat top of which one sample after it is known.
    private var open: Open?
    /// All codes of 24 bits that were met around flat tops, put together: their lowest bit is the step of the grid.
    private var codes: Int32 = 0

    private struct Ceiling: Sendable, Hashable {
        let magnitude: Float
        var runs: FoundRuns
    }

    private struct Open: Sendable, Hashable {
        let value: Float
        let run: Range<Int64>
        /// The second sample before it, and the first one after it.
        let before: Float
        let after: Float
    }

    /// Fewer flat tops of one value may be chance.
    private static let minimumRuns: Int64 = 4
    /// The least magnitude, and by how many steps of the grid a flat top stands out.
    private static let minimumMagnitude: Float = 0.01
    private static let minimumSteps: Float = 12
    /// Values that are kept at a time.
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

    /// Whether three samples in a row are one value other than zero, with those that came before.
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

    /// Whether a sample is on the side of zero of the run's value.
    private func isBelowTop(_ sample: Float) -> Bool { value > 0 ? sample < value : sample > value }

    /// - Parameter second: The second sample after the flat top.
    private mutating func take(_ open: Open, then second: Float) {
        for sample in [open.value, open.before, open.after] where sample.magnitude <= 1 {
            codes |= Int32(sample * 0x1p23)
        }
        // No finer than 16 bits, and as coarse as the samples that were seen.
        let grid = max(0x1p-15, Float(codes & -codes) * 0x1p-23)
        // The crest of a tone whose three highest samples are one value goes down by nine steps at most.
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

    /// Ends the values beyond which a sample is.
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

    /// Keeps only what the next samples are joined to.
    mutating func forget() {
        (above, below, found) = ([], [], FoundRuns())
    }
}
