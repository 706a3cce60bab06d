import MediaBase

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
