internal import MediaAnalysis
public import MediaBase

/// Measures the peaks of one zoom level from samples that arrive in spans of any length.
///
/// Several builders can be fed in the same pass over the audio; each stores only its own points.
///
/// ```swift
/// var builder = try PeakBuilder(
///     sampleRate: 48_000, channels: 2, spacing: Peaks.Spacing(samples: 256), mode: .mixed)
/// try builder.append(frames.span)
/// let peaks = try builder.finish()
/// ```
public struct PeakBuilder: Sendable {
    /// The selection of channels that the peaks have.
    public enum ChannelMode: Sendable, Hashable {
        /// Every channel of the audio.
        case split
        /// One channel: the sum of all channels divided by their number, truncated toward zero.
        case mixed
        /// One channel: the channel with this index, counted from 0.
        case single(Int)
    }

    private let sampleRate: Int
    private let inputChannels: Int
    private let outputChannels: Int
    private var spacing: Peaks.Spacing
    private let mode: ChannelMode

    private var lows: [Int16]
    private var highs: [Int16]
    private var squares: [UInt64]
    /// The number of frames in the current point so far, and the number it needs.
    private var filled = 0
    private var needed: Int
    /// The fraction of a sample, in units of 1/`spacing.points`, by which the next point starts early.
    private var remainder: Int

    /// The frame of the audio at which measuring started, and the current frame, both counted from the first frame.
    private let start: Int64
    private var position: Int64
    private var data: [Int16] = []
    /// The number of values that ``takePoints(atLeast:)`` has handed out.
    private var takenCount = 0
    /// The sum of squares for each channel of each point.
    private var sums: [UInt64]?
    private var mono: [Int16]

    /// The number of frames that are mixed or extracted to one channel at a time.
    private static let blockFrames = 4096

