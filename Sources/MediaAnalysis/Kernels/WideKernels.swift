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
