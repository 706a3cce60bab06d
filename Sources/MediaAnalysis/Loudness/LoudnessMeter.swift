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
