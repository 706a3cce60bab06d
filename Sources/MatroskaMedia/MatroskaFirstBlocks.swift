package import MediaBase

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
    private static let mostElements = 2000

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
        guard elements <= Self.mostElements else { return nil }
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
