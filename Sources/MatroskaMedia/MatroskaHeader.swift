package import MediaBase

/// The ID of an EBML element, including the length marker, as the specifications write it (0x1654AE6B).
package struct EBMLID: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The one to four bytes as a big-endian number.
    package let rawValue: UInt32

    /// Creates an ID from its number.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Creates an ID from a literal.
    package init(integerLiteral value: UInt32) { rawValue = value }
}

/// The header of an element: its ID and the size of its content.
///
/// RFC 8794, 4 to 6.
package struct EBMLHeader: Hashable, Sendable {
    /// The ID of the element.
    package let id: EBMLID

    /// The size of the content; `nil` if unknown, in which case the element ends at the first one that cannot be inside
    /// it.
    package let size: UInt64?

    /// The size of the header itself.
    package let headerSize: Int

    /// The maximum size of a header: four bytes of ID and eight of size.
    package static let longest = 12

    /// Reads a header.
    ///
    /// - Returns: The header, or `nil` if the bytes are not a valid header or end too early.
    package init?(_ bytes: some Collection<UInt8>) {
        guard let (id, idLength) = Self.number(bytes, longest: 4, keepsMarker: true), let id = UInt32(exactly: id),
            let (size, sizeLength) = Self.number(bytes.dropFirst(idLength), longest: 8, keepsMarker: false)
        else { return nil }
        self.id = EBMLID(rawValue: id)
        let isUnknown = size == UInt64.max >> (64 - 7 * UInt64(sizeLength))
        self.size = isUnknown ? nil : size
        headerSize = idLength + sizeLength
    }

    /// Reads a number whose first byte's leading zero bits give its length.
    private static func number(
        _ bytes: some Collection<UInt8>, longest: Int, keepsMarker: Bool
    ) -> (value: UInt64, length: Int)? {
        guard let first = bytes.first else { return nil }
        let length = first.leadingZeroBitCount + 1
        guard length <= longest, bytes.count >= length else { return nil }
        var value = UInt64(first)
        if !keepsMarker { value &= 0xFF >> UInt64(length) }
        for byte in bytes.dropFirst().prefix(length - 1) { value = value << 8 | UInt64(byte) }
        return (value, length)
    }
}

/// An element in memory.
struct EBMLElement {
    let id: EBMLID
    let content: ArraySlice<UInt8>

