package import MediaBase

/// What a Matroska or WebM file says of its tracks beyond what libavformat 5.1 passes on.
///
/// The numbers are as they are written. Only headers on the way to the track list are read, and the list itself.
///
/// RFC 9559.
package struct MatroskaHeader: Hashable, Sendable {
    /// The tracks, in file order.
    package var tracks: [MatroskaTrack] = []

    /// What was damaged, one sentence each.
    package var warnings: [String] = []

    /// The longest track list that is taken into memory, in bytes.
    private static let longestList = 16 << 20
    /// How many elements are passed over on the way to it.
    private static let mostElements = 1000

    /// Reads a file's track list.
    ///
    /// - Throws: `unknownFormat` where the source does not begin with an EBML header, `damaged` where no track list is
    ///   found, and what the source throws.
    package init(reading source: any ByteSource) throws(MediaError) {
        guard let head = try Self.header(at: 0, in: source), head.id == 0x1A45DFA3, let headSize = head.size,
            headSize <= 4096
        else { throw MediaError(.unknownFormat, "the content is not Matroska") }
        let start = UInt64(head.headerSize)
        let list = try Self.trackList(in: source, from: start + headSize)
        for element in EBMLElement.list(in: list) where element.id == 0xAE {
            tracks.append(MatroskaTrack(element.children, warnings: &warnings))
        }
    }

    /// Where a file ends by its own word: the end of its first segment.
    ///
    /// - Returns: The position behind the segment's last byte; `nil` where its length is not stated, as in a live stream,
    ///   and where the source does not begin with an EBML header.
    /// - Throws: what the source throws.
    package static func statedEnd(of source: any ByteSource) throws(MediaError) -> UInt64? {
        guard let head = try header(at: 0, in: source), head.id == 0x1A45DFA3, let headSize = head.size,
            let start = sum(UInt64(head.headerSize), headSize), let segment = try header(at: start, in: source),
            segment.id == 0x18538067, let size = segment.size
        else { return nil }
        return sum(start + UInt64(segment.headerSize), size)
    }

    private static func header(at offset: UInt64, in source: any ByteSource) throws(MediaError) -> EBMLHeader? {
        EBMLHeader(try source.read(at: offset, count: EBMLHeader.longest))
    }

    /// Finds the track list among the elements of the segment; behind the clusters only where the seek head leads.
    private static func trackList(
        in source: any ByteSource, from start: UInt64
    ) throws(MediaError) -> ArraySlice<UInt8> {
        var offset = start
        var segment: UInt64?
        var tracksBySeekHead: UInt64?
        var hasJumped = false
        for _ in 0..<mostElements {
            guard let header = try header(at: offset, in: source) else { break }
            let content = offset + UInt64(header.headerSize)
            switch header.id {
            case 0x18538067 where segment == nil:
                segment = content
                offset = content
                continue
            case 0x1654AE6B:
                guard let size = header.size, size <= UInt64(longestList) else {
                    throw MediaError(.damaged, "the track list has no possible length")
                }
                return try source.read(at: content, count: Int(size))[...]
            case 0x114D9B74 where tracksBySeekHead == nil:
                let bytes = try source.read(at: content, count: Int(min(header.size ?? 0, 65_536)))
                if let segment, let place = seekPosition(of: [0x16, 0x54, 0xAE, 0x6B], in: bytes[...]) {
                    tracksBySeekHead = sum(segment, place)
                }
            // The clusters: a long way to the next element, if their length is known at all.
            case 0x1F43B675 where !hasJumped:
                if let place = tracksBySeekHead, place > offset {
                    hasJumped = true
                    offset = place
                    continue
                }
            default: break
            }
            guard let size = header.size, let next = sum(content, size), next > offset else { break }
            offset = next
        }
        throw MediaError(.damaged, "no track list was found")
    }

    private static func seekPosition(of id: [UInt8], in seekHead: ArraySlice<UInt8>) -> UInt64? {
        for entry in EBMLElement.list(in: seekHead, limit: 100) where entry.id == 0x4DBB {
            let fields = entry.children
            if fields.contains(where: { $0.id == 0x53AB && Array($0.content) == id }) {
                return fields.first { $0.id == 0x53AC }?.unsigned
            }
        }
        return nil
    }

    private static func sum(_ left: UInt64, _ right: UInt64) -> UInt64? {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? nil : sum
    }
}
