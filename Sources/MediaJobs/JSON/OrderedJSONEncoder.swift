internal import MediaBase

/// Encodes values as JSON whose keys stand in the order in which they were encoded.
///
/// A synthesized `encode(to:)` encodes the properties as they are declared and leaves out optionals without a value, so
/// a type's declaration is the schema's order. The same value gives the same bytes in every run. Numbers are printed by
/// Swift's shortest text that reads back as the same; −∞, ∞ and NaN become `null`; slashes are not escaped; strings
/// stay UTF-8 with control characters escaped. A key that is encoded twice keeps its first place and its last value.
/// Dictionaries are sorted by their keys' bytes, sets by their elements' text, because they have no order of their own.
///
/// It stands for Foundation's `JSONEncoder`, which shuffles keys; `docs/decisions/0002-ordered-json.md` says why.
package struct OrderedJSONEncoder: Sendable {
    /// How the text is laid out.
    package enum Layout: Sendable {
        /// No blanks and no line breaks, as JSON lines need it.
        case compact
        /// Every member and element on a line of its own, indented by two blanks a level.
        case pretty
    }

    /// How deep values may nest: as deep as Foundation's decoder reads.
    static let greatestDepth = 512

    private let layout: Layout

    /// Makes an encoder.
    package init(layout: Layout = .compact) { self.layout = layout }

    /// The value as UTF-8 text without a line break at the end.
    ///
    /// Throws what the value's own `encode(to:)` throws, and `limitExceeded` where values nest deeper than 512 levels.
    ///
    /// - Parameters:
    ///   - value: What to encode; one that encodes nothing gives `{}`.
    ///   - depth: How many levels the pretty lines after the first stand indented, for a value inside an array that the
    ///     caller writes.
    package func encode(_ value: some Encodable, depth: Int = 0) throws -> [UInt8] {
        let tree = try OrderedJSONTreeEncoder.tree(of: value, at: [])
        var writer = JSONWriter(layout: layout, depth: depth)
        writer.write(tree)
        return writer.bytes
    }

    /// The value as text without a line break at the end; see ``encode(_:depth:)``.
    package func string(_ value: some Encodable) throws -> String {
        String(decoding: try encode(value), as: UTF8.self)
    }
}
