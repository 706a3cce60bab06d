internal import Glibc
public import MediaBase

/// The minimum and maximum of every stretch of samples: a waveform at one zoom level.
///
/// Point `k` covers the frames from `floor(k · spacing)` up to, not including, `floor((k + 1) · spacing)`; the last
/// point covers what is left. ``data`` holds, for each point and within it each channel, the minimum and then the
/// maximum, in units of ``bits`` (16: −32768…32767; 8: −128…127).
public struct Peaks: Sendable, Hashable {
    /// How many samples one point covers, as a ratio in lowest terms; 48000/25 is 25 points a second at 48 kHz.
    public struct Spacing: Sendable, Hashable, Comparable, CustomStringConvertible {
        /// Samples a channel over ``points`` points.
        public let samples: Int
        /// Points over ``samples`` samples; 1 for a whole number of samples a point.
        public let points: Int

        /// Makes a spacing of `samples` over `points`, reduced to lowest terms.
        ///
        /// - Throws: ``MediaError`` `invalidArgument` where a point would be shorter than one sample or longer than
        ///   2^31 − 1, or where `points` is not in 1…2^31 − 1.
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

        /// How many points of a finer spacing make exactly one of this; `nil` where no whole number does.
        ///
        /// Point `k` of this then begins where point `k` times that number of the finer one begins.
        public func multiple(of finer: Spacing) -> Int? {
            let whole = Int128(samples) * Int128(finer.points)
            let part = Int128(finer.samples) * Int128(points)
            return whole % part == 0 ? Int(exactly: whole / part) : nil
        }

        /// True where a point of `left` covers less.
        public static func < (left: Spacing, right: Spacing) -> Bool {
            Int128(left.samples) * Int128(right.points) < Int128(right.samples) * Int128(left.points)
        }

        /// The ratio as text, without a denominator of 1.
        public var description: String { points == 1 ? "\(samples)" : "\(samples)/\(points)" }
    }

    /// The most values that ``data`` may hold: 2^30.
    public static let maximumValueCount = 1 << 30

    /// Frames a second of the audio that was measured, 1 or more.
    public let sampleRate: Int
    /// How many samples a point covers.
    public let spacing: Spacing
    /// The channels of each point, 1 or more.
    public let channels: Int
    /// The resolution of the values: 8 or 16.
    public let bits: Int
    /// Minimum and maximum for each channel of each point, interleaved; `length · channels · 2` values.
    public let data: [Int16]
    /// The mean square of each channel of each point against full scale (0…1), `length · channels` values.
    ///
    /// Present only where it was asked for when measuring: peaks files do not hold it.
    public let meanSquares: [Float]?

    /// The number of points.
    public var length: Int { data.count / (2 * channels) }

    /// The whole number of samples a point, rounded down where ``spacing`` is a fraction.
    public var samplesPerPixel: Int { spacing.samples / spacing.points }

    /// Makes peaks from values.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` where a parameter is out of range, `data` or `meanSquares` do not
    ///   hold whole points, or a value does not fit in `bits`; `limitExceeded` over ``maximumValueCount``.
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

    /// The minimum and maximum of one channel at one point; `nil` outside.
    public func point(_ index: Int, channel: Int = 0) -> (minimum: Int16, maximum: Int16)? {
        guard index >= 0, index < length, channel >= 0, channel < channels else { return nil }
        let position = (index * channels + channel) * 2
        return (data[position], data[position + 1])
    }
}

extension Peaks {
    /// The same peaks in another resolution.
    ///
    /// 16 to 8 bits divides by 256 truncated toward zero, 8 to 16 multiplies by 256, both as audiowaveform does.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` where `bits` is neither 8 nor 16.
    public func converted(toBits bits: Int) throws(MediaError) -> Peaks {
        guard bits == 8 || bits == 16 else {
            throw MediaError(.invalidArgument, "peaks have 8 or 16 bits, not \(bits)")
        }
        if bits == self.bits { return self }
        let converted = bits == 8 ? data.map { $0 / 256 } : data.map { $0 &* 256 }
        return Peaks(
            sampleRate: sampleRate, spacing: spacing, channels: channels, bits: bits, checkedData: converted,
            meanSquares: meanSquares)
    }

