/// The rules of `SampleKernels` in plain form, one sample at a time.
///
/// Tests compare the vectorised loops with them.
public enum ScalarSampleKernels {
    /// Returns x · 32768 rounded half to even, clamped to 16 bits; NaN becomes 0, an infinity full scale.
    public static func int16(_ sample: Double) -> Int16 {
        if sample.isNaN { return 0 }
        let rounded = (sample * 32768).rounded(.toNearestOrEven)
        if rounded >= 32767 { return .max }
        if rounded <= -32768 { return .min }
        return Int16(rounded)
    }

    /// Returns x / 65536 rounded half to even, clamped to 16 bits.
    public static func int16(_ sample: Int32) -> Int16 {
        let rounded = (Double(sample) / 65536).rounded(.toNearestOrEven)
        return rounded >= 32767 ? .max : Int16(rounded)
    }

    /// Returns (x − 128) · 256.
    public static func int16(_ sample: UInt8) -> Int16 {
        Int16((Int(sample) - 128) * 256)
    }

    /// Returns the mean of one frame's channels, truncated toward zero; 0 for an empty frame.
    public static func mix(_ frame: [Int16]) -> Int16 {
        frame.isEmpty ? 0 : Int16(frame.reduce(0) { $0 + Int($1) } / frame.count)
    }

    /// Returns the minimum and maximum of one channel of interleaved frames, or `nil` if there are no samples.
    public static func extrema(of samples: [Int16], channel: Int, channels: Int) -> (low: Int16, high: Int16)? {
        var found: (low: Int16, high: Int16)?
        for (index, sample) in samples.enumerated() where index % channels == channel {
            found = (min(found?.low ?? sample, sample), max(found?.high ?? sample, sample))
        }
        return found
    }
}
