internal import Glibc

/// Measures the offset and level of each channel, and the correlation of each channel pair.
///
/// Pairs are channels 0 and 1, 2 and 3, and so on. Sums are formed over blocks of 4096 samples and then over the
/// blocks, so that they stay accurate to about twelve digits however long the audio is. ``append(_:)`` joins the
/// measurements of consecutive parts.
package struct StereoCorrelation: Sendable, Hashable {
    /// The sums over one channel.
    private struct Channel: Sendable, Hashable {
        var sum = 0.0
        var squares = 0.0
    }

    /// The sums over a pair.
    private struct Pair: Sendable, Hashable {
        var products = 0.0
        var highestDifference: Float = 0
    }

    /// The number of samples added to each channel so far.
    package private(set) var frames: Int64 = 0
    private var channels: [Channel]
    private var pairs: [Pair]

    /// The correlation of each pair, window by window.
    package private(set) var windows: CorrelationWindows

    private static let block = 4096

    /// Creates empty measurements.
    ///
    /// - Parameters:
    ///   - channels: The number of channels.
    ///   - second: The number of samples per second, by which windows are counted; 0 for no windows.
    ///   - isFirst: True if no other samples precede these.
    package init(channels: Int, second: Int = 0, isFirst: Bool = true) {
        windows = CorrelationWindows(pairs: max(0, channels) / 2, second: second, isFirst: isFirst)
        self.channels = Array(repeating: Channel(), count: max(0, channels))
        pairs = Array(repeating: Pair(), count: max(0, channels) / 2)
    }

    /// The number of pairs.
    package var pairCount: Int { pairs.count }

    /// Adds the next samples.
    package mutating func append(_ sound: PlanarSamples) {
        guard sound.channels == channels.count else { return }
        var start = 0
        while start < sound.frames {
            let end = min(start + min(Self.block, windows.room), sound.frames)
            var left = (sum: 0.0, squares: 0.0)
            for channel in channels.indices {
                let plane = sound.planes[channel]
                let sums = add(plane.span.extracting(start..<end), to: channel)
                guard channel % 2 == 1 else {
                    left = sums
                    continue
                }
                let (first, pair) = (sound.planes[channel - 1], channel / 2)
                let product = add(
                    first.span.extracting(start..<end), plane.span.extracting(start..<end), toPair: pair)
                windows.add(
                    .init(
                        left: left.sum, right: sums.sum, leftSquares: left.squares, rightSquares: sums.squares,
                        products: product), toPair: pair)
            }
            windows.advance(by: end - start)
            start = end
        }
        frames += Int64(sound.frames)
    }

    /// Adds samples of silence in constant time.
    package mutating func appendSilence(frames: Int64) {
        self.frames += max(0, frames)
        windows.advance(bySilence: frames)
    }

    /// Appends the measurements of the samples that follow.
    package mutating func append(_ next: StereoCorrelation) {
        guard next.channels.count == channels.count else { return }
        frames += next.frames
        windows.append(next.windows)
        for channel in channels.indices {
            channels[channel].sum += next.channels[channel].sum
            channels[channel].squares += next.channels[channel].squares
        }
        for pair in pairs.indices {
            pairs[pair].products += next.pairs[pair].products
            pairs[pair].highestDifference = max(pairs[pair].highestDifference, next.pairs[pair].highestDifference)
        }
    }

    // MARK: Results

    /// Returns the mean of a channel's samples, which is the offset of its zero line, with full scale at 1.
    package func offset(_ channel: Int) -> Double {
        channels.indices.contains(channel) && frames > 0 ? channels[channel].sum / Double(frames) : 0
    }

    /// Returns the root mean square of a channel in dB relative to full scale; −∞ for silence.
    package func decibels(_ channel: Int) -> Double {
        guard channels.indices.contains(channel), frames > 0 else { return -.infinity }
        return 10 * log10(channels[channel].squares / Double(frames))
    }

    /// Returns the correlation of a pair's channels: 1 if they are equal, −1 if one is the inverse of the other, 0 if
    /// unrelated.
    ///
    /// This is Pearson's correlation coefficient, which ignores offsets; `nil` if a channel is constant.
    package func correlation(pair: Int) -> Double? {
        guard pairs.indices.contains(pair), frames > 0 else { return nil }
        let (left, right) = (channels[2 * pair], channels[2 * pair + 1])
        return CorrelationWindows.Sums(
            left: left.sum, right: right.sum, leftSquares: left.squares, rightSquares: right.squares,
            products: pairs[pair].products
        ).correlation(count: Double(frames))
    }

    /// Returns the largest difference between a pair's samples, with full scale at 1; 0 if both channels are equal.
    package func highestDifference(pair: Int) -> Float? {
        pairs.indices.contains(pair) ? pairs[pair].highestDifference : nil
    }

    // MARK: Sums

    /// Adds samples to a channel; returns their sum and the sum of their squares.
    private mutating func add(_ samples: Span<Float>, to channel: Int) -> (sum: Double, squares: Double) {
        // Four lanes for each sum, because each addition in a lane must wait for the previous one.
        var (sum, squares) = (SIMD4<Double>.zero, SIMD4<Double>.zero)
        let whole = samples.count / 4 * 4
        let even = samples.extracting(first: whole)
        var index = 0
        while index < whole {
            let exact = SIMD4<Double>(SIMD4(even[index], even[index &+ 1], even[index &+ 2], even[index &+ 3]))
            sum += exact
            squares += exact * exact
            index &+= 4
        }
        var total = (sum: sum.sum(), squares: squares.sum())
        for index in whole..<samples.count {
            let exact = Double(samples[index])
            total.sum += exact
            total.squares += exact * exact
        }
        channels[channel].sum += total.sum
        channels[channel].squares += total.squares
        return total
    }

    /// Adds samples to a pair; returns the sum of their products.
    private mutating func add(_ left: Span<Float>, _ right: Span<Float>, toPair pair: Int) -> Double {
        let count = min(left.count, right.count)
        let whole = count / 4 * 4
        let (evenLeft, evenRight) = (left.extracting(first: whole), right.extracting(first: whole))
        var products = SIMD4<Double>.zero
        var (low, high) = (SIMD4<Float>.zero, SIMD4<Float>.zero)
        var index = 0
        while index < whole {
            let one = SIMD4(evenLeft[index], evenLeft[index &+ 1], evenLeft[index &+ 2], evenLeft[index &+ 3])
            let other = SIMD4(evenRight[index], evenRight[index &+ 1], evenRight[index &+ 2], evenRight[index &+ 3])
            let difference = one - other
            high.replace(with: difference, where: difference .> high)
            low.replace(with: difference, where: difference .< low)
            products += SIMD4<Double>(one) * SIMD4<Double>(other)
            index &+= 4
        }
        var total = (products.sum(), max(high.max(), -low.min()))
        for index in whole..<count {
            total.0 += Double(left[index]) * Double(right[index])
            total.1 = max(total.1, (left[index] - right[index]).magnitude)
        }
        pairs[pair].products += total.0
        pairs[pair].highestDifference = max(pairs[pair].highestDifference, total.1)
        return total.0
    }
}

