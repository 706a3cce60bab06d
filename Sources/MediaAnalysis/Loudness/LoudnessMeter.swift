internal import Glibc
package import MediaBase

/// Measures the loudness of a programme by ITU-R BS.1770-5 and EBU R 128, from the steps of ``LoudnessSteps``.
///
/// Momentary loudness covers 400 ms, short-term loudness 3 s (EBU Tech 3341). For their maxima, both windows advance by
/// 10 ms, so that a short sound is found wherever it starts. Blocks for the integrated loudness overlap by 75 %;
/// windows for the range (EBU Tech 3342) advance by 100 ms. Windows that are incomplete at the end are not used.
package struct LoudnessMeter: Sendable {
    /// The loudest window.
    package struct Maximum: Sendable, Hashable {
        /// The loudness in LUFS.
        package let loudness: Double
        /// The step at which the window starts.
        package let step: Int64
        /// The length of the window in steps.
        package let steps: Int64
    }

    /// The results of a measurement.
    package struct Result: Sendable, Hashable {
        /// The integrated loudness in LUFS; `nil` if no block of 400 ms reaches −70 LUFS.
        package let integrated: Double?
        /// The loudness range in LU; `nil` if no window of 3 s reaches −70 LUFS.
        package let range: Double?
        /// The loudest momentary window; `nil` if every complete window of 400 ms is silent.
        package let momentaryMaximum: Maximum?
        /// The loudest short-term window; `nil` if every complete window of 3 s is silent.
        package let shortTermMaximum: Maximum?
    }

    private static let group = 10
    private static let momentaryGroups = 4
    private static let shortTermGroups = 30
    private static let ringSize = group * shortTermGroups

    private let weights: [Double]
    private var steps: Int64 = 0
    /// The last ten steps.
    private var last = [Double](repeating: 0, count: group)
    /// The sums of ten steps that end with each of the last 300 steps.
    ///
    /// A window adds a few of these sums, so that errors do not accumulate.
    private var sums = [Double](repeating: 0, count: ringSize)
    private var place = 0
    private var blocks = LoudnessHistogram()
    private var shortTerms = LoudnessHistogram()
    private var loudestMomentary = (energy: 0.0, step: Int64(0))
    private var loudestShortTerm = (energy: 0.0, step: Int64(0))

    /// - Parameter weights: The weight of each channel, as in ``ChannelWeights``.
    package init(weights: [Double]) { self.weights = weights }

    /// Adds the next steps: the mean squares of all channels of a step, then of the next step.
    package mutating func append(_ means: [Double]) {
        guard !weights.isEmpty else { return }
        var start = 0
        while start + weights.count <= means.count {
            var energy = 0.0
            for channel in weights.indices { energy += weights[channel] * means[start + channel] }
            take(energy)
            start += weights.count
        }
    }

    /// Adds steps of silence, in time that does not grow with their number.
    package mutating func appendSilence(steps count: Int64) {
        let edge = Int64(Self.ringSize + Self.group)
        for _ in 0..<min(count, edge) { take(0) }
        guard count > edge else { return }
        // All windows are empty now; skipping whole groups of ten keeps the blocks aligned.
        let skipped = (count - edge) / Int64(Self.group) * Int64(Self.group)
        steps &+= skipped
        for _ in 0..<(count - edge - skipped) { take(0) }
    }

    private mutating func take(_ energy: Double) {
        last[Int(steps % Int64(Self.group))] = energy
        var sum = 0.0
        for value in last { sum += value }
        place = place + 1 == Self.ringSize ? 0 : place + 1
        sums[place] = sum
        steps &+= 1
        let isOnGrid = steps.isMultiple(of: Int64(Self.group))
        if let energy = window(groups: Self.momentaryGroups) {
            if energy > loudestMomentary.energy {
                loudestMomentary = (energy, steps - Int64(Self.momentaryGroups * Self.group))
            }
            if isOnGrid { blocks.add(energy: energy) }
        }
        if let energy = window(groups: Self.shortTermGroups) {
            if energy > loudestShortTerm.energy {
                loudestShortTerm = (energy, steps - Int64(Self.shortTermGroups * Self.group))
            }
            if isOnGrid { shortTerms.add(energy: energy) }
        }
    }

    /// Returns the mean of the last steps, or `nil` if there are not enough.
    private func window(groups: Int) -> Double? {
        guard steps >= Int64(groups * Self.group) else { return nil }
        var sum = 0.0
        var index = place
        for _ in 0..<groups {
            sum += sums[index]
            index -= Self.group
            if index < 0 { index += Self.ringSize }
        }
        return sum / Double(groups * Self.group)
    }

    /// The results so far.
    package var result: Result {
        func maximum(_ found: (energy: Double, step: Int64), groups: Int) -> Maximum? {
            guard found.energy > 0 else { return nil }
            return Maximum(
                loudness: LoudnessHistogram.loudness(ofEnergy: found.energy), step: found.step,
                steps: Int64(groups * Self.group))
        }
        var range: Double?
        if let low = shortTerms.percentile(0.10, gate: -20), let high = shortTerms.percentile(0.95, gate: -20) {
            range = high - low
        }
        return Result(
            integrated: blocks.gatedMean(gate: -10), range: range,
            momentaryMaximum: maximum(loudestMomentary, groups: Self.momentaryGroups),
            shortTermMaximum: maximum(loudestShortTerm, groups: Self.shortTermGroups))
    }
}

