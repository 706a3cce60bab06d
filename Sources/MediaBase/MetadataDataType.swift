extension MetadataItem {
    /// The type in which a metadata value is stored, with the raw values of CoreMedia (`kCMMetadataBaseDataType_…`).
    ///
    /// Timed metadata may have types of a maker's own, by a name in reverse DNS order; their values are bytes.
    public struct DataType: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
        /// The name.
        public let rawValue: String
        /// Creates a type from its name; any name is accepted.
        public init(rawValue: String) { self.rawValue = rawValue }

        private init(base name: String) { rawValue = "com.apple.metadata.datatype." + name }

        /// The raw value.
        public var description: String { rawValue }

        /// Text.
        public static let utf8 = Self(base: "UTF-8")
        /// Text in big-endian UTF-16, which only timed metadata may have.
        public static let utf16 = Self(base: "UTF-16")
        /// A signed 8-bit number.
        public static let int8 = Self(base: "int8")
        /// A signed 16-bit number.
        public static let int16 = Self(base: "int16")
        /// A signed 32-bit number.
        public static let int32 = Self(base: "int32")
        /// A whole number of up to 64 bits; in timed metadata, one of exactly 64 bits.
        public static let integer = Self(base: "int64")
        /// An unsigned 8-bit number.
        public static let uint8 = Self(base: "uint8")
        /// An unsigned 16-bit number.
        public static let uint16 = Self(base: "uint16")
        /// An unsigned 32-bit number.
        public static let uint32 = Self(base: "uint32")
        /// An unsigned 64-bit number.
        public static let uint64 = Self(base: "uint64")
        /// A number of IEEE 754 in 32 bits.
        public static let float32 = Self(base: "float32")
        /// A number with a fraction; in timed metadata, one of IEEE 754 in 64 bits.
        public static let float = Self(base: "float64")
        /// A point: x and y, each in 32 bits of IEEE 754.
        public static let point = Self(base: "point-F32")
        /// A width and a height, each in 32 bits of IEEE 754.
        public static let dimensions = Self(base: "dimensions-F32")
        /// A rectangle: x, y, width and height, each in 32 bits of IEEE 754.
        public static let rectangle = Self(base: "rect-F32")
        /// A 3×3 matrix, row by row, each number in 64 bits of IEEE 754.
        public static let affineTransform = Self(base: "affine-transform-F64")
        /// The corners of a polygon: x and y of each, in 32 bits of IEEE 754.
        public static let polygon = Self(base: "polygon-F32")
        /// A date in ISO 8601 format.
        public static let date = Self(base: "date")
        /// A location in ISO 6709 format.
        public static let location = Self(rawValue: "com.apple.quicktime.metadata.location.ISO6709")
        /// A JPEG picture.
        public static let jpeg = Self(base: "JPEG")
        /// A PNG picture.
        public static let png = Self(base: "PNG")
        /// A BMP picture.
        public static let bmp = Self(base: "BMP")
        /// A GIF picture.
        public static let gif = Self(base: "GIF")
        /// Other bytes.
        public static let raw = Self(base: "raw-data")
    }
}

/// A key of timed metadata, and the type and language of its values: a metadata specification of
/// `CMMetadataFormatDescription`.
public struct MetadataSpecification: Sendable, Hashable {
    /// The key and its vocabulary.
    public var identifier: MetadataIdentifier
    /// The type of the values.
    public var dataType: MetadataItem.DataType
    /// The language of the values, a tag of BCP 47; `nil` if the key has none.
    public var language: String?

    /// Creates a specification from its parts.
    public init(_ identifier: MetadataIdentifier, dataType: MetadataItem.DataType, language: String? = nil) {
        self.identifier = identifier
        self.dataType = dataType
        self.language = language
    }
}

extension TimedMetadataGroup {
    /// The keys, types and languages of the group's items, each once, in their order:
    /// `AVTimedMetadataGroup.copyFormatDescription`.
    public var specifications: [MetadataSpecification] {
        var known: Set<MetadataSpecification> = []
        return items.map { MetadataSpecification($0.identifier, dataType: $0.dataType, language: $0.language) }
            .filter { known.insert($0).inserted }
    }
}
