import MediaBase

/// What a file's segment indexes say of one stream: how far the segments reach that they list.
///
/// ISO/IEC 14496-12, 8.16.3 (sidx). In files of one track or more the stream is a track.
package struct SegmentIndex: Hashable, Sendable {
    /// The stream's number.
    package var streamID: UInt32

    /// Units a second of the times; `nil` where 0 is written.
    package var timescale: UInt32?

    /// When the first segment begins, in ``timescale``.
    package var start: UInt64

    /// When the last segment ends, in ``timescale``; does not pass the highest number.
    package var end: UInt64
}

extension SegmentIndex {
    /// Reads a `sidx` payload.
    init(_ reader: inout BigEndianReader) throws(MediaError) {
        let (version, _) = try reader.versionAndFlags()
        try reader.expect(version: version, atMost: 1)
        streamID = try reader.uint32()
        timescale = try reader.timescale()
        start = version == 1 ? try reader.uint64() : UInt64(try reader.uint32())
        try reader.skip(version == 1 ? 8 : 4)
        try reader.skip(2)
        end = start
        for _ in 0..<(try reader.uint16()) {
            // A segment's size, its duration, and where it can be entered.
            try reader.skip(4)
            end = end.addingClamped(UInt64(try reader.uint32()))
            try reader.skip(4)
        }
    }

    /// Reads all of a file's, joined by stream; one that lists others covers no more than they do.
    static func list(_ boxes: [Box], reader: inout BoxReader) throws(MediaError) -> [SegmentIndex] {
        var indexes: [SegmentIndex] = []
        for box in boxes {
            guard let index = try reader.parse(box, SegmentIndex.init) else { continue }
            let same = indexes.firstIndex { $0.streamID == index.streamID && $0.timescale == index.timescale }
            if let same {
                indexes[same].start = min(indexes[same].start, index.start)
                indexes[same].end = max(indexes[same].end, index.end)
            } else if indexes.count < mostStreams {
                indexes.append(index)
            }
        }
        return indexes
    }

    private static let mostStreams = 1000
}
