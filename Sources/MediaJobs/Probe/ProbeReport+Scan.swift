internal import AssetKit
package import MediaBase

/// What reading all packets of a track showed.
package struct ScanReport: Encodable, Sendable {
    /// How many packets there are.
    package var packetCount: Int
    /// How many frames they are: fewer than packets where some hold one field; `nil` for other tracks than video.
    package var frameCount: Int?
    /// Their bytes.
    package var sizeBytes: Int64
    /// How many are damaged.
    package var corruptCount: Int
    /// From the first presentation to the end of the last.
    package var timeRange: TimeRangeReport?
    /// From one presentation to the next.
    package var frameDuration: SpreadReport?
    /// Where decoding can start; of video.
    package var keyframes: KeyframesReport?
    /// Bits a second over time.
    package var bitRate: RateReport?
    /// Stretches in which nothing is presented.
    package var gaps: [TimeRangeReport]
    /// How many such stretches there are, of which the first hundred are listed.
    package var gapCount: Int

    init(_ statistics: PacketStatistics, isVideo: Bool) {
        packetCount = statistics.packetCount
        frameCount = isVideo ? statistics.frameCount : nil
        sizeBytes = statistics.byteCount
        corruptCount = statistics.corruptCount
        timeRange = statistics.range.map { TimeRangeReport($0) }
        frameDuration = SpreadReport(statistics.frameDuration)
        keyframes = statistics.keyframeCount > 0 ? KeyframesReport(statistics) : nil
        bitRate = RateReport(statistics)
        gaps = statistics.gaps.map { TimeRangeReport($0) }
        gapCount = statistics.gapCount
    }
}

/// Lengths of time.
package struct SpreadReport: Encodable, Sendable {
    /// The shortest.
    package var minimum: MediaTime
    /// The mean.
    package var average: MediaTime
    /// The longest.
    package var maximum: MediaTime

    /// The report; `nil` where there is no length.
    init?(_ spread: PacketStatistics.Spread) {
        guard let minimum = spread.minimum, let average = spread.average, let maximum = spread.maximum,
            minimum.isNumeric, average.isNumeric, maximum.isNumeric
        else { return nil }
        self.minimum = minimum
        self.average = average
        self.maximum = maximum
    }
}

/// Where decoding can start.
package struct KeyframesReport: Encodable, Sendable {
    /// How many there are.
    package var count: Int
    /// The time from one to the next.
    package var spacing: SpreadReport?
    /// The fewest frames from one to the next.
    package var minimumFrames: Int?
    /// The most frames from one to the next.
    package var maximumFrames: Int?

    init(_ statistics: PacketStatistics) {
        count = statistics.keyframeCount
        spacing = SpreadReport(statistics.keyframeSpacing)
        minimumFrames = statistics.keyframeDistance?.lowerBound
        maximumFrames = statistics.keyframeDistance?.upperBound
    }
}

/// Bits a second over time.
package struct RateReport: Encodable, Sendable {
    /// Over the whole track.
    package var average: Int64
    /// In the fullest stretch.
    package var maximum: Int64
    /// How long a stretch is, in seconds.
    package var intervalSeconds: Int
    /// In each stretch from time 0; the last one ends with the track.
    package var values: [Int64]

    /// The report; `nil` where the track has no duration.
    init?(_ statistics: PacketStatistics) {
        guard let range = statistics.range, range.duration > .zero, range.end.isNumeric else { return nil }
        func rate(_ bytes: Int64, _ seconds: Double) -> Int64 {
            Int64(exactly: (Double(bytes) * 8 / seconds).rounded()) ?? 0
        }
        let interval = statistics.rates.interval
        average = rate(statistics.byteCount, range.duration.seconds)
        intervalSeconds = interval
        let end = range.end.seconds
        values = statistics.rates.bytes.enumerated().map { place, bytes in
            // What begins just before the end is no rate of a stretch.
            let length = min(Double(interval), end - Double(place * interval))
            return rate(bytes, length > 0 ? length : Double(interval))
        }
        maximum = statistics.rates.bytes.max().map { rate($0, min(Double(interval), end > 0 ? end : 1)) } ?? 0
    }
}
