package import MediaBase

/// Peaks of audio whose length is not known beforehand, in about as many points as a picture needs.
///
/// A point begins as one sample. Whenever there are ``capacity`` points, neighbours are joined, so that in the end
/// there are between half the capacity and the capacity of them however long the audio was, and memory stays flat. The
/// result depends on the samples alone, not on how they were cut into spans.
package struct OverviewBuilder: Sendable {
    /// The most points that are held, an even number.
    package let capacity: Int

    private let channels: Int
    private var builder: PeakBuilder
    private var spacing: Int
    /// Frames that still fit before points have to be joined.
    private var room: Int

    /// Starts with no points.
    ///
    /// - Parameters:
    ///   - sampleRate: Frames a second.
    ///   - channels: The interleaved channels of what is fed, all of which get peaks.
    ///   - points: At least how many points there are to be in the end, where there are as many samples; 1…2^20.
    ///   - frames: How many frames the audio has at least, which saves joining; the result does not depend on it.
    ///   - start: How many frames of the audio lie before what is fed; see ``append(_:)-(OverviewBuilder)``.
    /// - Throws: ``MediaError`` `invalidArgument` where a parameter is out of range.
    package init(
        sampleRate: Int, channels: Int, points: Int, atLeast frames: Int64 = 0, startingAt start: Int64 = 0
    ) throws(MediaError) {
        guard (1...1 << 20).contains(points) else {
            throw MediaError(.invalidArgument, "an overview has 1 to \(1 << 20) points, not \(points)")
        }
        self.channels = channels
        capacity = 2 * points
        var spacing = 1
        while spacing < 1 << 40, frames / Int64(spacing) >= Int64(capacity) { spacing *= 2 }
        self.spacing = spacing
        room = capacity * spacing - Int(clamping: start)
        builder = try PeakBuilder(
            sampleRate: sampleRate, channels: channels, spacing: Peaks.Spacing(samples: spacing), mode: .split,
            measuresMeanSquares: true, startingAt: start)
    }

    /// Measures interleaved frames; throws as ``PeakBuilder/append(_:)`` does.
    package mutating func append(_ samples: Span<Int16>) throws(MediaError) {
        var start = 0
        while start < samples.count {
            let fitting = room.multipliedReportingOverflow(by: channels)
            let taken = min(fitting.overflow ? .max : fitting.partialValue, samples.count - start)
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

    /// Takes over what another builder measured of the frames that follow.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` where it was not begun for the same audio, as long at least, at the
    ///   frame that this one has come to.
    package mutating func append(_ next: OverviewBuilder) throws(MediaError) {
        try builder.append(next.builder)
        room = next.room
        while room <= 0 { try widen() }
    }

    /// Writes the last, partial point and returns the peaks.
    package consuming func finish() throws(MediaError) -> Peaks { try builder.finish() }

    private mutating func advance(_ frames: Int) throws(MediaError) {
        room -= frames
        // All points are whole here, so that joining them is what a coarser builder would have given.
        if room <= 0 { try widen() }
    }

    private mutating func widen() throws(MediaError) {
        try builder.coarsen()
        room += capacity * spacing
        spacing *= 2
    }
}
