internal import Glibc
package import MediaBase

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
