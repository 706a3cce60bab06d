/// A single item of descriptive metadata: `AVMetadataItem`.
public struct MetadataItem: Sendable, Hashable {
    /// The vocabulary that ``identifier`` belongs to.
    public var keySpace: KeySpace
    /// The key as the demuxer names it, such as `title` or `com.apple.quicktime.make`, or `artwork` for cover art.
    ///
    /// Four-character keys such as `©nam` are also accepted for writing.
    public var identifier: String
    /// The value.
    public var value: Value
    /// The language of the value (ISO 639); `nil` if the key has none.
    public var language: String?

    /// Creates an item from its parts.
    public init(keySpace: KeySpace, identifier: String, value: Value, language: String? = nil) {
        self.keySpace = keySpace
        self.identifier = identifier
        self.value = value
        self.language = language
    }

    /// The vocabulary of a metadata key: `AVMetadataKeySpace`.
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
        /// The few keys that a container defines itself (RIFF INFO, FLV, MXF…).
        case common
    }

    /// A metadata value, by type.
    public enum Value: Sendable, Hashable {
        /// Text, in which any bytes that were not UTF-8 have been repaired.
        case text(String)
        /// A number.
        case number(Double)
        /// Binary data, such as a cover picture.
        case data([UInt8])
        /// A date in ISO 8601 format.
        case date(String)
        /// A location in ISO 6709 format.
        case location(String)

        /// The value as text, with integers written without a fraction; `nil` for binary data.
        public var text: String? {
            switch self {
            case .text(let text), .date(let text), .location(let text): text
            case .number(let number): Int64(exactly: number).map { "\($0)" } ?? "\(number)"
            case .data: nil
            }
        }
    }
}

/// A chapter: a named part of the presentation.
public struct Chapter: Sendable, Hashable {
    /// The start time and duration.
    public var timeRange: MediaTimeRange
    /// The title; `nil` if the chapter has none.
    public var title: String?

    /// Creates a chapter from its parts.
    public init(timeRange: MediaTimeRange, title: String?) {
        self.timeRange = timeRange
        self.title = title
    }
}
