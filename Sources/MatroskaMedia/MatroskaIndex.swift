package import MediaBase

extension MatroskaHeader {
    /// The longest end of a file that is taken for its cues and tags.
    private static let longestIndex: UInt64 = 32 << 20

    /// Returns the range that holds what the seek head lists after the clusters, such as the cues and the tags; `nil` if it
    /// lists nothing there.
    ///
    /// - Throws: Any error that the source throws.
    package static func indexRange(of source: any ByteSource) throws(MediaError) -> Range<UInt64>? {
        guard let size = source.size, let head = try header(at: 0, in: source), head.id == 0x1A45DFA3,
            let start = sum(UInt64(head.headerSize), head.size ?? 0),
            let segment = try header(at: start, in: source), segment.id == 0x18538067,
            let content = sum(start, UInt64(segment.headerSize)),
            let first = try header(at: content, in: source), first.id == 0x114D9B74
        else { return nil }
        let list = try source.read(
            at: content + UInt64(first.headerSize), count: Int(min(first.size ?? 0, UInt64(longestSeekHead))))
        // Tracks and Info come before the clusters in every file that is not broken.
        let places = [indexIDs.cues, indexIDs.tags, indexIDs.chapters, indexIDs.attachments].compactMap { id in
            seekPosition(of: id, in: list[...]).flatMap { sum(content, $0) }
        }
        let begin = places.filter { $0 < size && $0 > content + 65_536 && size - $0 <= longestIndex }.min()
        return begin.map { $0..<size }
    }

    /// The elements that may follow the clusters.
    private static let indexIDs = (
        cues: [UInt8]([0x1C, 0x53, 0xBB, 0x6B]), tags: [UInt8]([0x12, 0x54, 0xC3, 0x67]),
        chapters: [UInt8]([0x10, 0x43, 0xA7, 0x70]), attachments: [UInt8]([0x19, 0x41, 0xA4, 0x69])
    )
}
