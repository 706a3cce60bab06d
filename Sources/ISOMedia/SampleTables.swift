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

/// Finds the samples that are on screen at moments of a track's media, by its sample tables.
///
/// A sample's composition time is its decode time, the sum of the durations before it (`stts`), plus its offset (`ctts`,
/// which is signed in practice whatever its version says). ISO/IEC 14496-12, 8.6.1.
struct SampleTimes {
    private let moments: [Int64]
    private var found: [Int64?]
    /// The runs of equal durations that are still to be passed, the next one last.
    private var durations: [(count: UInt64, delta: Int64)]
    private var decodeTime: Int64 = 0
    /// How many more pairs of a run and a moment are looked at.
    private var patience = 1 << 26

    /// The moments of edits that are looked up at most; an edit list rarely has more than a few.
    private static let maximumMoments = 1024
    /// The runs of equal durations that are kept at most.
    private static let maximumRuns = 1 << 20

    private init(_ moments: [Int64], durations: [(count: UInt64, delta: Int64)]) {
        self.moments = moments
        found = moments.map { _ in nil }
        self.durations = durations.reversed()
    }

    /// Looks up the latest composition time that is not after each moment.
    ///
    /// - Parameters:
    ///   - moments: Times of the media, in its timescale.
    ///   - tree: The boxes of the movie.
    ///   - stbl: The place of `stbl` in it.
    /// - Returns: The times by moment; a moment before the first sample is left out, and all are where the tables are too
    ///   large.
    static func onScreen(
        at moments: [Int64], _ tree: BoxTree, stbl: Int, reader: inout BoxReader
    ) throws(MediaError) -> [Int64: Int64] {
        let wanted = Array(Set(moments)).sorted()
        guard let latest = wanted.last, wanted.count <= maximumMoments else { return [:] }
        let offsets = tree.box("ctts", from: stbl)
        // Most edits begin with the first sample: then nothing before it needs to be looked for.
        if latest <= (try earliest(tree, stbl: stbl, reader: &reader) ?? .max) { return [:] }
        guard let runs = try durations(tree.box("stts", from: stbl), reader: &reader) else { return [:] }
        var times = SampleTimes(wanted, durations: runs)
        if let offsets, let count = try reader.entryCount(of: offsets) {
            try reader.forEachEntry(of: offsets, from: 8, entrySize: 8, count: count) { entry throws(MediaError) in
                times.add(count: UInt64(try entry.uint32()), offset: Int64(try entry.int32()))
            }
        } else {
            times.add(count: .max, offset: 0)
        }
        guard times.patience > 0 else { return [:] }
        return Dictionary(
            uniqueKeysWithValues: zip(wanted, times.found).compactMap { moment, time in time.map { (moment, $0) } })
    }

    /// When the picture or sound begins that is shown first; `nil` without samples.
    ///
    /// Pictures that are decoded after the first one and shown before it are at most ``maximumReordering``.
    static func earliest(_ tree: BoxTree, stbl: Int, reader: inout BoxReader) throws(MediaError) -> Int64? {
        func head(_ type: FourCC) throws(MediaError) -> [(count: UInt32, value: Int64)]? {
            try reader.parse(tree.box(type, from: stbl), prefix: 8 + 8 * maximumReordering) {
                reader throws(MediaError) in
                try reader.skip(4)
                let count = min(Int(clamping: try reader.uint32()), maximumReordering)
                var runs: [(count: UInt32, value: Int64)] = []
                while runs.count < count, reader.remaining >= 8 {
                    runs.append((try reader.uint32(), Int64(try reader.int32())))
                }
                return runs
            }
        }
        guard let durations = try head("stts"), durations.contains(where: { $0.count > 0 }) else { return nil }
        guard let offsets = try head("ctts"), offsets.contains(where: { $0.count > 0 }) else { return 0 }
        func first(_ runs: [(count: UInt32, value: Int64)]) -> [Int64] {
            Array(
                runs.flatMap { repeatElement($0.value, count: min(Int($0.count), maximumReordering)) }.prefix(
                    maximumReordering))
        }
        var decodeTime: Int64 = 0
        var earliest: Int64?
        for (offset, duration) in zip(first(offsets), first(durations)) {
            earliest = min(earliest ?? .max, decodeTime + offset)
            decodeTime += max(0, duration)
        }
        return earliest
    }

