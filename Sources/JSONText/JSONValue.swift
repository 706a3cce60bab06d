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
