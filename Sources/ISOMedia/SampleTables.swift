import MediaBase

/// The totals of a track's sample tables; the tables themselves are not kept.
///
/// ISO/IEC 14496-12, 8.6.1 (stts), 8.7.3 (stsz), 8.7.5 (stco).
package struct SampleTables: Hashable, Sendable {
    /// The totals of the sample durations (`stts`), or `nil` if the box is absent.
    package var timeToSample: TimeToSampleSummary?

    /// The number of samples in the size table (`stsz` or `stz2`).
    package var sampleCount: UInt32?

    /// The first sample's size in bytes; `nil` if unknown.
    package var firstSampleSize: UInt32?

    /// The byte offset of the first chunk, and therefore of the first sample, in the file (`stco` or `co64`).
    package var firstChunkOffset: UInt64?

    /// The start time of the first sample in presentation order, in the media's timescale; `nil` without samples.
    package var earliestTime: Int64?

    /// The start time of the last sample in presentation order, in the media's timescale; `nil` without samples.
    package var latestTime: Int64?

    /// True if composition times can differ from decode times (`ctts`).
    package var hasOffsets = false
}

/// The totals of the durations of a track's samples.
package struct TimeToSampleSummary: Hashable, Sendable {
    /// The number of samples, clamped to `UInt64.max`.
    package var sampleCount: UInt64 = 0

    /// The sum of the samples' durations, in the media's timescale, clamped to `UInt64.max`.
    package var duration: UInt64 = 0

    /// The shortest duration; `nil` without samples.
    package var shortest: UInt32?

    /// The shortest and longest duration of all samples except the last.
    private var earlier: ClosedRange<UInt32>?
    private var last: UInt32?

    /// The common duration of all samples except the last, or `nil` if the durations differ or there are no samples.
    ///
    /// Writers often give the last sample the remaining duration of the track, or 0.
    package var constantDeltaButLast: UInt32? {
        guard let earlier else { return last }
        return earlier.lowerBound == earlier.upperBound ? earlier.lowerBound : nil
    }

    /// Returns the start time of the last sample, given that of the first; `nil` without samples.
    func start(ofLast first: Int64?) -> Int64? {
        guard let first, let last else { return nil }
        return first.addingClamped(Int64(clamping: duration)).subtractingClamped(Int64(last))
    }

    /// Adds `count` samples of the same duration.
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
    /// Reads the tables in an `stbl` box.
    init(_ tree: BoxTree, at node: Int, reader: inout BoxReader) throws(MediaError) {
        timeToSample = try Self.timeToSample(tree.box("stts", from: node), reader: &reader)
        // The compact table (stz2) has its count at the same offset.
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
        let chunks = tree.box("stco", from: node) ?? tree.box("co64", from: node)
        firstChunkOffset =
            try reader.parse(chunks, prefix: 16) { reader throws(MediaError) -> UInt64? in
                try reader.skip(4)
                return try reader.uint32() > 0 ? try reader.time(version: chunks?.type == "co64" ? 1 : 0) : nil
            } ?? nil
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

/// Finds the samples on screen at given media times, using a track's sample tables.
///
/// A sample's composition time is its decode time, which is the sum of the durations before it (`stts`), plus its
/// offset (`ctts`, which in practice is signed in every version). ISO/IEC 14496-12, 8.6.1.
struct SampleTimes {
    private let moments: [Int64]
    private var found: [Int64?]
    /// The remaining runs of equal durations, the next one last.
    private var durations: [(count: UInt64, delta: Int64)]
    private var decodeTime: Int64 = 0
    /// The remaining number of comparisons between a run and a moment.
    private var patience = 1 << 26

    /// The maximum number of edit start times that are looked up; edit lists rarely have more than a few.
    private static let maximumMoments = 1024
    /// The maximum number of runs of equal durations that are kept.
    private static let maximumRuns = 1 << 20

    private init(_ moments: [Int64], durations: [(count: UInt64, delta: Int64)]) {
        self.moments = moments
        found = moments.map { _ in nil }
        self.durations = durations.reversed()
    }

    /// Returns the latest composition time at or before each moment.
    ///
    /// - Parameters:
    ///   - moments: Media times, in the media's timescale.
    ///   - tree: The boxes of the movie.
    ///   - stbl: The index of `stbl` in `tree`.
    /// - Returns: The composition times by moment. Moments before the first sample are left out. The result is empty if
    ///   the tables are too large.
    static func onScreen(
        at moments: [Int64], _ tree: BoxTree, stbl: Int, reader: inout BoxReader
    ) throws(MediaError) -> [Int64: Int64] {
        let wanted = Array(Set(moments)).sorted()
        guard let latest = wanted.last, wanted.count <= maximumMoments else { return [:] }
        let offsets = tree.box("ctts", from: stbl)
        // Most edits start at the first sample, and then no earlier sample needs to be found.
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

    /// Returns the composition time of the first sample in presentation order; `nil` without samples.
    ///
    /// Reads ``maximumReordering`` samples, because no more can be decoded before the first one that is presented.
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

    /// Returns the composition time of the last sample in presentation order; `nil` without samples.
    ///
    /// Because of the offsets, this need not be the sample that is decoded last.
    ///
    /// - Parameter total: The sum of all durations.
    static func latest(
        _ tree: BoxTree, stbl: Int, total: UInt64, reader: inout BoxReader
    ) throws(MediaError) -> Int64? {
        /// Returns a table's values for the last samples, the last one first.
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

    /// The number of samples to inspect: H.264 and HEVC delay at most 16 pictures.
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

    /// Advances past samples with the same offset.
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

    /// Updates the result for each moment with a run of equally spaced samples.
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
    /// Reads the number of entries that a table declares, after its version and flags.
    mutating func entryCount(of box: Box) throws(MediaError) -> UInt32? {
        try parse(box, prefix: 8) { reader throws(MediaError) in
            try reader.skip(4)
            return try reader.uint32()
        }
    }
}
