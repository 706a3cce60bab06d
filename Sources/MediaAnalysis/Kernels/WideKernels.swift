internal import CSampleKernels

/// The kernels of `CSampleKernels` over spans, for processors with wide vectors.
///
/// Each returns the same result as the ``SampleKernels`` function with the same purpose. Call them only if
/// ``areAvailable`` is true. Pointers are valid only during the call and are used within the bounds of their spans.
enum WideKernels {
    /// True if this processor has the vectors.
    static let areAvailable = sample_kernels_are_available()

    /// Implements ``SampleKernels/levels(of:)``.
    static func levels(of plane: Span<Int16>) -> PlaneLevels {
        let levels = unsafe plane.withUnsafeBufferPointer { plane in
            guard let start = plane.baseAddress else {
                return sample_kernels_levels_t(low: .max, high: .min, squares: 0)
            }
            return unsafe sample_kernels_levels(start, plane.count)
        }
        return PlaneLevels(levels)
    }

    /// Implements ``SampleKernels/mixStereo(_:into:)``.
    static func mixStereo(
        _ samples: Span<Int16>, into destination: inout OutputSpan<Int16>
    ) -> (left: PlaneLevels, right: PlaneLevels) {
        let frames = min(samples.count / 2, destination.freeCapacity)
        guard frames > 0 else { return (PlaneLevels(), PlaneLevels()) }
        var (left, right) = (sample_kernels_levels_t(), sample_kernels_levels_t())
        unsafe destination.withUnsafeMutableBufferPointer { memory, count in
            unsafe samples.withUnsafeBufferPointer { samples in
                guard let start = samples.baseAddress, let free = memory.baseAddress else { return }
                unsafe sample_kernels_stereo(start, frames, free + count, &left, &right)
                count += frames
            }
        }
        return (PlaneLevels(left), PlaneLevels(right))
    }

    /// Implements ``SampleKernels/mixPlanes(_:_:into:)``.
    static func mixPlanes(
        _ lefts: Span<Float>, _ rights: Span<Float>, into destination: inout OutputSpan<Int16>
    ) -> (left: PlaneLevels, right: PlaneLevels) {
        let frames = min(lefts.count, rights.count, destination.freeCapacity)
        guard frames > 0 else { return (PlaneLevels(), PlaneLevels()) }
        var (left, right) = (sample_kernels_levels_t(), sample_kernels_levels_t())
        unsafe destination.withUnsafeMutableBufferPointer { memory, count in
            unsafe lefts.withUnsafeBufferPointer { lefts in
                unsafe rights.withUnsafeBufferPointer { rights in
                    guard let first = lefts.baseAddress, let second = rights.baseAddress,
                        let free = memory.baseAddress
                    else { return }
                    unsafe sample_kernels_float_planes(first, second, frames, free + count, &left, &right)
                    count += frames
                }
            }
        }
        return (PlaneLevels(left), PlaneLevels(right))
    }

    /// Implements ``SampleKernels/mix(_:_:into:)``.
    static func mix(_ left: Span<Int16>, _ right: Span<Int16>, into destination: inout MutableSpan<Int16>) {
        let count = min(left.count, right.count, destination.count)
        unsafe destination.withUnsafeMutableBufferPointer { destination in
            unsafe left.withUnsafeBufferPointer { left in
                unsafe right.withUnsafeBufferPointer { right in
                    guard let left = left.baseAddress, let right = right.baseAddress,
                        let mean = destination.baseAddress
                    else { return }
                    unsafe sample_kernels_mean(left, right, count, mean)
                }
            }
        }
    }

    /// Implements ``SampleKernels/convert(_:into:)`` for floating point.
    static func convert(_ source: Span<Float>, into destination: inout MutableSpan<Int16>) {
        let count = min(source.count, destination.count)
        unsafe destination.withUnsafeMutableBufferPointer { destination in
            unsafe source.withUnsafeBufferPointer { source in
                guard let numbers = source.baseAddress, let samples = destination.baseAddress else { return }
                unsafe sample_kernels_round_float(numbers, count, samples)
            }
        }
    }
}

extension PlaneLevels {
    fileprivate init(_ levels: sample_kernels_levels_t) {
        self.init(low: levels.low, high: levels.high, squares: levels.squares)
    }
}

// Loops over planes of one channel each, so that a vector holds samples of only one channel.

/// The extrema of some samples of one channel, and the sum of their squares.
package struct PlaneLevels: Sendable, Hashable {
    /// The lowest sample; 32767 if there are no samples.
    package var low = Int16.max
    /// The highest sample; −32768 if there are no samples.
    package var high = Int16.min
    /// The exact sum of the squared samples.
    package var squares: UInt64 = 0

    /// Adds the levels of further samples.
    mutating func add(_ other: PlaneLevels) {
        low = min(low, other.low)
        high = max(high, other.high)
        squares &+= other.squares
    }
}

/// The levels of eight samples at a time, with every eighth sample in the same lane.
private struct LevelLanes {
    /// The maximum number of samples, for which the sums of the upper halves of squares fit into 32 bits.
    static let maximumSamples = 1 << 15

    private var low = SIMD8<Int16>(repeating: .max)
    private var high = SIMD8<Int16>(repeating: .min)
    /// The sums of squares modulo 2^32, and the sums of the upper halves of the squares.
    private var sums = SIMD4<UInt32>()
    private var upperSums = SIMD4<UInt32>()

