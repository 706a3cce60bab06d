/// A single item of descriptive metadata: `AVMetadataItem`.
///
/// ```swift
/// let metadata = try await asset.load(.metadata)
/// let title = metadata.items(withCommonKey: .title).sorted(byPreferredLanguages: ["de", "en"]).first?.value.text
/// let covers = metadata.items(withIdentifier: .iTunesMetadataCoverArt).compactMap(\.value.data)
/// writer.metadata = [MetadataItem(.commonIdentifierTitle, .text("Seefahrt"), language: "deu")]
/// ```
///
/// `docs/metadata.md` lists the keys of every file format, and what it cannot hold.
public struct MetadataItem: Sendable {
    /// The key and its vocabulary.
    public var identifier: MetadataIdentifier
    /// The value.
    public var value: Value
    /// The language of the value as the file states it: a code of ISO 639, or a tag of BCP 47; `nil` if the key has none.
    public var language: String?
    /// The time of the presentation from which the item holds; `nil` for the whole of it.
    public var time: MediaTime?
    /// How long the item holds from ``time`` on; `nil` if that is not stated.
    public var duration: MediaTime?
    /// Details that only some formats state: `AVMetadataItem.extraAttributes`.
    public var extraAttributes: [ExtraAttribute: String]
    /// The name that the demuxer gave the key, if it is not the one that follows from the identifier.
    private var givenName: String?
    /// The type in which the value is stored, if it is not the one that follows from the value.
    private var storedType: DataType?

    /// Creates an item from its parts.
    ///
    /// - Parameters:
    ///   - identifier: The key and its vocabulary.
    ///   - value: The value.
    ///   - language: The language of the value; `nil` for none.
    ///   - time: The time from which the item holds; `nil` for the whole presentation.
    ///   - duration: How long it holds from then on.
    ///   - extraAttributes: Details that only some formats state.
    public init(
        _ identifier: MetadataIdentifier, _ value: Value, language: String? = nil, time: MediaTime? = nil,
        duration: MediaTime? = nil, extraAttributes: [ExtraAttribute: String] = [:]
    ) {
        self.identifier = identifier
        self.value = value
        self.language = language
        self.time = time
        self.duration = duration
        self.extraAttributes = extraAttributes
    }

    /// Creates an item from a key space and a key, which may also be ffmpeg's name for it, such as `title`.
    ///
    /// - Parameters:
    ///   - keySpace: The vocabulary.
    ///   - name: A key of it, or ffmpeg's name. A name that has no key in this vocabulary becomes a free one, where there
    ///     are such: a long key beside the iTunes list, a named key beside QuickTime's user data.
    ///   - value: The value.
    ///   - language: The language of the value; `nil` for none.
    public init(keySpace: MetadataKeySpace, name: String, value: Value, language: String? = nil) {
        self.init(MetadataIdentifier(keySpace: keySpace, name: name), value, language: language)
        self.name = name
    }

    /// The vocabulary that the key belongs to.
    public var keySpace: MetadataKeySpace { identifier.keySpace }

    /// The key as the file has it.
    public var key: String { identifier.key }

    /// The key that all key spaces share; `nil` if there is none.
    public var commonKey: CommonKey? { identifier.commonKey }

    /// The type in which the value is stored: `AVMutableMetadataItem.dataType`.
    ///
    /// By default it is the one that follows from the value. Only timed metadata is stored in another one, such as
    /// ``DataType/int8``.
    public var dataType: DataType {
        get { storedType ?? value.dataType }
        set { storedType = newValue == value.dataType ? nil : newValue }
    }

    /// The name that ffmpeg and ffprobe show for the key, such as `title`, and `artwork` for a cover: `key` in the JSON of
    /// `probe`.
    public package(set) var name: String {
        get {
            if let givenName { return givenName }
            if identifier.hasFreeName, let own = extraAttributes[.info], !own.isEmpty { return own }
            return identifier.name
        }
        set { givenName = newValue == identifier.name ? nil : newValue }
    }

    /// A metadata value, by type.
    public enum Value: Sendable, Hashable {
        /// Text, in which any bytes that were not UTF-8 have been repaired.
        case text(String)
        /// A whole number.
        case integer(Int64)
        /// A number with a fraction.
        case float(Double)
        /// Several numbers that belong together: the coordinates of a point, a rectangle or a polygon, or a matrix.
        case numbers([Double])
        /// Binary data, such as a cover picture.
        case data([UInt8])
        /// A date in ISO 8601 format, of any precision.
        case date(String)
        /// A location in ISO 6709 format.
        case location(String)
    }

