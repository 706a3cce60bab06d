package import MediaBase

/// The four-byte code that identifies a box, a brand, a handler, a sample format or a reference.
///
/// String literals represent the four bytes (`"moov"`, `"©nam"`); shorter literals are padded with spaces. The bytes
/// are read as ISO 8859-1, which agrees with QuickTime's Macintosh Roman on the only non-ASCII code in use, `©`.
///
/// ISO/IEC 14496-12, 4.2 (compact type).
package struct FourCC: RawRepresentable, Hashable, Sendable {
    /// The four bytes as a big-endian number.
    package let rawValue: UInt32

    /// Creates a code from its number.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The four bytes as four characters.
    ///
    /// Bytes that are not printable characters become U+FFFD, so use the text for display, not for comparison.
    package var text: String {
        var text = ""
        for shift in [24, 16, 8, 0] as [UInt32] {
            let byte = UInt8(truncatingIfNeeded: rawValue >> shift)
            let isPrintable = (0x20...0x7E).contains(byte) || byte >= 0xA0
            text.unicodeScalars.append(isPrintable ? Unicode.Scalar(byte) : "\u{FFFD}")
        }
        return text
    }
}

extension FourCC: ExpressibleByStringLiteral {
    /// Creates a code from the first four characters of a literal.
    package init(stringLiteral literal: String) {
        var value: UInt32 = 0
        var scalars = literal.unicodeScalars.makeIterator()
        for _ in 0..<4 {
            value = value << 8 | ((scalars.next() ?? " ").value & 0xFF)
        }
        self.init(rawValue: value)
    }
}

extension FourCC: CustomStringConvertible {
    /// The four characters.
    package var description: String { text }
}

/// The type and location of a box, called an atom in QuickTime.
///
/// Only the header has been read. The range is within the parent's range, whatever size the header states.
///
/// ISO/IEC 14496-12, 4.2 (Box).
package struct Box: Hashable, Sendable {
    /// The box type; `uuid` if ``userType`` identifies the box.
    package let type: FourCC

    /// The 16 bytes that identify a `uuid` box; `nil` for other boxes.
    package let userType: [UInt8]?

    /// The byte offset of the header.
    package let offset: UInt64

    /// The size of the header: 8 bytes, 16 with a 64-bit size, and 16 more for `uuid`.
    package let headerSize: UInt64

    /// The byte range after the header.
    package let payload: Range<UInt64>

    /// The byte range of the whole box, header and payload.
    package var range: Range<UInt64> { offset..<payload.upperBound }

    /// The number of bytes after the header.
    package var payloadSize: UInt64 { payload.upperBound - payload.lowerBound }
}

/// The limits of a box reader, which hold whatever a file declares.
package struct BoxLimits: Hashable, Sendable {
    /// The maximum nesting depth of boxes; deeper boxes are left out.
    package var depth = 16

    /// The maximum total number of boxes.
    package var boxes = 100_000

    /// The maximum number of boxes at the top level, where a fragmented file has several for each fragment.
    package var topLevelBoxes = 10_000

    /// The maximum size of a payload that is read into memory, in bytes.
    package var payload = 16 << 20

    /// The maximum total size of the payloads that are read into memory, in bytes.
    package var payloads = 64 << 20

    /// The maximum total size of the sample tables that are scanned, in bytes; the tables are not kept in memory.
    package var tables = 512 << 20

    /// The maximum number of warnings that are kept.
    package var warnings = 100

    /// Creates the default limits, which files of real cameras, encoders and editors do not reach.
    package init() {}

    /// Creates limits with the given number of boxes, a tenth of which may be at the top level.
    package init(_ limits: MediaLimits) {
        boxes = max(1, limits.boxes)
        topLevelBoxes = max(1, boxes / 10)
    }
}

