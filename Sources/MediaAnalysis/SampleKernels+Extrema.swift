extension SampleKernels {
    /// Lowers `lows` and raises `highs` to the extrema of each channel.
    ///
    /// - Parameters:
    ///   - samples: Interleaved frames; a trailing incomplete frame counts for the channels it has.
    ///   - lows: One running minimum a channel; its count is the number of channels.
    ///   - highs: One running maximum a channel, as many as `lows`; otherwise nothing happens.
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

    /// The extrema of one channel, starting from `low` and `high`.
    @inline(__always)
    static func extrema(of samples: Span<Int16>, low: Int16, high: Int16) -> (low: Int16, high: Int16) {
        var low = low
        var high = high
        for index in 0..<samples.count {
            low = min(low, samples[index])
            high = max(high, samples[index])
        }
        return (low, high)
    }

    /// Does the whole blocks of 16 samples, lane i being channel i mod channels; returns how many samples it did.
    @inline(__always)
    private static func extremaOfLanes(
        _ samples: Span<Int16>, lows: inout [Int16], highs: inout [Int16]
    ) -> Int {
        let channels = lows.count
        let blocks = samples.count / 16
        var low = SIMD16<Int16>(repeating: .max)
        var high = SIMD16<Int16>(repeating: .min)
        for block in 0..<blocks {
            // A span known to hold 16 samples needs no check a lane.
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
    /// Exact; wraps beyond 2^34 full-scale samples in one running sum, so empty the sums before that.
    ///
    /// - Parameters:
    ///   - samples: Interleaved frames; a trailing incomplete frame counts for the channels it has.
    ///   - sums: One running sum a channel; its count is the number of channels.
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
