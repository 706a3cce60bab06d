public import MediaBase

/// Measures the peaks of one zoom level from samples that arrive in spans of any length.
///
/// Several builders can be fed from the same pass over the audio; each holds only its own points.
///
/// ```swift
/// var builder = try PeakBuilder(
///     sampleRate: 48_000, channels: 2, spacing: Peaks.Spacing(samples: 256), mode: .mixed)
/// try builder.append(frames.span)
/// let peaks = try builder.finish()
/// ```
public struct PeakBuilder: Sendable {
    /// Which channels the peaks have.
    public enum ChannelMode: Sendable, Hashable {
        /// Each channel of the audio.
        case split
        /// One: the sum over the channels divided by their number, truncated toward zero.
        case mixed
        /// One: the channel with this index, from 0.
        case single(Int)
    }

    private let sampleRate: Int
    private let inputChannels: Int
    private let outputChannels: Int
    private let spacing: Peaks.Spacing
    private let mode: ChannelMode

    private var lows: [Int16]
    private var highs: [Int16]
    private var squares: [UInt64]
    /// Frames in the point under way, and how many it takes.
    private var filled = 0
    private var needed: Int
    /// The part of a sample, in 1/spacing.points, by which the point under way starts early.
    private var remainder: Int

    private var data: [Int16] = []
    private var meanSquares: [Float]?
    private var mono: [Int16]

    /// Frames that are brought to one channel at a time.
    private static let blockFrames = 4096

    /// Starts with no points.
    ///
    /// - Parameters:
    ///   - sampleRate: Frames a second, 1…2^31 − 1.
    ///   - channels: The interleaved channels of what is fed, 1…1024.
    ///   - spacing: The samples a point.
    ///   - mode: The channels of the peaks.
    ///   - measuresMeanSquares: Whether ``Peaks/meanSquares`` are measured too.
    /// - Throws: ``MediaError`` `invalidArgument` where a parameter is out of range or the single channel does not
    ///   exist.
    public init(
        sampleRate: Int, channels: Int, spacing: Peaks.Spacing, mode: ChannelMode = .mixed,
        measuresMeanSquares: Bool = false
    ) throws(MediaError) {
        guard (1...Int(Int32.max)).contains(sampleRate), (1...1024).contains(channels) else {
            throw MediaError(.invalidArgument, "cannot measure \(channels) channels at \(sampleRate) Hz")
        }
        if case .single(let channel) = mode, !(0..<channels).contains(channel) {
            throw MediaError(.invalidArgument, "no channel \(channel): the audio has \(channels), counted from 0")
        }
        self.sampleRate = sampleRate
        self.spacing = spacing
        self.mode = mode
        inputChannels = channels
        outputChannels = mode == .split ? channels : 1
        lows = Array(repeating: .max, count: outputChannels)
        highs = Array(repeating: .min, count: outputChannels)
        squares = Array(repeating: 0, count: outputChannels)
        needed = spacing.samples / spacing.points
        remainder = spacing.samples % spacing.points
        meanSquares = measuresMeanSquares ? [] : nil
        mono = channels == outputChannels ? [] : Array(repeating: 0, count: Self.blockFrames)
    }

    /// Measures interleaved frames.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` where `samples` is not whole frames, `limitExceeded` where there
    ///   would be more than ``Peaks/maximumValueCount`` values; nothing is measured then.
    public mutating func append(_ samples: Span<Int16>) throws(MediaError) {
        guard samples.count % inputChannels == 0 else {
            throw MediaError(.invalidArgument, "\(samples.count) samples are not whole frames")
        }
        try checkRoom(frames: Int64(samples.count / inputChannels))
        if inputChannels == outputChannels { return measure(samples) }

        let step = Self.blockFrames * inputChannels
        var start = 0
        while start < samples.count {
            let end = min(start + step, samples.count)
            let part = samples.extracting(start..<end)
            // Taken out while it is filled and measured, so that it is never copied.
            var block: [Int16] = []
            swap(&block, &mono)
            var blockSpan = block.mutableSpan
            if case .single(let channel) = mode {
                SampleKernels.extract(channel, of: inputChannels, from: part, into: &blockSpan)
            } else {
                SampleKernels.mix(part, channels: inputChannels, into: &blockSpan)
            }
            measure(block.span.extracting(first: (end - start) / inputChannels))
            swap(&block, &mono)
            start = end
        }
    }

    /// Measures frames of silence, in time that depends on the points and not on the frames.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` for a negative number, `limitExceeded` as ``append(_:)`` does.
    public mutating func appendSilence(frames: Int64) throws(MediaError) {
        guard frames >= 0 else { throw MediaError(.invalidArgument, "\(frames) frames of silence") }
        try checkRoom(frames: frames)
        var left = frames
        while left > 0 {
            for channel in 0..<outputChannels {
                lows[channel] = min(lows[channel], 0)
                highs[channel] = max(highs[channel], 0)
            }
            let taken = min(left, Int64(needed - filled))
            advance(Int(taken))
            left -= taken
        }
    }

    /// Writes the last, partial point and returns the peaks.
    public consuming func finish() throws(MediaError) -> Peaks {
        if filled > 0 { writePoint() }
        return try Peaks(
            sampleRate: sampleRate, spacing: spacing, channels: outputChannels, data: data, meanSquares: meanSquares)
    }

    private func checkRoom(frames: Int64) throws(MediaError) {
        let points = frames / Int64(spacing.samples / spacing.points)
        let free = Int64((Peaks.maximumValueCount - data.count) / (2 * outputChannels))
        guard points < free - 1 else {
            throw MediaError(
                .limitExceeded, "too many points at \(spacing) samples per pixel: choose a larger number")
        }
    }

    /// Measures frames that already have the channels of the peaks.
    private mutating func measure(_ samples: Span<Int16>) {
        let frames = samples.count / outputChannels
        var start = 0
        while start < frames {
            let taken = min(needed - filled, frames - start)
            let part = samples.extracting(start * outputChannels..<(start + taken) * outputChannels)
            SampleKernels.extrema(of: part, lows: &lows, highs: &highs)
            if meanSquares != nil { SampleKernels.addSquares(of: part, to: &squares) }
            advance(taken)
            start += taken
        }
    }

    private mutating func advance(_ frames: Int) {
        filled += frames
        guard filled == needed else { return }
        writePoint()
        needed = spacing.samples / spacing.points
        remainder += spacing.samples % spacing.points
        if remainder >= spacing.points {
            remainder -= spacing.points
            needed += 1
        }
    }

    private mutating func writePoint() {
        for channel in 0..<outputChannels {
            data.append(lows[channel])
            data.append(highs[channel])
            lows[channel] = .max
            highs[channel] = .min
            meanSquares?.append(Float(Double(squares[channel]) / Double(filled) / (32768 * 32768)))
            squares[channel] = 0
        }
        filled = 0
    }
}
