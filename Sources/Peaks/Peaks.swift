internal import Glibc
// Errors and exact numbers come with one import.
@_exported public import MediaBase

/// The minimum and maximum of consecutive spans of samples: a waveform at one zoom level.
///
/// Point `k` covers the frames from `floor(k · spacing)` up to, but not including, `floor((k + 1) · spacing)`; the last
/// point covers the remaining frames. For each point and each of its channels, ``data`` holds the minimum and then the
/// maximum, in units of ``bits`` (16: −32768…32767; 8: −128…127).
public struct Peaks: Sendable, Hashable {
    /// The number of samples per point, as a ratio in lowest terms; 48000/25 is 25 points per second at 48 kHz.
    public struct Spacing: Sendable, Hashable, Comparable, CustomStringConvertible {
        /// The number of samples per channel that ``points`` points cover.
        public let samples: Int
        /// The number of points for ``samples`` samples; 1 for a whole number of samples per point.
        public let points: Int

        /// Creates a spacing of `samples` per `points`, reduced to lowest terms.
        ///
        /// - Throws: ``MediaError`` `invalidArgument` if a point would cover less than one sample or more than 2^31 −
        ///   1, or if `points` is not in 1…2^31 − 1.
        public init(samples: Int, points: Int = 1) throws(MediaError) {
            guard points >= 1, points <= Int(Int32.max), samples >= points, samples / points <= Int(Int32.max) else {
                throw MediaError(.invalidArgument, "a point cannot cover \(samples)/\(points) samples: at least 1")
            }
            var larger = samples
            var smaller = points
            while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
            self.samples = samples / larger
            self.points = points / larger
        }

        /// Returns the number of points of a finer spacing that make exactly one of this spacing, or `nil` if it is not
        /// an integer.
        ///
        /// Point `k` of this spacing then starts at point `k` times that number of the finer spacing.
        public func multiple(of finer: Spacing) -> Int? {
            let whole = Int128(samples) * Int128(finer.points)
            let part = Int128(finer.samples) * Int128(points)
            return whole % part == 0 ? Int(exactly: whole / part) : nil
        }

        /// True if a point of `left` covers fewer samples.
        public static func < (left: Spacing, right: Spacing) -> Bool {
            Int128(left.samples) * Int128(right.points) < Int128(right.samples) * Int128(left.points)
        }

        /// The ratio as text, without a denominator of 1.
        public var description: String { points == 1 ? "\(samples)" : "\(samples)/\(points)" }
    }

    /// The maximum number of values in ``data``: 2^30.
    public static let maximumValueCount = 1 << 30

    /// The sample rate of the measured audio in frames per second, 1 or more.
    public let sampleRate: Int
    /// The number of samples per point.
    public let spacing: Spacing
    /// The number of channels in each point, 1 or more.
    public let channels: Int
    /// The resolution of the values in bits: 8 or 16.
    public let bits: Int
    /// The minimum and maximum for each channel of each point, interleaved; `length · channels · 2` values.
    public let data: [Int16]
    /// The mean square for each channel of each point, relative to full scale (0…1); `length · channels` values.
    ///
    /// Present only if requested when measuring: peaks files do not store it.
    public let meanSquares: [Float]?

    /// The number of points.
    public var length: Int { data.count / (2 * channels) }

    /// The number of samples per point as an integer, rounded down if ``spacing`` is a fraction.
    public var samplesPerPixel: Int { spacing.samples / spacing.points }

    /// Creates peaks from values.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` if a parameter is out of range, `data` or `meanSquares` do not hold
    ///   whole points, or a value does not fit in `bits`; `limitExceeded` above ``maximumValueCount``.
    public init(
        sampleRate: Int, spacing: Spacing, channels: Int, bits: Int = 16, data: [Int16], meanSquares: [Float]? = nil
    ) throws(MediaError) {
        guard sampleRate >= 1, sampleRate <= Int(Int32.max) else {
            throw MediaError(.invalidArgument, "\(sampleRate) is not a sample rate")
        }
        guard channels >= 1, channels <= 1024 else {
            throw MediaError(.invalidArgument, "peaks hold 1 to 1024 channels, not \(channels)")
        }
        guard bits == 8 || bits == 16 else {
            throw MediaError(.invalidArgument, "peaks have 8 or 16 bits, not \(bits)")
        }
        guard data.count <= Self.maximumValueCount else {
            throw MediaError(.limitExceeded, "\(data.count) values are more than peaks may hold")
        }
        guard data.count % (2 * channels) == 0, meanSquares.map({ $0.count * 2 == data.count }) ?? true else {
            throw MediaError(.invalidArgument, "\(data.count) values are not whole points of \(channels) channels")
        }
        guard bits == 16 || data.allSatisfy({ $0 >= -128 && $0 <= 127 }) else {
            throw MediaError(.invalidArgument, "a value does not fit in 8 bits")
        }
        self.init(
            sampleRate: sampleRate, spacing: spacing, channels: channels, bits: bits, checkedData: data,
            meanSquares: meanSquares)
    }

