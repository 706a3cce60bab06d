internal import MediaBase

/// Encodes values as JSON with keys in the order in which they were encoded.
///
/// A synthesized `encode(to:)` encodes the properties in declaration order and omits optionals without a value, so a
/// type's declaration determines the schema's order. The same value has the same bytes in every run. Numbers are
/// written as the shortest text that reads back as the same value; −∞, ∞ and NaN become `null`. Slashes are not
/// escaped. Strings remain UTF-8 with control characters escaped. A key that is encoded twice keeps its first position
/// and its last value. Dictionaries are sorted by their keys' bytes, sets by their elements' text, because they have no
/// order of their own.
///
/// This replaces Foundation's `JSONEncoder`, which does not keep the order of keys; see
/// `docs/decisions/0002-ordered-json.md`.
package struct OrderedJSONEncoder: Sendable {
    /// The layout of the text.
    package enum Layout: Sendable {
        /// No blanks and no line breaks, as JSON lines require.
        case compact
        /// One line per member and element, indented by two blanks per level.
        case pretty
    }

    /// The maximum nesting depth, which is that of Foundation's decoder.
    static let maximumDepth = 512

    private let layout: Layout

    /// Makes an encoder.
    package init(layout: Layout = .compact) { self.layout = layout }

    /// Encodes a value as UTF-8 text without a line break at the end.
    ///
    /// Throws the errors of the value's own `encode(to:)`, and `limitExceeded` if values are nested deeper than 512
    /// levels.
    ///
    /// - Parameters:
    ///   - value: The value to encode; one that encodes nothing results in `{}`.
    ///   - depth: The indentation level of the pretty lines after the first, for a value inside an array that the
    ///     caller writes.
    package func encode(_ value: some Encodable, depth: Int = 0) throws -> [UInt8] {
        let tree = try OrderedJSONTreeEncoder.tree(of: value, at: [])
        var writer = JSONWriter(layout: layout, depth: depth)
        writer.write(tree)
        return writer.bytes
    }

    /// Encodes a value as a string without a line break at the end; see ``encode(_:depth:)``.
    package func string(_ value: some Encodable) throws -> String {
        String(decoding: try encode(value), as: UTF8.self)
    }
}

/// The encoding container for the members of an object.
struct OrderedJSONKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let object: JSONObject
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) { set(.null, key) }
    func encode(_ value: Bool, forKey key: Key) { set(.bool(value), key) }
    func encode(_ value: String, forKey key: Key) { set(.string(value), key) }
    func encode(_ value: Double, forKey key: Key) { set(.floatingPoint(value), key) }
    func encode(_ value: Float, forKey key: Key) { set(.floatingPoint(value), key) }
    func encode(_ value: some FixedWidthInteger & Encodable, forKey key: Key) { set(.number(String(value)), key) }
    func encode(_ value: Int128, forKey key: Key) { set(.number(String(value)), key) }
    func encode(_ value: UInt128, forKey key: Key) { set(.number(String(value)), key) }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        set(try OrderedJSONTreeEncoder.tree(of: value, at: codingPath + [key]), key)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        var nested = JSONObject()
        if case .object(let present) = object.value(for: key.stringValue) { nested = present }
        set(.object(nested), key)
        return KeyedEncodingContainer(
            OrderedJSONKeyedContainer<NestedKey>(object: nested, codingPath: codingPath + [key]))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        var nested = JSONArray()
        if case .array(let present) = object.value(for: key.stringValue) { nested = present }
        set(.array(nested), key)
        return OrderedJSONUnkeyedContainer(array: nested, codingPath: codingPath + [key])
    }

    func superEncoder() -> any Encoder {
        superEncoder(for: OrderedJSONKey(stringValue: "super"))
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        superEncoder(for: key)
    }

    private func superEncoder(for key: any CodingKey) -> any Encoder {
        let encoder = OrderedJSONTreeEncoder(codingPath: codingPath + [key])
        object.set(.later(encoder), for: key.stringValue)
        return encoder
    }

    private func set(_ value: JSONValue, _ key: Key) { object.set(value, for: key.stringValue) }
}

/// The encoding container for the elements of an array.
struct OrderedJSONUnkeyedContainer: UnkeyedEncodingContainer {
    let array: JSONArray
    let codingPath: [any CodingKey]

    var count: Int { array.elements.count }