    @inline(__always)
    mutating func add(_ samples: SIMD8<Int16>) {
        // Not pointwiseMin, which the optimiser leaves as a call.
        low.replace(with: samples, where: samples .< low)
        high.replace(with: samples, where: samples .> high)
        let wide = SIMD8<Int32>(truncatingIfNeeded: samples)
        let squares = wide &* wide
        // Adding pairs of squares is a separate step, because processors can multiply and add pairs at once.
        let pairs = SIMD4<UInt32>(truncatingIfNeeded: squares.evenHalf &+ squares.oddHalf)
        sums &+= pairs
        upperSums &+= pairs &>> 16
    }

    /// The exact levels: the lower halves add up to less than 2^32, so the wrapped sums determine them.
    var levels: PlaneLevels {
        var levels = PlaneLevels(low: low.min(), high: high.max())
        for lane in 0..<4 {
            let upper = UInt64(upperSums[lane]) << 16
            levels.squares &+= upper &+ UInt64(sums[lane] &- UInt32(truncatingIfNeeded: upper))
        }
        return levels
    }
}

extension SampleKernels {
    /// Returns the extrema and the sum of squares of one channel.
    package static func levels(of plane: Span<Int16>) -> PlaneLevels {
        WideKernels.areAvailable ? WideKernels.levels(of: plane) : narrowLevels(of: plane)
    }

    /// Returns the levels, with the vectors that every processor has.
    package static func narrowLevels(of plane: Span<Int16>) -> PlaneLevels {
        var levels = PlaneLevels()
        var start = 0
        while start < plane.count {
            let part = plane.extracting(start..<min(start + LevelLanes.maximumSamples, plane.count))
            levels.add(levelsOfPart(part))
            start += LevelLanes.maximumSamples
        }
        return levels
    }

    private static func levelsOfPart(_ part: Span<Int16>) -> PlaneLevels {
        var lanes = LevelLanes()
        let blocks = part.count / 8
        for block in 0..<blocks {
            // A span known to hold 8 samples needs no check per lane, and is loaded at once.
            let part = part.extracting(block &* 8..<block &* 8 &+ 8)
            lanes.add(
                SIMD8(part[0], part[1], part[2], part[3], part[4], part[5], part[6], part[7]))
        }
        var levels = blocks > 0 ? lanes.levels : PlaneLevels()
        for index in blocks &* 8..<part.count {
            let sample = part[index]
            levels.low = min(levels.low, sample)
            levels.high = max(levels.high, sample)
            levels.squares &+= UInt64(sample.magnitude) &* UInt64(sample.magnitude)
        }
        return levels
    }

    /// Writes the mean of two channels, truncated toward zero.
    package static func mix(_ left: Span<Int16>, _ right: Span<Int16>, into destination: inout MutableSpan<Int16>) {
        if WideKernels.areAvailable { return WideKernels.mix(left, right, into: &destination) }
        narrowMix(left, right, into: &destination)
    }

    /// Writes the mean of two channels, with the vectors that every processor has.
    package static func narrowMix(
        _ left: Span<Int16>, _ right: Span<Int16>, into destination: inout MutableSpan<Int16>
    ) {
        let count = min(left.count, right.count, destination.count)
        let left = left.extracting(first: count)
        let right = right.extracting(first: count)
        for index in 0..<count {
            let (first, second) = (left[index], right[index])
            let different = first ^ second
            // Round down without a wider type, then add one if the result is negative and half a step was lost.
            let floor = (first & second) &+ (different &>> 1)
            destination[index] = floor &+ (different & Int16(bitPattern: UInt16(bitPattern: floor) &>> 15))
        }
    }

    /// Appends the mean of the channels of interleaved stereo frames, truncated toward zero, and measures both
    /// channels.
    ///
    /// Both happen in the same pass, for as many frames as fit. Returns `nil` and does nothing if this processor has no
    /// vectors for it.
    package static func mixStereo(
        _ samples: Span<Int16>, into destination: inout OutputSpan<Int16>
    ) -> (left: PlaneLevels, right: PlaneLevels)? {
        WideKernels.areAvailable ? WideKernels.mixStereo(samples, into: &destination) : nil
    }

    /// Appends the mean of two floating-point planes and measures both in the same pass.
    ///
    /// Numbers are rounded as by ``convert(_:into:)``. Returns `nil` and does nothing if this processor has no vectors
    /// for it.
    package static func mixPlanes(
        _ left: Span<Float>, _ right: Span<Float>, into destination: inout OutputSpan<Int16>
    ) -> (left: PlaneLevels, right: PlaneLevels)? {
        WideKernels.areAvailable ? WideKernels.mixPlanes(left, right, into: &destination) : nil
    }

    /// Adds a channel to the sums of the previous channels.
    package static func add(_ plane: Span<Int16>, to sums: inout MutableSpan<Int32>) {
        let count = min(plane.count, sums.count)
        let plane = plane.extracting(first: count)
        for index in 0..<count { sums[index] = sums[index] &+ Int32(plane[index]) }
    }

    /// Writes sums over channels divided by the number of channels, truncated toward zero.
    package static func divide(_ sums: Span<Int32>, by channels: Int, into destination: inout MutableSpan<Int16>) {
        let count = min(sums.count, destination.count)
        let sums = sums.extracting(first: count)
        let divisor = Int32(clamping: max(1, channels))
        for index in 0..<count { destination[index] = Int16(truncatingIfNeeded: sums[index] / divisor) }
    }

    /// Writes a channel to its position in interleaved frames.
    package static func interleave(
        _ plane: Span<Int16>, channel: Int, of channels: Int, into destination: inout MutableSpan<Int16>
    ) {
        guard channels > 0, channel >= 0, channel < channels else { return }
        let count = min(plane.count, destination.count / channels)
        let plane = plane.extracting(first: count)
        var position = channel
        for frame in 0..<count {
            destination[position] = plane[frame]
            position &+= channels
        }
    }
}
