import MediaBase

/// The keys of a movie's or a track's descriptive metadata, by the vocabulary that each is of; values are not read.
///
/// QuickTime File Format, "User Data Atoms" and "Metadata"; iTunes's list is the same with four-character keys.
package struct MetadataKeys: Hashable, Sendable {
    /// Four-character keys of iTunes (`udta/meta/ilst`).
    package var iTunes: Set<FourCC> = []
    /// Reverse-domain names beside iTunes's keys (`----`), by their last part, such as `iTunSMPB`.
    package var iTunesNames: Set<String> = []
    /// QuickTime's named keys (`meta/keys`), such as `com.apple.quicktime.make`.
    package var named: Set<String> = []
    /// QuickTime's user data (`udta`), such as `©nam`.
    package var userData: Set<FourCC> = []

    /// How many keys of a kind are kept.
    private static let mostKeys = 10_000

    /// No key.
    package init() {}

    /// Takes in the keys below a `moov` or `trak` box.
    mutating func read(_ tree: BoxTree, at node: Int, reader: inout BoxReader) throws(MediaError) {
        let userData = tree.boxes(in: tree.child("udta", of: node))
        for box in userData.prefix(Self.mostKeys) where box.type != "meta" { self.userData.insert(box.type) }
        for box in userData + tree.boxes(in: node) where box.type == "meta" {
            try readList(box, reader: &reader)
        }
    }

    /// Takes in the keys of a `meta` box: those that stand in `keys`, or the types of the boxes in `ilst`.
    private mutating func readList(_ meta: Box, reader: inout BoxReader) throws(MediaError) {
        // ISO's box has a version and flags before what is in it, QuickTime's has not.
        let head = try reader.bytes(at: meta.payload.lowerBound, count: 8)
        let isISO = head.prefix(4).allSatisfy { $0 == 0 }
        let boxes = try reader.boxes(in: meta.payload.dropping(isISO ? 4 : 0))
        if let keys = boxes.first(where: { $0.type == "keys" }) {
            let names = try reader.parse(keys, Self.names) ?? []
            named.formUnion(names)
            return
        }
        guard let list = boxes.first(where: { $0.type == "ilst" }) else { return }
        for item in try reader.boxes(in: list.payload).prefix(Self.mostKeys) {
            guard item.type == "----" else {
                iTunes.insert(item.type)
                continue
            }
            let name = try reader.boxes(in: item.payload).first { $0.type == "name" }
            let word = try reader.parse(name, prefix: 1024) { reader throws(MediaError) in
                try reader.skip(4)
                return text(reader.takeRest())
            }
            if let word { iTunesNames.insert(word) }
        }
    }

    /// Reads a `keys` payload: a count, then for each key its length, its namespace and its name.
    private static func names(_ reader: inout BigEndianReader) throws(MediaError) -> [String] {
        try reader.skip(4)
        var names: [String] = []
        for _ in 0..<min(Int(try reader.uint32()), mostKeys) {
            guard reader.remaining >= 8 else { break }
            let size = Int(try reader.uint32())
            try reader.skip(4)
            names.append(text(try reader.take(size - 8)))
        }
        return names
    }
}
