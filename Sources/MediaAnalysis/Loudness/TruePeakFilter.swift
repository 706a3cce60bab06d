internal import Glibc

/// Finds the values between samples: a sinc under a Hann window, twelve samples wide, at each quarter or half between two.
///
/// ITU-R BS.1770-5, Annex 2, asks for such a filter and prints one as an example; this one is that of libebur128.
struct TruePeakFilter: Sendable {
    /// Samples that are looked at together.
    static let block = 16
    /// Samples that a value between two of them is made of.
    static let taps = 12

    /// Each place between samples has its coefficients, the last sample's first.
    private let phases: [[Float]]
    /// By how much a value between samples can be higher than all samples around it, at most.
    let gain: Float

    /// The filter for a rate; `nil` where samples are close enough as they are.
    init?(sampleRate: Int) {
        guard sampleRate < 192_000 else { return nil }
        let factor = sampleRate < 96_000 ? 4 : 2
        let half = Double(Self.taps * factor) / 2
        var phases: [[Float]] = []
        for phase in 1..<factor {
            phases.append(
                (0..<Self.taps).map { tap in
                    let place = Double(tap * factor + phase) - half
                    let angle = place * Double.pi / Double(factor)
                    let window = 0.5 * (1 + cos(Double.pi * place / half))
                    return Float(sin(angle) / angle * window)
                })
        }
        self.phases = phases
        // A hair more, for the rounding of sums.
        gain = (phases.map { $0.reduce(0) { $0 + $1.magnitude } }.max() ?? 1) * 1.0001
    }

    /// The highest magnitude between samples, for each of the last ``block`` samples and those before it.
    ///
    /// - Parameter samples: Twice ``block``; 0 where they are not.
    func peak(of samples: Span<Float>) -> Float {
        guard samples.count == Self.block * 2 else { return 0 }
        var highest = SIMD8<Float>.zero
        for phase in phases where phase.count == Self.taps {
            for half in 0..<2 {
                let start = Self.block &+ half &* 8
                var sum = SIMD8<Float>.zero
                for tap in 0..<Self.taps {
                    let place = start &- tap
                    let eight = SIMD8(
                        samples[place], samples[place &+ 1], samples[place &+ 2], samples[place &+ 3],
                        samples[place &+ 4], samples[place &+ 5], samples[place &+ 6], samples[place &+ 7])
                    sum += eight * phase[tap]
                }
                let magnitude = sum.replacing(with: -sum, where: sum .< 0)
                highest.replace(with: magnitude, where: magnitude .> highest)
            }
        }
        let (low, high) = (highest.lowHalf, highest.highHalf)
        let four = low.replacing(with: high, where: high .> low)
        return max(max(four[0], four[1]), max(four[2], four[3]))
    }

    /// The sample just before the highest magnitude that ``peak(of:)`` finds, as its place among the samples.
    func place(of samples: Span<Float>) -> Int {
        guard samples.count == Self.block * 2 else { return 0 }
        var highest: (value: Float, place: Int) = (-1, 0)
        for start in Self.block..<Self.block * 2 {
            for phase in phases where phase.count == Self.taps {
                var sum: Float = 0
                for tap in 0..<Self.taps { sum += samples[start - tap] * phase[tap] }
                if sum.magnitude > highest.value { highest = (sum.magnitude, start - Self.taps / 2) }
            }
        }
        return highest.place
    }
}
