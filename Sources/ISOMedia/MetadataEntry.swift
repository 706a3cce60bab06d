package import MediaBase

/// One value of a movie's or a track's metadata, with the place among the boxes where it stands.
package struct MetadataEntry: Hashable, Sendable {
    /// Where a value stands, and under which name.
    package enum Key: Hashable, Sendable {
        /// QuickTime's user data (`udta`), which is text alone.
        case userText(FourCC)
        /// The list of iTunes (`udta/meta/ilst`).
        case iTunes(FourCC)
        /// A free name in that list (`----`).
        case iTunesName(String)
        /// QuickTime's named keys (`meta/keys`), such as `com.apple.quicktime.make`.
        case named(String)
    }

    /// Where it stands.
    package var key: Key
    /// The value, with its type.
    package var value: MetadataItem.Value
    /// The language of the value; `nil` for none in particular.
    package var language: MediaLanguage?

    /// Makes an entry from its parts.
    package init(key: Key, value: MetadataItem.Value, language: MediaLanguage? = nil) {
        self.key = key
        self.value = value
        self.language = language
    }

    /// How many bytes whole numbers have in the list of iTunes, by its keys for such.
    private static let integers: [FourCC: Int] = [
        "cpil": 1, "pgap": 1, "hdvd": 1, "stik": 1, "rtng": 1, "pcst": 1, "tmpo": 2, "tves": 4, "tvsn": 4,
    ]
    /// The keys of iTunes for "this one of so many", with the length of their values.
    private static let pairs: [FourCC: Int] = ["trkn": 8, "disk": 6]
}

// MARK: - From bytes

extension MetadataEntry {
    /// An entry from a `data` box's type and bytes; `nil` where the type is not known.
    ///
    /// QuickTime File Format, "Well-known types".
    init?(key: Key, type: UInt32, language: MediaLanguage?, bytes: ArraySlice<UInt8>) {
        guard let value = Self.value(key, type, bytes) else { return nil }
        self.init(key: key, value: value, language: language)
    }

    private static func value(_ key: Key, _ type: UInt32, _ bytes: ArraySlice<UInt8>) -> MetadataItem.Value? {
        if case .iTunes(let code) = key {
            // Numbers of ID3's list of genres have no type.
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

    /// A whole number; text where it has more digits than `Double` can keep.
    private static func integer(_ bytes: ArraySlice<UInt8>, isSigned: Bool) -> MetadataItem.Value? {
        guard (1...8).contains(bytes.count) else { return nil }
        let bits = bits(bytes)
        if !isSigned { return Double(exactly: bits).map { .number($0) } ?? .text("\(bits)") }
        let shift = 64 - 8 * bytes.count
        let number = Int64(bitPattern: bits << UInt64(shift)) >> Int64(shift)
        return Double(exactly: number).map { .number($0) } ?? .text("\(number)")
    }

    /// "3/12", or the number alone where the whole is not said.
    private static func pair(_ bytes: ArraySlice<UInt8>) -> MetadataItem.Value? {
        guard bytes.count >= 6 else { return nil }
        let words = sixteenBits(bytes)
        return words[2] == 0 ? .number(Double(words[1])) : .text("\(words[1])/\(words[2])")
    }
}

// MARK: - To bytes

extension MetadataEntry {
    /// The value as its place keeps it, with its type; `nil` where that cannot hold it.
    package var coded: (type: UInt32, bytes: [UInt8])? {
        switch key {
        case .userText:
            guard let text = plainText, text.utf8.count <= Int(UInt16.max) else { return nil }
            return (1, Array(text.utf8))
        case .iTunes(let code):
            if let length = Self.pairs[code] { return pair(length) }
            if let length = Self.integers[code] { return wholeNumber.map { (21, Self.bytes($0, atLeast: length)) } }
            // Its other keys are for text, or for pictures.
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

    /// A value as places keep it that take every type.
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

    /// The well-known type of bytes: JPEG, PNG, BMP, or none.
    private static func pictureType(_ bytes: [UInt8]) -> UInt32 {
        switch PictureFileFormat(bytes) {
        case .jpeg: 13
        case .png: 14
        case .bmp: 27
        case nil: 0
        }
    }
}
