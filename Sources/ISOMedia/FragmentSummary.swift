import MediaBase

/// The totals of a track's movie fragments.
///
/// ISO/IEC 14496-12, 8.8 (moof, traf, tfhd, tfdt, trun).
package struct FragmentSummary: Hashable, Sendable {
    /// The track ID.
    package var trackID: UInt32

    /// The number of samples in the fragments, clamped to `UInt64.max`.
    package var sampleCount: UInt64 = 0

    /// The sum of the samples' durations, in the media's timescale, clamped to `UInt64.max`.
    ///
    /// Samples of overlapping fragments count twice. See ``extent`` for the time that the fragments span.
    package var duration: UInt64 = 0

    /// The earliest decode time at which a fragment starts, in the media's timescale.
    ///
    /// A first fragment without a decode time starts at the end of the movie's own samples. In a piece of a live
    /// stream, the start is far from 0.
    package var startDecodeTime: UInt64

    /// The latest decode time at which a fragment ends, in the media's timescale.
    package var endDecodeTime: UInt64

    /// The end times of the first and last sample of each fragment, keyed by their start times.
    ///
    /// All are decode times in the media's timescale.
    package var outerSamples: [UInt64: UInt64] = [:]

    /// The time from the earliest start of a fragment to the latest end, in the media's timescale.
    package var extent: UInt64 { endDecodeTime - min(startDecodeTime, endDecodeTime) }
}

/// Adds up the fragments of a movie, in file order.
struct FragmentScanner {
    /// The default sample durations by track ID (`trex`), for fragments that state none.
    private var defaultDurations: [UInt32: UInt32] = [:]

    /// The end times of the samples in `moov`, by track ID.
    private let movieEnds: [UInt32: UInt64]

    private var summaries: [UInt32: FragmentSummary] = [:]

    /// The totals so far, sorted by track ID.
    var result: [FragmentSummary] { summaries.values.sorted { $0.trackID < $1.trackID } }

    /// Reads the default durations from a movie's `mvex` box.
    init(_ tree: BoxTree, mvex: Int, tracks: [MovieTrack], reader: inout BoxReader) throws(MediaError) {
        let ends = tracks.map { ($0.trackID ?? 0, $0.tables?.timeToSample?.duration ?? 0) }
        movieEnds = Dictionary(ends) { first, _ in first }
        for node in tree.children("trex", of: mvex) {
            let fields = try reader.parse(tree.nodes[node].box) { reader throws(MediaError) in
                try reader.skip(4)
                let trackID = try reader.uint32()
                try reader.skip(4)
                return (trackID, duration: try reader.uint32())
            }
            if let (trackID, duration) = fields { defaultDurations[trackID] = duration }
        }
    }

    /// Adds the fragments in a `moof` box.
    mutating func add(_ moof: Box, reader: inout BoxReader) throws(MediaError) {
        let tree = try BoxTree(moof, reader: &reader)
        for traf in tree.children("traf", of: 0) {
            guard let header = try reader.parse(tree.box("tfhd", from: traf), Header.init) else { continue }
            let trackID = header.trackID
            let time = try reader.parse(tree.box("tfdt", from: traf)) { reader throws(MediaError) in
                let (version, _) = try reader.versionAndFlags()
                return try reader.time(version: version)
            }
            var end = time ?? summaries[trackID]?.endDecodeTime ?? movieEnds[trackID] ?? 0
            var summary =
                summaries[trackID]
                ?? FragmentSummary(trackID: trackID, startDecodeTime: end, endDecodeTime: end)
            summary.startDecodeTime = min(summary.startDecodeTime, end)
            let defaultDuration = header.defaultDuration ?? defaultDurations[trackID] ?? 0
            var (first, last): (UInt32?, UInt32?)
            let begin = end
            for place in tree.children("trun", of: traf) {
                let run = try Self.run(tree.nodes[place].box, defaultDuration: defaultDuration, reader: &reader)
                summary.sampleCount = summary.sampleCount.addingClamped(run.sampleCount)
                summary.duration = summary.duration.addingClamped(run.duration)
                end = end.addingClamped(run.duration)
                first = first ?? run.first
                last = run.last ?? last
            }
            if let first, first > 0 { summary.outerSamples[begin] = begin.addingClamped(UInt64(first)) }
            if let last, let start = end.subtracting(last) { summary.outerSamples[start] = end }
            if header.isEmpty { end = end.addingClamped(UInt64(defaultDuration)) }
            summary.endDecodeTime = max(summary.endDecodeTime, end)
            summaries[trackID] = summary
        }
    }

    /// Adds up a `trun` box.
    ///
    /// - Returns: The totals, and the durations of the first and last sample; these are `nil` if there are no samples.
    private static func run(
        _ box: Box, defaultDuration: UInt32, reader: inout BoxReader
    ) throws(MediaError) -> (sampleCount: UInt64, duration: UInt64, first: UInt32?, last: UInt32?) {
        let head = try reader.parse(box, prefix: 8) { reader throws(MediaError) in
            (flags: try reader.versionAndFlags().flags, count: try reader.uint32())
        }
        guard let (flags, count) = head else { return (0, 0, nil, nil) }
        let start = 8 + (flags & 0x1).nonzeroBitCount * 4 + (flags & 0x4).nonzeroBitCount * 4
        let entrySize = (flags & 0xF00).nonzeroBitCount * 4
        guard flags & 0x100 != 0 else {
            // If samples have no fields of their own, only the declared count limits their number.
            let held = entrySize == 0 ? .max : box.payload.dropping(UInt64(start)).size / UInt64(entrySize)
            let samples = min(UInt64(count), held)
            let duration = samples.multipliedClamped(by: UInt64(defaultDuration))
            let own = samples > 0 ? defaultDuration : nil
            return (samples, duration, own, own)
        }
        var samples: UInt64 = 0
        var duration: UInt64 = 0
        var (first, last): (UInt32?, UInt32?)
        try reader.forEachEntry(of: box, from: start, entrySize: entrySize, count: count) { entry throws(MediaError) in
            let own = try entry.uint32()
            duration = duration.addingClamped(UInt64(own))
            first = first ?? own
            last = own
            samples += 1
            try entry.skip(entrySize - 4)
        }
        return (samples, duration, first, last)
    }

    /// The time-related fields of a `tfhd` box.
    private struct Header {
        var trackID: UInt32
        var defaultDuration: UInt32?
        var isEmpty: Bool

        init(_ reader: inout BigEndianReader) throws(MediaError) {
            let (_, flags) = try reader.versionAndFlags()
            trackID = try reader.uint32()
            if flags & 0x1 != 0 { try reader.skip(8) }
            if flags & 0x2 != 0 { try reader.skip(4) }
            defaultDuration = flags & 0x8 != 0 ? try reader.uint32() : nil
            isEmpty = flags & 0x1_0000 != 0
        }
    }
}

extension UInt64 {
    /// Returns the difference, or `nil` if `duration` is 0 or larger than this number.
    fileprivate func subtracting(_ duration: UInt32) -> UInt64? {
        duration > 0 && self >= UInt64(duration) ? self - UInt64(duration) : nil
    }
}

extension Range<UInt64> {
    /// The number of bytes in the range.
    var size: UInt64 { upperBound - lowerBound }
}
