// Loops of mixing: one channel of floating-point samples each.

extension SampleKernels {
    /// Adds samples, multiplied by a gain that grows evenly, to sums.
    ///
    /// - Parameters:
    ///   - gain: What the first sample is multiplied by.
    ///   - step: By how much the gain grows from each sample to the next.
    ///   - sums: Gets as many as there is room for.
    ///   - start: Where in the sums the first sample goes.
    package static func add(
        _ samples: Span<Float>, gain: Double, step: Double, to sums: inout MutableSpan<Float>, at start: Int
    ) {
        guard start >= 0, start <= sums.count else { return }
        let count = min(samples.count, sums.count - start)
        if step == 0 {
            let gain = Float(gain)
            for index in 0..<count { sums[start &+ index] += samples[index] * gain }
            return
        }
        // In short stretches, so that a gain of 32 bits is as good as exact over each.
        var place = 0
        while place < count {
            let end = min(place + 256, count)
            let (first, step) = (Float(gain + step * Double(place)), Float(step))
            for index in place..<end {
                sums[start &+ index] +=
                    samples[index] * (first + step * Float(Int32(truncatingIfNeeded: index &- place)))
            }
            place = end
        }
    }

    /// Writes samples limited to ±1, what is no number as 0.
    ///
    /// - Parameter target: Gets numbers in the machine's order, as many as there is room for.
    package static func writeLimited(_ samples: [Float], into target: inout MutableRawSpan) {
        let samples = samples.span
        for index in 0..<min(samples.count, target.byteCount / 4) {
            let sample = samples[index]
            let limited = sample > 1 ? 1 : sample < -1 ? -1 : sample
            target.storeBytes(of: sample == sample ? limited : 0, toByteOffset: index &* 4, as: Float.self)
        }
    }
}
