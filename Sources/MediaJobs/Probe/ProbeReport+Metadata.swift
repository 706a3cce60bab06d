internal import MediaBase

/// One piece of descriptive metadata.
package struct MetadataReport: Encodable, Sendable {
    /// Which vocabulary the key is of.
    package var keySpace: String
    /// The key.
    package var key: String
    /// What kind of value it is: `text`, `number`, `date`, `location` or `data`.
    package var type: String
    /// What it says; `nil` for bytes.
    package var value: Value?
    /// How many bytes it is; `nil` for all else.
    package var sizeBytes: Int?
    /// The language of the value.
    package var language: String?

    /// A value that JSON has.
    package enum Value: Encodable, Sendable {
        /// Words.
        case text(String)
        /// A number.
        case number(Double)

        /// Writes the value alone; a whole number without a fraction.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number):
                if let whole = Int64(exactly: number) {
                    try container.encode(whole)
                } else {
                    try container.encode(number)
                }
            }
        }
    }

    init(_ item: MetadataItem) {
        keySpace = item.keySpace.rawValue
        key = item.identifier
        language = item.language
        switch item.value {
        case .text(let text): (type, value) = ("text", .text(text))
        case .number(let number): (type, value) = ("number", .number(number))
        case .date(let date): (type, value) = ("date", .text(date))
        case .location(let location): (type, value) = ("location", .text(location))
        case .data(let bytes): (type, sizeBytes) = ("data", bytes.count)
        }
    }
}
