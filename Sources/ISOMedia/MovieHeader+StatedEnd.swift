package import MediaBase

extension MovieHeader {
    /// Where a file ends by its own word: the end of its last box, whether the file reaches that far or not, or of the last
    /// segment that an index (`sidx`) lists.
    ///
    /// What follows a box and is none that such a file has on its top level is left out: it may be anything.
    ///
    /// - Returns: The position behind the last box; `nil` where that is said to reach to the file's end, whatever that
    ///   is, and where the source does not begin with a box.
    /// - Throws: what the source throws.
    package static func statedEnd(
        of source: any ByteSource, limits: BoxLimits = BoxLimits()
    ) throws(MediaError) -> UInt64? {
        var place: UInt64 = 0
        var indexed: UInt64 = 0
        for _ in 0..<limits.topLevelBoxes {
            var reader = BigEndianReader(try source.read(at: place, count: 16))
            guard let size32 = try? reader.uint32(), let type = try? reader.fourCC(), TopLevelBoxes.isKnown(type)
            else { break }
            if size32 == 0 { return nil }
            let size = size32 == 1 ? (try? reader.uint64()) ?? 0 : UInt64(size32)
            guard size >= (size32 == 1 ? 16 : 8) else { break }
            let (end, overflow) = place.addingReportingOverflow(size)
            if overflow { return .max }
            if type == "sidx" {
                let content = try source.read(at: place, count: Int(clamping: min(size, longestIndex)))
                indexed = max(indexed, endOfSegments(content.dropFirst(size32 == 1 ? 16 : 8), after: end) ?? 0)
            }
            place = end
        }
        return place > 0 ? max(place, indexed) : nil
    }

    /// The longest segment index: 65535 segments of 12 bytes, and what comes before them.
    private static let longestIndex: UInt64 = 65535 * 12 + 48

    /// Where the last segment ends that an index lists (ISO/IEC 14496-12, 8.16.3); `nil` where it is cut off.
    private static func endOfSegments(_ payload: ArraySlice<UInt8>, after end: UInt64) -> UInt64? {
        var reader = BigEndianReader(Array(payload))
        func sum() throws(MediaError) -> UInt64 {
            let (version, _) = try reader.versionAndFlags()
            try reader.skip(version == 0 ? 12 : 16)
            var sum = end.addingClamped(version == 0 ? UInt64(try reader.uint32()) : try reader.uint64())
            try reader.skip(2)
            for _ in 0..<(try reader.uint16()) {
                sum = sum.addingClamped(UInt64(try reader.uint32() & 0x7FFF_FFFF))
                try reader.skip(8)
            }
            return sum
        }
        return try? sum()
    }

    /// Reports whether there is a fragment among the first boxes of a file.
    ///
    /// - Throws: what the source throws.
    package static func beginsWithFragments(_ source: any ByteSource) throws(MediaError) -> Bool {
        var place: UInt64 = 0
        for _ in 0..<16 {
            var reader = BigEndianReader(try source.read(at: place, count: 16))
            guard let size32 = try? reader.uint32(), let type = try? reader.fourCC(), TopLevelBoxes.isKnown(type)
            else { return false }
            if type == "moof" { return true }
            let size = size32 == 1 ? (try? reader.uint64()) ?? 0 : UInt64(size32)
            guard size >= 8, case let (end, overflow) = place.addingReportingOverflow(size), !overflow else {
                return false
            }
            place = end
        }
        return false
    }

    /// Reports whether the fragments that a file has end before the time at which the movie is to end (`mehd`); by half a second,
    /// since that time is rounded and may come from an edit list.
    ///
    /// - Throws: what reading the header throws.
    package static func fragmentsEndEarly(
        in source: any ByteSource, limits: BoxLimits = BoxLimits()
    ) throws(MediaError) -> Bool {
        let movie = try MovieHeader(reading: source, limits: limits)
        guard movie.areFragmentsComplete, let stated = movie.fragmentedDuration, let scale = movie.timescale, scale > 0
        else { return false }
        let ends = movie.fragments.compactMap { fragments -> Double? in
            guard let own = movie.track(id: fragments.trackID)?.media?.timescale, own > 0 else { return nil }
            return Double(fragments.endDecodeTime) / Double(own)
        }
        return (ends.max() ?? 0) + 0.5 < Double(stated) / Double(scale)
    }
}