/// Measures the energy of K-weighted audio in steps of 10 ms for each channel, which is all that loudness needs.
///
/// Step `k` starts at sample `k · rate / 100`, rounded to nearest. An incomplete step at the end is not used.
///
/// Parts of one track may be measured in parallel: a part starts at a step, and first receives the samples of the
/// preceding ``KWeighting/memorySeconds`` through ``warmUp(_:)``. Its steps then equal those of the whole track, except
/// for rounding.
package struct LoudnessSteps: Sendable {
    /// The number of steps per second.
    package static let perSecond = 100

    /// The number of samples per second.
    package let sampleRate: Int
    /// The number of channels.
    package let channels: Int
    /// The mean squares of complete steps that were not taken yet: all channels of a step, then of the next step.
    private var finished: [Double] = []
    private let weighting: KWeighting
    /// The filter states of two channels each; with an odd number of channels, the second lane of the last state is
    /// unused.
    private var states: [KWeighting.State]
    private var sums: [Double]
    /// The current step, and the number of its samples so far.
    private var step: Int64
    private var done = 0

    /// Creates a measurement that starts at a step.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` if there are not 1 to 1024 channels or the rate is not 100 Hz to 100
    ///   MHz.
    package init(sampleRate: Int, channels: Int, startingAt step: Int64 = 0) throws(MediaError) {
        guard (1...1024).contains(channels), (100...100_000_000).contains(sampleRate) else {
            throw MediaError(
                .invalidArgument,
                "loudness needs 1 to 1024 channels at 100 Hz or more, not \(channels) at \(sampleRate) Hz")
        }
        self.sampleRate = sampleRate
        self.channels = channels
        self.step = max(0, step)
        weighting = KWeighting(sampleRate: sampleRate)
        states = Array(repeating: KWeighting.State(), count: (channels + 1) / 2)
        sums = Array(repeating: 0, count: channels + 1)
    }

    /// Returns the sample at which a step starts.
    package static func start(of step: Int64, sampleRate: Int) -> Int64 {
        let (whole, part) = step.quotientAndRemainder(dividingBy: Int64(perSecond))
        let rounded = (part * Int64(sampleRate) + Int64(perSecond / 2)) / Int64(perSecond)
        return whole.multipliedReportingOverflow(by: Int64(sampleRate)).partialValue &+ rounded
    }

    /// Passes the samples that precede the first step to the filters.
    package mutating func warmUp(_ sound: PlanarSamples) {
        run(sound, 0..<sound.frames)
        for index in sums.indices { sums[index] = 0 }
    }

    /// Adds the next samples.
    package mutating func append(_ sound: PlanarSamples) {
        guard sound.channels == channels else { return }
        var start = 0
        while start < sound.frames {
            let begin = Self.start(of: step, sampleRate: sampleRate)
            let length = Int(Self.start(of: step &+ 1, sampleRate: sampleRate) &- begin)
            let end = min(sound.frames, start + max(1, length - done))
            run(sound, start..<end)
            done += end - start
            start = end
            guard done >= length else { continue }
            for channel in 0..<channels { finished.append(sums[channel] / Double(done)) }
            for index in sums.indices { sums[index] = 0 }
            step &+= 1
            done = 0
        }
    }

    /// Skips whole seconds of silence without producing steps.
    ///
    /// The preceding samples must be silent for as long as the filters remember.
    package mutating func skipSilence(seconds: Int64) { step &+= seconds &* Int64(Self.perSecond) }

    /// Returns the mean squares of the steps completed since the last call: all channels of a step, then of the next
    /// step.
    package mutating func takeSteps() -> [Double] {
        var steps: [Double] = []
        swap(&steps, &finished)
        return steps
    }

    private mutating func run(_ sound: PlanarSamples, _ frames: Range<Int>) {
        guard sound.channels == channels else { return }
        for pair in states.indices {
            let left = pair * 2
            let right = min(left + 1, channels - 1)
            let (first, second) = (sound.planes[left], sound.planes[right])
            let squares = states[pair].squares(weighting, first.span.extracting(frames), second.span.extracting(frames))
            sums[left] += squares[0]
            if right > left { sums[right] += squares[1] }
        }
    }
}

