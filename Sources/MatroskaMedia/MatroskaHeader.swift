package import MediaBase

/// The number that names an EBML element, with its length marker, as the specifications write it (0x1654AE6B).
package struct EBMLID: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The one to four bytes as a big-endian number.
    package let rawValue: UInt32

    /// Makes an ID of its number.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Makes an ID of a literal.
    package init(integerLiteral value: UInt32) { rawValue = value }
}

/// An element's header: its ID and how many bytes of content follow.
///
/// RFC 8794, 4 to 6.
package struct EBMLHeader: Hashable, Sendable {
    /// What the element is.
    package let id: EBMLID

    /// The length of the content; `nil` where it is unknown and the element ends with what cannot be inside it.
    package let size: UInt64?

    /// The length of the header itself.
    package let headerSize: Int

    /// The longest that a header is: four bytes of ID and eight of size.
    package static let longest = 12

    /// Reads a header.
    ///
    /// - Returns: The header, or `nil` where the bytes cannot be one, or end too early.
    package init?(_ bytes: some Collection<UInt8>) {
        guard let (id, idLength) = Self.number(bytes, longest: 4, keepsMarker: true), let id = UInt32(exactly: id),
            let (size, sizeLength) = Self.number(bytes.dropFirst(idLength), longest: 8, keepsMarker: false)
        else { return nil }
        self.id = EBMLID(rawValue: id)
        let isUnknown = size == UInt64.max >> (64 - 7 * UInt64(sizeLength))
        self.size = isUnknown ? nil : size
        headerSize = idLength + sizeLength
    }

    /// Reads a number whose first byte's leading zeros tell its length.
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

/// One element in memory.
struct EBMLElement {
    let id: EBMLID
    let content: ArraySlice<UInt8>

    /// The elements that follow each other in `bytes`, as far as they can be followed; one that claims too much is cut.
    ///
    /// - Parameter limit: How many are looked at.
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

    /// The elements inside.
    var children: [EBMLElement] { Self.list(in: content) }

    /// An unsigned number of up to eight bytes, of which none are 0; `nil` for a longer one.
    var unsigned: UInt64? {
        content.count <= 8 ? content.reduce(0) { $0 << 8 | UInt64($1) } : nil
    }

    /// A number of four or eight bytes; `nil` for another length and what is not finite.
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

    /// Text up to its end or the first zero.
    var text: String { String(decoding: content.prefix { $0 != 0 }, as: UTF8.self) }
}

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
    private static let maximumElements = 1000

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
    package static func declaredEnd(of source: any ByteSource) throws(MediaError) -> UInt64? {
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

/// The first block of each track of a Matroska or WebM file: when it begins, and how its content begins.
///
/// Only the headers of elements and blocks are read on the way. RFC 9559, 5.1.3 (Cluster) and 10 (Block Structure).
package struct MatroskaFirstBlocks {
    /// What was found of a track.
    package struct Block: Hashable, Sendable {
        /// When it begins, in the segment's unit.
        package var ticks: Int64
        /// The beginning of its frame; empty where several frames share the block.
        package var bytes: [UInt8]
    }

    /// The blocks by the number of their track.
    package private(set) var blocks: [UInt64: Block] = [:]

    /// How many elements are passed over.
    private static let maximumElements = 2000

    private let source: any ByteSource
    private var wanted: Set<UInt64>
    private let byteCount: Int
    private var elements = 0

    /// Looks for the first blocks of tracks; those that are not found within some thousand elements are left out.
    ///
    /// - Parameters:
    ///   - tracks: The tracks' numbers.
    ///   - byteCount: How much is read of each.
    /// - Throws: what the source throws.
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

    /// A cluster whose length is not written ends where the next one begins, so all are read as one run of elements.
    private mutating func readSegment(from start: UInt64) throws(MediaError) {
        var offset = start
        var clusterTicks: Int64 = 0
        while !wanted.isEmpty, let header = try header(at: offset) {
            let content = offset + UInt64(header.headerSize)
            switch header.id {
            // A cluster, and a group of blocks: what matters lies inside.
            case 0x1F43B675, 0xA0:
                offset = content
                continue
            case 0xE7:
                guard let size = header.size, size <= 8 else { return }
                let bytes = try source.read(at: content, count: Int(size))
                clusterTicks = Int64(clamping: bytes.reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
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
        // The track's number is written as the length of an element is.
        guard let length = head.first.map({ $0.leadingZeroBitCount + 1 }), length <= 8, head.count >= length + 3 else {
            return
        }
        let mask = UInt64.max >> (64 - 7 * UInt64(length))
        let number = head.prefix(length).reduce(0 as UInt64) { $0 << 8 | UInt64($1) } & mask
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
