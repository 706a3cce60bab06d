package import MediaBase

/// What the measurements of a waveform need of some decoded sound.
package struct DistilledSound: Sendable {
    /// Frames that it stands for.
    package let frames: Int
    /// Rate and channels are the caller's to know; these are the channels that peaks are of, interleaved, in 16 bits.
    package let samples: [Int16]
    /// Levels and clipping of every channel.
    package let statistics: SampleStatistics
}

/// Brings decoded sound of any format to ``DistilledSound``, one channel after the other while it is in the cache.
///
/// ```swift
/// var distiller = try SoundDistiller(channels: 2, mode: .mixed, significantBits: 24)
/// let sound = distiller.distill(interleaved.span)
/// ```
package struct SoundDistiller: Sendable {
    /// The channels of what is distilled.
    package let channels: Int
    private let mode: PeakBuilder.ChannelMode
    private var statistics: SampleStatistics
    private var planes: [[Int16]]
    /// Interleaved frames in 16 bits.
    private var interleaved: [Int16] = []

    /// - Parameters:
    ///   - channels: The channels of the sound.
    ///   - mode: The channels that peaks are of.
    ///   - significantBits: The bits of an integer source that carry signal.
    /// - Throws: ``MediaError`` `invalidArgument` where there are not 1 to 1024 channels, or not the single one.
    package init(channels: Int, mode: PeakBuilder.ChannelMode, significantBits: Int) throws(MediaError) {
        statistics = try SampleStatistics(channels: channels, significantBits: significantBits)
        if case .single(let channel) = mode, !(0..<channels).contains(channel) {
            throw MediaError(.invalidArgument, "there is no channel \(channel): the sound has \(channels), from 0")
        }
        self.channels = channels
        self.mode = mode
        planes = Array(repeating: [], count: channels)
    }

    /// Distills interleaved frames; a trailing incomplete frame is ignored.
    package mutating func distill<Sample: PCMSample>(_ samples: Span<Sample>) -> DistilledSound {
        let frames = samples.count / channels
        let threshold = Sample.fullScale(significantBits: statistics.significantBits)
        let channels = channels
        // Taken out while it is used, so that it is never copied.
        var block: [Int16] = []
        swap(&block, &interleaved)
        defer { swap(&block, &interleaved) }
        if block.count < samples.count { block = Array(repeating: 0, count: samples.count) }
        var blockSpan = block.mutableSpan
        SampleKernels.convert(samples, into: &blockSpan)
        for channel in 0..<channels {
            let levels = fill(channel, frames: frames) { plane in
                let whole = block.span.extracting(first: frames * channels)
                SampleKernels.extract(channel, of: channels, from: whole, into: &plane)
            }
            var clipped = 0
            if levels.mayHold(threshold.int16Value) {
                for frame in 0..<frames {
                    clipped &+= samples[frame &* channels &+ channel].isClipped(atOrAbove: threshold) ? 1 : 0
                }
            }
            statistics.add(levels, frames: frames, clipped: clipped, channel: channel)
        }
        return finish(frames: frames)
    }

    /// Takes one channel of sound that has a plane a channel; ``finish(frames:)`` when all are taken.
    ///
    /// - Parameter plane: As many samples as those of the other channels.
    package mutating func take<Sample: PCMSample>(_ plane: Span<Sample>, channel: Int) {
        guard planes.indices.contains(channel) else { return }
        let threshold = Sample.fullScale(significantBits: statistics.significantBits)
        let levels = fill(channel, frames: plane.count) { SampleKernels.convert(plane, into: &$0) }
        var clipped = 0
        if levels.mayHold(threshold.int16Value) {
            clipped = SampleKernels.clippedCount(plane, threshold: threshold)
        }
        statistics.add(levels, frames: plane.count, clipped: clipped, channel: channel)
    }

    /// What the planes that were taken amount to.
    package mutating func finish(frames: Int) -> DistilledSound {
        let sound = DistilledSound(frames: frames, samples: measured(frames), statistics: statistics)
        statistics.reset()
        return sound
    }

    /// Has one channel written in 16 bits, at the start of a plane that may be longer, and measures it.
    private mutating func fill(
        _ channel: Int, frames: Int, _ body: (inout MutableSpan<Int16>) -> Void
    ) -> PlaneLevels {
        // Taken out while it is filled and measured, so that it is never copied.
        var plane: [Int16] = []
        swap(&plane, &planes[channel])
        defer { swap(&plane, &planes[channel]) }
        if plane.count < frames { plane = Array(repeating: 0, count: frames) }
        var span = plane.mutableSpan
        body(&span)
        return SampleKernels.levels(of: plane.span.extracting(first: frames))
    }

    /// The channels that peaks are of.
    private func measured(_ frames: Int) -> [Int16] {
        switch mode {
        case .single(let channel): return Array(planes[channel].prefix(frames))
        case .split where channels > 1:
            var samples = [Int16](repeating: 0, count: frames * channels)
            for (channel, plane) in planes.enumerated() {
                var span = samples.mutableSpan
                SampleKernels.interleave(plane.span, channel: channel, of: channels, into: &span)
            }
            return samples
        case .mixed where channels == 2:
            let (left, right) = (planes[0], planes[1])
            var samples = [Int16](repeating: 0, count: frames)
            var span = samples.mutableSpan
            SampleKernels.mix(left.span, right.span, into: &span)
            return samples
        case .mixed where channels > 2:
            var sums = [Int32](repeating: 0, count: frames)
            for plane in planes {
                var span = sums.mutableSpan
                SampleKernels.add(plane.span, to: &span)
            }
            var samples = [Int16](repeating: 0, count: frames)
            var span = samples.mutableSpan
            SampleKernels.divide(sums.span, by: channels, into: &span)
            return samples
        case .mixed, .split: return Array(planes[0].prefix(frames))
        }
    }
}

extension PlaneLevels {
    /// Whether a sample may be among them whose magnitude, in 16 bits, reaches a threshold.
    fileprivate func mayHold(_ threshold: Int16) -> Bool {
        high >= threshold || Int(low) <= -Int(threshold)
    }
}
