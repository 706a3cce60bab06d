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
/// distiller.add(interleaved.span)
/// let sound = distiller.finish()
/// ```
package struct SoundDistiller: Sendable {
    /// The channels of what is distilled.
    package let channels: Int
    private let mode: PeakBuilder.ChannelMode
    /// Levels and clipping of what was distilled since the last ``finish()`` or ``reset()``.
    package private(set) var statistics: SampleStatistics
    private var planes: [[Int16]]
    /// Interleaved frames in 16 bits.
    private var interleaved: [Int16] = []
    private var frames = 0
    /// The channels that peaks are of since the last ``finish()`` or ``reset()``, interleaved, in 16 bits.
    package private(set) var samples: [Int16] = []
    /// Space in which channels are brought together.
    private var block: [Int16] = []
    private var sums: [Int32] = []

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

    /// Distills interleaved frames together with those before; a trailing incomplete frame is ignored.
    package mutating func add<Sample: PCMSample>(_ samples: Span<Sample>) {
        let frames = samples.count / channels
        let threshold = Sample.fullScale(significantBits: statistics.significantBits)
        // Taken out while it is used, so that it is never copied.
        var block: [Int16] = []
        swap(&block, &interleaved)
        var both: (left: PlaneLevels, right: PlaneLevels)?
        Sample.withInt16(samples, scratch: &block) { samples in
            let samples = samples.extracting(first: frames * channels)
            if mixesStereo { both = mixed(frames) { SampleKernels.mixStereo(samples, into: &$0) } }
            if both == nil { fillPlanes(samples) }
        }
        swap(&block, &interleaved)
        if let both {
            for (channel, levels) in [both.left, both.right].enumerated() {
                var clipped = 0
                if levels.mayHold(threshold.int16Value) {
                    clipped = Sample.clippedCount(samples, threshold: threshold, channel: channel, of: channels)
                }
                statistics.add(levels, frames: frames, clipped: clipped, channel: channel)
            }
            return
        }
        for channel in 0..<channels {
            let plane = planes[channel]
            let levels = SampleKernels.levels(of: plane.span.extracting(first: frames))
            var clipped = 0
            if levels.mayHold(threshold.int16Value) {
                clipped = Sample.clippedCount(samples, threshold: threshold, channel: channel, of: channels)
            }
            statistics.add(levels, frames: frames, clipped: clipped, channel: channel)
        }
        addPlanes(frames: frames)
    }

    /// Writes each channel of interleaved frames to its plane.
    private mutating func fillPlanes(_ samples: Span<Int16>) {
        let frames = samples.count / channels
        for channel in 0..<channels where planes[channel].count < frames {
            planes[channel] = Array(repeating: 0, count: frames)
        }
        for channel in 0..<channels {
            var plane = planes[channel].mutableSpan
            SampleKernels.extract(channel, of: channels, from: samples, into: &plane)
        }
    }

    /// Whether two channels become one, which there are kernels for.
    package var mixesStereo: Bool { channels == 2 && mode == .mixed }

    /// Takes stereo of floating point that is mixed, together with what was before; gives whether it could.
    ///
    /// - Parameters:
    ///   - left: The first channel.
    ///   - right: The second one, as long.
    package mutating func addPlanes(_ left: Span<Float>, _ right: Span<Float>) -> Bool {
        let frames = min(left.count, right.count)
        guard mixesStereo,
            let both = mixed(frames, { SampleKernels.mixPlanes(left, right, into: &$0) })
        else { return false }
        let threshold = Float.fullScale(significantBits: statistics.significantBits)
        func clipped(_ levels: PlaneLevels, _ plane: Span<Float>) -> Int {
            guard levels.mayHold(threshold.int16Value) else { return 0 }
            return SampleKernels.clippedCount(plane.extracting(first: frames), threshold: threshold)
        }
        statistics.add(both.left, frames: frames, clipped: clipped(both.left, left), channel: 0)
        statistics.add(both.right, frames: frames, clipped: clipped(both.right, right), channel: 1)
        return true
    }

    /// Has the mean of two channels written behind what was distilled before; `nil` where it was not.
    private mutating func mixed(
        _ frames: Int, _ body: (inout OutputSpan<Int16>) -> (left: PlaneLevels, right: PlaneLevels)?
    ) -> (left: PlaneLevels, right: PlaneLevels)? {
        var levels: (left: PlaneLevels, right: PlaneLevels)?
        samples.append(addingCapacity: frames) { levels = body(&$0) }
        guard let levels else { return nil }
        self.frames += frames
        return levels
    }

    /// Takes one channel of sound that has a plane a channel; ``addPlanes(frames:)`` when all are taken.
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

    /// Puts the planes that were taken behind what was distilled before.
    package mutating func addPlanes(frames: Int) {
        self.frames += frames
        switch mode {
        case .single(let channel): samples.append(contentsOf: planes[channel].prefix(frames))
        case .mixed where channels > 1, .split where channels > 1:
            let count = mode == .split ? frames * channels : frames
            // Taken out while it is filled, so that it is never copied.
            var block: [Int16] = []
            swap(&block, &self.block)
            if block.count < count { block = Array(repeating: 0, count: count) }
            bringTogether(frames, into: &block)
            samples.append(contentsOf: block.prefix(count))
            swap(&block, &self.block)
        case .mixed, .split: samples.append(contentsOf: planes[0].prefix(frames))
        }
    }

    /// What was distilled since the last time.
    package mutating func finish() -> DistilledSound {
        let sound = DistilledSound(frames: frames, samples: samples, statistics: statistics)
        statistics.reset()
        samples = []
        // What follows is most often as long.
        samples.reserveCapacity(sound.samples.count)
        frames = 0
        return sound
    }

    /// Forgets what was distilled since the last time, and keeps its memory.
    package mutating func reset() {
        statistics.reset()
        samples.removeAll(keepingCapacity: true)
        frames = 0
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

    /// Writes the channels that peaks are of where they are made of more than one plane.
    private mutating func bringTogether(_ frames: Int, into block: inout [Int16]) {
        var span = block.mutableSpan
        if mode == .split {
            for (channel, plane) in planes.enumerated() {
                let plane = plane.span.extracting(first: min(frames, plane.count))
                SampleKernels.interleave(plane, channel: channel, of: channels, into: &span)
            }
        } else if channels == 2 {
            let (left, right) = (planes[0], planes[1])
            SampleKernels.mix(left.span, right.span, into: &span)
        } else {
            sums.removeAll(keepingCapacity: true)
            sums.append(contentsOf: repeatElement(0, count: frames))
            for plane in planes {
                var sumSpan = sums.mutableSpan
                SampleKernels.add(plane.span, to: &sumSpan)
            }
            SampleKernels.divide(sums.span, by: channels, into: &span)
        }
    }
}

extension PlaneLevels {
    /// Whether a sample may be among them whose magnitude, in 16 bits, reaches a threshold.
    fileprivate func mayHold(_ threshold: Int16) -> Bool {
        high >= threshold || Int(low) <= -Int(threshold)
    }
}
