internal import Glibc
package import MediaBase

/// Peak, RMS and clipping of each channel, gathered while the samples pass by.
///
/// Level and clipping are fed separately, because clipping is only visible before the conversion to 16 bits:
///
/// ```swift
/// var statistics = try SampleStatistics(channels: 2, significantBits: 24)
/// statistics.countClipping(decoded.span)       // as decoded: Float, Int32, …
/// statistics.append(converted.span)            // the same frames as interleaved Int16
/// ```
///
/// Sums are exact integers, so the result does not depend on how the samples were cut into spans.
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

    private var lows: [Int16]
    private var highs: [Int16]
    private var squares: [UInt64]

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
        lows = Array(repeating: 0, count: channels)
        highs = Array(repeating: 0, count: channels)
        squares = Array(repeating: 0, count: channels)
    }

    /// Measures interleaved frames; a trailing incomplete frame is ignored.
    package mutating func append(_ samples: Span<Int16>) {
        // A running sum in 64 bits holds 2^34 full-scale samples; parts stay far below.
        let step = channels.count << 20
        let whole = samples.count - samples.count % channels.count
        var start = 0
        while start < whole {
            let end = min(start + step, whole)
            measure(samples.extracting(start..<end))
            start = end
        }
    }

    private mutating func measure(_ samples: Span<Int16>) {
        for index in channels.indices {
            lows[index] = channels[index].minimum
            highs[index] = channels[index].maximum
            squares[index] = 0
        }
        SampleKernels.extrema(of: samples, lows: &lows, highs: &highs)
        SampleKernels.addSquares(of: samples, to: &squares)
        let frames = Int64(samples.count / channels.count)
        for index in channels.indices {
            channels[index].minimum = lows[index]
            channels[index].maximum = highs[index]
            channels[index].exactSquares &+= UInt128(squares[index])
            channels[index].frames &+= frames
        }
    }

    /// Counts frames of silence, in constant time; nothing for a negative number.
    package mutating func appendSilence(frames: Int64) {
        guard frames > 0 else { return }
        for index in channels.indices {
            channels[index].frames &+= frames
        }
    }

    /// Counts the samples at full scale in interleaved frames as decoded.
    ///
    /// Full scale is |x| ≥ 1.0 for floating point, and for integers |x| at or above the largest positive code of
    /// ``significantBits``, so that both ends count.
    package mutating func countClipping<Sample: PCMSample>(_ samples: Span<Sample>) {
        let threshold = Sample.fullScale(significantBits: significantBits)
        // Most blocks have none: one vectorised pass finds that out.
        guard SampleKernels.clippedCount(samples, threshold: threshold) > 0 else { return }
        var counts = Array(repeating: 0, count: channels.count)
        Sample.addClipped(samples, threshold: threshold, to: &counts)
        for (channel, count) in counts.enumerated() { addClipped(count, channel: channel) }
    }

    /// Counts the samples at full scale in one plane as decoded; nothing for a channel that does not exist.
    package mutating func countClipping<Sample: PCMSample>(plane: Span<Sample>, channel: Int) {
        let threshold = Sample.fullScale(significantBits: significantBits)
        addClipped(SampleKernels.clippedCount(plane, threshold: threshold), channel: channel)
    }

    private mutating func addClipped(_ count: Int, channel: Int) {
        guard channels.indices.contains(channel) else { return }
        channels[channel].clippedCount &+= Int64(count)
    }

    /// Two statistics are equal when every channel's measurements are.
    package static func == (left: SampleStatistics, right: SampleStatistics) -> Bool {
        left.channels == right.channels
    }
}