    /// Returns the consecutive elements in `bytes`, up to the first unreadable one; elements that exceed `bytes` are
    /// clipped.
    ///
    /// - Parameter limit: The maximum number of elements.
    static func list(in bytes: ArraySlice<UInt8>, limit: Int = 10_000) -> [EBMLElement] {
        var elements: [EBMLElement] = []
        var rest = bytes
        while elements.count < limit, let header = EBMLHeader(rest) {
            rest = rest.dropFirst(header.headerSize)
            let size = header.size.flatMap { Int(exactly: $0) } ?? rest.count
            elements.append(EBMLElement(id: header.id, content: rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return elements
    }

    var children: [EBMLElement] { Self.list(in: content) }

    /// The content as an unsigned number; 0 if empty, `nil` if longer than eight bytes.
    var unsigned: UInt64? {
        content.count <= 8 ? content.bigEndian : nil
    }

    /// The content as a floating-point number of four or eight bytes; `nil` for other sizes and values that are not
    /// finite.
    var float: Double? {
        guard let bits = unsigned else { return nil }
        let value: Double? =
            switch content.count {
            case 4: Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
            case 8: Double(bitPattern: bits)
            default: nil
            }
        return value.flatMap { $0.isFinite ? $0 : nil }
    }

    /// The content as text, up to the first zero byte.
    var text: String { String(decoding: content.prefix { $0 != 0 }, as: UTF8.self) }
}

/// The properties of a Matroska or WebM file's tracks that libavformat 5.1 does not pass on.
///
/// The numbers are as written. Only the track list and the element headers before it are read.
///
/// RFC 9559.
package struct MatroskaHeader: Hashable, Sendable {
    /// The tracks, in file order.
    package var tracks: [MatroskaTrack] = []

    /// The damaged parts of the file, one sentence each.
    package var warnings: [String] = []

    /// The maximum size of a track list that is read into memory, in bytes.
    private static let longestList = 16 << 20
    /// The maximum number of bytes of a seek head that are read.
    static let longestSeekHead = 65_536
    /// The maximum number of elements to visit before the track list is found.
    private static let maximumElements = 1000

    /// Reads the track list of a file.
    ///
    /// - Throws: `unknownFormat` if the source does not start with an EBML header, `damaged` if no track list is found,
    ///   and any error that the source throws.
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

    /// Returns the declared end of a file, which is the end of its first segment.
    ///
    /// - Returns: The offset after the segment's last byte; `nil` if the segment's size is not stated, as in a live
    ///   stream, or if the source does not start with an EBML header.
    /// - Throws: Any error that the source throws.
    package static func declaredEnd(of source: any ByteSource) throws(MediaError) -> UInt64? {
        guard let head = try header(at: 0, in: source), head.id == 0x1A45DFA3, let headSize = head.size,
            let start = sum(UInt64(head.headerSize), headSize), let segment = try header(at: start, in: source),
            segment.id == 0x18538067, let size = segment.size
        else { return nil }
        return sum(start + UInt64(segment.headerSize), size)
    }

    static func header(at offset: UInt64, in source: any ByteSource) throws(MediaError) -> EBMLHeader? {
        EBMLHeader(try source.read(at: offset, count: EBMLHeader.longest))
    }

    /// Finds the track list in the segment, using the seek head to skip the clusters.
    private static func trackList(
        in source: any ByteSource, from start: UInt64
    ) throws(MediaError) -> ArraySlice<UInt8> {
        var offset = start
        var segment: UInt64?
        var tracksBySeekHead: UInt64?
        var hasJumped = false
        for _ in 0..<maximumElements {
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
                let bytes = try source.read(at: content, count: Int(min(header.size ?? 0, UInt64(longestSeekHead))))
                if let segment, let place = seekPosition(of: [0x16, 0x54, 0xAE, 0x6B], in: bytes[...]) {
                    tracksBySeekHead = sum(segment, place)
                }
            // Clusters are long, and their size may be unknown.
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

    static func seekPosition(of id: [UInt8], in seekHead: ArraySlice<UInt8>) -> UInt64? {
        for entry in EBMLElement.list(in: seekHead, limit: 100) where entry.id == 0x4DBB {
            let fields = entry.children
            if fields.contains(where: { $0.id == 0x53AB && Array($0.content) == id }) {
                return fields.first { $0.id == 0x53AC }?.unsigned
            }
        }
        return nil
    }

    static func sum(_ left: UInt64, _ right: UInt64) -> UInt64? {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? nil : sum
    }
}

/// The first block of each track of a Matroska or WebM file, with its start time and the start of its content.
///
/// Only the headers of elements and blocks are read on the way. RFC 9559, 5.1.3 (Cluster) and 10 (Block Structure).
package struct MatroskaFirstBlocks {
    /// The first block of one track.
    package struct Block: Hashable, Sendable {
        /// The start time, in the segment's time unit.
        package var ticks: Int64
        /// The start of the block's frame; empty if the block contains several frames.
        package var bytes: [UInt8]
    }

    /// The blocks, by track number.
    package private(set) var blocks: [UInt64: Block] = [:]

    /// The maximum number of elements to visit.
    private static let maximumElements = 2000

    private let source: any ByteSource
    private var wanted: Set<UInt64>
    private let byteCount: Int
    private var elements = 0

    /// Finds the first blocks of tracks, leaving out those that are not found within a few thousand elements.
    ///
    /// - Parameters:
    ///   - tracks: The track numbers.
    ///   - byteCount: The number of bytes to read of each block's frame.
    /// - Throws: Any error that the source throws.
    package init(of tracks: Set<UInt64>, byteCount: Int, in source: any ByteSource) throws(MediaError) {
        self.source = source
        self.byteCount = byteCount
        wanted = tracks
        guard let head = try header(at: 0), head.id == 0x1A45DFA3, let size = head.size, size <= 4096,
            case let start = UInt64(head.headerSize) + size, let segment = try header(at: start),
            segment.id == 0x18538067
        else { return }
        try readSegment(from: start + UInt64(segment.headerSize))
    }

    private mutating func header(at offset: UInt64) throws(MediaError) -> EBMLHeader? {
        elements += 1
        guard elements <= Self.maximumElements else { return nil }
        return EBMLHeader(try source.read(at: offset, count: EBMLHeader.longest))
    }

    /// Reads the elements of all clusters as one list, because a cluster of unknown size ends only at the next cluster.
    private mutating func readSegment(from start: UInt64) throws(MediaError) {
        var offset = start
        var clusterTicks: Int64 = 0
        while !wanted.isEmpty, let header = try header(at: offset) {
            let content = offset + UInt64(header.headerSize)
            switch header.id {
            // Enter clusters and block groups, whose contents are needed.
            case 0x1F43B675, 0xA0:
                offset = content
                continue
            case 0xE7:
                guard let size = header.size, size <= 8 else { return }
                let bytes = try source.read(at: content, count: Int(size))
                clusterTicks = Int64(clamping: bytes.bigEndian)
            case 0xA3, 0xA1:
                guard let size = header.size else { return }
                try readBlock(at: content, size: size, clusterTicks: clusterTicks)
            default: break
            }
            guard let size = header.size, case let (next, overflow) = content.addingReportingOverflow(size), !overflow
            else { return }
            offset = next
        }
    }

    private mutating func readBlock(at offset: UInt64, size: UInt64, clusterTicks: Int64) throws(MediaError) {
        let head = try source.read(at: offset, count: Int(min(size, 12)))
        // The track number is coded in the same way as an element's size.
        guard let length = head.first.map({ $0.leadingZeroBitCount + 1 }), length <= 8, head.count >= length + 3 else {
            return
        }
        let mask = UInt64.max >> (64 - 7 * UInt64(length))
        let number = head.prefix(length).bigEndian & mask
        guard wanted.remove(number) != nil else { return }
        let relative = Int16(truncatingIfNeeded: Int(head[length]) << 8 | Int(head[length + 1]))
        let isLaced = head[length + 2] & 0x06 != 0
        let headSize = UInt64(length + 3)
        let count = isLaced || size < headSize ? 0 : Int(min(UInt64(byteCount), size - headSize))
        let (ticks, overflow) = clusterTicks.addingReportingOverflow(Int64(relative))
        guard !overflow else { return }
        blocks[number] = Block(ticks: ticks, bytes: try source.read(at: offset + headSize, count: count))
    }
}
