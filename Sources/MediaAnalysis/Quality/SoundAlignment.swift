internal import Glibc

/// By how many samples one sound lies later than another one that sounds alike.
package enum SoundAlignment {
    /// A place where two sounds fit.
    package struct Match: Sendable, Hashable {
        /// Sample n of the reference is sample n + offset of the sound.
        package let offset: Int
        /// How alike both are there, −1…1; near −1 one is the other's inverse.
        package let correlation: Double
    }

    /// Finds the offset at which two sounds are most alike, to the sample.
    ///
    /// Sums of some samples each are correlated first, by Fourier transforms, and then the samples themselves around the
    /// best place.
    /// - Parameters:
    ///   - sound: Samples, a few million at most; further ones are not looked at.
    ///   - reference: Samples at the same rate.
    ///   - most: The largest offset either way.
    ///   - factor: How many samples are taken together at first.
    /// - Returns: `nil` where one of the two is silent.
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

    /// Samples that are looked at at most, after they were taken together.
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
        // One transform for both: the sound as the real part, the reference as the imaginary one.
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
            // The conjugate of the product, so that the same transform goes back.
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

    /// The correlation coefficient, without the offsets, of what overlaps; `nil` for silence.
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

/// The discrete Fourier transform of a number of complex values that is a power of two.
package struct FourierTransform {
    /// How many values there are.
    package let count: Int
    private let cosines: [Float]
    private let sines: [Float]

    /// - Parameter exponent: 2 to the power of it is the number of values; 1 to 24, others are clamped.
    package init(exponent: Int) {
        let count = 1 << min(max(exponent, 1), 24)
        self.count = count
        cosines = (0..<count / 2).map { Float(cos(2 * Double.pi * Double($0) / Double(count))) }
        sines = (0..<count / 2).map { Float(-sin(2 * Double.pi * Double($0) / Double(count))) }
    }

    /// Transforms values in place, without scaling; nothing where there are not ``count`` of each part.
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

    /// Puts values into the order of their reversed bits.
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
