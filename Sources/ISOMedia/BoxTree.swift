package import MediaBase

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
