import CFFmpeg
import CSampleKernels
package import MediaBase

// Reads the file's own bytes into reusable memory, from any thread and also in parallel.

extension InputFile {
    /// Fills an array with numbers read from the file, taken to be in native byte order.
    ///
    /// - Parameters:
    ///   - position: The byte offset in the file at which to start.
    ///   - array: The destination, whose count is the number of numbers to read.
    /// - Returns: The number of whole numbers read: fewer than requested at the end of the file, and 0 for a stream.
    /// - Throws: ``MediaError`` `inputOutput` for a system error, or ``stop``.
    package func read<Number: BitwiseCopyable>(
        at position: Int64, into array: inout [Number]
    ) throws(MediaError) -> Int {
        if let stop { throw stop }
        let result: Result<Int, MediaError> = array.withUnsafeMutableBytes { buffer in
            Result { () throws(MediaError) in try io.read(at: position, into: buffer) }
        }
        return try result.get() / MemoryLayout<Number>.stride
    }
}

/// Conversion of linear PCM samples from their form in files to native numbers.
package enum StoredSamples {
    /// Converts big-endian numbers to native byte order, in place.
    package static func swapBytes<Number: FixedWidthInteger & BitwiseCopyable>(_ numbers: inout [Number]) {
        var span = numbers.mutableSpan
        for place in 0..<span.count { span[place] = Number(bigEndian: span[place]) }
    }

    /// Expands 24-bit samples to 32 bits, left-justified, as many as both arrays hold.
    ///
    /// - Parameters:
    ///   - bytes: Consecutive samples, followed by at least one more byte than is expanded.
    ///   - isBigEndian: Whether the most significant byte comes first.
    ///   - samples: The destination.
    package static func spread24(_ bytes: [UInt8], isBigEndian: Bool, into samples: inout [Int32]) {
        let room = samples.count
        bytes.withUnsafeBytes { source in
            samples.withUnsafeMutableBufferPointer { target in
                guard let source = source.baseAddress, let target = target.baseAddress else { return }
                let count = min((bytes.count - 1) / 3, room)
                if isBigEndian {
                    for place in 0..<count {
                        let word = source.loadUnaligned(fromByteOffset: place &* 3, as: UInt32.self)
                        target[place] = Int32(bitPattern: UInt32(bigEndian: word) & 0xFFFF_FF00)
                    }
                } else {
                    for place in 0..<count {
                        let word = source.loadUnaligned(fromByteOffset: place &* 3, as: UInt32.self)
                        target[place] = Int32(bitPattern: UInt32(littleEndian: word) &<< 8)
                    }
                }
            }
        }
    }

    /// True if the processor has wide vectors.
    private static let hasWideKernels = sample_kernels_are_available()

    /// Rounds 24-bit samples to 16 bits, half to even, as many as both arrays hold.
    ///
    /// A sample that would round to 32768 becomes an extreme value. Therefore, examine samples with a magnitude of
    /// 32767 at more than 16 bits.
    ///
    /// - Parameters:
    ///   - bytes: Consecutive samples, least significant byte first, followed by at least one more byte than is
    ///     rounded.
    ///   - samples: The destination.
    /// - Returns: The maximum magnitude of the written samples, at most 32767.
    package static func round24(_ bytes: [UInt8], into samples: inout [Int16]) -> Int16 {
        guard hasWideKernels else { return narrowRound24(bytes, into: &samples) }
        let room = samples.count
        return bytes.withUnsafeBufferPointer { bytes in
            samples.withUnsafeMutableBufferPointer { samples in
                guard let source = bytes.baseAddress, let target = samples.baseAddress else { return 0 }
                return sample_kernels_round24(source, min((bytes.count - 1) / 3, room), target)
            }
        }
    }

    /// Rounds samples like ``round24(_:into:)``, with the vectors that every processor has.
    package static func narrowRound24(_ bytes: [UInt8], into samples: inout [Int16]) -> Int16 {
        let count = min((bytes.count - 1) / 3, samples.count)
        bytes.withUnsafeBytes { source in
            samples.withUnsafeMutableBytes { target in
                func word(_ place: Int) -> Int32 {
                    Int32(littleEndian: source.loadUnaligned(fromByteOffset: place &* 3, as: Int32.self)) &<< 8
                }
                var place = 0
                while place &+ 8 <= count {
                    let words = SIMD8(
                        word(place), word(place &+ 1), word(place &+ 2), word(place &+ 3), word(place &+ 4),
                        word(place &+ 5), word(place &+ 6), word(place &+ 7))
                    target.storeBytes(of: rounded(words), toByteOffset: place &* 2, as: SIMD8<Int16>.self)
                    place &+= 8
                }
                while place < count {
                    let number = rounded(SIMD8(repeating: word(place)))[0]
                    target.storeBytes(of: number, toByteOffset: place &* 2, as: Int16.self)
                    place &+= 1
                }
            }
        }
        return magnitude(of: samples.prefix(max(0, count)))
    }

    /// Returns x / 65536 rounded half to even, for numbers whose low byte is zero.
    ///
    /// Such a number is exact as a `Float`; adding 1.5 · 2^23 leaves the integer in the low bits of the significand.
    @inline(__always)
    private static func rounded(_ samples: SIMD8<Int32>) -> SIMD8<Int16> {
        let sums = SIMD8<Float>(samples) * (1 / 65536) + 12_582_912
        return SIMD8<Int16>(truncatingIfNeeded: unsafeBitCast(sums, to: SIMD8<Int32>.self))
    }

    /// Returns the maximum magnitude of the samples, at most 32767.
    private static func magnitude(of samples: ArraySlice<Int16>) -> Int16 {
        var (low, high): (Int16, Int16) = (0, 0)
        for sample in samples {
            low = min(low, sample)
            high = max(high, sample)
        }
        return max(high, -max(low, -.max))
    }
}