    /// Creates a builder without points.
    ///
    /// - Parameters:
    ///   - sampleRate: Frames per second, 1…2^31 − 1.
    ///   - channels: The number of interleaved channels in the input, 1…1024.
    ///   - spacing: The number of samples per point.
    ///   - mode: The channels of the peaks.
    ///   - measuresMeanSquares: True to also measure ``Peaks/meanSquares``.
    ///   - start: The number of frames of the audio that precede the input. Another builder measures their peaks, and
    ///     this builder is then appended to it.
    /// - Throws: ``MediaError`` `invalidArgument` if a parameter is out of range or the single channel does not exist.
    public init(
        sampleRate: Int, channels: Int, spacing: Peaks.Spacing, mode: ChannelMode = .mixed,
        measuresMeanSquares: Bool = false, startingAt start: Int64 = 0
    ) throws(MediaError) {
        guard (1...Int(Int32.max)).contains(sampleRate), (1...1024).contains(channels), start >= 0 else {
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
        let place = spacing.place(ofFrame: start)
        (filled, needed, remainder) = (place.filled, place.needed, place.remainder)
        self.start = start
        position = start
        sums = measuresMeanSquares ? [] : nil
        mono = channels == outputChannels ? [] : Array(repeating: 0, count: Self.blockFrames)
    }

    /// Measures interleaved frames.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` if `samples` does not hold whole frames, `limitExceeded` if there
    ///   would be more than ``Peaks/maximumValueCount`` values. Nothing is measured in either case.
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
            // Moved out while it is filled and measured, so that it is never copied.
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

    /// Measures frames of silence, in time that depends on the number of points rather than frames.
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

    /// Measures the whole points of silence that come next without storing them, in constant time.
    ///
    /// Does nothing inside a point, while points are stored, or if mean squares are measured.
    ///
    /// - Parameter frames: The minimum number of frames of silence that follow.
    /// - Returns: The number of frames measured, and the number of values of ``Peaks/data`` for them, all of which are
    ///   zero.
    /// - Throws: ``MediaError`` `limitExceeded` as ``append(_:)`` does.
    package mutating func passSilence(frames: Int64) throws(MediaError) -> (frames: Int64, values: Int) {
        guard filled == 0, data.isEmpty, sums == nil, frames > 0 else { return (0, 0) }
        try checkRoom(frames: frames)
        let last = spacing.place(ofFrame: position &+ frames)
        let points = Int(clamping: last.point - spacing.place(ofFrame: position).point)
        let passed = frames - Int64(last.filled)
        guard points > 0 else { return (0, 0) }
        position &+= passed
        let here = spacing.place(ofFrame: position)
        (filled, needed, remainder) = (here.filled, here.needed, here.remainder)
        takenCount += points * 2 * outputChannels
        return (passed, points * 2 * outputChannels)
    }

    /// Writes the last, partial point and returns the peaks.
    public consuming func finish() throws(MediaError) -> Peaks {
        let last = filled
        if filled > 0 { writePoint() }
        return try Peaks(
            sampleRate: sampleRate, spacing: spacing, channels: outputChannels, data: data,
            meanSquares: meanSquares(framesInLast: last))
    }

    private func checkRoom(frames: Int64) throws(MediaError) {
        let points = frames / Int64(spacing.samples / spacing.points)
        // Mean squares are kept in memory, and are only used for images, which have far fewer points.
        let most = sums == nil ? Peaks.maximumValueCount : Peaks.maximumValueCount / 16
        let free = Int64((most - takenCount - data.count) / (2 * outputChannels))
        guard points < free - 1 else {
            throw MediaError(
                .limitExceeded, "too many points at \(spacing) samples per pixel: choose a larger number")
        }
    }

    /// Measures frames that already have the channels of the peaks.
    private mutating func measure(_ samples: Span<Int16>) {
        if outputChannels == 1, sums == nil { return measureOne(samples) }
        let frames = samples.count / outputChannels
        var start = 0
        while start < frames {
            let taken = min(needed - filled, frames - start)
            let part = samples.extracting(start * outputChannels..<(start + taken) * outputChannels)
            SampleKernels.extrema(of: part, lows: &lows, highs: &highs)
            if sums != nil { SampleKernels.addSquares(of: part, to: &squares) }
            advance(taken)
            start += taken
        }
    }

    /// Measures one channel if only extrema are needed; points may be short, so the work per point is kept small.
    private mutating func measureOne(_ samples: Span<Int16>) {
        var (low, high) = (lows[0], highs[0])
        var start = 0
        while start < samples.count {
            let taken = min(needed - filled, samples.count - start)
            (low, high) = SampleKernels.extrema(of: samples.extracting(start..<start + taken), low: low, high: high)
            start += taken
            filled += taken
            guard filled == needed else { break }
            data.append(low)
            data.append(high)
            (low, high, filled) = (.max, .min, 0)
            prepareNextPoint()
        }
        lows[0] = low
        highs[0] = high
        position &+= Int64(samples.count)
    }

    private mutating func advance(_ frames: Int) {
        filled += frames
        position &+= Int64(frames)
        guard filled == needed else { return }
        writePoint()
        prepareNextPoint()
    }

    private mutating func prepareNextPoint() {
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
            sums?.append(squares[channel])
            squares[channel] = 0
        }
        filled = 0
    }
}

// MARK: - Parts

extension PeakBuilder {
    /// Appends the measurements of another builder for the frames that follow.
    ///
    /// The result is the same as if this builder had measured those frames itself.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` if `next` does not start at this builder's current frame or measures
    ///   something else; `limitExceeded` as ``append(_:)-(Span<Int16>)`` does. Nothing changes in either case.
    package mutating func append(_ next: PeakBuilder) throws(MediaError) {
        guard next.start == position, next.spacing == spacing, next.outputChannels == outputChannels,
            next.takenCount == 0,
            (next.sums == nil) == (sums == nil)
        else { throw MediaError(.invalidArgument, "peaks of parts that do not follow each other cannot be joined") }
        guard takenCount + data.count + next.data.count < Peaks.maximumValueCount else {
            throw MediaError(
                .limitExceeded, "too many points at \(spacing) samples per pixel: choose a larger number")
        }
        let isInside = filled > 0
        if isInside, next.data.isEmpty {
            for channel in 0..<outputChannels {
                lows[channel] = min(lows[channel], next.lows[channel])
                highs[channel] = max(highs[channel], next.highs[channel])
                squares[channel] &+= next.squares[channel]
            }
        } else {
            if isInside { join(next) }
            data += next.data.dropFirst(isInside ? 2 * outputChannels : 0)
            if let more = next.sums { sums?.append(contentsOf: more.dropFirst(isInside ? outputChannels : 0)) }
            (lows, highs, squares) = (next.lows, next.highs, next.squares)
        }
        (filled, needed, remainder) = (next.filled, next.needed, next.remainder)
        position = next.position
    }

