import MediaBase

/// The keys of a movie's or a track's descriptive metadata, by the vocabulary that each is of, and the values.
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

    /// The values, in file order; without those that are coded in a way that is not known, and very large ones.
    package var entries: [MetadataEntry] = []

    /// How many keys of a kind are kept.
    private static let mostKeys = 10_000
    /// No key.
    package init() {}

    /// Takes in the keys below a `moov` or `trak` box.
    mutating func read(_ tree: BoxTree, at node: Int, reader: inout BoxReader) throws(MediaError) {
        // How many more bytes of values are read; covers are large.
        var room: UInt64 = node == 0 ? 16 << 20 : 1 << 20
        let userData = tree.boxes(in: tree.child("udta", of: node))
        for box in userData.prefix(Self.mostKeys) where box.type != "meta" {
            self.userData.insert(box.type)
            // The sign © stands before all keys of texts.
            guard box.type.rawValue >> 24 == 0xA9, box.payloadSize <= room else { continue }
            room -= box.payloadSize
            entries +=
                try reader.parse(box) { reader throws(MediaError) in
                    try Self.texts(of: box.type, &reader)
                } ?? []
        }
        for box in userData + tree.boxes(in: node) where box.type == "meta" {
            try readList(box, room: &room, reader: &reader)
        }
    }

    /// Takes in the keys of a `meta` box: those that stand in `keys`, or the types of the boxes in `ilst`.
    private mutating func readList(_ meta: Box, room: inout UInt64, reader: inout BoxReader) throws(MediaError) {
        // ISO's box has a version and flags before what is in it, QuickTime's has not.
        let head = try reader.bytes(at: meta.payload.lowerBound, count: 8)
        let isISO = head.prefix(4).allSatisfy { $0 == 0 }
        let boxes = try reader.boxes(in: meta.payload.dropping(isISO ? 4 : 0))
        let list =
            try boxes.first { $0.type == "ilst" }.map { (box) throws(MediaError) in
                try reader.boxes(in: box.payload).prefix(Self.mostKeys)
            } ?? []
        if let keys = boxes.first(where: { $0.type == "keys" }) {
            let names = try reader.parse(keys, Self.names) ?? []
            named.formUnion(names)
            for item in list {
                guard let place = Int(exactly: item.type.rawValue), names.indices.contains(place - 1) else { continue }
                try readValues(
                    in: try reader.boxes(in: item.payload), of: .named(names[place - 1]), room: &room, reader: &reader)
            }
            return
        }
        for item in list {
            let parts = try reader.boxes(in: item.payload)
            guard item.type == "----" else {
                iTunes.insert(item.type)
                try readValues(in: parts, of: .iTunes(item.type), room: &room, reader: &reader)
                continue
            }
            let word = try reader.parse(parts.first { $0.type == "name" }, prefix: 1024) { reader throws(MediaError) in
                try reader.skip(4)
                return text(reader.takeRest())
            }
            guard let word else { continue }
            iTunesNames.insert(word)
            try readValues(in: parts, of: .iTunesName(word), room: &room, reader: &reader)
        }
    }

    /// Takes in the values of one key (`data`): a type, a country, a language, and the bytes.
    private mutating func readValues(
        in boxes: [Box], of key: MetadataEntry.Key, room: inout UInt64, reader: inout BoxReader
    ) throws(MediaError) {
        for box in boxes where box.type == "data" && box.payloadSize <= room {
            room -= box.payloadSize
            let entry = try reader.parse(box) { (reader) throws(MediaError) -> MetadataEntry? in
                let type = try reader.uint32()
                try reader.skip(2)
                let language = MediaLanguage(rawValue: try reader.uint16())
                // Numbers below those of packed codes are places in a list of languages.
                return MetadataEntry(
                    key: key, type: type, language: language.macintoshCode == nil ? language : nil,
                    bytes: reader.takeRest())
            }
            if let entry = entry ?? nil { entries.append(entry) }
        }
    }

    /// The texts of one key of user data, each in its language; none where one is in a Macintosh's characters.
    private static func texts(of type: FourCC, _ reader: inout BigEndianReader) throws(MediaError) -> [MetadataEntry] {
        var entries: [MetadataEntry] = []
        while reader.remaining > 4 {
            let count = Int(try reader.uint16())
            let language = MediaLanguage(rawValue: try reader.uint16())
            guard count <= reader.remaining else { return [] }
            let bytes = try reader.take(count)
            let isPlain = language.rawValue >= 0x400 && language.rawValue != 0x7FFF
            guard isPlain || bytes.allSatisfy({ $0 < 0x80 }) else { return [] }
            entries.append(MetadataEntry(key: .userText(type), value: .text(text(bytes)), language: language))
        }
        return entries
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
