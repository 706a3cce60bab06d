internal import Glibc

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
