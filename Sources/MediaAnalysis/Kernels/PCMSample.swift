/// A decoded PCM sample in one of the formats that decoders deliver.
///
/// The conversion follows the value rules of the waveform outputs, so that peaks of integer sources equal those of a
/// 16-bit decode. The conformances avoid branches and trapping conversions, so that the compiler can vectorise loops
/// over them; ``ScalarSampleKernels`` states the same rules plainly.
package protocol PCMSample: BitwiseCopyable, Sendable {
    /// The sample as a signed 16-bit integer, by the waveform value rules.
    ///
    /// UInt8: (x − 128) · 256. Int16: unchanged. Int32: x / 65536 rounded half to even, clamped. Int64: the same with x
    /// / 2^48. Float and Double: x · 32768 rounded half to even, clamped; NaN becomes 0, an infinity full scale.
    var int16Value: Int16 { get }

    /// Returns true if |x| is at or above `threshold`, both measured from the format's zero.
    ///
    /// NaN is never clipped. For UInt8, zero is 128 and `threshold` is a distance from it.
    func isClipped(atOrAbove threshold: Self) -> Bool

    /// Returns the smallest magnitude that counts as full scale in a format with `bits` significant bits.
    ///
    /// For integers this is the largest positive code, left-justified (24 bits in Int32: 0x7FFFFF00); for floating
    /// point, 1.0.
    static func fullScale(significantBits bits: Int) -> Self

    /// Implements ``SampleKernels/convert(_:into:)``.
    static func convert(_ source: Span<Self>, into destination: inout MutableSpan<Int16>)

    /// Implements ``SampleKernels/clippedCount(_:threshold:)``.
    static func clippedCount(_ samples: Span<Self>, threshold: Self) -> Int

    /// Returns the number of samples at or above full scale in one of several interleaved channels; whole frames only.
    static func clippedCount(_ samples: Span<Self>, threshold: Self, channel: Int, of channels: Int) -> Int

    /// Passes the samples to `body` in 16 bits: either unchanged, or converted into a scratch array, which grows to
    /// their number.
    static func withInt16(_ samples: Span<Self>, scratch: inout [Int16], _ body: (Span<Int16>) -> Void)
}

// The loops are protocol requirements so that each format's loop is compiled in this module: a generic function called
// from another module would access each sample through the protocol.
extension PCMSample {
    /// Converts samples one by one.
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

    /// Counts over whole frames.
    package static func clippedCount(_ samples: Span<Self>, threshold: Self, channel: Int, of channels: Int) -> Int {
        guard channels > 0, channel >= 0, channel < channels else { return 0 }
        var count = 0
        for frame in 0..<samples.count / channels {
            count &+= samples[frame &* channels &+ channel].isClipped(atOrAbove: threshold) ? 1 : 0
        }
        return count
    }

    /// Converts the samples into the scratch array.
    package static func withInt16(_ samples: Span<Self>, scratch: inout [Int16], _ body: (Span<Int16>) -> Void) {
        if scratch.count < samples.count { scratch = Array(repeating: 0, count: samples.count) }
        var span = scratch.mutableSpan
        convert(samples, into: &span)
        body(scratch.span.extracting(first: samples.count))
    }
}

extension UInt8: PCMSample {
    /// The value (x − 128) · 256, exact.
    package var int16Value: Int16 { (Int16(self) &- 128) &<< 8 }

    /// Returns true if the distance from 128 is at least `threshold`.
    package func isClipped(atOrAbove threshold: UInt8) -> Bool {
        (Int16(self) &- 128).magnitude >= UInt16(threshold)
    }

    /// Returns 127, whatever the number of bits.
    package static func fullScale(significantBits bits: Int) -> UInt8 { 127 }
}

extension Int16: PCMSample {
    /// The sample itself.
    package var int16Value: Int16 { self }

    /// Passes the samples unchanged.
    package static func withInt16(_ samples: Span<Int16>, scratch: inout [Int16], _ body: (Span<Int16>) -> Void) {
        body(samples)
    }

    /// Returns true if |x| is at least `threshold`.
    package func isClipped(atOrAbove threshold: Int16) -> Bool { magnitude >= threshold.magnitude }

    /// Returns the largest positive code of `bits` (1…16; other values are clamped), left-justified.
    package static func fullScale(significantBits bits: Int) -> Int16 {
        let unused = 16 - Swift.min(Swift.max(bits, 1), 16)
        return (Int16.max >> unused) << unused
    }
}

