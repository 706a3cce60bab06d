/// A value of JSON as a tree, in which objects keep the order of their keys.
///
/// The containers are objects with identity, because an `Encoder` may give a container away and fill it later.
enum JSONValue {
    case null
    case bool(Bool)
    /// A number, as its text in JSON's grammar.
    case number(String)
    case string(String)
    case array(JSONArray)
    case object(JSONObject)
    /// A value that is not known yet, as of `superEncoder()`.
    case later(OrderedJSONTreeEncoder)
}

/// The elements of an array, in order.
final class JSONArray {
    var elements: [JSONValue] = []
}

/// The members of an object, in the order in which their keys came first.
final class JSONObject {
    private(set) var members: [(key: String, value: JSONValue)] = []

    /// Positions by the bytes of the key; filled once there are enough members for a search to be slower.
    private var positions: [[UInt8]: Int] = [:]
    private static let searched = 16

    /// Adds a member, or gives the member of that key another value in its place.
    ///
    /// Keys are the same if their bytes are: two that Swift holds equal, as a composed and a decomposed "é", are two.
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

    /// The value of a key, or `nil`.
    func value(for key: String) -> JSONValue? {
        position(of: key).map { members[$0].value }
    }

    /// Puts the members into the order of their keys' bytes.
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
    /// A floating-point number by Swift's shortest text that reads back as the same; what is not finite has no number
    /// in JSON and becomes `null`.
    static func floatingPoint(_ number: some BinaryFloatingPoint & LosslessStringConvertible) -> JSONValue {
        number.isFinite ? .number(String(number)) : .null
    }

    /// Sorts what came out of a collection without an order of its own, so that every run gives the same.
    ///
    /// Objects by their keys. Arrays by the text of their elements, or where they hold a dictionary whose keys are no
    /// strings, by the text of their pairs of key and value.
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
