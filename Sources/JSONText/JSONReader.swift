package import MediaBase

/// Reads JSON (RFC 8259) within limits: value by value, or into a tree.
///
/// ```swift
/// let tree = try JSONReader.parse(bytes, leavingOut: ["metadata"])
///
/// var reader = JSONReader(bytes)
/// try reader.forEachMember { key, reader throws(MediaError) in
///     if key == "length" { length = try reader.integer() } else { _ = try reader.value() }
/// }
/// try reader.expectEnd()
/// ```
///
/// `NaN`, `Infinity` and `Inf` are accepted as numbers, because several programs write them. If an object contains a
/// key twice, the last value counts in a tree.
package struct JSONReader {
    private let bytes: [UInt8]
    private let leftOut: Set<String>
    private var position = 0
    private var depth = 0
    private var valuesLeft: Int

    /// The maximum nesting depth of arrays and objects.
    package static let maximumLevels = 512
    /// The maximum number of values; each takes many times more memory than its text.
    package static let maximumValues = 10_000_000

    /// Parses JSON text.
    ///
    /// - Parameters:
    ///   - leftOut: The keys of objects whose values are read but not kept, at any level.
    ///   - most: The maximum number of values, including those not kept.
    /// - Throws: ``MediaError`` `damaged` with line and column if the text is not JSON; `limitExceeded` if it is nested
    ///   too deeply or has too many values.
    package static func parse(
        _ bytes: [UInt8], leavingOut leftOut: Set<String> = [], atMost most: Int = maximumValues
    ) throws(MediaError) -> JSONValue {
        var reader = JSONReader(bytes, leavingOut: leftOut, atMost: most)
        let value = try reader.value()
        try reader.expectEnd()
        return value
    }

    /// Creates a reader at the start of a text; a byte order mark is skipped.
    ///
    /// - Parameters:
    ///   - leftOut: The keys of objects whose values are read but not kept in trees, at any level.
    ///   - most: The maximum number of values in trees, including those not kept.
    package init(_ bytes: [UInt8], leavingOut leftOut: Set<String> = [], atMost most: Int = maximumValues) {
        self.bytes = bytes
        self.leftOut = leftOut
        valuesLeft = most
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// Returns an error that names the current line and column.
    package func failure(_ what: String) -> MediaError {
        let read = bytes[..<min(position, bytes.count)]
        let line = read.count { $0 == 0x0A } + 1
        let column = read.count - (read.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
        return MediaError(.damaged, "is not JSON: \(what), at line \(line), column \(column)")
    }

    /// Returns whether a byte is white space between values.
    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    private mutating func skipBlanks() {
        while position < bytes.count, Self.isBlank(bytes[position]) { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard position < bytes.count, UInt32(bytes[position]) == character.value else { return false }
        position += 1
        return true
    }

    /// Throws if anything but blanks is left.
    package mutating func expectEnd() throws(MediaError) {
        skipBlanks()
        guard position == bytes.count else { throw failure("something follows the value") }
    }

    /// Reads the next value, with all that it contains.
    package mutating func value() throws(MediaError) -> JSONValue {
        skipBlanks()
        guard position < bytes.count else { throw failure("the text ends too early") }
        guard valuesLeft > 0 else {
            throw MediaError(.limitExceeded, "has too many values; at most \(Self.maximumValues) are read")
        }
        valuesLeft -= 1
        switch bytes[position] {
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "\""): return .string(try string())
        default: return try word()
        }
    }

    private mutating func nest() throws(MediaError) {
        depth += 1
        guard depth <= Self.maximumLevels else {
            throw MediaError(.limitExceeded, "nests more than \(Self.maximumLevels) levels deep")
        }
    }

    /// Reads an object; calls the closure with each key, to read its value.
    package mutating func forEachMember(
        _ body: (String, inout JSONReader) throws(MediaError) -> Void
    ) throws(MediaError) {
        guard take("{") else { throw failure("an object is missing") }
        try nest()
        defer { depth -= 1 }
        if take("}") { return }
        repeat {
            skipBlanks()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
                throw failure("a key in quotation marks is missing")
            }
            let key = try string()
            guard take(":") else { throw failure("a colon is missing") }
            try body(key, &self)
        } while take(",")
        guard take("}") else { throw failure("a comma or a closing brace is missing") }
    }

    /// Reads an array; calls the closure to read each element.
    package mutating func forEachElement(
        _ body: (inout JSONReader) throws(MediaError) -> Void
    ) throws(MediaError) {
        guard take("[") else { throw failure("an array is missing") }
        try nest()
        defer { depth -= 1 }
        if take("]") { return }
        repeat { try body(&self) } while take(",")
        guard take("]") else { throw failure("a comma or a closing bracket is missing") }
    }

    private mutating func object() throws(MediaError) -> JSONObject {
        let object = JSONObject()
        try forEachMember { key, reader throws(MediaError) in
            let value = try reader.value()
            if !reader.leftOut.contains(key) { object.set(value, for: key) }
        }
        return object
    }

    private mutating func array() throws(MediaError) -> JSONArray {
        let array = JSONArray()
        try forEachElement { reader throws(MediaError) in array.elements.append(try reader.value()) }
        return array
    }

    // MARK: Words and numbers

    /// Reads a whole number of at most 18 digits, written without a fraction or an exponent.
    @inline(__always)
    package mutating func integer() throws(MediaError) -> Int {
        skipBlanks()
        var index = position
        let isNegative = index < bytes.count && bytes[index] == UInt8(ascii: "-")
        if isNegative { index += 1 }
        let start = index
        var value = 0
        while index < bytes.count, index - start < 18 {
            let digit = bytes[index] &- 48
            guard digit < 10 else { break }
            value = value &* 10 &+ Int(digit)
            index += 1
        }
        let digits = index - start
        let goesOn = index < bytes.count && Self.isPartOfWord(bytes[index])
        guard digits > 0, !goesOn, digits == 1 || bytes[start] != 48 else { throw failure("a whole number is missing") }
        position = index
        return isNegative ? -value : value
    }

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
