import MediaBase

/// What a track's sample tables add up to; the tables themselves are not kept.
///
/// ISO/IEC 14496-12, 8.6.1 (stts), 8.7.3 (stsz), 8.7.5 (stco).
package struct SampleTables: Hashable, Sendable {
    /// The durations (`stts`), or `nil` where the box is absent.
    package var timeToSample: TimeToSampleSummary?

    /// How many samples have a size (`stsz` or `stz2`).
    package var sampleCount: UInt32?

    /// The first sample's length in bytes; `nil` where it is not known.
    package var firstSampleSize: UInt32?

    /// Where in the file the first chunk, and so the first sample, lies (`stco` or `co64`).
    package var firstChunkOffset: UInt64?

    /// When the sample begins that is shown first, in the media's timescale; `nil` without samples.
    package var earliestTime: Int64?

    /// When the sample begins that is shown last, in the media's timescale; `nil` without samples.
    package var latestTime: Int64?

    /// Whether samples are shown at other times than they are decoded (`ctts`).
    package var hasOffsets = false
}

/// What the durations of a track's samples add up to.
package struct TimeToSampleSummary: Hashable, Sendable {
    /// How many samples there are; does not pass the highest number.
    package var sampleCount: UInt64 = 0

    /// The sum of their durations, in the media's timescale; does not pass the highest number.
    package var duration: UInt64 = 0

    /// The shortest duration; `nil` without samples.
    package var shortest: UInt32?

    /// The shortest and longest duration before the last sample.
    private var earlier: ClosedRange<UInt32>?
    private var last: UInt32?

    /// The duration that all samples but the last have, or `nil` where they differ or there are none.
    ///
    /// Writers often give the last sample what is left of the track, or nothing.
    package var constantDeltaButLast: UInt32? {
        guard let earlier else { return last }
        return earlier.lowerBound == earlier.upperBound ? earlier.lowerBound : nil
    }

    /// When the last sample begins if the first one begins at a time; `nil` without samples.
    func start(ofLast first: Int64?) -> Int64? {
        guard let first, let last else { return nil }
        return first.addingClamped(Int64(clamping: duration)).subtractingClamped(Int64(last))
    }

    /// Counts `count` more samples of one duration.
    mutating func add(count: UInt32, delta: UInt32) {
        guard count > 0 else { return }
        sampleCount = sampleCount.addingClamped(UInt64(count))
        duration = duration.addingClamped(UInt64(count) * UInt64(delta))
        shortest = min(shortest ?? delta, delta)
        for known in [last, count > 1 ? delta : nil].compactMap(\.self) {
            earlier = min(earlier?.lowerBound ?? known, known)...max(earlier?.upperBound ?? known, known)
        }
        last = delta
    }
}

extension SampleTables {
    /// Reads what is in an `stbl` box.
    init(_ tree: BoxTree, at node: Int, reader: inout BoxReader) throws(MediaError) {
        timeToSample = try Self.timeToSample(tree.box("stts", from: node), reader: &reader)
        // A compact table (stz2) has its count in the same place.
        let sizes = tree.box("stsz", from: node) ?? tree.box("stz2", from: node)
        let counts = try reader.parse(sizes, prefix: 16) { reader throws(MediaError) in
            try reader.skip(4)
            let common = try reader.uint32()
            let count = try reader.uint32()
            let size = common > 0 ? common : try? reader.uint32()
            return (count, first: count > 0 && sizes?.type == "stsz" ? size : nil)
        }
        sampleCount = counts?.0
        firstSampleSize = counts?.first
        let short = try reader.parse(tree.box("stco", from: node), prefix: 12) { reader throws(MediaError) in
            try reader.skip(4)
            return try reader.uint32() > 0 ? UInt64(try reader.uint32()) : nil
        }
        let long = try reader.parse(tree.box("co64", from: node), prefix: 16) { reader throws(MediaError) in
            try reader.skip(4)
            return try reader.uint32() > 0 ? try reader.uint64() : nil
        }
        firstChunkOffset = (short ?? nil) ?? (long ?? nil)
        earliestTime = try SampleTimes.earliest(tree, stbl: node, reader: &reader)
        if let offsets = tree.box("ctts", from: node) { hasOffsets = try reader.entryCount(of: offsets) ?? 0 > 0 }
        guard let timeToSample else { return }
        latestTime =
            hasOffsets
            ? try SampleTimes.latest(tree, stbl: node, total: timeToSample.duration, reader: &reader)
            : timeToSample.start(ofLast: earliestTime)
    }

    private static func timeToSample(
        _ box: Box?, reader: inout BoxReader
    ) throws(MediaError) -> TimeToSampleSummary? {
        guard let box, let count = try reader.entryCount(of: box) else { return nil }
        var summary = TimeToSampleSummary()
        try reader.forEachEntry(of: box, from: 8, entrySize: 8, count: count) { entry throws(MediaError) in
            summary.add(count: try entry.uint32(), delta: try entry.uint32())
        }
        return summary
    }
}