/// The correlation of each channel pair in windows of three seconds, which start one second apart.
///
/// A window in which the root mean square of a channel is below -60 dBFS has no result, because noise has no phase.
/// ``append(_:)`` joins the windows of consecutive parts, each of which must be a whole number of seconds long, except
/// for the last.
package struct CorrelationWindows: Sendable, Hashable {
    /// The sums over the samples of a pair.
    package struct Sums: Sendable, Hashable {
        var left = 0.0
        var right = 0.0
        var leftSquares = 0.0
        var rightSquares = 0.0
        var products = 0.0

        mutating func add(_ other: Sums) {
            left += other.left
            right += other.right
            leftSquares += other.leftSquares
            rightSquares += other.rightSquares
            products += other.products
        }

        /// Returns Pearson's correlation coefficient, which ignores offsets; `nil` if a channel is constant.
        func correlation(count: Double) -> Double? {
            let product = products - left * right / count
            let variances = (leftSquares - left * left / count, rightSquares - right * right / count)
            // A variance this small is only rounding error.
            guard variances.0 > leftSquares * 1e-9, variances.1 > rightSquares * 1e-9 else { return nil }
            return min(1, max(-1, product / (variances.0 * variances.1).squareRoot()))
        }
    }

    /// The length of a window in seconds.
    package static let length = 3
    /// The maximum number of windows kept, enough for twelve days of audio; later windows are ignored.
    private static let maximumWindows = 1 << 20
    /// The mean square below which a channel is too quiet.
    private static let quiet = 1e-6

    /// The number of samples per second; 0 if no windows are wanted.
    package let second: Int
    /// The seconds that are not yet part of a complete set of windows, each with the sums of all pairs in order.
    private var seconds: [[Sums]] = []
    /// The sums of the current second, and the number of its samples so far.
    private var current: [Sums]
    private var filled = 0
    private var found: [[Float]]
    /// True if nothing precedes these samples, so that windows need not wait for an earlier part.
    private let isFirst: Bool

    init(pairs: Int, second: Int, isFirst: Bool) {
        self.second = max(0, second)
        self.isFirst = isFirst
        current = Array(repeating: Sums(), count: pairs)
        found = Array(repeating: [], count: pairs)
    }

    /// The number of samples that still fit into the current second.
    var room: Int { second > 0 ? second - filled : .max }

    /// Adds sums to the current second.
    mutating func add(_ sums: Sums, toPair pair: Int) {
        if second > 0 { current[pair].add(sums) }
    }

    /// Advances by the number of samples added to each pair, at most ``room``.
    mutating func advance(by frames: Int) {
        guard second > 0 else { return }
        filled += frames
        guard filled >= second else { return }
        seconds.append(current)
        current = Array(repeating: Sums(), count: current.count)
        filled = 0
        if isFirst, seconds.count > 64 { settle() }
    }

    /// Advances by samples of silence; whole seconds beyond the maximum number of windows are skipped.
    mutating func advance(bySilence frames: Int64) {
        let most = Int64(Self.maximumWindows + Self.length) * Int64(second)
        var left = frames <= most || second == 0 ? frames : most + (frames - most) % Int64(second)
        while left > 0, second > 0 {
            let step = min(left, Int64(room))
            advance(by: Int(step))
            left -= step
        }
    }

    /// Appends the windows of the samples that follow.
    mutating func append(_ next: CorrelationWindows) {
        guard next.second == second, next.current.count == current.count else { return }
        settle()
        if next.isFirst { found = next.found }
        seconds += next.seconds
        current = next.current
        filled = next.filled
        settle()
    }

    /// Forms windows from the stored seconds, and keeps the last two seconds for later windows.
    private mutating func settle() {
        guard seconds.count >= Self.length else { return }
        for start in 0...(seconds.count - Self.length) {
            for pair in found.indices where found[pair].count < Self.maximumWindows {
                var sums = seconds[start][pair]
                for offset in 1..<Self.length { sums.add(seconds[start + offset][pair]) }
                let count = Double(second * Self.length)
                let isQuiet = min(sums.leftSquares, sums.rightSquares) < count * Self.quiet
                found[pair].append(isQuiet ? .nan : sums.correlation(count: count).map { Float($0) } ?? .nan)
            }
        }
        seconds.removeFirst(seconds.count - Self.length + 1)
    }

    /// Returns the correlation of a pair in each window, starting at time zero; NaN for a window without a result.
    package func correlations(pair: Int) -> [Float] {
        var copy = self
        copy.settle()
        return copy.found.indices.contains(pair) ? copy.found[pair] : []
    }
}