/// The headers of a box and all boxes inside it, in breadth-first order.
///
/// The list of nodes also serves as the queue of the traversal, so the nesting of boxes in a file affects neither the
/// stack nor the order. Container boxes are recognized by type, never guessed. `stsd` and similar boxes, whose children
/// follow fields, are leaves here.
package struct BoxTree: Sendable {
    /// A box and the indexes of its children in ``BoxTree/nodes``.
    package struct Node: Hashable, Sendable {
        /// The box.
        package let box: Box

        /// The number of boxes in the tree that contain this box; 0 for the root.
        package let depth: Int

        /// The indexes of the children in the list of nodes, in file order; empty for a leaf.
        package fileprivate(set) var children: Range<Int> = 0..<0
    }

    /// All boxes in breadth-first order, starting with the root.
    package private(set) var nodes: [Node]

    /// The types whose payload is only a list of boxes.
    package static let containers: Set<FourCC> = [
        "moov", "trak", "edts", "mdia", "minf", "dinf", "stbl", "tapt", "tref", "udta", "mvex", "moof", "traf",
    ]

    /// Reads a box and everything inside it.
    ///
    /// - Parameters:
    ///   - root: The root box.
    ///   - reader: Reads the headers, within its limits on depth and number; a limit that is reached causes a warning.
    /// - Throws: Any error that the reader's source throws.
    package init(_ root: Box, reader: inout BoxReader) throws(MediaError) {
        nodes = [Node(box: root, depth: 0)]
        var place = 0
        while place < nodes.count {
            let node = nodes[place]
            if Self.containers.contains(node.box.type) {
                if node.depth < reader.limits.depth {
                    let first = nodes.count
                    for box in try reader.boxes(in: node.box.payload) {
                        nodes.append(Node(box: box, depth: node.depth + 1))
                    }
                    nodes[place].children = first..<nodes.count
                } else {
                    reader.reachLimit("boxes more than \(reader.limits.depth) deep were not read")
                }
            }
            place += 1
        }
    }

    /// Returns the index of the first child of a type, or `nil`.
    ///
    /// - Parameters:
    ///   - type: The child's type.
    ///   - node: The parent's index; with `nil` the result is `nil`, so calls can be chained.
    package func child(_ type: FourCC, of node: Int?) -> Int? {
        guard let node, nodes.indices.contains(node) else { return nil }
        return nodes[node].children.first { nodes[$0].box.type == type }
    }

    /// Returns the indexes of all children of a type, in file order.
    package func children(_ type: FourCC, of node: Int) -> [Int] {
        guard nodes.indices.contains(node) else { return [] }
        return nodes[node].children.filter { nodes[$0].box.type == type }
    }

    /// Returns the index at the end of a path of types, following the first child of each type, or `nil`.
    package func descendant(_ path: [FourCC], of node: Int) -> Int? {
        path.reduce(node as Int?) { child($1, of: $0) }
    }

    /// Returns the box at the end of a path of types, or `nil`.
    package func box(_ path: FourCC..., from node: Int = 0) -> Box? {
        descendant(path, of: node).map { nodes[$0].box }
    }

    /// Returns the direct children of a node, in file order.
    package func boxes(in node: Int?) -> [Box] {
        guard let node, nodes.indices.contains(node) else { return [] }
        return nodes[node].children.map { nodes[$0].box }
    }
}

// The fields at the start of many boxes.

extension BigEndianReader {
    /// Reads four bytes as a code.
    package mutating func fourCC() throws(MediaError) -> FourCC { FourCC(rawValue: try uint32()) }

    /// Reads the version and flags at the start of a "full box".
    ///
    /// ISO/IEC 14496-12, 4.2 (FullBox).
    package mutating func versionAndFlags() throws(MediaError) -> (version: UInt8, flags: UInt32) {
        let word = try uint32()
        return (UInt8(truncatingIfNeeded: word >> 24), word & 0xFF_FFFF)
    }

    /// Reads a time or a duration: eight bytes in version 1, four in version 0.
    ///
    /// - Returns: The number, or `nil` if all bits are set, which means that the duration is unknown.
    package mutating func duration(version: UInt8) throws(MediaError) -> UInt64? {
        let number = try time(version: version)
        return number == (version == 1 ? .max : UInt64(UInt32.max)) ? nil : number
    }

    /// Reads a time: eight bytes in version 1, four in version 0.
    mutating func time(version: UInt8) throws(MediaError) -> UInt64 {
        version == 1 ? try uint64() : UInt64(try uint32())
    }

    /// Throws if a full box's version is above the highest known one, because its layout is then unknown.
    package func expect(version: UInt8, atMost highest: UInt8) throws(MediaError) {
        guard version <= highest else { throw MediaError(.damaged, "has the unknown version \(version)") }
    }
}
