internal import Glibc
package import MediaAnalysis
package import MediaBase

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
