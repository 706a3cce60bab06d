/// The loops that touch every sample: conversion to 16 bits, mixing, extrema and sums of squares.
///
/// All work on spans, allocate nothing, and are shaped so that the optimiser vectorises them (no branches, no
/// trapping arithmetic, bounds known before the loop). Where two spans disagree in length the shorter one decides;
/// nothing traps. ``ScalarSampleKernels`` holds the plain twins that tests compare them with.
package enum SampleKernels {
    /// Converts samples to 16 bits, one for one; channels stay interleaved as they are.
    ///
    /// - Parameters:
    ///   - source: Interleaved samples of any number of channels, or one channel.
    ///   - destination: Receives the first `min(source.count, destination.count)` values; the rest is untouched.
    package static func convert<Sample: PCMSample>(_ source: Span<Sample>, into destination: inout MutableSpan<Int16>) {
        Sample.convert(source, into: &destination)
    }

    /// Counts the samples at or above full scale, one for one over the span.
    package static func clippedCount<Sample: PCMSample>(_ samples: Span<Sample>, threshold: Sample) -> Int {
        Sample.clippedCount(samples, threshold: threshold)
    }

    /// Writes the mean of each frame's channels, truncated toward zero.
    ///
    /// - Parameters:
    ///   - samples: Interleaved frames; a trailing incomplete frame is ignored.
    ///   - channels: The number of channels, 1 or more.
    ///   - destination: Receives one value a frame, as many as fit.
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

    /// Copies one channel out of interleaved frames.
    package static func extract(
        _ channel: Int, of channels: Int, from samples: Span<Int16>, into destination: inout MutableSpan<Int16>
    ) {
        guard channels > 0, channel >= 0, channel < channels else { return }
        if channels == 1 { return convert(samples, into: &destination) }
        let frames = min(samples.count / channels, destination.count)
        let samples = samples.extracting(first: frames &* channels)
        // Steps that are known beforehand are loaded as vectors and shuffled.
        if channels == 2, channel == 0 {
            for frame in 0..<frames { destination[frame] = samples[frame &* 2] }
        } else if channels == 2 {
            for frame in 0..<frames { destination[frame] = samples[frame &* 2 &+ 1] }
        } else {
            for frame in 0..<frames { destination[frame] = samples[frame &* channels &+ channel] }
        }
    }
}
