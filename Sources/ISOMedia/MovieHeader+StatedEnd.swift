package import MediaBase

extension MovieHeader {
    /// Where a file ends by its own word: the end of its last box, whether the file reaches that far or not.
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
        for _ in 0..<limits.topLevelBoxes {
            var reader = BigEndianReader(try source.read(at: place, count: 16))
            guard let size32 = try? reader.uint32(), let type = try? reader.fourCC(), TopLevelBoxes.isKnown(type)
            else { break }
            if size32 == 0 { return nil }
            let size = size32 == 1 ? (try? reader.uint64()) ?? 0 : UInt64(size32)
            guard size >= (size32 == 1 ? 16 : 8) else { break }
            let (end, overflow) = place.addingReportingOverflow(size)
            if overflow { return .max }
            place = end
        }
        return place > 0 ? place : nil
    }
}
