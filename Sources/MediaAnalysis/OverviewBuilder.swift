package import MediaBase

/// Peaks of audio whose length is not known beforehand, in about as many points as a picture needs.
///
/// A point begins as one sample. Whenever there are ``capacity`` points, neighbours are joined, so that in the end
/// there are between half the capacity and the capacity of them however long the audio was, and memory stays flat. The
/// result depends on the samples alone, not on how they were cut into spans.
package struct OverviewBuilder: Sendable {
    /// The most points that are held, an even number.
    package let capacity: Int

    private let sampleRate: Int
    private let channels: Int
    private var builder: PeakBuilder
    private var spacing = 1
    /// Frames that still fit before points have to be joined.
    private var room: Int
    private var data: [Int16] = []
    private var meanSquares: [Float] = []

    /// Starts with no points.
    ///
    /// - Parameters:
    ///   - sampleRate: Frames a second.
    ///   - channels: The interleaved channels of what is fed, all of which get peaks.
    ///   - points: At least how many points there are to be in the end, where there are as many samples; 1…2^20.
    /// - Throws: ``MediaError`` `invalidArgument` where a parameter is out of range.
    package init(sampleRate: Int, channels: Int, points: Int) throws(MediaError) {
        guard (1...1 << 20).contains(points) else {
            throw MediaError(.invalidArgument, "an overview has 1 to \(1 << 20) points, not \(points)")
        }
        self.sampleRate = sampleRate
        self.channels = channels
        capacity = 2 * points
        room = capacity
        builder = try Self.builder(sampleRate: sampleRate, channels: channels, spacing: 1)
    }

    private static func builder(sampleRate: Int, channels: Int, spacing: Int) throws(MediaError) -> PeakBuilder {
        try PeakBuilder(
            sampleRate: sampleRate, channels: channels, spacing: Peaks.Spacing(samples: spacing), mode: .split,
            measuresMeanSquares: true)
    }

    /// Measures interleaved frames; throws as ``PeakBuilder/append(_:)`` does.
    package mutating func append(_ samples: Span<Int16>) throws(MediaError) {
        var start = 0
        while start < samples.count {
            let taken = min(room * channels, samples.count - start)
            try builder.append(samples.extracting(start..<start + taken))
            start += taken
            try advance(taken / channels)
        }
    }

    /// Measures frames of silence; nothing for a negative number.
    package mutating func appendSilence(frames: Int64) throws(MediaError) {
        var left = frames
        while left > 0 {
            let taken = Int(min(left, Int64(room)))
            try builder.appendSilence(frames: Int64(taken))
            left -= Int64(taken)
            try advance(taken)
        }
    }

    /// Writes the last, partial point and returns the peaks.
    package consuming func finish() throws(MediaError) -> Peaks { try joined() }

    private mutating func advance(_ frames: Int) throws(MediaError) {
        room -= frames
        guard room <= 0 else { return }
        // All points are whole here, so that joining them is what a coarser builder would have given.
        let coarser = try joined().coarser(by: 2)
        data = coarser.data
        meanSquares = coarser.meanSquares ?? []
        spacing = coarser.samplesPerPixel
        room = capacity / 2 * spacing
        builder = try Self.builder(sampleRate: sampleRate, channels: channels, spacing: spacing)
    }

    private func joined() throws(MediaError) -> Peaks {
        let rest = try builder.finish()
        return try Peaks(
            sampleRate: sampleRate, spacing: Peaks.Spacing(samples: spacing), channels: channels,
            data: data + rest.data, meanSquares: meanSquares + (rest.meanSquares ?? []))
    }
}
