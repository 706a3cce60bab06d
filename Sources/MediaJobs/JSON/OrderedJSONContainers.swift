/// Members of an object, as an `Encoder` hands them out.
struct OrderedJSONKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let object: JSONObject
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) { set(.null, key) }
    func encode(_ value: Bool, forKey key: Key) { set(.bool(value), key) }
    func encode(_ value: String, forKey key: Key) { set(.string(value), key) }
    func encode(_ value: Double, forKey key: Key) { set(.floatingPoint(value), key) }
    func encode(_ value: Float, forKey key: Key) { set(.floatingPoint(value), key) }
    func encode(_ value: Int, forKey key: Key) { set(.number(String(value)), key) }
    func encode(_ value: Int8, forKey key: Key) { set(.number(String(value)), key) }
    func encode(_ value: Int16, forKey key: Key) { set(.number(String(value)), key) }
    func encode(_ value: Int32, forKey key: Key) { set(.number(String(value)), key) }
    func encode(_ value: Int64, forKey key: Key) { set(.number(String(value)), key) }
    func encode(_ value: Int128, forKey key: Key) { set(.number(String(value)), key) }
    func encode(_ value: UInt, forKey key: Key) { set(.number(String(value)), key) }
    func encode(_ value: UInt8, forKey key: Key) { set(.number(String(value)), key) }
    func encode(_ value: UInt16, forKey key: Key) { set(.number(String(value)), key) }
    func encode(_ value: UInt32, forKey key: Key) { set(.number(String(value)), key) }
    func encode(_ value: UInt64, forKey key: Key) { set(.number(String(value)), key) }
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

/// Elements of an array, as an `Encoder` hands them out.
struct OrderedJSONUnkeyedContainer: UnkeyedEncodingContainer {
    let array: JSONArray
    let codingPath: [any CodingKey]

    var count: Int { array.elements.count }

    func encodeNil() { append(.null) }
    func encode(_ value: Bool) { append(.bool(value)) }
    func encode(_ value: String) { append(.string(value)) }
    func encode(_ value: Double) { append(.floatingPoint(value)) }
    func encode(_ value: Float) { append(.floatingPoint(value)) }
    func encode(_ value: Int) { append(.number(String(value))) }
    func encode(_ value: Int8) { append(.number(String(value))) }
    func encode(_ value: Int16) { append(.number(String(value))) }
    func encode(_ value: Int32) { append(.number(String(value))) }
    func encode(_ value: Int64) { append(.number(String(value))) }
    func encode(_ value: Int128) { append(.number(String(value))) }
    func encode(_ value: UInt) { append(.number(String(value))) }
    func encode(_ value: UInt8) { append(.number(String(value))) }
    func encode(_ value: UInt16) { append(.number(String(value))) }
    func encode(_ value: UInt32) { append(.number(String(value))) }
    func encode(_ value: UInt64) { append(.number(String(value))) }
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
