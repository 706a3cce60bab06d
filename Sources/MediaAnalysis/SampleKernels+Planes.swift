// Loops over planes, one channel each: the form in which vectors hold nothing but one channel.

/// The extrema of some samples of one channel, and the sum of their squares.
package struct PlaneLevels: Sendable, Hashable {
    /// The lowest sample; 32767 where there is none.
    package var low = Int16.max
    /// The highest sample; −32768 where there is none.
    package var high = Int16.min
    /// The sum of the squared samples, exact.
    package var squares: UInt64 = 0
}

extension SampleKernels {
    /// The extrema and the sum of squares of one channel.
    package static func levels(of plane: Span<Int16>) -> PlaneLevels {
        var levels = PlaneLevels()
        var start = 0
        while start < plane.count {
            // Sums of halves of a square fit into 32 bits for 2^16 pairs, and blocks stay in the first cache.
            let part = plane.extracting(start..<min(start + 4096, plane.count))
            let found = extrema(of: part, low: levels.low, high: levels.high)
            levels.low = found.low
            levels.high = found.high
            levels.squares &+= squares(of: part)
            start += 4096
        }
        return levels
    }

    /// The sum of the squares of at most 2^17 samples.
    ///
    /// Two squares together are a step of their own, because processors multiply and add pairs at once.
    private static func squares(of plane: Span<Int16>) -> UInt64 {
        let pairs = plane.count / 2
        let even = plane.extracting(first: pairs &* 2)
        var low: UInt32 = 0
        var high: UInt32 = 0
        for pair in 0..<pairs {
            let first = Int32(even[pair &* 2])
            let second = Int32(even[pair &* 2 &+ 1])
            let sum = UInt32(bitPattern: first &* first &+ second &* second)
            low &+= sum & 0xFFFF
            high &+= sum &>> 16
        }
        var last: UInt64 = 0
        if plane.count % 2 == 1 {
            let sample = Int64(plane[plane.count - 1])
            last = UInt64(bitPattern: sample &* sample)
        }
        return UInt64(low) &+ UInt64(high) &<< 16 &+ last
    }

    /// Writes the mean of two channels, truncated toward zero.
    package static func mix(_ left: Span<Int16>, _ right: Span<Int16>, into destination: inout MutableSpan<Int16>) {
        let count = min(left.count, right.count, destination.count)
        let left = left.extracting(first: count)
        let right = right.extracting(first: count)
        for index in 0..<count {
            let (first, second) = (left[index], right[index])
            let different = first ^ second
            // Rounded down without a wider type, then up by one where it is negative and half a step was lost.
            let floor = (first & second) &+ (different &>> 1)
            destination[index] = floor &+ (different & Int16(bitPattern: UInt16(bitPattern: floor) &>> 15))
        }
    }

    /// Adds a channel to the sums of the channels before it.
    package static func add(_ plane: Span<Int16>, to sums: inout MutableSpan<Int32>) {
        let count = min(plane.count, sums.count)
        let plane = plane.extracting(first: count)
        for index in 0..<count { sums[index] = sums[index] &+ Int32(plane[index]) }
    }

    /// Writes sums over channels divided by their number, truncated toward zero.
    package static func divide(_ sums: Span<Int32>, by channels: Int, into destination: inout MutableSpan<Int16>) {
        let count = min(sums.count, destination.count)
        let sums = sums.extracting(first: count)
        let divisor = Int32(clamping: max(1, channels))
        for index in 0..<count { destination[index] = Int16(truncatingIfNeeded: sums[index] / divisor) }
    }

    /// Writes a channel to its place in interleaved frames.
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
