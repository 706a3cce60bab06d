package import MediaBase

/// One metadata value of a movie or a track, with its location among the boxes.
package struct MetadataEntry: Hashable, Sendable {
    /// The location and name of a value.
    package enum Key: Hashable, Sendable {
        /// A key of QuickTime's user data (`udta`), which contains only text.
        case userText(FourCC)
        /// A key of the iTunes list (`udta/meta/ilst`).
        case iTunes(FourCC)
        /// A free-form name in the iTunes list (`----`).
        case iTunesName(String)
        /// One of QuickTime's named keys (`meta/keys`), such as `com.apple.quicktime.make`.
        case named(String)
    }

    /// The location and name of the value.
    package var key: Key
    /// The value and its type.
    package var value: MetadataItem.Value
    /// The language of the value; `nil` if unspecified.
    package var language: MediaLanguage?

    /// Creates an entry from its parts.
    package init(key: Key, value: MetadataItem.Value, language: MediaLanguage? = nil) {
        self.key = key
        self.value = value
        self.language = language
    }

    /// The sizes in bytes of the integer values in the iTunes list, by key.
    private static let integers: [FourCC: Int] = [
        "cpil": 1, "pgap": 1, "hdvd": 1, "stik": 1, "rtng": 1, "pcst": 1, "tmpo": 2, "tves": 4, "tvsn": 4,
    ]
    /// The iTunes keys for "number of total" values, with the sizes of the values in bytes.
    private static let pairs: [FourCC: Int] = ["trkn": 8, "disk": 6]
}

// MARK: - From bytes

extension MetadataEntry {
    /// Creates an entry from the type and bytes of a `data` box; `nil` if the type is unknown.
    ///
    /// QuickTime File Format, "Well-known types".
    init?(key: Key, type: UInt32, language: MediaLanguage?, bytes: ArraySlice<UInt8>) {
        guard let value = Self.value(key, type, bytes) else { return nil }
        self.init(key: key, value: value, language: language)
    }

    private static func value(_ key: Key, _ type: UInt32, _ bytes: ArraySlice<UInt8>) -> MetadataItem.Value? {
        if case .iTunes(let code) = key {
            // Numbers from ID3's list of genres have no type.
            if code == "gnre" { return nil }
            if pairs[code] != nil, type == 0 { return pair(bytes) }
            if integers[code] != nil, type == 0 { return integer(bytes, isSigned: true) }
        }
        switch type {
        case 1: return .text(text(bytes))
        case 2: return .text(String(decoding: sixteenBits(bytes), as: UTF16.self))
        case 21, 65, 66, 67, 74: return integer(bytes, isSigned: true)
        case 22, 75, 76, 77, 78: return integer(bytes, isSigned: false)
        case 23 where bytes.count == 4:
            return .number(Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits(bytes)))))
        case 24 where bytes.count == 8: return .number(Double(bitPattern: bits(bytes)))
        case 0, 13, 14, 27: return .data(Array(bytes))
        default: return nil
        }
    }

    private static func bits(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    private static func sixteenBits(_ bytes: ArraySlice<UInt8>) -> [UInt16] {
        stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
    }

    /// Returns an integer as a number, or as text if `Double` cannot represent it exactly.
    private static func integer(_ bytes: ArraySlice<UInt8>, isSigned: Bool) -> MetadataItem.Value? {
        guard (1...8).contains(bytes.count) else { return nil }
        let bits = bits(bytes)
        if !isSigned { return Double(exactly: bits).map { .number($0) } ?? .text("\(bits)") }
        let shift = 64 - 8 * bytes.count
        let number = Int64(bitPattern: bits << UInt64(shift)) >> Int64(shift)
        return Double(exactly: number).map { .number($0) } ?? .text("\(number)")
    }

    /// Returns "3/12", or only the number if the total is not stated.
    private static func pair(_ bytes: ArraySlice<UInt8>) -> MetadataItem.Value? {
        guard bytes.count >= 6 else { return nil }
        let words = sixteenBits(bytes)
        return words[2] == 0 ? .number(Double(words[1])) : .text("\(words[1])/\(words[2])")
    }
}

// MARK: - To bytes