    /// Completes the current point with the first point of the builder that continues here.
    private mutating func join(_ next: PeakBuilder) {
        for channel in 0..<outputChannels {
            data.append(min(lows[channel], next.data[channel * 2]))
            data.append(max(highs[channel], next.data[channel * 2 + 1]))
            if let sum = next.sums?[channel] { sums?.append(squares[channel] &+ sum) }
        }
    }

    /// The number of frames that the current point still needs; 0 between points.
    package var framesToNextPoint: Int64 { filled == 0 ? 0 : Int64(needed - filled) }

    /// Returns the complete points and removes them; ``finish()`` then returns only the points after them.
    ///
    /// - Parameter count: The minimum number of values to return.
    /// - Returns: The ``Peaks/data`` of these points; `nil` if there are fewer values, or if mean squares are measured.
    package mutating func takePoints(atLeast count: Int) -> [Int16]? {
        guard sums == nil, data.count >= count else { return nil }
        var taken: [Int16] = []
        swap(&taken, &data)
        // The next points are taken when there are about as many.
        data.reserveCapacity(taken.count)
        takenCount += taken.count
        return taken
    }

    /// Restores the points that ``takePoints(atLeast:)`` returned last.
    package mutating func putBack(_ points: [Int16]) {
        takenCount -= points.count
        data = points + data
    }

    /// Joins every two points into one of twice the length.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` inside a point, if the number of points is odd, if the builder did
    ///   not start at frame 0, or if points were taken.
    package mutating func coarsen() throws(MediaError) {
        let values = 2 * outputChannels
        guard filled == 0, data.count % (2 * values) == 0, start == 0, takenCount == 0 else {
            throw MediaError(.invalidArgument, "only whole pairs of points can be joined")
        }
        let wider = try Peaks.Spacing(samples: spacing.samples * 2, points: spacing.points)
        var joined: [Int16] = []
        joined.reserveCapacity(data.count)
        var joinedSums: [UInt64] = []
        for first in stride(from: 0, to: data.count, by: 2 * values) {
            for place in stride(from: first, to: first + values, by: 2) {
                joined.append(min(data[place], data[place + values]))
                joined.append(max(data[place + 1], data[place + values + 1]))
                if let sums { joinedSums.append(sums[place / 2] &+ sums[place / 2 + outputChannels]) }
            }
        }
        data = joined
        if sums != nil { sums = joinedSums }
        let points = Int128(data.count / values)
        spacing = wider
        let (samples, count) = (Int128(wider.samples), Int128(wider.points))
        needed = Int(truncatingIfNeeded: (points + 1) * samples / count - points * samples / count)
        remainder = Int(truncatingIfNeeded: (points + 1) * samples % count)
    }

    /// Returns the mean squares of all points, or `nil` if they are not measured.
    private func meanSquares(framesInLast last: Int) -> [Float]? {
        guard let sums else { return nil }
        let (samples, points) = (Int128(spacing.samples), Int128(spacing.points))
        var means: [Float] = []
        means.reserveCapacity(sums.count)
        for (place, sum) in sums.enumerated() {
            let point = place / outputChannels
            let isLast = point == sums.count / outputChannels - 1
            let whole = (Int128(point) + 1) * samples / points - Int128(point) * samples / points
            let frames = isLast && last > 0 ? last : Int(truncatingIfNeeded: whole)
            means.append(Float(Double(sum) / Double(frames) / (32768 * 32768)))
        }
        return means
    }
}

extension Peaks.Spacing {
    /// Returns the position of a frame among the points.
    ///
    /// - Returns: The point that holds the frame, the number of the point's frames before that frame, the number of
    ///   frames in the point, and the fraction of a sample, in units of 1/``points``, by which the next point starts
    ///   early.
    fileprivate func place(ofFrame frame: Int64) -> (point: Int128, filled: Int, needed: Int, remainder: Int) {
        let (samples, points) = (Int128(samples), Int128(points))
        let point = ((Int128(frame) + 1) * points - 1) / samples
        let (begin, end) = (point * samples / points, (point + 1) * samples / points)
        return (
            point, Int(truncatingIfNeeded: Int128(frame) - begin), Int(truncatingIfNeeded: end - begin),
            Int(truncatingIfNeeded: (point + 1) * samples % points)
        )
    }
}
