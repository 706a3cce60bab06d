internal import Glibc

/// Finds the number of samples by which one recording is later than a similar one.
package enum SoundAlignment {
    /// An offset at which two recordings match.
    package struct Match: Sendable, Hashable {
        /// The offset: sample n of the reference is sample n + offset of the recording.
        package let offset: Int
        /// The correlation at this offset, −1…1; near −1, one recording is the inverse of the other.
        package let correlation: Double
    }

    /// Finds the offset at which two recordings are most similar, to the sample.
    ///
    /// Sums of `factor` samples are correlated first, with Fourier transforms, and then the samples themselves around
    /// the best offset.
    ///
    /// - Parameters:
    ///   - sound: The samples, a few million at most; further samples are ignored.
    ///   - reference: Samples at the same rate.
    ///   - most: The maximum offset in either direction.
    ///   - factor: The number of samples summed in the first pass.
    /// - Returns: `nil` if one of the recordings is silent.
    package static func match(_ sound: [Float], _ reference: [Float], most: Int, factor: Int) -> Match? {
        let factor = max(1, factor)
        let (coarse, coarseReference) = (gathered(sound, factor), gathered(reference, factor))
        let reach = max(0, most) / factor
        guard let place = coarseOffset(coarse, coarseReference, most: reach) else { return nil }
        var best: Match?
        for offset in (place - 2) * factor...(place + 2) * factor where abs(offset) <= most {
            guard let found = correlation(sound, reference, offset: offset) else { continue }
            if abs(found) > abs(best?.correlation ?? 0) { best = Match(offset: offset, correlation: found) }
        }
        return best
    }

    /// The maximum number of sums that are examined.
    private static let maximumSamples = 1 << 20

    private static func gathered(_ samples: [Float], _ factor: Int) -> [Float] {
        (0..<min(samples.count / factor, maximumSamples)).map { index in
            var sum: Float = 0
            for sample in samples[index * factor..<index * factor + factor] { sum += sample }
            return sum
        }
    }

    private static func coarseOffset(_ sound: [Float], _ reference: [Float], most: Int) -> Int? {
        let needed = max(sound.count, reference.count) + most + 1
        var exponent = 1
        while 1 << exponent < needed, exponent < 22 { exponent += 1 }
        let transform = FourierTransform(exponent: exponent)
        let reach = min(most, transform.count / 2 - 1)
        // One transform for both: the recording is the real part, the reference the imaginary part.
        let count = transform.count
        func padded(_ samples: [Float]) -> [Float] {
            Array(samples.prefix(count)) + Array(repeating: 0, count: max(0, count - samples.count))
        }
        var (real, imaginary) = (padded(sound), padded(reference))
        transform.transform(real: &real, imaginary: &imaginary)
        var (products, others) = ([Float](repeating: 0, count: count), [Float](repeating: 0, count: count))
        for index in 0..<count {
            let mirror = (count - index) & (count - 1)
            let (a, b) = (
                (re: (real[index] + real[mirror]) / 2, im: (imaginary[index] - imaginary[mirror]) / 2),
                (re: (imaginary[index] + imaginary[mirror]) / 2, im: (real[mirror] - real[index]) / 2)
            )
            // The conjugate of the product, so that the same transform serves as its inverse.
            products[index] = a.re * b.re + a.im * b.im
            others[index] = a.re * b.im - a.im * b.re
        }
        transform.transform(real: &products, imaginary: &others)
        var best = (offset: 0, value: Float(0))
        for offset in -reach...reach {
            let value = products[offset & (count - 1)].magnitude
            if value > best.value { best = (offset, value) }
        }
        return best.value > 0 ? best.offset : nil
    }

    /// Returns the correlation coefficient of the overlapping samples, with their means not removed; `nil` for silence.
    private static func correlation(_ sound: [Float], _ reference: [Float], offset: Int) -> Double? {
        let start = max(0, -offset)
        let end = min(reference.count, sound.count - offset)
        guard start < end else { return nil }
        var (products, squares, others) = (0.0, 0.0, 0.0)
        for index in start..<end {
            let (one, other) = (Double(sound[index + offset]), Double(reference[index]))
            products += one * other
            squares += one * one
            others += other * other
        }
        guard squares > 0, others > 0 else { return nil }
        return products / (squares * others).squareRoot()
    }
}

/// The discrete Fourier transform of complex values whose number is a power of two.
package struct FourierTransform {
    /// The number of values.
    package let count: Int
    private let cosines: [Float]
    private let sines: [Float]

    /// - Parameter exponent: The base-2 logarithm of the number of values; 1 to 24, other values are clamped.
    package init(exponent: Int) {
        let count = 1 << min(max(exponent, 1), 24)
        self.count = count
        cosines = (0..<count / 2).map { Float(cos(2 * Double.pi * Double($0) / Double(count))) }
        sines = (0..<count / 2).map { Float(-sin(2 * Double.pi * Double($0) / Double(count))) }
    }

    /// Transforms values in place, without scaling; does nothing unless each part has ``count`` values.
    package func transform(real: inout [Float], imaginary: inout [Float]) {
        guard real.count == count, imaginary.count == count else { return }
        sort(&real, &imaginary)
        var re = real.mutableSpan
        var im = imaginary.mutableSpan
        var half = 1
        while half < count {
            let step = count / (2 * half)
            var start = 0
            while start < count {
                for index in 0..<half {
                    let (low, high) = (start &+ index, start &+ index &+ half)
                    let (c, s) = (cosines[index &* step], sines[index &* step])
                    let (x, y) = (re[high] * c - im[high] * s, re[high] * s + im[high] * c)
                    (re[high], im[high]) = (re[low] - x, im[low] - y)
                    (re[low], im[low]) = (re[low] + x, im[low] + y)
                }
                start &+= 2 &* half
            }
            half &*= 2
        }
    }

    /// Reorders values by their bit-reversed indices.
    private func sort(_ real: inout [Float], _ imaginary: inout [Float]) {
        var reversed = 0
        for index in 1..<count {
            var bit = count >> 1
            while reversed & bit != 0 {
                reversed ^= bit
                bit >>= 1
            }
            reversed |= bit
            if index < reversed {
                real.swapAt(index, reversed)
                imaginary.swapAt(index, reversed)
            }
        }
    }
}