extension MetadataEntry {
    /// The well-known type and bytes of the value as stored in its location; `nil` if the location cannot hold it.
    package var coded: (type: UInt32, bytes: [UInt8])? {
        switch key {
        case .userText:
            guard let text = plainText, text.utf8.count <= Int(UInt16.max) else { return nil }
            return (1, Array(text.utf8))
        case .iTunes(let code):
            if let length = Self.pairs[code] { return pair(length) }
            if let length = Self.integers[code] { return wholeNumber.map { (21, Self.bytes($0, atLeast: length)) } }
            // The other keys hold text, except for pictures in `covr`.
            if case .data(let bytes) = value { return code == "covr" ? (Self.pictureType(bytes), bytes) : nil }
            return code == "covr" ? nil : value.text.map { (1, Array($0.utf8)) }
        case .iTunesName, .named: return free
        }
    }

    private var plainText: String? {
        if case .number = value { return nil }
        return value.text
    }

    private var wholeNumber: Int64? {
        if case .number(let number) = value { return Int64(exactly: number) }
        return value.text.flatMap { Int64($0) }
    }

    /// The type and bytes of the value for locations that accept every type.
    private var free: (type: UInt32, bytes: [UInt8]) {
        switch value {
        case .data(let bytes): return (Self.pictureType(bytes), bytes)
        case .text(let text), .date(let text), .location(let text): return (1, Array(text.utf8))
        case .number(let number):
            if let whole = Int64(exactly: number) {
                let bytes = Self.bytes(whole, atLeast: 1)
                return (bytes.count == 8 ? 74 : 21, bytes)
            }
            var bytes: [UInt8] = []
            let short = Float(number)
            if Double(short) == number {
                bytes.append(bigEndian: short.bitPattern)
                return (23, bytes)
            }
            bytes.append(bigEndian: number.bitPattern)
            return (24, bytes)
        }
    }

    private func pair(_ length: Int) -> (type: UInt32, bytes: [UInt8])? {
        guard let text = value.text else { return nil }
        let words = text.split(separator: "/", omittingEmptySubsequences: false).map { UInt16($0) }
        guard (1...2).contains(words.count), let place = words[0], let total = words.count == 2 ? words[1] : 0 else {
            return nil
        }
        var bytes: [UInt8] = [0, 0]
        bytes.append(bigEndian: place)
        bytes.append(bigEndian: total)
        return (0, bytes + [UInt8](repeating: 0, count: length - bytes.count))
    }

    private static func bytes(_ number: Int64, atLeast length: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: number)
        let fitting = [1, 2, 4, 8].first { $0 >= length && ($0 == 8 || number >> Int64(8 * $0 - 1) == number >> 63) }
        return Array(bytes.suffix(fitting ?? 8))
    }

    /// Returns the well-known type of image data: JPEG, PNG, BMP, or none.
    private static func pictureType(_ bytes: [UInt8]) -> UInt32 {
        switch PictureFileFormat(bytes) {
        case .jpeg: 13
        case .png: 14
        case .bmp: 27
        case nil: 0
        }
    }
}

