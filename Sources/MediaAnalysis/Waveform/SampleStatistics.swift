internal import Glibc
package import MediaBase

/// Peak, RMS and clipping of each channel, gathered while the samples pass by.
///
/// Sums are exact integers, so the result does not depend on how the samples were cut into spans, nor on the order in
/// which statistics of parts are added up.
package struct SampleStatistics: Sendable, Equatable {
    /// One channel's measurements.
    package struct Channel: Sendable, Hashable {
        /// The frames measured.
        package fileprivate(set) var frames: Int64 = 0
        /// The lowest sample, 0 or less.
        package fileprivate(set) var minimum: Int16 = 0
        /// The highest sample, 0 or more.
        package fileprivate(set) var maximum: Int16 = 0
        /// The samples at full scale before the conversion to 16 bits.
        package fileprivate(set) var clippedCount: Int64 = 0
        fileprivate var exactSquares: UInt128 = 0

        /// The largest magnitude, 0…32768.
        package var peak: Int { max(-Int(minimum), Int(maximum)) }

        /// The sum of the squared 16-bit samples, rounded once from an exact integer.
        package var sumOfSquares: Double { Double(exactSquares) }

        /// The peak against full scale 32768 in dB; −∞ for silence or no frames.
        package var peakDBFS: Double { 20 * log10(Double(peak) / 32768) }

        /// The root mean square against full scale 32768 in dB; −∞ for silence or no frames.
        ///
        /// A full-scale square wave is 0 dB and a full-scale sine −3.01 dB: AES17's 3 dB are not added.
        package var rmsDBFS: Double {
            frames == 0 ? -.infinity : 10 * log10(sumOfSquares / Double(frames) / (32768 * 32768))
        }
    }

    /// The measurements, in channel order.
    package private(set) var channels: [Channel]

    /// The significant bits of integer sources, which say where full scale is.
    package let significantBits: Int

    /// Starts with no frames.
    ///
    /// - Parameters:
    ///   - channels: The interleaved channels, 1…1024; otherwise ``MediaError`` `invalidArgument`.
    ///   - significantBits: The bits of an integer source that carry signal (24-bit audio in Int32: 24).
    package init(channels: Int, significantBits: Int = 32) throws(MediaError) {
        guard (1...1024).contains(channels) else {
            throw MediaError(.invalidArgument, "statistics need 1 to 1024 channels, not \(channels)")
        }
        self.channels = Array(repeating: Channel(), count: channels)
        self.significantBits = significantBits
    }

    /// Adds what was measured of one channel; nothing for a channel that does not exist.
    ///
    /// - Parameters:
    ///   - levels: Of the samples in 16 bits.
    ///   - frames: How many samples there were.
    ///   - clipped: How many of them were at full scale before the conversion to 16 bits: |x| ≥ 1.0 for floating point,
    ///     and for integers |x| at or above the largest positive code of ``significantBits``, so that both ends count.
    package mutating func add(_ levels: PlaneLevels, frames: Int, clipped: Int, channel: Int) {
        guard channels.indices.contains(channel) else { return }
        channels[channel].minimum = min(channels[channel].minimum, levels.low)
        channels[channel].maximum = max(channels[channel].maximum, levels.high)
        channels[channel].exactSquares &+= UInt128(levels.squares)
        channels[channel].clippedCount &+= Int64(clipped)
        channels[channel].frames &+= Int64(frames)
    }

    /// Adds what was measured of further frames; nothing where the channels are not as many.
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

    /// Forgets all that was measured.
    package mutating func reset() {
        for index in channels.indices { channels[index] = Channel() }
    }

    /// Counts frames of silence, in constant time; nothing for a negative number.
    package mutating func appendSilence(frames: Int64) {
        guard frames > 0 else { return }
        for index in channels.indices {
            channels[index].frames &+= frames
        }
    }

    /// Two statistics are equal when every channel's measurements are.
    package static func == (left: SampleStatistics, right: SampleStatistics) -> Bool {
        left.channels == right.channels
    }
}
