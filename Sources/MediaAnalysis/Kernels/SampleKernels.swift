/// The loops that touch every sample: conversion to 16 bits, mixing, extrema and sums of squares.
///
/// All work on spans, allocate nothing, and are shaped so that the optimiser vectorises them (no branches, no trapping
/// arithmetic, bounds known before the loop). If two spans differ in length, the shorter one decides; nothing traps.
package enum SampleKernels {
    /// Converts samples to 16 bits one by one; channels stay interleaved.
    ///
    /// - Parameters:
    ///   - source: Interleaved samples of any number of channels, or one channel.
    ///   - destination: Receives the first `min(source.count, destination.count)` values; the rest is unchanged.
    package static func convert<Sample: PCMSample>(_ source: Span<Sample>, into destination: inout MutableSpan<Int16>) {
        Sample.convert(source, into: &destination)
    }

    /// Returns the number of samples at or above full scale in the whole span.
    package static func clippedCount<Sample: PCMSample>(_ samples: Span<Sample>, threshold: Sample) -> Int {
        Sample.clippedCount(samples, threshold: threshold)
    }

    /// Writes the mean of each frame's channels, truncated toward zero.
    ///
    /// - Parameters:
    ///   - samples: Interleaved frames; a trailing incomplete frame is ignored.
    ///   - channels: The number of channels, 1 or more.
    ///   - destination: Receives one value per frame, as many as fit.
    package static func mix(_ samples: Span<Int16>, channels: Int, into destination: inout MutableSpan<Int16>) {
        guard channels > 0 else { return }
        let frames = min(samples.count / channels, destination.count)
        if channels == 1 { return convert(samples, into: &destination) }
        if channels == 2 {
            for frame in 0..<frames {
                let sum = Int32(samples[frame &* 2]) &+ Int32(samples[frame &* 2 &+ 1])
                destination[frame] = Int16(truncatingIfNeeded: (sum &+ (sum < 0 ? 1 : 0)) &>> 1)
            }
            return
        }
        for frame in 0..<frames {
            var sum = 0
            let start = frame &* channels
            for channel in 0..<channels {
                sum &+= Int(samples[start &+ channel])
            }
            destination[frame] = Int16(truncatingIfNeeded: sum / channels)
        }
    }

    /// Copies one channel from interleaved frames.
    package static func extract(
        _ channel: Int, of channels: Int, from samples: Span<Int16>, into destination: inout MutableSpan<Int16>
    ) {
        guard channels > 0, channel >= 0, channel < channels else { return }
        if channels == 1 { return convert(samples, into: &destination) }
        let frames = min(samples.count / channels, destination.count)
        let samples = samples.extracting(first: frames &* channels)
        // Strides known at compile time are loaded as vectors and shuffled.
        if channels == 2, channel == 0 {
            for frame in 0..<frames { destination[frame] = samples[frame &* 2] }
        } else if channels == 2 {
            for frame in 0..<frames { destination[frame] = samples[frame &* 2 &+ 1] }
        } else {
            for frame in 0..<frames { destination[frame] = samples[frame &* channels &+ channel] }
        }
    }
}

extension SampleKernels {
    /// Lowers `lows` and raises `highs` to the extrema of each channel.
    ///
    /// - Parameters:
    ///   - samples: Interleaved frames; a trailing incomplete frame counts for the channels it has.
    ///   - lows: One running minimum per channel; its count is the number of channels.
    ///   - highs: One running maximum per channel, as many as `lows`; otherwise nothing happens.
    package static func extrema(of samples: Span<Int16>, lows: inout [Int16], highs: inout [Int16]) {
        let channels = lows.count
        guard channels > 0, highs.count == channels else { return }
        switch channels {
        case 1:
            let found = extrema(of: samples, low: lows[0], high: highs[0])
            lows[0] = found.low
            highs[0] = found.high
        case 2, 4, 8, 16:
            let done = extremaOfLanes(samples, lows: &lows, highs: &highs)
            scalarExtrema(of: samples, from: done, lows: &lows, highs: &highs)
        default:
            scalarExtrema(of: samples, from: 0, lows: &lows, highs: &highs)
        }
    }

    private static func scalarExtrema(
        of samples: Span<Int16>, from start: Int, lows: inout [Int16], highs: inout [Int16]
    ) {
        let channels = lows.count
        var channel = 0
        for index in start..<samples.count {
            let sample = samples[index]
            lows[channel] = min(lows[channel], sample)
            highs[channel] = max(highs[channel], sample)
            channel &+= 1
            if channel == channels { channel = 0 }
        }
    }

