/// A decoded PCM sample of one of the formats that decoders deliver.
///
/// The conversion follows the value rules of the waveform outputs, so that peaks of integer sources are the same as
/// those of a 16-bit decode. The conformances are written without branches and without trapping conversions, which
/// is what lets the compiler vectorise loops over them; ``ScalarSampleKernels`` states the same rules plainly.
package protocol PCMSample: BitwiseCopyable, Sendable {
    /// The sample as a signed 16-bit integer, by the waveform value rules.
    ///
    /// UInt8: (x − 128) · 256. Int16: itself. Int32: x / 65536 rounded half to even, clamped. Int64: the same with
    /// x / 2^48. Float and Double: x · 32768 rounded half to even, clamped; NaN becomes 0, an infinity full scale.
    var int16Value: Int16 { get }

    /// Whether |x| is at or above `threshold`, where both are measured from the format's zero.
    ///
    /// NaN is never clipped. For UInt8 zero is 128 and `threshold` is a distance from it.
    func isClipped(atOrAbove threshold: Self) -> Bool

    /// The smallest magnitude that is full scale in a format of `bits` significant bits.
    ///
    /// Integers: the largest positive code, left-justified (24 bits in Int32: 0x7FFFFF00); floating point: 1.0.
    static func fullScale(significantBits bits: Int) -> Self

    /// What ``SampleKernels/convert(_:into:)`` does.
    static func convert(_ source: Span<Self>, into destination: inout MutableSpan<Int16>)

    /// What ``SampleKernels/clippedCount(_:threshold:)`` does.
    static func clippedCount(_ samples: Span<Self>, threshold: Self) -> Int

    /// Counts the samples at or above full scale of one of some interleaved channels; whole frames only.
    static func clippedCount(_ samples: Span<Self>, threshold: Self, channel: Int, of channels: Int) -> Int

    /// Lends samples in 16 bits: themselves, or converted into a scratch array, which is made as long as they are.
    static func withInt16(_ samples: Span<Self>, scratch: inout [Int16], _ body: (Span<Int16>) -> Void)
}

// The loops are requirements of the protocol so that each format's is compiled for it here, in its own module: a
// generic function called from another module would ask for each sample through the protocol.
extension PCMSample {
    /// Converts one for one.
    package static func convert(_ source: Span<Self>, into destination: inout MutableSpan<Int16>) {
        let count = min(source.count, destination.count)
        let source = source.extracting(first: count)
        for index in 0..<count {
            destination[index] = source[index].int16Value
        }
    }

    /// Counts over the whole span.
    package static func clippedCount(_ samples: Span<Self>, threshold: Self) -> Int {
        var count = 0
        for index in 0..<samples.count {
            count &+= samples[index].isClipped(atOrAbove: threshold) ? 1 : 0
        }
        return count
    }

    /// Counts in whole frames.
    package static func clippedCount(_ samples: Span<Self>, threshold: Self, channel: Int, of channels: Int) -> Int {
        guard channels > 0, channel >= 0, channel < channels else { return 0 }
        var count = 0
        for frame in 0..<samples.count / channels {
            count &+= samples[frame &* channels &+ channel].isClipped(atOrAbove: threshold) ? 1 : 0
        }
        return count
    }

    /// Converts them.
    package static func withInt16(_ samples: Span<Self>, scratch: inout [Int16], _ body: (Span<Int16>) -> Void) {
        if scratch.count < samples.count { scratch = Array(repeating: 0, count: samples.count) }
        var span = scratch.mutableSpan
        convert(samples, into: &span)
        body(scratch.span.extracting(first: samples.count))
    }
}

extension UInt8: PCMSample {
    /// (x − 128) · 256, exact.
    package var int16Value: Int16 { (Int16(self) &- 128) &<< 8 }

    /// Whether the distance from 128 is at least `threshold`.
    package func isClipped(atOrAbove threshold: UInt8) -> Bool {
        (Int16(self) &- 128).magnitude >= UInt16(threshold)
    }

    /// 127, whatever the number of bits.
    package static func fullScale(significantBits bits: Int) -> UInt8 { 127 }
}

extension Int16: PCMSample {
    /// The sample itself.
    package var int16Value: Int16 { self }

    /// The samples themselves.
    package static func withInt16(_ samples: Span<Int16>, scratch: inout [Int16], _ body: (Span<Int16>) -> Void) {
        body(samples)
    }

    /// Whether |x| is at least `threshold`.
    package func isClipped(atOrAbove threshold: Int16) -> Bool { magnitude >= threshold.magnitude }