    init(
        sampleRate: Int, spacing: Spacing, channels: Int, bits: Int, checkedData data: [Int16], meanSquares: [Float]?
    ) {
        self.sampleRate = sampleRate
        self.spacing = spacing
        self.channels = channels
        self.bits = bits
        self.data = data
        self.meanSquares = meanSquares
    }

    /// Returns peaks with the same properties, except those given, and with other points, which fit them.
    private func holding(
        _ data: [Int16], spacing: Spacing? = nil, channels: Int? = nil, bits: Int? = nil, meanSquares: [Float]? = nil
    ) -> Peaks {
        Peaks(
            sampleRate: sampleRate, spacing: spacing ?? self.spacing, channels: channels ?? self.channels,
            bits: bits ?? self.bits, checkedData: data, meanSquares: meanSquares)
    }

    /// Returns the minimum and maximum of one channel over a range of points.
    @inline(__always)
    func extrema(of points: Range<Int>, channel: Int) -> (low: Int16, high: Int16) {
        var (low, high) = (Int16.max, Int16.min)
        for point in points {
            let position = (point * channels + channel) * 2
            low = min(low, data[position])
            high = max(high, data[position + 1])
        }
        return (low, high)
    }

    /// Returns the mean square of one channel over a range of points; `nil` if mean squares were not measured.
    @inline(__always)
    func meanSquare(of points: Range<Int>, channel: Int) -> Double? {
        guard let meanSquares else { return nil }
        var sum: Double = 0
        for point in points { sum += Double(meanSquares[point * channels + channel]) }
        return sum / Double(points.count)
    }

    /// Returns the minimum and maximum of one channel at one point, or `nil` if the point or channel does not exist.
    public func point(_ index: Int, channel: Int = 0) -> (minimum: Int16, maximum: Int16)? {
        guard index >= 0, index < length, channel >= 0, channel < channels else { return nil }
        let position = (index * channels + channel) * 2
        return (data[position], data[position + 1])
    }
}

extension Peaks {
    /// Returns the same peaks in another resolution.
    ///
    /// Converting from 16 to 8 bits divides by 256, truncated toward zero; from 8 to 16 bits multiplies by 256. Both
    /// match audiowaveform.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` if `bits` is neither 8 nor 16.
    public func converted(toBits bits: Int) throws(MediaError) -> Peaks {
        guard bits == 8 || bits == 16 else {
            throw MediaError(.invalidArgument, "peaks have 8 or 16 bits, not \(bits)")
        }
        if bits == self.bits { return self }
        let converted = bits == 8 ? data.map { $0 / 256 } : data.map { $0 &* 256 }
        return holding(converted, bits: bits, meanSquares: meanSquares)
    }

    /// Returns the same waveform with every `factor` points joined into one; the last point joins the remaining ones.
    ///
    /// The values equal those measured at the coarser spacing. ``meanSquares`` are the means of the joined points,
    /// which differ from measured ones only if the last point is partial.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` if `factor` is below 1 or the result is too coarse.
    public func coarser(by factor: Int) throws(MediaError) -> Peaks {
        let product = spacing.samples.multipliedReportingOverflow(by: factor)
        guard factor >= 1, !product.overflow else {
            throw MediaError(.invalidArgument, "\(factor) points cannot be joined into one")
        }
        let spacing = try Spacing(samples: product.partialValue, points: spacing.points)
        var joined: [Int16] = []
        var joinedSquares: [Float] = []
        let points = length
        joined.reserveCapacity((points / factor + 1) * channels * 2)
        var start = 0
        while start < points {
            let end = points - start > factor ? start + factor : points
            for channel in 0..<channels {
                let (low, high) = extrema(of: start..<end, channel: channel)
                joined.append(low)
                joined.append(high)
                if let mean = meanSquare(of: start..<end, channel: channel) { joinedSquares.append(Float(mean)) }
            }
            start = end
        }
        return holding(joined, spacing: spacing, meanSquares: meanSquares.map { _ in joinedSquares })
    }