    func encodeNil() { append(.null) }
    func encode(_ value: Bool) { append(.bool(value)) }
    func encode(_ value: String) { append(.string(value)) }
    func encode(_ value: Double) { append(.floatingPoint(value)) }
    func encode(_ value: Float) { append(.floatingPoint(value)) }
    func encode(_ value: some FixedWidthInteger & Encodable) { append(.number(String(value))) }
    func encode(_ value: Int128) { append(.number(String(value))) }
    func encode(_ value: UInt128) { append(.number(String(value))) }

    func encode(_ value: some Encodable) throws {
        append(try OrderedJSONTreeEncoder.tree(of: value, at: pathOfNext))
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy keyType: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        let container = OrderedJSONKeyedContainer<NestedKey>(object: JSONObject(), codingPath: pathOfNext)
        append(.object(container.object))
        return KeyedEncodingContainer(container)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        let container = OrderedJSONUnkeyedContainer(array: JSONArray(), codingPath: pathOfNext)
        append(.array(container.array))
        return container
    }

    func superEncoder() -> any Encoder {
        let encoder = OrderedJSONTreeEncoder(codingPath: pathOfNext)
        append(.later(encoder))
        return encoder
    }

    private var pathOfNext: [any CodingKey] { codingPath + [OrderedJSONKey(intValue: count)] }

    private func append(_ value: JSONValue) { array.elements.append(value) }
}