    /// When the sample begins that is shown last, where offsets may put others behind the one that is decoded last; `nil`
    /// without samples.
    ///
    /// - Parameter total: The sum of all durations.
    static func latest(
        _ tree: BoxTree, stbl: Int, total: UInt64, reader: inout BoxReader
    ) throws(MediaError) -> Int64? {
        /// What a table says of the last samples, the last one first.
        func tail(_ type: FourCC) throws(MediaError) -> [Int64] {
            guard let box = tree.box(type, from: stbl), let claimed = try reader.entryCount(of: box) else { return [] }
            let held = (max(8, box.payloadSize) - 8) / 8
            let count = UInt32(clamping: min(UInt64(claimed), held))
            let wanted = min(count, UInt32(maximumReordering))
            var values: [Int64] = []
            try reader.forEachEntry(of: box, from: 8 + 8 * Int(count - wanted), entrySize: 8, count: wanted) {
                entry throws(MediaError) in
                let samples = min(Int(clamping: try entry.uint32()), maximumReordering)
                values += repeatElement(Int64(try entry.int32()), count: samples)
            }
            return values.suffix(maximumReordering).reversed()
        }
        let (durations, offsets) = (try tail("stts"), try tail("ctts"))
        var decodeTime = Int64(clamping: total)
        var latest: Int64?
        for (place, duration) in durations.enumerated() {
            decodeTime = decodeTime.subtractingClamped(max(0, duration))
            let offset = offsets.indices.contains(place) ? offsets[place] : 0
            latest = max(latest ?? .min, decodeTime.addingClamped(offset))
        }
        return latest
    }

    /// H.264 and HEVC hold back 16 pictures at most.
    private static let maximumReordering = 17

    private static func durations(
        _ box: Box?, reader: inout BoxReader
    ) throws(MediaError) -> [(count: UInt64, delta: Int64)]? {
        guard let box, let count = try reader.entryCount(of: box), count <= maximumRuns else { return nil }
        var runs: [(count: UInt64, delta: Int64)] = []
        try reader.forEachEntry(of: box, from: 8, entrySize: 8, count: count) { entry throws(MediaError) in
            runs.append((UInt64(try entry.uint32()), Int64(try entry.uint32())))
        }
        return runs
    }

    /// Passes some samples with the same offset.
    private mutating func add(count: UInt64, offset: Int64) {
        var left = count
        while left > 0, let run = durations.last, patience > 0 {
            let taken = min(left, run.count)
            if taken > 0 { note(decodeTime.addingClamped(offset), samples: taken, apart: run.delta) }
            let passed = Int64(clamping: taken).multipliedClamped(by: run.delta)
            decodeTime = decodeTime.addingClamped(passed)
            left -= taken
            durations[durations.count - 1].count -= taken
            if run.count == taken { durations.removeLast() }
        }
    }

    /// Notes samples that follow each other at equal distances.
    private mutating func note(_ first: Int64, samples: UInt64, apart delta: Int64) {
        patience -= moments.count
        for (place, moment) in moments.enumerated() where moment >= first {
            var time = first
            if delta > 0 {
                let (distance, overflow) = moment.subtractingReportingOverflow(first)
                let steps = overflow ? 0 : min(UInt64(distance / delta), samples - 1)
                time = first.addingClamped(Int64(clamping: steps).multipliedClamped(by: delta))
            }
            found[place] = max(found[place] ?? time, time)
        }
    }
}

extension BoxReader {
    /// How many entries a table claims, after its version and flags.
    mutating func entryCount(of box: Box) throws(MediaError) -> UInt32? {
        try parse(box, prefix: 8) { reader throws(MediaError) in
            try reader.skip(4)
            return try reader.uint32()
        }
    }
}
