package import MediaBase

/// One metadata value of a movie or a track, with its location among the boxes.
package struct MetadataEntry: Hashable, Sendable {
    /// The location and name of a value.
    package enum Key: Hashable, Sendable {
        /// A key of QuickTime's user data (`udta`), which contains only text.
        case userText(FourCC)
        /// A key of the iTunes list (`udta/meta/ilst`).
        case iTunes(FourCC)
        /// A free-form name in the iTunes list (`----`) after its meaning, such as `com.apple.iTunes.iTunSMPB`.
        case iTunesName(String)
        /// A key of user data in 3GPP and MPEG-4 files, with text in a language.
        case isoText(FourCC)
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

    /// The key as an identifier.
    package var identifier: MetadataIdentifier {
        switch key {
        case .userText(let code): MetadataIdentifier(keySpace: .quickTimeUserData, key: code.text)
        case .iTunes(let code): MetadataIdentifier(keySpace: .iTunes, key: code.text)
        case .iTunesName(let name): MetadataIdentifier(keySpace: .iTunesLongKey, key: name)
        case .named(let name): MetadataIdentifier(keySpace: .quickTimeMetadata, key: name)
        case .isoText(let code): MetadataIdentifier(keySpace: .isoUserData, key: code.text)
        }
    }

    /// The sizes in bytes of the integer values in the iTunes list, by key.
    static let integers: [FourCC: Int] = [
        "cpil": 1, "pgap": 1, "hdvd": 1, "stik": 1, "rtng": 1, "pcst": 1, "tmpo": 2, "tves": 4, "tvsn": 4,
    ]
    /// The iTunes keys for "number of total" values, with the sizes of the values in bytes.
    static let pairs: [FourCC: Int] = ["trkn": 8, "disk": 6]
}

extension MetadataEntry.Key {
    /// Creates the location for an identifier; `nil` for those of other formats, and for codes of other than four bytes.
    package init?(_ identifier: MetadataIdentifier) {
        switch identifier.keySpace {
        case .iTunesLongKey: self = .iTunesName(identifier.key)
        case .quickTimeMetadata: self = .named(identifier.key)
        case .iTunes, .quickTimeUserData, .isoUserData:
            let scalars = identifier.key.unicodeScalars
            guard scalars.count == 4, scalars.allSatisfy({ $0.value < 0x100 }) else { return nil }
            let code = FourCC(rawValue: scalars.reduce(0) { $0 << 8 | $1.value })
            switch identifier.keySpace {
            case .iTunes: self = .iTunes(code)
            case .quickTimeUserData where code.rawValue >> 24 == 0xA9: self = .userText(code)
            default: self = .isoText(code)
            }
        default: return nil
        }
    }
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
            return .float(Double(Float(bitPattern: UInt32(truncatingIfNeeded: bytes.bigEndian))))
        case 24 where bytes.count == 8: return .float(Double(bitPattern: bytes.bigEndian))
        case 0, 12, 13, 14, 27: return .data(Array(bytes))
        default: return nil
        }
    }

    private static func sixteenBits(_ bytes: ArraySlice<UInt8>) -> [UInt16] {
        stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
    }

    /// Returns an integer as a number, or as text if it exceeds 63 bits.
    private static func integer(_ bytes: ArraySlice<UInt8>, isSigned: Bool) -> MetadataItem.Value? {
        guard (1...8).contains(bytes.count) else { return nil }
        let bits = bytes.bigEndian
        if !isSigned { return Int64(exactly: bits).map { .integer($0) } ?? .text("\(bits)") }
        let shift = 64 - 8 * bytes.count
        return .integer(Int64(bitPattern: bits << UInt64(shift)) >> Int64(shift))
    }

    /// Returns "3/12", or only the number if the total is not stated.
    private static func pair(_ bytes: ArraySlice<UInt8>) -> MetadataItem.Value? {
        guard bytes.count >= 6 else { return nil }
        let words = sixteenBits(bytes)
        return words[2] == 0 ? .integer(Int64(words[1])) : .text("\(words[1])/\(words[2])")
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
            // All text keys of QuickTime start with ©.
            guard box.payloadSize <= room else { continue }
            if Self.isoTexts.contains(box.type), let entry = try Self.isoText(box, &reader) {
                room -= box.payloadSize
                entries.append(entry)
            }
            guard box.type.rawValue >> 24 == 0xA9 else { continue }
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
            func word(_ type: FourCC) throws(MediaError) -> String? {
                try reader.parse(parts.first { $0.type == type }, prefix: 1024) { reader throws(MediaError) in
                    try reader.skip(4)
                    return text(reader.takeRest())
                }
            }
            guard let name = try word("name") else { continue }
            let meaning = try word("mean") ?? "com.apple.iTunes"
            iTunesNames.insert(name)
            try readValues(in: parts, of: .iTunesName(meaning + "." + name), room: &room, reader: &reader)
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

    /// The user data of 3GPP and MPEG-4 files that is text in a language (3GPP TS 26.244, 8; `cprt`: ISO/IEC 14496-12,
    /// 8.10.2).
    static let isoTexts: Set<FourCC> = ["titl", "auth", "perf", "dscp", "gnre", "albm", "cprt"]

    /// Reads a version, flags, a language, and a text that ends with a zero; `nil` if the text is damaged or empty.
    private static func isoText(_ box: Box, _ reader: inout BoxReader) throws(MediaError) -> MetadataEntry? {
        guard box.payloadSize > 6 else { return nil }
        let entry = try reader.parse(box) { (reader) throws(MediaError) -> MetadataEntry? in
            guard try reader.uint32() == 0 else { return nil }
            let language = MediaLanguage(rawValue: try reader.uint16())
            let bytes = reader.takeRest()
            // A mark of byte order says UTF-16.
            let isWide = bytes.starts(with: [0xFE, 0xFF])
            let wide = stride(from: bytes.startIndex + 2, to: bytes.endIndex - 1, by: 2).map {
                UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
            }
            let text =
                isWide
                ? String(decoding: wide.prefix { $0 != 0 }, as: UTF16.self)
                : String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            return text.isEmpty ? nil : MetadataEntry(key: .isoText(box.type), value: .text(text), language: language)
        }
        return entry ?? nil
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

/// The language field of a media header: an ISO 639-2/T code packed into 15 bits, or an old Macintosh language number.
///
/// ISO/IEC 14496-12, 8.4.2 (mdhd); QuickTime File Format, "Language Code Values".
package struct MediaLanguage: RawRepresentable, Hashable, Sendable {
    /// The 16 bits of the field.
    package let rawValue: UInt16

    /// Creates a language from the bits of the field.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The Macintosh language number, or `nil` if the field contains a packed code or no language.
    package var macintoshCode: UInt16? { rawValue < 0x400 ? rawValue : nil }

    /// The three-letter code of ISO 639-2/T.
    ///
    /// `nil` for QuickTime's "unspecified" (0x7FFF), for bits that are not letters, and for Macintosh numbers without a
    /// code. `und` is returned as is.
    package var iso639: String? {
        if let code = macintoshCode { return Self.macintoshLanguages[code] }
        guard rawValue != 0x7FFF, rawValue < 0x8000 else { return nil }
        var text = ""
        for shift in [10, 5, 0] as [UInt16] {
            let letter = UInt8(truncatingIfNeeded: rawValue >> shift & 0x1F)
            guard (1...26).contains(letter) else { return nil }
            text.unicodeScalars.append(Unicode.Scalar(letter + 0x60))
        }
        return text
    }

    /// The ISO 639-2/T codes by Macintosh language number.
    private static let macintoshLanguages: [UInt16: String] = [
        0: "eng", 1: "fra", 2: "deu", 3: "ita", 4: "nld", 5: "swe", 6: "spa", 7: "dan", 8: "por", 9: "nor",
        10: "heb", 11: "jpn", 12: "ara", 13: "fin", 14: "ell", 15: "isl", 16: "mlt", 17: "tur", 18: "hrv", 19: "zho",
        20: "urd", 21: "hin", 22: "tha", 23: "kor", 24: "lit", 25: "pol", 26: "hun", 27: "est", 28: "lav", 29: "sme",
        30: "fao", 31: "fas", 32: "rus", 33: "zho", 34: "nld", 35: "gle", 36: "sqi", 37: "ron", 38: "ces", 39: "slk",
        40: "slv", 41: "yid", 42: "srp", 43: "mkd", 44: "bul", 45: "ukr", 46: "bel", 47: "uzb", 48: "kaz", 49: "aze",
        50: "aze", 51: "hye", 52: "kat", 53: "ron", 54: "kir", 55: "tgk", 56: "tuk", 57: "mon", 58: "mon", 59: "pus",
        60: "kur", 61: "kas", 62: "snd", 63: "bod", 64: "nep", 65: "san", 66: "mar", 67: "ben", 68: "asm", 69: "guj",
        70: "pan", 71: "ori", 72: "mal", 73: "kan", 74: "tam", 75: "tel", 76: "sin", 77: "mya", 78: "khm", 79: "lao",
        80: "vie", 81: "ind", 82: "tgl", 83: "msa", 84: "msa", 85: "amh", 86: "tir", 87: "orm", 88: "som", 89: "swa",
        90: "kin", 91: "run", 92: "nya", 93: "mlg", 94: "epo", 128: "cym", 129: "eus", 130: "cat", 131: "lat",
        132: "que", 133: "grn", 134: "aym", 135: "tat", 136: "uig", 137: "dzo", 138: "jav",
    ]
}
