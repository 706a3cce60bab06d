/// One piece of descriptive metadata: `AVMetadataItem`.
public struct MetadataItem: Sendable, Hashable {
    /// Which vocabulary ``identifier`` is of.
    public var keySpace: KeySpace
    /// The key, as the container's reader names it, such as `title`, `com.apple.quicktime.make`, or `artwork` for a cover.
    ///
    /// For writing, four-character keys such as `©nam` do too.
    public var identifier: String
    /// What it says.
    public var value: Value
    /// The language of the value, where the key carried one (ISO 639).
    public var language: String?

    /// Makes an item from its parts.
    public init(keySpace: KeySpace, identifier: String, value: Value, language: String? = nil) {
        self.keySpace = keySpace
        self.identifier = identifier
        self.value = value
        self.language = language
    }

    /// The vocabulary of a key: `AVMetadataKeySpace`.
    public enum KeySpace: String, Sendable, Hashable, Codable {
        /// The `ilst` atoms of iTunes and MP4.
        case iTunes
        /// QuickTime's `mdta` keys and user data.
        case quickTime
        /// ID3 frames.
        case id3
        /// Matroska's simple tags.
        case matroska
        /// Vorbis comments (Ogg, FLAC, Opus).
        case vorbis
        /// A container with its own few keys (RIFF INFO, FLV, MXF…).
        case common
    }

    /// What an item says, by type.
    public enum Value: Sendable, Hashable {
        /// Words, with any bytes that were not UTF-8 repaired.
        case text(String)
        /// A number.
        case number(Double)
        /// Bytes, such as a cover picture.
        case data([UInt8])
        /// A moment in ISO 8601.
        case date(String)
        /// A place in ISO 6709.
        case location(String)

        /// The value as words, a whole number without a fraction; `nil` for bytes.
        public var text: String? {
            switch self {
            case .text(let text), .date(let text), .location(let text): text
            case .number(let number): Int64(exactly: number).map { "\($0)" } ?? "\(number)"
            case .data: nil
            }
        }
    }
}

/// A named part of the presentation: a chapter.
public struct Chapter: Sendable, Hashable {
    /// When it begins and how long it is.
    public var timeRange: MediaTimeRange
    /// Its title; `nil` where it has none.
    public var title: String?

    /// Makes a chapter from its parts.
    public init(timeRange: MediaTimeRange, title: String?) {
        self.timeRange = timeRange
        self.title = title
    }
}