/// An `Encoder` for one JSON value, which its containers fill.
///
/// If containers of two kinds are requested, which `Encoder` forbids, the later one is kept.
final class OrderedJSONTreeEncoder: Encoder, JSONPlaceholder {
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]
    fileprivate(set) var value: JSONValue

    /// True if the value may be a collection without an order.
    ///
    /// This is so if it requested an array, or an object with the keys of a dictionary. Checking this first is faster,
    /// because asking the runtime for a conformance takes longer than encoding most values.
    private var mayBeUnordered = false

    init(codingPath: [any CodingKey], value: JSONValue = .object(JSONObject())) {
        self.codingPath = codingPath
        self.value = value
    }

    /// Encodes a value as a separate tree.
    static func tree(of value: some Encodable, at codingPath: [any CodingKey]) throws -> JSONValue {
        guard codingPath.count < OrderedJSONEncoder.maximumDepth else {
            throw MediaError(
                .limitExceeded, "the result nests deeper than \(OrderedJSONEncoder.maximumDepth) levels of JSON")
        }
        let encoder = OrderedJSONTreeEncoder(codingPath: codingPath)
        try value.encode(to: encoder)
        if encoder.mayBeUnordered, let unordered = value as? any UnorderedEncodable {
            encoder.value.sortedAsUnordered(pairs: unordered.isPairs)
        }
        return encoder.value
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        // A type of the standard library that has no public name.
        if _typeName(Key.self, qualified: false) == "_DictionaryCodingKey" { mayBeUnordered = true }
        return KeyedEncodingContainer(OrderedJSONKeyedContainer(object: object(), codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        mayBeUnordered = true
        return OrderedJSONUnkeyedContainer(array: array(), codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    fileprivate func object() -> JSONObject {
        if case .object(let object) = value { return object }
        let object = JSONObject()
        value = .object(object)
        return object
    }

    fileprivate func array() -> JSONArray {
        if case .array(let array) = value { return array }
        let array = JSONArray()
        value = .array(array)
        return array
    }
}

extension OrderedJSONTreeEncoder: SingleValueEncodingContainer {
    func encodeNil() { value = .null }
    func encode(_ value: Bool) { self.value = .bool(value) }
    func encode(_ value: String) { self.value = .string(value) }
    func encode(_ value: Double) { self.value = .floatingPoint(value) }
    func encode(_ value: Float) { self.value = .floatingPoint(value) }
    func encode(_ value: some FixedWidthInteger & Encodable) { self.value = .number(String(value)) }
    func encode(_ value: Int128) { self.value = .number(String(value)) }
    func encode(_ value: UInt128) { self.value = .number(String(value)) }

    func encode(_ value: some Encodable) throws {
        self.value = try Self.tree(of: value, at: codingPath + [OrderedJSONKey(stringValue: "value")])
    }
}

/// A key for a position to which the encoded type assigns none.
struct OrderedJSONKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }
}

/// A collection whose order of elements differs between runs.
private protocol UnorderedEncodable {
    /// True if an encoded array holds keys and values alternately.
    var isPairs: Bool { get }
}

extension Dictionary: UnorderedEncodable where Key: Encodable, Value: Encodable {
    fileprivate var isPairs: Bool { true }
}

extension Set: UnorderedEncodable where Element: Encodable {
    fileprivate var isPairs: Bool { false }
}

/// A tree of JSON values in which objects keep the order of their keys.
///
/// Containers are reference types because an `Encoder` may hand out a container and fill it later.
package enum JSONValue {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number, as JSON text.
    case number(String)
    /// A string, without its quotation marks and escapes.
    case string(String)
    /// An array.
    case array(JSONArray)
    /// An object.
    case object(JSONObject)
    /// A value that is not known yet, such as that of `superEncoder()`.
    case later(any JSONPlaceholder)

    /// Encodes a value as a tree.
    ///
    /// Throws the errors of the value's own `encode(to:)`, and `limitExceeded` if values are nested too deep.
    package init(encoding value: some Encodable) throws {
        self = try OrderedJSONTreeEncoder.tree(of: value, at: [])
    }
}

/// The place of a value that is encoded later.
package protocol JSONPlaceholder: AnyObject {
    /// The value so far.
    var value: JSONValue { get }
}

/// The elements of an array, in order.
package final class JSONArray {
    /// The elements.
    package var elements: [JSONValue] = []
}

/// The members of an object, in the order in which their keys were first set.
package final class JSONObject {
    /// The members.
    package private(set) var members: [(key: String, value: JSONValue)] = []

    /// The positions of members by the bytes of their keys, used once a linear search would be slower.
    private var positions: [[UInt8]: Int] = [:]
    private static let searched = 16

    /// Adds a member, or replaces the value of an existing one in place.
    ///
    /// Keys are compared by their bytes. A composed and a decomposed "é", which Swift considers equal, are different
    /// keys.
    func set(_ value: JSONValue, for key: String) {
        if let position = position(of: key) {
            members[position].value = value
            return
        }
        members.append((key, value))
        if members.count == Self.searched {
            for (position, member) in members.enumerated() { positions[Array(member.key.utf8)] = position }
        } else if members.count > Self.searched {
            positions[Array(key.utf8)] = members.count - 1
        }
    }

    /// Returns the value of a key, or `nil`.
    package func value(for key: String) -> JSONValue? {
        position(of: key).map { members[$0].value }
    }

    /// Sorts the members by the bytes of their keys.
    func sort() {
        members.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        for (position, member) in members.enumerated() where members.count >= Self.searched {
            positions[Array(member.key.utf8)] = position
        }
    }

    private func position(of key: String) -> Int? {
        members.count < Self.searched
            ? members.firstIndex { $0.key.utf8.elementsEqual(key.utf8) } : positions[Array(key.utf8)]
    }
}

extension JSONValue {
    /// Returns a floating-point number as the shortest text that reads back as the same value.
    ///
    /// Numbers that are not finite become `null`, as JSON has no text for them.
    static func floatingPoint(_ number: some BinaryFloatingPoint & LosslessStringConvertible) -> JSONValue {
        number.isFinite ? .number(String(number)) : .null
    }

    /// Sorts the encoded content of an unordered collection, so that every run has the same output.
    ///
    /// Objects are sorted by key. Arrays are sorted by the text of their elements, or, for a dictionary whose keys are
    /// not strings, by the text of their key-value pairs.
    func sortedAsUnordered(pairs: Bool) {
        switch self {
        case .object(let object): object.sort()
        case .array(let array):
            let width = pairs ? 2 : 1
            let groups = stride(from: 0, to: array.elements.count, by: width).map { start in
                let group = array.elements[start..<min(start + width, array.elements.count)]
                var writer = JSONWriter(layout: .compact)
                for value in group { writer.write(value) }
                return (text: writer.bytes, group: group)
            }
            array.elements = groups.sorted { $0.text.lexicographicallyPrecedes($1.text) }.flatMap(\.group)
        case .later(let encoder): encoder.value.sortedAsUnordered(pairs: pairs)
        case .null, .bool, .number, .string: break
        }
    }
}

extension JSONValue {
    /// The value itself, even if it was supplied later.
    package var settled: JSONValue {
        var value = self
        while case .later(let encoder) = value { value = encoder.value }
        return value
    }
}