    /// The same waveform with every `factor` points joined into one; the last one joins what is left.
    ///
    /// The values are those that measuring at the coarser spacing gives; ``meanSquares`` are the mean of the joined
    /// points, which differs only where the last point is a partial one.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` where `factor` is below 1 or the result too coarse.
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
                var low = Int16.max
                var high = Int16.min
                var squares: Double = 0
                for index in start..<end {
                    let position = index * channels + channel
                    low = min(low, data[position * 2])
                    high = max(high, data[position * 2 + 1])
                    if let meanSquares { squares += Double(meanSquares[position]) }
                }
                joined.append(low)
                joined.append(high)
                if meanSquares != nil { joinedSquares.append(Float(squares / Double(end - start))) }
            }
            start = end
        }
        return Peaks(
            sampleRate: sampleRate, spacing: spacing, channels: channels, bits: bits, checkedData: joined,
            meanSquares: meanSquares.map { _ in joinedSquares })
    }

    /// The same waveform at a coarser spacing.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` where `coarser` is not an exact multiple of ``spacing``: a point would
    ///   then need samples that its neighbour holds.
    public func coarser(to coarser: Spacing) throws(MediaError) -> Peaks {
        guard let factor = coarser.multiple(of: spacing) else {
            throw MediaError(
                .invalidArgument, "\(coarser) samples per pixel is no multiple of \(spacing): measure the audio again")
        }
        return try self.coarser(by: factor)
    }
}

extension Peaks {
    /// The same form without any points.
    func emptied() -> Peaks {
        Peaks(
            sampleRate: sampleRate, spacing: spacing, channels: channels, bits: bits, checkedData: [], meanSquares: nil)
    }

    /// The same peaks behind those of other values, which come first.
    ///
    /// - Throws: ``MediaError`` as ``init(sampleRate:spacing:channels:bits:data:meanSquares:)`` does.
    package func preceded(by values: [Int16]) throws(MediaError) -> Peaks {
        try Peaks(
            sampleRate: sampleRate, spacing: spacing, channels: channels, bits: bits, data: values + data)
    }

    /// The same waveform in about as many points as are wanted, spread evenly over all of it.
    ///
    /// Point `c` joins the points that column `c` of ``WaveformColumns`` covers, so that it may hold part of what lies
    /// next to it: at most as much as one of the points here covers.
    ///
    /// - Parameters:
    ///   - width: The points wanted; there are fewer where `frames` is less, none for no frames.
    ///   - frames: The samples in each channel that all points cover.
    /// - Throws: ``MediaError`` `invalidArgument` where `width` is not in 1…2^24, or a point would cover too much.
    package func fitted(to width: Int, frames: Int64) throws(MediaError) -> Peaks {
        guard width >= 1, width <= 1 << 24 else {
            throw MediaError(.invalidArgument, "peaks cannot be fitted to \(width) points")
        }
        guard length > 0, let frames = Int(exactly: frames), frames > 0 else {
            return Peaks(
                sampleRate: sampleRate, spacing: spacing, channels: channels, bits: bits, checkedData: [],
                meanSquares: nil)
        }
        let count = min(width, frames)
        let spacing = try Spacing(samples: frames, points: count)
        var joined: [Int16] = []
        joined.reserveCapacity(count * channels * 2)
        for column in 0..<count {
            let own = WaveformColumns.points(ofColumn: column, of: count, among: length)
            for channel in 0..<channels {
                var low = Int16.max
                var high = Int16.min
                for point in own {
                    let position = point * channels + channel
                    low = min(low, data[position * 2])
                    high = max(high, data[position * 2 + 1])
                }
                joined.append(low)
                joined.append(high)
            }
        }
        return Peaks(
            sampleRate: sampleRate, spacing: spacing, channels: channels, bits: bits, checkedData: joined,
            meanSquares: nil)
    }

    /// One channel alone; `nil` where there is no such channel.
    package func channel(_ index: Int) -> Peaks? {
        guard (0..<channels).contains(index) else { return nil }
        var own: [Int16] = []
        own.reserveCapacity(length * 2)
        for point in stride(from: index * 2, to: data.count, by: channels * 2) {
            own.append(data[point])
            own.append(data[point + 1])
        }
        return Peaks(
            sampleRate: sampleRate, spacing: spacing, channels: 1, bits: bits, checkedData: own, meanSquares: nil)
    }

    /// The points of a range; what lies outside is left out.
    package func points(_ range: Range<Int>) -> Peaks {
        let own = range.clamped(to: 0..<length)
        let width = 2 * channels
        return Peaks(
            sampleRate: sampleRate, spacing: spacing, channels: channels, bits: bits,
            checkedData: Array(data[own.lowerBound * width..<own.upperBound * width]), meanSquares: nil)
    }

    /// The largest magnitude of a channel against full scale in dB; −∞ for silence, no points or no such channel.
    package func peakDBFS(channel: Int) -> Double {
        guard (0..<channels).contains(channel) else { return -.infinity }
        var largest = 0
        for point in stride(from: channel * 2, to: data.count, by: channels * 2) {
            largest = max(largest, -Int(data[point]), Int(data[point + 1]))
        }
        return 20 * log10(Double(largest) / (bits == 8 ? 128 : 32768))
    }
}
