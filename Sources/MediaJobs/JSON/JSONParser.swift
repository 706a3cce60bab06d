internal import MediaBase

/// A tree of JSON values in which objects keep the order of their keys.
///
/// Containers are reference types because an `Encoder` may hand out a container and fill it later.
enum JSONValue {
    case null
    case bool(Bool)
    /// A number, as JSON text.
    case number(String)
    case string(String)
    case array(JSONArray)
    case object(JSONObject)
    /// A value that is not known yet, such as that of `superEncoder()`.
    case later(OrderedJSONTreeEncoder)
}

/// The elements of an array, in order.
final class JSONArray {
    var elements: [JSONValue] = []
}

/// The members of an object, in the order in which their keys were first set.
final class JSONObject {
    private(set) var members: [(key: String, value: JSONValue)] = []

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
    func value(for key: String) -> JSONValue? {
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

/// Reads JSON (RFC 8259) into a tree, within limits.
///
/// ```swift
/// let tree = try JSONParser.parse(bytes, leavingOut: ["metadata"])
/// ```
///
/// `NaN`, `Infinity` and `Inf` are accepted as numbers, because several programs write them. If an object contains a
/// key twice, the last value counts.
struct JSONParser {
    private let bytes: [UInt8]
    private let leftOut: Set<String>
    private var position = 0
    private var depth = 0
    private var valuesLeft: Int

    /// The maximum nesting depth of arrays and objects.
    static let maximumLevels = 512
    /// The maximum number of values; each takes many times more memory than its text.
    static let maximumValues = 10_000_000

    /// Parses JSON text.
    ///
    /// - Parameters:
    ///   - leftOut: The keys of objects whose values are read but not kept, at any level.
    ///   - most: The maximum number of values, including those not kept.
    /// - Throws: ``MediaError`` `damaged` with line and column if the text is not JSON; `limitExceeded` if it is nested
    ///   too deeply or has too many values.
    static func parse(
        _ bytes: [UInt8], leavingOut leftOut: Set<String> = [], atMost most: Int = maximumValues
    ) throws(MediaError) -> JSONValue {
        var parser = JSONParser(bytes: bytes, leftOut: leftOut, valuesLeft: most)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { parser.position = 3 }
        let value = try parser.value()
        parser.skipBlanks()
        guard parser.position == bytes.count else { throw parser.failure("something follows the value") }
        return value
    }

    private init(bytes: [UInt8], leftOut: Set<String>, valuesLeft: Int) {
        self.bytes = bytes
        self.leftOut = leftOut
        self.valuesLeft = valuesLeft
    }

    private func failure(_ what: String) -> MediaError {
        let read = bytes[..<min(position, bytes.count)]
        let line = read.count { $0 == 0x0A } + 1
        let column = read.count - (read.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
        return MediaError(.damaged, "is no JSON: \(what), at line \(line), column \(column)")
    }

    private mutating func skipBlanks() {
        while position < bytes.count, [0x20, 0x0A, 0x0D, 0x09].contains(bytes[position]) { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard position < bytes.count, UInt32(bytes[position]) == character.value else { return false }
        position += 1
        return true
    }

    private mutating func value() throws(MediaError) -> JSONValue {
        skipBlanks()
        guard position < bytes.count else { throw failure("the text ends too early") }
        guard valuesLeft > 0 else {
            throw MediaError(.limitExceeded, "has too many values; at most \(Self.maximumValues) are read")
        }
        valuesLeft -= 1
        switch bytes[position] {
        case UInt8(ascii: "{"): return .object(try nested { parser throws(MediaError) in try parser.object() })
        case UInt8(ascii: "["): return .array(try nested { parser throws(MediaError) in try parser.array() })
        case UInt8(ascii: "\""): return .string(try string())
        default: return try word()
        }
    }

    private mutating func nested<Result>(
        _ read: (inout JSONParser) throws(MediaError) -> Result
    ) throws(MediaError) -> Result {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumLevels else {
            throw MediaError(.limitExceeded, "nests more than \(Self.maximumLevels) levels deep")
        }
        position += 1
        return try read(&self)
    }

    private mutating func object() throws(MediaError) -> JSONObject {
        let object = JSONObject()
        if take("}") { return object }
        repeat {
            skipBlanks()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
                throw failure("a key in quotation marks is missing")
            }
            let key = try string()
            guard take(":") else { throw failure("a colon is missing") }
            let value = try value()
            if !leftOut.contains(key) { object.set(value, for: key) }
        } while take(",")
        guard take("}") else { throw failure("a comma or a closing brace is missing") }
        return object
    }

    private mutating func array() throws(MediaError) -> JSONArray {
        let array = JSONArray()
        if take("]") { return array }
        repeat { array.elements.append(try value()) } while take(",")
        guard take("]") else { throw failure("a comma or a closing bracket is missing") }
        return array
    }

    // MARK: Words and numbers

    private mutating func word() throws(MediaError) -> JSONValue {
        let start = position
        while position < bytes.count, Self.isPartOfWord(bytes[position]) { position += 1 }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        switch text {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "NaN", "Infinity", "-Infinity", "Inf", "-Inf": return .number(text)
        default: break
        }
        guard Self.isNumber(text), Double(text) != nil else {
            position = start
            throw failure("a value is missing")
        }
        return .number(text)
    }

    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// Returns whether a text starts like a number and consists of its characters.
    ///
    /// `Double` checks the rest, but would also accept hexadecimal digits, which JSON does not allow.
    private static func isNumber(_ text: String) -> Bool {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard let first = digits.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
        return text.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
    }

    // MARK: Strings

    private mutating func string() throws(MediaError) -> String {
        position += 1
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw failure("a text is not UTF-8")
                }
                return string
            case UInt8(ascii: "\\"): text += try escaped()
            case 0..<0x20: throw failure("a text has a control character")
            default: text.append(byte)
            }
        }
        throw failure("a text has no end")
    }

    private mutating func escaped() throws(MediaError) -> [UInt8] {
        guard position < bytes.count else { throw failure("a text has no end") }
        let letter = bytes[position]
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [letter]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"):
            var units = [try codeUnit()]
            // The second half of a surrogate pair.
            if units[0] & 0xFC00 == 0xD800, bytes[position...].starts(with: Array("\\u".utf8)) {
                position += 2
                units.append(try codeUnit())
            }
            return Array(String(decoding: units, as: UTF16.self).utf8)
        default: throw failure("a backslash is followed by nothing that it stands for")
        }
    }

    private mutating func codeUnit() throws(MediaError) -> UInt16 {
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw failure("four hexadecimal digits are missing") }
        position += 4
        return unit
    }
}