    /// The largest positive code of `bits` (1…16; others are clamped), left-justified.
    package static func fullScale(significantBits bits: Int) -> Int16 {
        let unused = 16 - Swift.min(Swift.max(bits, 1), 16)
        return (Int16.max >> unused) << unused
    }
}

extension Int32: PCMSample {
    /// x / 65536 rounded half to even, clamped to 32767.
    package var int16Value: Int16 {
        let floor = self &>> 16
        let rest = self & 0xFFFF
        let rounded = floor &+ ((rest &+ 0x7FFF &+ (floor & 1)) &>> 16)
        // Both bounds, though the lower one is never met: so it is one instruction for a whole vector.
        return Int16(truncatingIfNeeded: Swift.min(Swift.max(rounded, -32768), 32767))
    }

    /// Whether |x| is at least `threshold`.
    package func isClipped(atOrAbove threshold: Int32) -> Bool { magnitude >= threshold.magnitude }

    /// The largest positive code of `bits` (1…32; others are clamped), left-justified.
    package static func fullScale(significantBits bits: Int) -> Int32 {
        let unused = 32 - Swift.min(Swift.max(bits, 1), 32)
        return (Int32.max >> unused) << unused
    }
}

extension Int64: PCMSample {
    /// x / 2^48 rounded half to even, clamped to 32767.
    package var int16Value: Int16 {
        let floor = self &>> 48
        let rest = self & 0xFFFF_FFFF_FFFF
        let rounded = floor &+ ((rest &+ 0x7FFF_FFFF_FFFF &+ (floor & 1)) &>> 48)
        return Int16(truncatingIfNeeded: rounded > 32767 ? 32767 : rounded)
    }

    /// Whether |x| is at least `threshold`.
    package func isClipped(atOrAbove threshold: Int64) -> Bool { magnitude >= threshold.magnitude }

    /// The largest positive code of `bits` (1…64; others are clamped), left-justified.
    package static func fullScale(significantBits bits: Int) -> Int64 {
        let unused = 64 - Swift.min(Swift.max(bits, 1), 64)
        return (Int64.max >> unused) << unused
    }
}

extension Float: PCMSample {
    /// x · 32768 rounded half to even, clamped; NaN becomes 0.
    package var int16Value: Int16 {
        let scaled = self * 32768
        // Adding 1.5 · 2^23 leaves the integer, rounded half to even, in the low bits of the significand; what is out of
        // reach keeps its order, with negative sums all below the least.
        let sum = Int32(bitPattern: (scaled + 12_582_912).bitPattern)
        let integer = (sum & ~(sum &>> 31)) &- 0x4B40_0000
        let number = scaled == scaled ? integer : 0
        return Int16(truncatingIfNeeded: min(max(number, -32768), 32767))
    }

    /// Whether |x| is at least `threshold`; false for NaN.
    package func isClipped(atOrAbove threshold: Float) -> Bool { magnitude >= threshold }

    /// 1.0, whatever the number of bits.
    package static func fullScale(significantBits bits: Int) -> Float { 1 }

    /// Converts one for one.
    package static func convert(_ source: Span<Float>, into destination: inout MutableSpan<Int16>) {
        if WideKernels.areAvailable { return WideKernels.convert(source, into: &destination) }
        narrowConvert(source, into: &destination)
    }

    /// The same with the vectors that every processor has.
    package static func narrowConvert(_ source: Span<Float>, into destination: inout MutableSpan<Int16>) {
        let count = min(source.count, destination.count)
        let source = source.extracting(first: count)
        for index in 0..<count { destination[index] = source[index].int16Value }
    }
}

extension Double: PCMSample {
    /// x · 32768 rounded half to even, clamped; NaN becomes 0.
    package var int16Value: Int16 {
        let scaled = self * 32768
        let low = scaled < -32768 ? -32768 : scaled
        let clamped = low > 32767 ? 32767 : low
        let number = clamped == clamped ? clamped : 0
        // Adding 1.5 · 2^52 leaves the integer, rounded half to even, in the low bits of the significand.
        return Int16(truncatingIfNeeded: (number + 6_755_399_441_055_744).bitPattern)
    }

    /// Whether |x| is at least `threshold`; false for NaN.
    package func isClipped(atOrAbove threshold: Double) -> Bool { magnitude >= threshold }

    /// 1.0, whatever the number of bits.
    package static func fullScale(significantBits bits: Int) -> Double { 1 }
}
