import Foundation

/// Measures of sound that need no other program.
public enum Tones {
    /// The frequency of a tone, by its zero crossings upwards, each interpolated.
    public static func frequency(_ samples: some Collection<Float>, rate: Int) -> Double {
        var (first, last, count) = (Double?.none, 0.0, 0)
        for (index, (before, after)) in zip(samples, samples.dropFirst()).enumerated() where before < 0 && after >= 0 {
            last = Double(index) + Double(before / (before - after))
            if first == nil { first = last } else { count += 1 }
        }
        guard let first, count > 0 else { return 0 }
        return Double(count) / (last - first) * Double(rate)
    }

    /// The root of the mean square.
    public static func rms(_ samples: some Collection<Float>) -> Double {
        (samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(max(1, samples.count))).squareRoot()
    }

    /// The mean power in decibels in bands of a third of an octave from 100 Hz on, by Hann windows of 4096 samples.
    public static func bands(_ samples: [Float], rate: Int) -> [Double] {
        let size = 4096
        var power = [Double](repeating: 0, count: size / 2)
        for start in stride(from: 0, through: samples.count - size, by: size / 2) {
            var real = (0..<size).map {
                Double(samples[start + $0]) * (0.5 - 0.5 * cos(2 * Double.pi * Double($0) / Double(size)))
            }
            var imaginary = [Double](repeating: 0, count: size)
            transform(&real, &imaginary)
            for bin in power.indices { power[bin] += real[bin] * real[bin] + imaginary[bin] * imaginary[bin] }
        }
        let scale = Double(size * (samples.count / (size / 2)))
        return (0..<22).map { band in
            let (low, high) = (100 * pow(2, Double(band) / 3 - 1.0 / 6), 100 * pow(2, Double(band) / 3 + 1.0 / 6))
            let bins = Int((low * Double(size) / Double(rate)).rounded(.up))...Int(high * Double(size) / Double(rate))
            return 10 * log10(power[bins].reduce(0, +) / scale + 1e-12)
        }
    }

    /// The discrete Fourier transform in place, of a power of two.
    private static func transform(_ real: inout [Double], _ imaginary: inout [Double]) {
        let count = real.count
        var reversed = 0
        for index in 1..<count {
            var bit = count / 2
            while reversed & bit != 0 {
                reversed ^= bit
                bit /= 2
            }
            reversed |= bit
            if index < reversed {
                real.swapAt(index, reversed)
                imaginary.swapAt(index, reversed)
            }
        }
        let waves = (0..<count / 2).map { -2 * Double.pi * Double($0) / Double(count) }.map { (cos($0), sin($0)) }
        var length = 2
        while length <= count {
            for start in stride(from: 0, to: count, by: length) {
                for offset in 0..<length / 2 {
                    let (cosine, sine) = waves[offset * (count / length)]
                    let (one, two) = (start + offset, start + offset + length / 2)
                    let re = real[two] * cosine - imaginary[two] * sine
                    let im = real[two] * sine + imaginary[two] * cosine
                    (real[two], imaginary[two]) = (real[one] - re, imaginary[one] - im)
                    (real[one], imaginary[one]) = (real[one] + re, imaginary[one] + im)
                }
            }
            length *= 2
        }
    }
}