/// The descriptive metadata of a movie or a track: its keys, by vocabulary, and its values.
///
/// QuickTime File Format, "User Data Atoms" and "Metadata"; the iTunes list has the same structure with four-character
/// keys.
package struct MetadataKeys: Hashable, Sendable {
    /// The four-character iTunes keys (`udta/meta/ilst`).
    package var iTunes: Set<FourCC> = []
    /// The free-form names in the iTunes list (`----`), by their last part, such as `iTunSMPB`.
    package var iTunesNames: Set<String> = []
    /// QuickTime's named keys (`meta/keys`), such as `com.apple.quicktime.make`.
    package var named: Set<String> = []
    /// QuickTime's user data keys (`udta`), such as `©nam`.
    package var userData: Set<FourCC> = []

    /// The values, in file order, except those with an unknown type and those that are too large.
    package var entries: [MetadataEntry] = []

    /// The maximum number of keys of each kind.
    private static let maximumKeys = 10_000
    /// Creates an empty set of keys.
    package init() {}

    /// Adds the keys and values in a `moov` or `trak` box.
    mutating func read(_ tree: BoxTree, at node: Int, reader: inout BoxReader) throws(MediaError) {
        // The remaining budget for values in bytes; cover images are large.
        var room: UInt64 = node == 0 ? 16 << 20 : 1 << 20
        let userData = tree.boxes(in: tree.child("udta", of: node))
        for box in userData.prefix(Self.maximumKeys) where box.type != "meta" {
            self.userData.insert(box.type)
            // All text keys start with ©.
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

    /// Adds the keys of a `meta` box: those listed in `keys`, or the types of the boxes in `ilst`.
    private mutating func readList(_ meta: Box, room: inout UInt64, reader: inout BoxReader) throws(MediaError) {
        // ISO's `meta` box starts with version and flags, QuickTime's does not.
        let head = try reader.bytes(at: meta.payload.lowerBound, count: 8)
        let isISO = head.prefix(4).allSatisfy { $0 == 0 }
        let boxes = try reader.boxes(in: meta.payload.dropping(isISO ? 4 : 0))
        let list =
            try boxes.first { $0.type == "ilst" }.map { (box) throws(MediaError) in
                try reader.boxes(in: box.payload).prefix(Self.maximumKeys)
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

    /// Adds the values of one key (`data`): a type, a country, a language, and the bytes.
    private mutating func readValues(
        in boxes: [Box], of key: MetadataEntry.Key, room: inout UInt64, reader: inout BoxReader
    ) throws(MediaError) {
        for box in boxes where box.type == "data" && box.payloadSize <= room {
            room -= box.payloadSize
            let entry = try reader.parse(box) { (reader) throws(MediaError) -> MetadataEntry? in
                let type = try reader.uint32()
                try reader.skip(2)
                let language = MediaLanguage(rawValue: try reader.uint16())
                // Numbers below those of packed codes are indexes in a list of languages.
                return MetadataEntry(
                    key: key, type: type, language: language.macintoshCode == nil ? language : nil,
                    bytes: reader.takeRest())
            }
            if let entry = entry ?? nil { entries.append(entry) }
        }
    }

    /// Reads the texts of a user data key, each with its language; none if any text uses a Macintosh character set.
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

    /// Reads a `keys` payload: a count, then for each key its size, namespace and name.
    private static func names(_ reader: inout BigEndianReader) throws(MediaError) -> [String] {
        try reader.skip(4)
        var names: [String] = []
        for _ in 0..<min(Int(try reader.uint32()), maximumKeys) {
            guard reader.remaining >= 8 else { break }
            let size = Int(try reader.uint32())
            try reader.skip(4)
            names.append(text(try reader.take(size - 8)))
        }
        return names
    }
}

/// The texts in the user data of a movie or a track.
///
/// QuickTime File Format, "User Data Atoms" (udta).
enum UserText {
    /// Returns the plain text of `name`, otherwise the first text of `©nam`; `nil` if both are missing or empty.
    static func name(in boxes: [Box], reader: inout BoxReader) throws(MediaError) -> String? {
        let bare = try reader.parse(boxes.first { $0.type == "name" }) { reader throws(MediaError) in
            text(reader.takeRest())
        }
        if let bare, !bare.isEmpty { return bare }
        return try reader.parse(boxes.first { $0.type == "©nam" }, international) ?? nil
    }

    /// Reads "international text": a length, a language and the text's bytes, once for each language.
    ///
    /// - Returns: The first text, or `nil` if it is empty.
    static func international(_ reader: inout BigEndianReader) throws(MediaError) -> String? {
        let count = try reader.uint16()
        try reader.skip(2)
        let text = text(try reader.take(min(Int(count), reader.remaining)))
        return text.isEmpty ? nil : text
    }
}

/// A chapter in a movie's user data (`udta/chpl`), as written by Nero's programs.
///
/// There is no specification. Programs agree on a version, flags, four unknown bytes (version 1), a one-byte count, and
/// for each chapter an eight-byte time and a text with a one-byte length.
package struct ChapterMark: Hashable, Sendable {
    /// The start time, in units of 100 ns.
    package var start: UInt64

    /// The title; may be empty.
    package var title: String

    /// The units of ``start`` per second.
    package static let timescale: Int32 = 10_000_000

    /// Reads a `chpl` payload, up to the first incomplete chapter.
    static func list(_ reader: inout BigEndianReader) throws(MediaError) -> [ChapterMark] {
        let (version, _) = try reader.versionAndFlags()
        if version > 0 { try reader.skip(4) }
        var marks: [ChapterMark] = []
        for _ in 0..<(try reader.uint8()) {
            guard reader.remaining >= 9 else { break }
            let start = try reader.uint64()
            let length = Int(try reader.uint8())
            // Skip a truncated chapter, because even its time may be wrong.
            guard length <= reader.remaining else { break }
            marks.append(ChapterMark(start: start, title: text(try reader.take(length))))
        }
        return marks
    }
}