    /// A detail of an item that only some formats have: `AVMetadataExtraAttributeKey`.
    public struct ExtraAttribute: RawRepresentable, Sendable, Hashable, Codable {
        /// The name.
        public let rawValue: String
        /// Creates an attribute from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The description of a comment, a picture or a text of the user's own (ID3, FLAC).
        public static let info = Self(rawValue: "info")
        /// The kind of a picture by ID3's number: 3 is the front cover (ID3, FLAC, Vorbis comments).
        public static let pictureType = Self(rawValue: "pictureType")
        /// The media type of bytes, such as `image/jpeg`, as the file states it.
        public static let mimeType = Self(rawValue: "mimeType")
        /// The name of an attached file (Matroska).
        public static let fileName = Self(rawValue: "fileName")
        /// The number of the level that a Matroska tag describes, such as 50 for an album or film.
        public static let targetLevel = Self(rawValue: "targetLevel")
        /// The word for the level that a Matroska tag describes, such as `ALBUM`.
        public static let targetType = Self(rawValue: "targetType")
        /// The owner of an identifier, private bytes or a rating (ID3).
        public static let owner = Self(rawValue: "owner")
    }
}

extension MetadataItem: Hashable {
    /// Returns true if all properties are equal; the ``name`` that a demuxer gave does not count.
    public static func == (left: Self, right: Self) -> Bool {
        left.identifier == right.identifier && left.value == right.value && left.language == right.language
            && left.time == right.time && left.duration == right.duration
            && left.extraAttributes == right.extraAttributes && left.dataType == right.dataType
    }

    /// Hashes the identifier and the value.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(identifier)
        hasher.combine(value)
    }
}

// MARK: - Values

extension MetadataItem.Value {
    /// The value as text, with numbers in decimal digits and spaces between them; `nil` for binary data.
    public var text: String? {
        func digits(_ number: Double) -> String { Int64(exactly: number).map { "\($0)" } ?? "\(number)" }
        return switch self {
        case .text(let text), .date(let text), .location(let text): text
        case .integer(let number): "\(number)"
        case .float(let number): digits(number)
        case .numbers(let numbers): numbers.map(digits).joined(separator: " ")
        case .data: nil
        }
    }

    /// The value as a number: a number itself, or text that is one in decimal digits; otherwise `nil`.
    public var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .float(let number): number
        case .text(let text): Double(text)
        default: nil
        }
    }

    /// The bytes of binary data; `nil` for other values.
    public var data: [UInt8]? {
        if case .data(let bytes) = self { bytes } else { nil }
    }

    /// The type of the value; bytes that begin as a picture are one.
    public var dataType: MetadataItem.DataType {
        switch self {
        case .text: .utf8
        case .integer: .integer
        case .float: .float
        case .date: .date
        case .location: .location
        case .numbers(let numbers):
            switch numbers.count {
            case 2: .point
            case 4: .rectangle
            case 9: .affineTransform
            default: .polygon
            }
        case .data(let bytes):
            if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
                .jpeg
            } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
                .png
            } else if bytes.starts(with: Array("BM".utf8)) && bytes.count > 26 {
                .bmp
            } else if bytes.starts(with: Array("GIF8".utf8)) {
                .gif
            } else {
                .raw
            }
        }
    }
}

extension MetadataItem.Value {
    /// Interprets the text of a value according to ffmpeg's name of its key.
    package init(text: String, name: String) {
        switch name.lowercased() {
        case "creation_time", "date", "com.apple.quicktime.creationdate", "date_released", "date_recorded":
            self = .date(text)
        case "location", "com.apple.quicktime.location.iso6709": self = .location(text)
        case "compilation", "gapless_playback", "bpm", "tbpm":
            self = Int64(text).map { .integer($0) } ?? Double(text).map { .float($0) } ?? .text(text)
        default: self = .text(text)
        }
    }
}

extension MetadataItem {
    /// A key that all key spaces share: `AVMetadataKey.commonKey…`.
    public enum CommonKey: String, Sendable, Hashable, Codable, CaseIterable {
        /// The title.
        case title
        /// Who made the work; in music, the composer.
        case creator
        /// The subject.
        case subject
        /// A description of the content.
        case description
        /// The publisher.
        case publisher
        /// Others who took part.
        case contributor
        /// The date of recording or release.
        case creationDate
        /// The date of the last change.
        case lastModifiedDate
        /// The genre.
        case type
        /// The format.
        case format
        /// A number or name that identifies the work.
        case identifier
        /// The work from which this one is derived.
        case source
        /// The language of the content.
        case language
        /// A related work.
        case relation
        /// The place of recording, in ISO 6709 format.
        case location
        /// The copyright notice.
        case copyrights
        /// The name of the album.
        case albumName
        /// The author.
        case author
        /// The artist.
        case artist
        /// A cover picture.
        case artwork
        /// The maker of the camera or recorder.
        case make
        /// The model of the camera or recorder.
        case model
        /// The program that made the file.
        case software
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
