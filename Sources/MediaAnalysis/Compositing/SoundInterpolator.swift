import Glibc

/// Reads audio between its samples, with a Kaiser-windowed sinc.
///
/// If audio is read faster than it was sampled, frequencies that would exceed the new limit are filtered out first, so
/// that they do not alias.
package struct SoundInterpolator: Sendable {
    /// The number of samples of the audio for each output value.
    package let step: Double
    /// The number of samples before and after a position that contribute to its value.
    package let reach: Int
    /// The fraction of the highest frequency up to which audio passes.
    private let cutoff: Double
    /// The filter from its centre on.
    private let table: [Float]

    /// The number of zeros of the sinc on each side.
    private static let zeros = 24
    /// The number of filter values from one zero to the next.
    private static let resolution = 512

    /// - Parameter step: The number of samples of the audio for each output value; positive, at most 64.
    package init(step: Double) {
        let step = step.isFinite ? min(max(step, 1.0 / 65536), 64) : 1
        self.step = step
        cutoff = step > 1 ? 1 / step : 1
        reach = Int((Double(Self.zeros) / cutoff).rounded(.up))
        let beta = 10.0
        let end = Double(Self.zeros)
        table = (0...Self.zeros * Self.resolution + 1).map { index in
            let place = Double(index) / Double(Self.resolution)
            guard place < end else { return 0 }
            let sinc = index == 0 ? 1 : sin(Double.pi * place) / (Double.pi * place)
            let ratio = place / end
            return Float(sinc * Self.bessel(beta * (1 - ratio * ratio).squareRoot()) / Self.bessel(beta))
        }
    }

    /// Returns the modified Bessel function of the first kind and order zero.
    private static func bessel(_ x: Double) -> Double {
        var (sum, term) = (1.0, 1.0)
        for k in 1..<60 {
            term *= (x / 2 / Double(k)) * (x / 2 / Double(k))
            sum += term
        }
        return sum
    }

    /// Writes the audio from a position on, one value every ``step`` samples.
    ///
    /// - Parameters:
    ///   - place: The position of the first value, counted in samples from the first.
    ///   - target: Receives numbers in native byte order, as many as fit.
    package func read(_ samples: [Float], from place: Double, into target: inout MutableRawSpan) {
        let samples = samples.span
        for index in 0..<target.byteCount / 4 {
            let value = value(of: samples, at: place + Double(index) * step)
            target.storeBytes(of: value, toByteOffset: index * 4, as: Float.self)
        }
    }

    /// Returns the audio at a position, counted in samples from the first; outside the samples it is silent.
    package func value(of samples: Span<Float>, at place: Double) -> Float {
        guard place.isFinite, place > -Double(reach) - 1, place < Double(samples.count + reach) + 1 else { return 0 }
        let middle = Int(place.rounded(.down))
        var (sum, weights) = (Float(0), Float(0))
        let scale = cutoff * Double(Self.resolution)
        for index in middle - reach + 1...middle + reach {
            let distance = (place - Double(index)).magnitude * scale
            let whole = Int(distance)
            guard whole + 1 < table.count else { continue }
            let part = Float(distance - Double(whole))
            let weight = table[whole] + (table[whole + 1] - table[whole]) * part
            weights += weight
            if index >= 0, index < samples.count { sum += weight * samples[index] }
        }
        return weights > 0 ? sum / weights : 0
    }
}
