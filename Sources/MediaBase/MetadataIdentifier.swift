/// A vocabulary of metadata keys: `AVMetadataKeySpace`.
///
/// The raw values of Apple's key spaces are AVFoundation's.
public struct MetadataKeySpace: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
    /// The name, as identifiers begin with it, except for ID3's.
    public let rawValue: String

    /// Creates a key space from its name; any name is accepted.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The keys that all key spaces share, such as `title`; also those of formats without a key space here.
    public static let common = Self(rawValue: "comn")
    /// The four-character keys of the iTunes list (`ilst`) in MPEG-4 files.
    public static let iTunes = Self(rawValue: "itsk")
    /// The free names in the iTunes list (`----`): the meaning, a dot and the name, as `com.apple.iTunes.iTunSMPB`.
    public static let iTunesLongKey = Self(rawValue: "itlk")
    /// QuickTime's named keys (`mdta`), such as `com.apple.quicktime.title`.
    public static let quickTimeMetadata = Self(rawValue: "mdta")
    /// The four-character keys of QuickTime's user data (`udta`).
    public static let quickTimeUserData = Self(rawValue: "udta")
    /// The four-character keys of user data in 3GPP and MPEG-4 files.
    public static let isoUserData = Self(rawValue: "uiso")
    /// ID3 frames.
    public static let id3 = Self(rawValue: "org.id3")
    /// Matroska's tags, by their names.
    public static let matroska = Self(rawValue: "matroska")
    /// Vorbis comments (FLAC, Ogg), by field names in capitals.
    public static let vorbis = Self(rawValue: "vorbis")
    /// The chunks of RIFF's `INFO` list (WAVE, AVI).
    public static let riff = Self(rawValue: "riff")
    /// The fields of Broadcast Wave's `bext` chunk.
    public static let broadcastWave = Self(rawValue: "bext")
    /// The texts of CAF's `info` chunk and of AIFF's text chunks.
    public static let audioFile = Self(rawValue: "caaf")

    /// The raw value.
    public var description: String { rawValue }

    /// Indicates whether keys are four bytes, each shown as the character of that number.
    var hasFourByteKeys: Bool { self == .iTunes || self == .quickTimeUserData || self == .isoUserData }
}

/// A metadata key and the vocabulary that it belongs to: `AVMetadataIdentifier`.
///
/// The text form is AVFoundation's: `mdta/com.apple.quicktime.title`, `itsk/%A9nam`, `id3/TIT2`. Texts with the characters
/// themselves, such as `itsk/©nam`, are accepted too.
public struct MetadataIdentifier: Sendable, Hashable {
    /// The vocabulary.
    public let keySpace: MetadataKeySpace
    /// The key as the file has it: four characters, such as `©nam`, or a name.
    public let key: String

    /// Creates an identifier from its parts.
    ///
    /// - Parameters:
    ///   - keySpace: The vocabulary.
    ///   - key: The key in it. Field names of Vorbis comments, in which case does not count, become capitals.
    public init(keySpace: MetadataKeySpace, key: String) {
        self.keySpace = keySpace
        self.key = keySpace == .vorbis ? key.uppercased() : key
    }

    /// Creates an identifier from its parts.
    init(_ keySpace: MetadataKeySpace, _ key: String) { self.init(keySpace: keySpace, key: key) }

    // Swift would compare raw values, and build both texts each time. Keys are compared by their bytes, as files store
    // them: two spellings of "é" are two keys.

    /// Returns true if key space and key are the same.
    public static func == (one: Self, other: Self) -> Bool {
        one.keySpace == other.keySpace && one.key.utf8.elementsEqual(other.key.utf8)
    }

    /// Hashes key space and key.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(keySpace)
        for byte in key.utf8 { hasher.combine(byte) }
    }
}

// MARK: - Text

extension MetadataIdentifier: RawRepresentable, Codable, CustomStringConvertible {
    /// Creates an identifier from its text; `nil` if it has no key space or no key.
    public init?(rawValue: String) {
        guard let slash = rawValue.firstIndex(of: "/") else { return nil }
        let prefix = String(rawValue[..<slash])
        let space = prefix == "id3" ? .id3 : MetadataKeySpace(rawValue: prefix)
        let key = Self.unescaped(rawValue[rawValue.index(after: slash)...], byBytes: space.hasFourByteKeys)
        guard !prefix.isEmpty, let key, !key.isEmpty else { return nil }
        self.init(keySpace: space, key: key)
    }

    /// The text: the key space, a slash and the key, in which bytes other than letters, digits and `-._~` of ASCII are
    /// escaped (`%A9`).
    ///
    /// A four-character key is escaped by its bytes, other keys by those of UTF-8.
    public var rawValue: String {
        let bytes = key.unicodeScalars.flatMap { scalar in
            if keySpace.hasFourByteKeys, let byte = UInt8(exactly: scalar.value) { [byte] } else { Array(scalar.utf8) }
        }
        return (keySpace == .id3 ? "id3" : keySpace.rawValue) + "/" + bytes.percentEncoded()
    }

    /// The raw value.
    public var description: String { rawValue }

    /// Replaces escapes by the bytes they stand for; `nil` if an escape is incomplete or the result is not UTF-8.
    private static func unescaped(_ text: Substring, byBytes: Bool) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let first = rest.popFirst() {
            guard first == UInt8(ascii: "%") else {
                bytes.append(first)
                continue
            }
            let digits = rest.prefix(2)
            rest = rest.dropFirst(2)
            guard digits.count == 2, let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes += byBytes ? Array(String(Unicode.Scalar(byte)).utf8) : [byte]
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