/// A histogram of loudness in bins of 0.01 LU from −70 LUFS, with the exact energies.
///
/// It provides the gates and percentiles of ITU-R BS.1770-5 and EBU Tech 3342 in constant memory, however long the
/// audio is.
package struct LoudnessHistogram: Sendable, Hashable {
    private static let lowest = -70.0
    private static let binsPerUnit = 100.0
    /// Up to 50 LUFS; louder measurements count in the last bin.
    private static let binCount = 12_000

    private var counts = [Int64](repeating: 0, count: binCount)
    private var energies = [Double](repeating: 0, count: binCount)

    /// Creates a histogram without measurements.
    package init() {}

    /// Returns the loudness in LUFS of K-weighted mean squares summed over the weighted channels; −∞ for silence.
    package static func loudness(ofEnergy energy: Double) -> Double { -0.691 + 10 * log10(energy) }

    private static func energy(ofLoudness loudness: Double) -> Double { pow(10, (loudness + 0.691) / 10) }

    /// Adds a measurement; ignores values that are not finite or are below the absolute gate of −70 LUFS.
    package mutating func add(energy: Double) {
        let loudness = Self.loudness(ofEnergy: energy)
        guard loudness >= Self.lowest, energy.isFinite else { return }
        let bin = Int(min((loudness - Self.lowest) * Self.binsPerUnit, Double(Self.binCount - 1)))
        counts[bin] &+= 1
        energies[bin] += energy
    }

    /// Returns the mean loudness in LUFS of the measurements above a relative gate, or `nil` if there are none.
    ///
    /// The gate is `gate` LU relative to the mean of all measurements; the integrated loudness uses −10. Measurements
    /// are gated individually, except for those in the 0.01 LU bin that contains the gate, which are gated together by
    /// their mean.
    package func gatedMean(gate: Double) -> Double? {
        guard let first = firstBin(gate: gate) else { return nil }
        let count = counts[first...].reduce(0, &+)
        return count > 0 ? Self.loudness(ofEnergy: energies[first...].reduce(0, +) / Double(count)) : nil
    }

    /// Returns the loudness below which a given fraction of the gated measurements lies, or `nil` if there are none.
    ///
    /// This is the nearest rank, as in Tech 3342; within a bin of 0.01 LU, the mean of the bin.
    package func percentile(_ part: Double, gate: Double) -> Double? {
        guard let first = firstBin(gate: gate) else { return nil }
        let count = counts[first...].reduce(0, &+)
        guard count > 0 else { return nil }
        let rank = (Double(count - 1) * part).rounded()
        var passed = 0.0
        for bin in first..<counts.count where counts[bin] > 0 {
            passed += Double(counts[bin])
            if passed > rank { return Self.loudness(ofEnergy: energies[bin] / Double(counts[bin])) }
        }
        return nil
    }

    private func firstBin(gate: Double) -> Int? {
        let count = counts.reduce(0, &+)
        guard count > 0 else { return nil }
        let mean = Self.loudness(ofEnergy: energies.reduce(0, +) / Double(count))
        let threshold = Self.energy(ofLoudness: mean + gate)
        return counts.indices.first { counts[$0] > 0 && energies[$0] / Double(counts[$0]) >= threshold }
    }
}