    /// Returns the extrema of one channel, starting from `low` and `high`.
    @inline(__always)
    package static func extrema(of samples: Span<Int16>, low: Int16, high: Int16) -> (low: Int16, high: Int16) {
        var low = low
        var high = high
        for index in 0..<samples.count {
            low = min(low, samples[index])
            high = max(high, samples[index])
        }
        return (low, high)
    }

    /// Processes the whole blocks of 16 samples and returns the number of samples processed; lane i is channel i mod
    /// channels.
    @inline(__always)
    private static func extremaOfLanes(
        _ samples: Span<Int16>, lows: inout [Int16], highs: inout [Int16]
    ) -> Int {
        let channels = lows.count
        let blocks = samples.count / 16
        var low = SIMD16<Int16>(repeating: .max)
        var high = SIMD16<Int16>(repeating: .min)
        for block in 0..<blocks {
            // A span known to hold 16 samples needs no check per lane.
            let part = samples.extracting(block &* 16..<block &* 16 &+ 16)
            let lanes = SIMD16<Int16>(
                part[0], part[1], part[2], part[3], part[4], part[5], part[6], part[7],
                part[8], part[9], part[10], part[11], part[12], part[13], part[14], part[15])
            // Not pointwiseMin, which the optimiser leaves as a call.
            low.replace(with: lanes, where: lanes .< low)
            high.replace(with: lanes, where: lanes .> high)
        }
        guard blocks > 0 else { return 0 }
        for lane in 0..<16 {
            lows[lane % channels] = min(lows[lane % channels], low[lane])
            highs[lane % channels] = max(highs[lane % channels], high[lane])
        }
        return blocks * 16
    }

    /// Adds each channel's sum of squares to `sums`.
    ///
    /// The sums are exact. A running sum wraps beyond 2^34 full-scale samples, so it must be emptied before.
    ///
    /// - Parameters:
    ///   - samples: Interleaved frames; a trailing incomplete frame counts for the channels it has.
    ///   - sums: One running sum per channel; its count is the number of channels.
    package static func addSquares(of samples: Span<Int16>, to sums: inout [UInt64]) {
        let channels = sums.count
        guard channels > 0 else { return }
        if channels == 1 {
            var sum: UInt64 = 0
            for index in 0..<samples.count {
                let sample = Int32(samples[index])
                sum &+= UInt64(truncatingIfNeeded: sample &* sample)
            }
            sums[0] &+= sum
            return
        }
        if channels == 2 {
            var left: UInt64 = 0
            var right: UInt64 = 0
            for frame in 0..<samples.count / 2 {
                let first = Int32(samples[frame &* 2])
                let second = Int32(samples[frame &* 2 &+ 1])
                left &+= UInt64(truncatingIfNeeded: first &* first)
                right &+= UInt64(truncatingIfNeeded: second &* second)
            }
            if samples.count % 2 == 1 {
                let last = Int32(samples[samples.count - 1])
                left &+= UInt64(truncatingIfNeeded: last &* last)
            }
            sums[0] &+= left
            sums[1] &+= right
            return
        }
        var channel = 0
        for index in 0..<samples.count {
            let sample = Int32(samples[index])
            sums[channel] &+= UInt64(truncatingIfNeeded: sample &* sample)
            channel &+= 1
            if channel == channels { channel = 0 }
        }
    }
}

// Loops for mixing, each over the floating-point samples of one channel.

extension SampleKernels {
    /// Adds samples, multiplied by a linearly changing gain, to sums.
    ///
    /// - Parameters:
    ///   - gain: The factor for the first sample.
    ///   - step: The change of the gain from each sample to the next.
    ///   - sums: Receives as many samples as fit.
    ///   - start: The index in the sums for the first sample.
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
        // Short sections keep a 32-bit gain practically exact.
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

    /// Writes samples limited to ±1; NaN becomes 0.
    ///
    /// - Parameter target: Receives numbers in native byte order, as many as fit.
    package static func writeLimited(_ samples: [Float], into target: inout MutableRawSpan) {
        let samples = samples.span
        for index in 0..<min(samples.count, target.byteCount / 4) {
            let sample = samples[index]
            let limited = sample > 1 ? 1 : sample < -1 ? -1 : sample
            target.storeBytes(of: sample == sample ? limited : 0, toByteOffset: index &* 4, as: Float.self)
        }
    }
}
