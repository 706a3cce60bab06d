internal import MediaBase

/// The `Encoder` that a value sees: it keeps one value of JSON, which its containers fill.
///
/// Asked for containers of two kinds, which `Encoder` forbids, it keeps the later one.
final class OrderedJSONTreeEncoder: Encoder {
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]
    fileprivate(set) var value: JSONValue

    /// Whether the value may be a collection without an order.
    ///
    /// That is one that asked for an array, or for an object with the keys that a dictionary has. Asking the runtime
    /// for a conformance takes longer than encoding most values.
    private var mayBeUnordered = false

    init(codingPath: [any CodingKey], value: JSONValue = .object(JSONObject())) {
        self.codingPath = codingPath
        self.value = value
    }

    /// Encodes a value on its own.
    static func tree(of value: some Encodable, at codingPath: [any CodingKey]) throws -> JSONValue {
        guard codingPath.count < OrderedJSONEncoder.greatestDepth else {
            throw MediaError(
                .limitExceeded, "the result nests deeper than \(OrderedJSONEncoder.greatestDepth) levels of JSON")
        }
        let encoder = OrderedJSONTreeEncoder(codingPath: codingPath)
        try value.encode(to: encoder)
        if encoder.mayBeUnordered, let unordered = value as? any UnorderedEncodable {
            encoder.value.sortedAsUnordered(pairs: unordered.isPairs)
        }
        return encoder.value
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        // The standard library's own type, which has no public name.
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
    func encode(_ value: Int) { self.value = .number(String(value)) }
    func encode(_ value: Int8) { self.value = .number(String(value)) }
    func encode(_ value: Int16) { self.value = .number(String(value)) }
    func encode(_ value: Int32) { self.value = .number(String(value)) }
    func encode(_ value: Int64) { self.value = .number(String(value)) }
    func encode(_ value: Int128) { self.value = .number(String(value)) }
    func encode(_ value: UInt) { self.value = .number(String(value)) }
    func encode(_ value: UInt8) { self.value = .number(String(value)) }
    func encode(_ value: UInt16) { self.value = .number(String(value)) }
    func encode(_ value: UInt32) { self.value = .number(String(value)) }
    func encode(_ value: UInt64) { self.value = .number(String(value)) }
    func encode(_ value: UInt128) { self.value = .number(String(value)) }

    func encode(_ value: some Encodable) throws {
        self.value = try Self.tree(of: value, at: codingPath + [OrderedJSONKey(stringValue: "value")])
    }
}

/// A key for a place that the encoded type gives none.
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

/// A collection whose elements come in another order in every run.
private protocol UnorderedEncodable {
    /// Whether an array of it holds keys and values alternately.
    var isPairs: Bool { get }
}

extension Dictionary: UnorderedEncodable where Key: Encodable, Value: Encodable {
    fileprivate var isPairs: Bool { true }
}

extension Set: UnorderedEncodable where Element: Encodable {
    fileprivate var isPairs: Bool { false }
}
