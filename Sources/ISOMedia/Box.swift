package import MediaBase

/// The four-byte code that names a box, a brand, a handler, a sample format or a reference.
///
/// String literals stand for the four bytes (`"moov"`, `"©nam"`); a shorter literal is filled with blanks. The bytes
/// are read as ISO 8859-1, which agrees with QuickTime's Macintosh Roman on the one code in use above ASCII, `©`.
///
/// ISO/IEC 14496-12, 4.2 (compact type).
package struct FourCC: RawRepresentable, Hashable, Sendable {
    /// The four bytes as one big-endian number.
    package let rawValue: UInt32

    /// Makes a code from its number.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The four bytes as four characters.
    ///
    /// A byte that is no printable character shows as U+FFFD, so the text is for people, not for comparing.
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
    /// Makes a code from the first four characters of a literal.
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

/// One box (QuickTime: atom): its type and where it lies in the source.
///
/// Only the header has been read. The range is inside the parent's, whatever the header said.
///
/// ISO/IEC 14496-12, 4.2 (Box).
package struct Box: Hashable, Sendable {
    /// The type; `uuid` where ``userType`` tells.
    package let type: FourCC

    /// The sixteen bytes that name a `uuid` box; `nil` for others.
    package let userType: [UInt8]?

    /// Where the header begins.
    package let offset: UInt64

    /// The header's length: 8, with a 64-bit size 16, and 16 more for `uuid`.
    package let headerSize: UInt64

    /// Where what follows the header lies.
    package let payload: Range<UInt64>

    /// Where the whole box lies, header and payload.
    package var range: Range<UInt64> { offset..<payload.upperBound }

    /// The number of bytes after the header.
    package var payloadSize: UInt64 { payload.upperBound - payload.lowerBound }
}

/// What a box reader will not go beyond, whatever a file says.
package struct BoxLimits: Hashable, Sendable {
    /// How deep boxes may lie in each other; deeper ones are left out.
    package var depth = 16

    /// How many boxes are looked at in all.
    package var boxes = 100_000

    /// How many boxes are looked at on the top level, where a fragmented file has some for each fragment.
    package var topLevelBoxes = 10_000

    /// The largest payload that is taken into memory, in bytes.
    package var payload = 16 << 20

    /// How many bytes of payloads are taken into memory in all.
    package var payloads = 64 << 20

    /// How many bytes of sample tables are passed through in all; of these nothing is kept.
    package var tables = 512 << 20

    /// How many warnings are kept.
    package var warnings = 100

    /// The limits that a file of a real camera, encoder or editor stays within.
    package init() {}

    /// The limits in which the number of boxes is set; a tenth of them may lie on the top level.
    package init(_ limits: MediaLimits) {
        boxes = max(1, limits.boxes)
        topLevelBoxes = max(1, boxes / 10)
    }
}

/// The headers of a box and of all boxes in it, found level by level.
///
/// The list of nodes is itself the queue of the walk, so neither the stack nor the order depends on how boxes are
/// nested in a file. Which boxes hold boxes is known by type and never guessed; `stsd` and the like, whose children
/// come after fields, are leaves here.
package struct BoxTree: Sendable {
    /// A box and where its children stand in ``BoxTree/nodes``.
    package struct Node: Hashable, Sendable {
        /// The box.
        package let box: Box

        /// How many boxes hold it within the tree; 0 for the root.
        package let depth: Int

        /// Its children's places in the list of nodes, in file order; empty for a leaf.
        package fileprivate(set) var children: Range<Int> = 0..<0
    }

    /// All boxes, the root first, then level by level.
    package private(set) var nodes: [Node]

    /// The types whose payload is a list of boxes and nothing else.
    package static let containers: Set<FourCC> = [
        "moov", "trak", "edts", "mdia", "minf", "dinf", "stbl", "tapt", "tref", "udta", "mvex", "moof", "traf",
    ]

    /// Walks a box and everything in it.
    ///
    /// - Parameters:
    ///   - root: The box to begin with.
    ///   - reader: Reads the headers; its limits on depth and number hold, with a warning where they cut something off.
    /// - Throws: What the reader's source throws.
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

    /// The place of the first child of a type, or `nil`.
    ///
    /// - Parameters:
    ///   - type: The child's type.
    ///   - node: The parent's place; `nil` gives `nil`, so that paths can be chained.
    package func child(_ type: FourCC, of node: Int?) -> Int? {
        guard let node, nodes.indices.contains(node) else { return nil }
        return nodes[node].children.first { nodes[$0].box.type == type }
    }

    /// The places of all children of a type, in file order.
    package func children(_ type: FourCC, of node: Int) -> [Int] {
        guard nodes.indices.contains(node) else { return [] }
        return nodes[node].children.filter { nodes[$0].box.type == type }
    }

    /// The place that a path of types leads to from a node, always by the first child of each type, or `nil`.
    package func descendant(_ path: [FourCC], of node: Int) -> Int? {
        path.reduce(node as Int?) { child($1, of: $0) }
    }

    /// The box that a path of types leads to from a node, or `nil`.
    package func box(_ path: FourCC..., from node: Int = 0) -> Box? {
        descendant(path, of: node).map { nodes[$0].box }
    }

    /// The boxes directly in a node, in file order.
    package func boxes(in node: Int?) -> [Box] {
        guard let node, nodes.indices.contains(node) else { return [] }
        return nodes[node].children.map { nodes[$0].box }
    }
}

// The fields that many boxes begin with.

extension BigEndianReader {
    /// Takes four bytes as a code.
    package mutating func fourCC() throws(MediaError) -> FourCC { FourCC(rawValue: try uint32()) }

    /// Takes the version and the flags that open a "full box".
    ///
    /// ISO/IEC 14496-12, 4.2 (FullBox).
    package mutating func versionAndFlags() throws(MediaError) -> (version: UInt8, flags: UInt32) {
        let word = try uint32()
        return (UInt8(truncatingIfNeeded: word >> 24), word & 0xFF_FFFF)
    }

    /// Takes a time or a duration: eight bytes in version 1, four in version 0.
    ///
    /// - Returns: The number, or `nil` where all bits are set, which stands for "not known".
    package mutating func duration(version: UInt8) throws(MediaError) -> UInt64? {
        if version == 1 {
            let long = try uint64()
            return long == .max ? nil : long
        }
        let short = try uint32()
        return short == .max ? nil : UInt64(short)
    }

    /// Throws where a full box's version is above the highest that is known, because its layout is not.
    package func expect(version: UInt8, atMost highest: UInt8) throws(MediaError) {
        guard version <= highest else { throw MediaError(.damaged, "has the unknown version \(version)") }
    }
}
