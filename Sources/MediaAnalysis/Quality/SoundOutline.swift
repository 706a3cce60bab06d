/// The lowest and highest sample of each channel over time, for drawing, in bounded memory.
///
/// Steps are a few milliseconds long at first, and double in length whenever there are too many. ``append(_:)`` joins
/// outlines of consecutive parts, which start at whole seconds.
package struct SoundOutline: Sendable, Hashable {
    /// The lowest and highest sample of each step, for each channel.
    package private(set) var channels: [[ClosedRange<Float>]]
    /// The number of samples per step.
    package private(set) var step: Int
    /// The number of samples added to each channel so far.
    package private(set) var frames: Int64 = 0

    /// The maximum number of steps kept.
    private static let maximumSteps = 4096

    /// Creates an empty outline.
    ///
    /// - Parameters:
    ///   - channels: The number of channels.
    ///   - sampleRate: Samples per second.
    package init(channels: Int, sampleRate: Int) {
        self.channels = Array(repeating: [], count: max(0, channels))
        let rate = max(1, sampleRate)
        step = [400, 100, 25].first { rate % $0 == 0 }.map { rate / $0 } ?? rate
    }

    /// Adds the next samples.
    package mutating func append(_ sound: PlanarSamples) {
        guard sound.channels == channels.count, sound.frames > 0 else { return }
        var start = 0
        while start < sound.frames {
            let place = frames / Int64(step)
            let room = Int((place + 1) * Int64(step) - frames)
            let end = min(sound.frames, start + room)
            for channel in channels.indices {
                let plane = sound.planes[channel]
                add(Self.extrema(plane.span.extracting(start..<end)), channel, at: Int(place))
            }
            frames += Int64(end - start)
            start = end
            if Int(place) >= Self.maximumSteps { widen() }
        }
    }

    /// Adds samples of silence, in time that does not grow with their number.
    package mutating func appendSilence(frames count: Int64) {
        var left = count
        while left > 0 {
            let place = frames / Int64(step)
            let taken = min(left, (place + 1) * Int64(step) - frames)
            for channel in channels.indices { add(0...0, channel, at: Int(place)) }
            frames += taken
            left -= taken
            if Int(place) >= Self.maximumSteps { widen() }
        }
    }

    /// Appends the outline of the samples that follow.
    package mutating func append(_ next: SoundOutline) {
        guard next.channels.count == channels.count else { return }
        var next = next
        while step < next.step { widen() }
        while next.step < step { next.widen() }
        let offset = frames / Int64(step)
        for channel in channels.indices {
            for (index, range) in next.channels[channel].enumerated() {
                add(range, channel, at: Int(min(offset, 1 << 40)) + index)
            }
        }
        frames += next.frames
        while (channels.first?.count ?? 0) > Self.maximumSteps { widen() }
    }

    private mutating func add(_ range: ClosedRange<Float>, _ channel: Int, at place: Int) {
        if place < channels[channel].count {
            let known = channels[channel][place]
            channels[channel][place] =
                min(known.lowerBound, range.lowerBound)...max(known.upperBound, range.upperBound)
        } else {
            channels[channel].append(range)
        }
    }

    private mutating func widen() {
        for channel in channels.indices {
            let steps = channels[channel]
            channels[channel] = stride(from: 0, to: steps.count, by: 2).map { index in
                guard index + 1 < steps.count else { return steps[index] }
                let (one, other) = (steps[index], steps[index + 1])
                return min(one.lowerBound, other.lowerBound)...max(one.upperBound, other.upperBound)
            }
        }
        step *= 2
    }

    private static func extrema(_ samples: Span<Float>) -> ClosedRange<Float> {
        let whole = samples.count / 4 * 4
        var (low, high) = (SIMD4<Float>(repeating: .infinity), SIMD4<Float>(repeating: -.infinity))
        var index = 0
        while index < whole {
            let four = SIMD4(samples[index], samples[index &+ 1], samples[index &+ 2], samples[index &+ 3])
            high.replace(with: four, where: four .> high)
            low.replace(with: four, where: four .< low)
            index &+= 4
        }
        var (least, greatest) = (low.min(), high.max())
        while index < samples.count {
            least = min(least, samples[index])
            greatest = max(greatest, samples[index])
            index &+= 1
        }
        return least <= greatest ? least...greatest : 0...0
    }
}