extension Int32: PCMSample {
    /// The value x / 65536 rounded half to even, clamped to 32767.
    package var int16Value: Int16 {
        let floor = self &>> 16
        let rest = self & 0xFFFF
        let rounded = floor &+ ((rest &+ 0x7FFF &+ (floor & 1)) &>> 16)
        // The lower bound is never reached, but applying both compiles to one instruction per vector.
        return Int16(truncatingIfNeeded: Swift.min(Swift.max(rounded, -32768), 32767))
    }

    /// Returns true if |x| is at least `threshold`.
    package func isClipped(atOrAbove threshold: Int32) -> Bool { magnitude >= threshold.magnitude }

    /// Returns the largest positive code of `bits` (1…32; other values are clamped), left-justified.
    package static func fullScale(significantBits bits: Int) -> Int32 {
        let unused = 32 - Swift.min(Swift.max(bits, 1), 32)
        return (Int32.max >> unused) << unused
    }
}

extension Int64: PCMSample {
    /// The value x / 2^48 rounded half to even, clamped to 32767.
    package var int16Value: Int16 {
        let floor = self &>> 48
        let rest = self & 0xFFFF_FFFF_FFFF
        let rounded = floor &+ ((rest &+ 0x7FFF_FFFF_FFFF &+ (floor & 1)) &>> 48)
        return Int16(truncatingIfNeeded: rounded > 32767 ? 32767 : rounded)
    }

    /// Returns true if |x| is at least `threshold`.
    package func isClipped(atOrAbove threshold: Int64) -> Bool { magnitude >= threshold.magnitude }

    /// Returns the largest positive code of `bits` (1…64; other values are clamped), left-justified.
    package static func fullScale(significantBits bits: Int) -> Int64 {
        let unused = 64 - Swift.min(Swift.max(bits, 1), 64)
        return (Int64.max >> unused) << unused
    }
}

extension Float: PCMSample {
    /// The value x · 32768 rounded half to even, clamped; NaN becomes 0.
    package var int16Value: Int16 {
        let scaled = self * 32768
        // Adding 1.5 · 2^23 leaves the integer, rounded half to even, in the low bits of the significand. Values out of
        // range keep their order; negative sums all end up below the minimum.
        let sum = Int32(bitPattern: (scaled + 12_582_912).bitPattern)
        let integer = (sum & ~(sum &>> 31)) &- 0x4B40_0000
        let number = scaled == scaled ? integer : 0
        return Int16(truncatingIfNeeded: min(max(number, -32768), 32767))
    }

    /// Returns true if |x| is at least `threshold`; false for NaN.
    package func isClipped(atOrAbove threshold: Float) -> Bool { magnitude >= threshold }

    /// Returns 1.0, whatever the number of bits.
    package static func fullScale(significantBits bits: Int) -> Float { 1 }

    /// Converts samples one by one, with wide vectors if available.
    package static func convert(_ source: Span<Float>, into destination: inout MutableSpan<Int16>) {
        if WideKernels.areAvailable { return WideKernels.convert(source, into: &destination) }
        narrowConvert(source, into: &destination)
    }

    /// Converts samples with the vectors that every processor has.
    package static func narrowConvert(_ source: Span<Float>, into destination: inout MutableSpan<Int16>) {
        let count = min(source.count, destination.count)
        let source = source.extracting(first: count)
        for index in 0..<count { destination[index] = source[index].int16Value }
    }
}

extension Double: PCMSample {
    /// The value x · 32768 rounded half to even, clamped; NaN becomes 0.
    package var int16Value: Int16 {
        let scaled = self * 32768
        let low = scaled < -32768 ? -32768 : scaled
        let clamped = low > 32767 ? 32767 : low
        let number = clamped == clamped ? clamped : 0
        // Adding 1.5 · 2^52 leaves the integer, rounded half to even, in the low bits of the significand.
        return Int16(truncatingIfNeeded: (number + 6_755_399_441_055_744).bitPattern)
    }

    /// Returns true if |x| is at least `threshold`; false for NaN.
    package func isClipped(atOrAbove threshold: Double) -> Bool { magnitude >= threshold }

    /// Returns 1.0, whatever the number of bits.
    package static func fullScale(significantBits bits: Int) -> Double { 1 }
}
