internal import Glibc

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
