import MediaBase

/// One edit of a track: for how long it plays which part of the media, and how fast.
///
/// ISO/IEC 14496-12, 8.6.6 (elst).
package struct EditListEntry: Hashable, Sendable {
    /// How long the edit lasts, in the movie's timescale; 0 in a fragmented file means "to the end".
    package var segmentDuration: UInt64

    /// Where in the media it begins, in the media's timescale; −1 for an empty edit.
    package var mediaTime: Int64

    /// The rate's whole part: 1 for normal speed, 0 for a dwell on one moment.
    package var rateInteger: Int16

    /// The rate's fraction in 1/65536.
    package var rateFraction: Int16

    /// Makes an entry of its fields.
    package init(segmentDuration: UInt64, mediaTime: Int64, rateInteger: Int16 = 1, rateFraction: Int16 = 0) {
        self.segmentDuration = segmentDuration
        self.mediaTime = mediaTime
        self.rateInteger = rateInteger
        self.rateFraction = rateFraction
    }

    /// Whether nothing of the media is shown.
    package var isEmpty: Bool { mediaTime == -1 }
}

extension EditListEntry {
    /// Reads an `elst` payload: as many entries as it claims and holds.
    static func list(_ reader: inout BigEndianReader) throws(MediaError) -> [EditListEntry] {
        let (version, _) = try reader.versionAndFlags()
        try reader.expect(version: version, atMost: 1)
        let claimed = try reader.uint32()
        let held = reader.remaining / (version == 1 ? 20 : 12)
        if UInt64(claimed) > UInt64(held) { reader.note("claims \(claimed) entries and holds \(held)") }
        let count = min(Int(clamping: claimed), held)
        var entries: [EditListEntry] = []
        entries.reserveCapacity(count)
        for _ in 0..<count {
            let duration = version == 1 ? try reader.uint64() : UInt64(try reader.uint32())
            let time = version == 1 ? try reader.int64() : Int64(try reader.int32())
            entries.append(
                EditListEntry(
                    segmentDuration: duration, mediaTime: time, rateInteger: try reader.int16(),
                    rateFraction: try reader.int16()))
        }
        return entries
    }
}
