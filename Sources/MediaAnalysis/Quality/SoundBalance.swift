internal import Glibc

/// What channels have in common: offset, level, and how two channels of a pair go together.
///
/// Pairs are channels 0 and 1, 2 and 3, and so on. Sums are over blocks of 4096 samples and then over blocks, so that they
/// stay exact to about twelve digits however long the sound is. Balances of parts are joined by ``append(_:)``.
package struct SoundBalance: Sendable, Hashable {
    /// Sums over one channel.
    private struct Channel: Sendable, Hashable {
        var sum = 0.0
        var squares = 0.0
        var peak: Float = 0
    }

    /// Sums over a pair.
    private struct Pair: Sendable, Hashable {
        var products = 0.0
        var highestDifference: Float = 0
    }

    /// How many samples of each channel came.
    package private(set) var frames: Int64 = 0
    private var channels: [Channel]
    private var pairs: [Pair]

    /// How alike the channels of each pair are, window by window.
    package private(set) var windows: CorrelationWindows

    private static let block = 4096

    /// - Parameters:
    ///   - channels: How many channels there are.
    ///   - second: Samples a second, by which windows are counted; 0 for no windows.
    ///   - isFirst: Whether no other samples come before.
    package init(channels: Int, second: Int = 0, isFirst: Bool = true) {
        windows = CorrelationWindows(pairs: max(0, channels) / 2, second: second, isFirst: isFirst)
        self.channels = Array(repeating: Channel(), count: max(0, channels))
        pairs = Array(repeating: Pair(), count: max(0, channels) / 2)
    }

    /// How many pairs there are.
    package var pairCount: Int { pairs.count }

    /// Takes the samples that come next.
    package mutating func append(_ sound: SoundPlanes) {
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

    /// Takes samples of silence, in constant time.
    package mutating func appendSilence(frames: Int64) {
        self.frames += max(0, frames)
        windows.advance(bySilence: frames)
    }

    /// Takes what was measured of other samples.
    package mutating func append(_ next: SoundBalance) {
        guard next.channels.count == channels.count else { return }
        frames += next.frames
        windows.append(next.windows)
        for channel in channels.indices {
            channels[channel].sum += next.channels[channel].sum
            channels[channel].squares += next.channels[channel].squares
            channels[channel].peak = max(channels[channel].peak, next.channels[channel].peak)
        }
        for pair in pairs.indices {
            pairs[pair].products += next.pairs[pair].products
            pairs[pair].highestDifference = max(pairs[pair].highestDifference, next.pairs[pair].highestDifference)
        }
    }

    // MARK: Results

    /// The mean of a channel's samples: the offset of its zero line, with full scale at 1.
    package func offset(_ channel: Int) -> Double {
        channels.indices.contains(channel) && frames > 0 ? channels[channel].sum / Double(frames) : 0
    }

    /// The root mean square of a channel in dB against full scale; −∞ for silence.
    package func decibels(_ channel: Int) -> Double {
        guard channels.indices.contains(channel), frames > 0 else { return -.infinity }
        return 10 * log10(channels[channel].squares / Double(frames))
    }

    /// The highest sample of a channel, with full scale at 1.
    package func peak(_ channel: Int) -> Float { channels.indices.contains(channel) ? channels[channel].peak : 0 }

    /// How alike a pair's channels are, −1…1: 1 for the same, −1 for one the other's inverse, 0 for nothing in common.
    ///
    /// The correlation coefficient of Pearson, without the offsets; `nil` where a channel is constant.
    package func correlation(pair: Int) -> Double? {
        guard pairs.indices.contains(pair), frames > 0 else { return nil }
        let (left, right) = (channels[2 * pair], channels[2 * pair + 1])
        return CorrelationWindows.Sums(
            left: left.sum, right: right.sum, leftSquares: left.squares, rightSquares: right.squares,
            products: pairs[pair].products
        ).correlation(count: Double(frames))
    }

    /// The highest difference of a pair's samples, with full scale at 1; 0 where both channels are the same.
    package func highestDifference(pair: Int) -> Float? {
        pairs.indices.contains(pair) ? pairs[pair].highestDifference : nil
    }

    // MARK: Sums

    /// Adds samples to a channel; returns their sum and the sum of their squares.
    private mutating func add(_ samples: Span<Float>, to channel: Int) -> (sum: Double, squares: Double) {
        // Four lanes of each sum, because the sum of a lane must come one after the other.
        var (sum, squares) = (SIMD4<Double>.zero, SIMD4<Double>.zero)
        let whole = samples.count / 4 * 4
        let even = samples.extracting(first: whole)
        var (low, high) = (SIMD4<Float>.zero, SIMD4<Float>.zero)
        var index = 0
        while index < whole {
            let four = SIMD4(even[index], even[index &+ 1], even[index &+ 2], even[index &+ 3])
            high.replace(with: four, where: four .> high)
            low.replace(with: four, where: four .< low)
            let exact = SIMD4<Double>(four)
            sum += exact
            squares += exact * exact
            index &+= 4
        }
        var total = (sum.sum(), squares.sum(), max(high.max(), -low.min()))
        for index in whole..<samples.count {
            let exact = Double(samples[index])
            total = (total.0 + exact, total.1 + exact * exact, max(total.2, samples[index].magnitude))
        }
        channels[channel].sum += total.0
        channels[channel].squares += total.1
        channels[channel].peak = max(channels[channel].peak, total.2)
        return (total.0, total.1)
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
