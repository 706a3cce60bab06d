internal import Glibc
package import MediaBase

/// The loudness of a programme after ITU-R BS.1770-5 and EBU R 128, from the steps of ``LoudnessSteps``.
///
/// Momentary loudness is over 400 ms, short-term loudness over 3 s (EBU Tech 3341). Both windows move on by 10 ms for
/// their maxima, so that a short sound is met wherever it begins. Blocks for the integrated loudness overlap by 75 %;
/// those for the range (EBU Tech 3342) move on by 100 ms. Windows that are not full at the end are not used.
package struct LoudnessMeter: Sendable {
    /// The loudest window.
    package struct Maximum: Sendable, Hashable {
        /// In LUFS.
        package let loudness: Double
        /// The step with which the window begins.
        package let step: Int64
        /// How many steps it lasts.
        package let steps: Int64
    }

    /// What was measured.
    package struct Result: Sendable, Hashable {
        /// In LUFS; `nil` where no block of 400 ms is as loud as −70 LUFS.
        package let integrated: Double?
        /// In LU; `nil` where no 3 s are as loud as −70 LUFS.
        package let range: Double?
        /// `nil` where nothing was heard for 400 ms.
        package let momentaryMaximum: Maximum?
        /// `nil` where nothing was heard for 3 s.
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
    /// Sums of ten steps that end with each of the last 300: a window is a few of them, and no error adds up.
    private var sums = [Double](repeating: 0, count: ringSize)
    private var place = 0
    private var blocks = LoudnessHistogram()
    private var shortTerms = LoudnessHistogram()
    private var loudestMomentary = (energy: 0.0, step: Int64(0))
    private var loudestShortTerm = (energy: 0.0, step: Int64(0))

    /// - Parameter weights: How much each channel counts, as ``ChannelWeights`` has it.
    package init(weights: [Double]) { self.weights = weights }

    /// Takes the steps that come next: mean squares of all channels of a step, then of the next.
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

    /// Takes steps of silence, in constant time for all but the first and last windows.
    package mutating func appendSilence(steps count: Int64) {
        let edge = Int64(Self.ringSize + Self.group)
        for _ in 0..<min(count, edge) { take(0) }
        guard count > edge else { return }
        // The windows are empty now; whole groups of ten keep the blocks where they are.
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

    /// The mean of the last steps; `nil` where there are not as many.
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

    /// What was measured so far.
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

/// The energy of K-weighted sound in steps of 10 ms, channel by channel: all of the samples that loudness needs.
///
/// Step `k` holds the samples from `k · rate / 100` on, rounded to the nearest. What is left of an incomplete step at the
/// end belongs to none.
///
/// Parts of one track may be measured side by side: a part begins at a step, and is first given the samples of the
/// ``KWeighting/memorySeconds`` before it by ``warmUp(_:)``. The steps then are those of the whole track but for rounding.
package struct LoudnessSteps: Sendable {
    /// Steps a second.
    package static let perSecond = 100

    /// Samples a second.
    package let sampleRate: Int
    /// How many channels there are.
    package let channels: Int
    /// The mean squares of complete steps that were not taken yet: of all channels of a step, then of the next.
    private var finished: [Double] = []
    private let weighting: KWeighting
    /// Two channels each; the second one of the last is silent where their number is odd.
    private var states: [KWeighting.State]
    private var sums: [Double]
    /// The step under way, and how many samples of it came already.
    private var step: Int64
    private var done = 0

    /// Begins at a step.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` where there are not 1 to 1024 channels or the rate is not 100 Hz to
    ///   100 MHz.
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

    /// The sample with which a step begins.
    package static func start(of step: Int64, sampleRate: Int) -> Int64 {
        let (whole, part) = step.quotientAndRemainder(dividingBy: Int64(perSecond))
        let rounded = (part * Int64(sampleRate) + Int64(perSecond / 2)) / Int64(perSecond)
        return whole.multipliedReportingOverflow(by: Int64(sampleRate)).partialValue &+ rounded
    }

    /// Lets the filters see what comes before the first step.
    package mutating func warmUp(_ sound: PlanarSamples) {
        run(sound, 0..<sound.frames)
        for index in sums.indices { sums[index] = 0 }
    }

    /// Takes the samples that come next.
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

    /// Passes over whole seconds of silence, after as much silence as the filters remember; they give no steps.
    package mutating func skipSilence(seconds: Int64) { step &+= seconds &* Int64(Self.perSecond) }

    /// The mean squares of the steps that are complete since the last time: of all channels of a step, then of the next.
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

/// How often each loudness was measured, in bins of 0.01 LU from −70 LUFS on, with the exact energies: the gates and
/// percentiles of ITU-R BS.1770-5 and EBU Tech 3342 in the same memory however long the sound is.
package struct LoudnessHistogram: Sendable, Hashable {
    private static let lowest = -70.0
    private static let binsPerUnit = 100.0
    /// Up to 50 LUFS; what is louder counts in the last bin.
    private static let binCount = 12_000

    private var counts = [Int64](repeating: 0, count: binCount)
    private var energies = [Double](repeating: 0, count: binCount)

    /// Begins without measurements.
    package init() {}

    /// The loudness of K-weighted mean squares summed over the weighted channels, in LUFS; −∞ for silence.
    package static func loudness(ofEnergy energy: Double) -> Double { -0.691 + 10 * log10(energy) }

    private static func energy(ofLoudness loudness: Double) -> Double { pow(10, (loudness + 0.691) / 10) }

    /// Adds a measurement; one below the absolute gate of −70 LUFS, or that is no number, counts for nothing.
    package mutating func add(energy: Double) {
        let loudness = Self.loudness(ofEnergy: energy)
        guard loudness >= Self.lowest, energy.isFinite else { return }
        let bin = Int(min((loudness - Self.lowest) * Self.binsPerUnit, Double(Self.binCount - 1)))
        counts[bin] &+= 1
        energies[bin] += energy
    }

    /// Whether nothing was as loud as the absolute gate.
    package var isEmpty: Bool { counts.allSatisfy { $0 == 0 } }

    /// The mean loudness, in LUFS, of what is louder than `gate` LU under the mean of all; `nil` where there is nothing.
    ///
    /// The integrated loudness has a gate of −10. It falls between whole measurements, except for the one bin of 0.01 LU
    /// in which it lies, which counts by its mean.
    package func gatedMean(gate: Double) -> Double? {
        guard let first = firstBin(gate: gate) else { return nil }
        let count = counts[first...].reduce(0, &+)
        return count > 0 ? Self.loudness(ofEnergy: energies[first...].reduce(0, +) / Double(count)) : nil
    }

    /// The loudness below which so great a part of what passes the gate lies; `nil` where there is nothing.
    ///
    /// The nearest rank, as Tech 3342 has it; within a bin of 0.01 LU, the bin's mean.
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
