internal import Glibc
package import MediaAnalysis
package import MediaBase

/// The data that waveform measurements need from decoded audio.
package struct ReducedSamples: Sendable {
    /// The number of frames that the data covers.
    package let frames: Int
    /// The channels that peaks are measured from, as interleaved 16-bit samples.
    ///
    /// The caller knows their sample rate and number.
    package let samples: [Int16]
    /// The levels and clipping of every channel.
    package let statistics: SampleStatistics
}

/// Reduces decoded audio of any sample format to ``ReducedSamples``, one channel at a time while its data is in the
/// cache.
///
/// ```swift
/// var distiller = try SampleReducer(channels: 2, mode: .mixed, significantBits: 24)
/// distiller.add(interleaved.span)
/// let sound = distiller.finish()
/// ```
package struct SampleReducer: Sendable {
    /// The number of channels in the input.
    package let channels: Int
    private let mode: PeakBuilder.ChannelMode
    /// The levels and clipping of the audio added since the last ``finish()`` or ``reset()``.
    package private(set) var statistics: SampleStatistics
    private var planes: [[Int16]]
    /// Interleaved frames as 16-bit samples.
    private var interleaved: [Int16] = []
    private var frames = 0
    /// The channels that peaks are measured from, as interleaved 16-bit samples, since the last ``finish()`` or
    /// ``reset()``.
    package private(set) var samples: [Int16] = []
    /// A scratch buffer for mixing or interleaving channels.
    private var block: [Int16] = []
    private var sums: [Int32] = []

    /// Creates an empty distiller.
    ///
    /// - Parameters:
    ///   - channels: The number of channels in the input.
    ///   - mode: The channels that peaks are measured from.
    ///   - significantBits: The bits of an integer source that carry signal.
    /// - Throws: ``MediaError`` `invalidArgument` if there are not 1 to 1024 channels, or the single channel does not
    ///   exist.
    package init(channels: Int, mode: PeakBuilder.ChannelMode, significantBits: Int) throws(MediaError) {
        statistics = try SampleStatistics(channels: channels, significantBits: significantBits)
        if case .single(let channel) = mode, !(0..<channels).contains(channel) {
            throw MediaError(
                .invalidArgument, "there is no channel \(channel): the audio has \(channels), counted from 0")
        }
        self.channels = channels
        self.mode = mode
        planes = Array(repeating: [], count: channels)
    }

    /// Adds interleaved frames; ignores a trailing incomplete frame.
    package mutating func add<Sample: PCMSample>(_ samples: Span<Sample>) {
        let frames = samples.count / channels
        let threshold = Sample.fullScale(significantBits: statistics.significantBits)
        // Moved out while it is used, so that it is never copied.
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

    /// True if two channels are mixed into one, for which there are special kernels.
    package var mixesStereo: Bool { channels == 2 && mode == .mixed }

    /// Adds stereo floating-point audio that is to be mixed.
    ///
    /// - Parameters:
    ///   - left: The first channel.
    ///   - right: The second channel, of the same length.
    /// - Returns: False if the audio is not mixed stereo or there is no kernel for it; nothing is added then.
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

    /// Appends the mean of two channels, which `body` writes, to the samples; returns `nil` if nothing was written.
    private mutating func mixed(
        _ frames: Int, _ body: (inout OutputSpan<Int16>) -> (left: PlaneLevels, right: PlaneLevels)?
    ) -> (left: PlaneLevels, right: PlaneLevels)? {
        var levels: (left: PlaneLevels, right: PlaneLevels)?
        samples.append(addingCapacity: frames) { levels = body(&$0) }
        guard let levels else { return nil }
        self.frames += frames
        return levels
    }

    /// Takes one channel of planar audio; after all channels, call ``addPlanes(frames:)``.
    ///
    /// - Parameter plane: The samples, as many as in the other channels.
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

    /// Appends the planes that were taken to the samples.
    package mutating func addPlanes(frames: Int) {
        self.frames += frames
        switch mode {
        case .single(let channel): samples.append(contentsOf: planes[channel].prefix(frames))
        case .mixed where channels > 1, .split where channels > 1:
            let count = mode == .split ? frames * channels : frames
            // Moved out while it is filled, so that it is never copied.
            var block: [Int16] = []
            swap(&block, &self.block)
            if block.count < count { block = Array(repeating: 0, count: count) }
            bringTogether(frames, into: &block)
            samples.append(contentsOf: block.prefix(count))
            swap(&block, &self.block)
        case .mixed, .split: samples.append(contentsOf: planes[0].prefix(frames))
        }
    }

    /// Returns the audio distilled since the last ``finish()`` or ``reset()``, and starts over.
    package mutating func finish() -> ReducedSamples {
        let sound = ReducedSamples(frames: frames, samples: samples, statistics: statistics)
        statistics.reset()
        samples = []
        // The next part is usually about as long.
        samples.reserveCapacity(sound.samples.count)
        frames = 0
        return sound
    }

    /// Discards the audio distilled since the last ``finish()`` or ``reset()``, but keeps the memory.
    package mutating func reset() {
        statistics.reset()
        samples.removeAll(keepingCapacity: true)
        frames = 0
    }

    /// Writes one channel as 16-bit samples to the start of its plane, which may be longer, and measures it.
    private mutating func fill(
        _ channel: Int, frames: Int, _ body: (inout MutableSpan<Int16>) -> Void
    ) -> PlaneLevels {
        // Moved out while it is filled and measured, so that it is never copied.
        var plane: [Int16] = []
        swap(&plane, &planes[channel])
        defer { swap(&plane, &planes[channel]) }
        if plane.count < frames { plane = Array(repeating: 0, count: frames) }
        var span = plane.mutableSpan
        body(&span)
        return SampleKernels.levels(of: plane.span.extracting(first: frames))
    }

    /// Interleaves or mixes several planes into the channels that peaks are measured from.
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
    /// True if the magnitude of some sample, in 16 bits, may reach `threshold`.
    fileprivate func mayHold(_ threshold: Int16) -> Bool {
        high >= threshold || Int(low) <= -Int(threshold)
    }
}

/// The peak, RMS and clipping of each channel, measured as samples arrive.
///
/// Sums are exact integers, so the result depends neither on how the samples were split into spans, nor on the order in
/// which statistics of parts are added.
package struct SampleStatistics: Sendable, Equatable {
    /// The measurements of one channel.
    package struct Channel: Sendable, Hashable {
        /// The number of frames measured.
        package fileprivate(set) var frames: Int64 = 0
        /// The lowest sample, 0 or less.
        package fileprivate(set) var minimum: Int16 = 0
        /// The highest sample, 0 or more.
        package fileprivate(set) var maximum: Int16 = 0
        /// The number of samples that were at full scale before the conversion to 16 bits.
        package fileprivate(set) var clippedCount: Int64 = 0
        fileprivate var exactSquares: UInt128 = 0

        /// The peak magnitude, 0…32768.
        package var peak: Int { max(-Int(minimum), Int(maximum)) }

        /// The sum of the squared 16-bit samples, rounded once from an exact integer.
        package var sumOfSquares: Double { Double(exactSquares) }

        /// The peak in dB relative to full scale (32768); −∞ for silence or no frames.
        package var peakDBFS: Double { 20 * log10(Double(peak) / 32768) }

        /// The root mean square in dB relative to full scale (32768); −∞ for silence or no frames.
        ///
        /// A full-scale square wave is 0 dB and a full-scale sine −3.01 dB: the 3 dB of AES17 are not added.
        package var rmsDBFS: Double {
            frames == 0 ? -.infinity : 10 * log10(sumOfSquares / Double(frames) / (32768 * 32768))
        }
    }

    /// The measurements of all channels, in channel order.
    package private(set) var channels: [Channel]

    /// The number of significant bits of integer sources, which determines full scale.
    package let significantBits: Int

    /// Creates statistics without frames.
    ///
    /// - Parameters:
    ///   - channels: The number of interleaved channels, 1…1024; otherwise ``MediaError`` `invalidArgument`.
    ///   - significantBits: The bits of an integer source that carry signal (24 for 24-bit audio in Int32).
    package init(channels: Int, significantBits: Int = 32) throws(MediaError) {
        guard (1...1024).contains(channels) else {
            throw MediaError(.invalidArgument, "statistics need 1 to 1024 channels, not \(channels)")
        }
        self.channels = Array(repeating: Channel(), count: channels)
        self.significantBits = significantBits
    }

    /// Adds the measurements of one channel; does nothing if the channel does not exist.
    ///
    /// - Parameters:
    ///   - levels: The levels of the 16-bit samples.
    ///   - frames: The number of samples.
    ///   - clipped: The number of samples that were at full scale before the conversion to 16 bits. For floating point
    ///     this means |x| ≥ 1.0; for integers, |x| at or above the largest positive code of ``significantBits``, so
    ///     that both the positive and the negative limit count.
    package mutating func add(_ levels: PlaneLevels, frames: Int, clipped: Int, channel: Int) {
        guard channels.indices.contains(channel) else { return }
        channels[channel].minimum = min(channels[channel].minimum, levels.low)
        channels[channel].maximum = max(channels[channel].maximum, levels.high)
        channels[channel].exactSquares &+= UInt128(levels.squares)
        channels[channel].clippedCount &+= Int64(clipped)
        channels[channel].frames &+= Int64(frames)
    }

    /// Adds the measurements of more frames; does nothing if the number of channels differs.
    package mutating func add(_ other: SampleStatistics) {
        guard other.channels.count == channels.count else { return }
        for index in channels.indices {
            let more = other.channels[index]
            channels[index].minimum = min(channels[index].minimum, more.minimum)
            channels[index].maximum = max(channels[index].maximum, more.maximum)
            channels[index].exactSquares &+= more.exactSquares
            channels[index].clippedCount &+= more.clippedCount
            channels[index].frames &+= more.frames
        }
    }

    /// Discards all measurements.
    package mutating func reset() {
        for index in channels.indices { channels[index] = Channel() }
    }

    /// Adds frames of silence in constant time; does nothing for a negative number.
    package mutating func appendSilence(frames: Int64) {
        guard frames > 0 else { return }
        for index in channels.indices {
            channels[index].frames &+= frames
        }
    }

    /// Two statistics are equal if the measurements of every channel are equal.
    package static func == (left: SampleStatistics, right: SampleStatistics) -> Bool {
        left.channels == right.channels
    }
}