    /// Returns the same waveform at a coarser spacing.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` if `coarser` is not an exact multiple of ``spacing``, because a point
    ///   would then need samples that belong to its neighbour.
    public func coarser(to coarser: Spacing) throws(MediaError) -> Peaks {
        guard let factor = coarser.multiple(of: spacing) else {
            throw MediaError(
                .invalidArgument, "\(coarser) samples per pixel is no multiple of \(spacing): measure the audio again")
        }
        return try self.coarser(by: factor)
    }
}

extension Peaks {
    /// Returns peaks with the same properties but without points.
    func emptied() -> Peaks { holding([]) }

    /// Returns the same peaks after the given values, which come first.
    ///
    /// - Throws: ``MediaError`` as ``init(sampleRate:spacing:channels:bits:data:meanSquares:)`` does.
    package func preceded(by values: [Int16]) throws(MediaError) -> Peaks {
        try Peaks(
            sampleRate: sampleRate, spacing: spacing, channels: channels, bits: bits, data: values + data)
    }

    /// Returns the same waveform in about `width` points, spread evenly over its whole length.
    ///
    /// Point `c` joins the points that column `c` of ``WaveformColumns`` covers. It may therefore include samples of
    /// its neighbours, at most as many as one of the original points covers.
    ///
    /// - Parameters:
    ///   - width: The number of points wanted; there are fewer if `frames` is smaller, and none if `frames` is 0.
    ///   - frames: The number of samples per channel that all points cover together.
    /// - Throws: ``MediaError`` `invalidArgument` if `width` is not in 1…2^24, or a point would cover too many samples.
    package func fitted(to width: Int, frames: Int64) throws(MediaError) -> Peaks {
        guard width >= 1, width <= 1 << 24 else {
            throw MediaError(.invalidArgument, "peaks cannot be fitted to \(width) points")
        }
        guard length > 0, let frames = Int(exactly: frames), frames > 0 else {
            return emptied()
        }
        let count = min(width, frames)
        let spacing = try Spacing(samples: frames, points: count)
        var joined: [Int16] = []
        joined.reserveCapacity(count * channels * 2)
        for column in 0..<count {
            let own = WaveformColumns.points(ofColumn: column, of: count, among: length)
            for channel in 0..<channels {
                let (low, high) = extrema(of: own, channel: channel)
                joined.append(low)
                joined.append(high)
            }
        }
        return holding(joined, spacing: spacing)
    }

    /// Returns the peaks of one channel, or `nil` if there is no such channel.
    package func channel(_ index: Int) -> Peaks? {
        guard (0..<channels).contains(index) else { return nil }
        var own: [Int16] = []
        own.reserveCapacity(length * 2)
        for point in stride(from: index * 2, to: data.count, by: channels * 2) {
            own.append(data[point])
            own.append(data[point + 1])
        }
        return holding(own, channels: 1)
    }

    /// Returns the points in a range, clamped to the existing points.
    package func points(_ range: Range<Int>) -> Peaks {
        let own = range.clamped(to: 0..<length)
        let width = 2 * channels
        return holding(Array(data[own.lowerBound * width..<own.upperBound * width]))
    }

    /// Returns the peak magnitude of a channel in dB relative to full scale.
    ///
    /// Returns −∞ for silence, for no points, and for a channel that does not exist.
    package func peakDBFS(channel: Int) -> Double {
        guard (0..<channels).contains(channel) else { return -.infinity }
        var largest = 0
        for point in stride(from: channel * 2, to: data.count, by: channels * 2) {
            largest = max(largest, -Int(data[point]), Int(data[point + 1]))
        }
        return 20 * log10(Double(largest) / (bits == 8 ? 128 : 32768))
    }
}
