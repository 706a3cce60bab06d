internal import JSONText
internal import MediaBase

/// The data of a page: one JSON object that may stand in a `script` element.
///
/// `<`, `>` and `&` are escaped, so that no text ends the element or begins a comment in it. ``JSONWriter`` escapes line
/// separators and control characters.
struct PageData {
    private var bytes: [UInt8] = []

    /// The JSON text.
    var text: String { "{" + String(decoding: bytes, as: UTF8.self) + "}" }

    /// Adds a member; one without a value is omitted.
    mutating func add(_ name: String, _ value: (some Encodable)?) throws(MediaError) {
        guard let value else { return }
        let json = try Self.json(value)
        bytes += ((bytes.isEmpty ? "\"" : ",\"") + name + "\":").utf8
        bytes += json
    }

    /// Returns the elements whose JSON text fits into a number of bytes, from the first on.
    static func fitting<Element: Encodable>(_ elements: [Element], bytes: Int) throws(MediaError) -> [Element] {
        var rest = bytes
        for (index, element) in elements.enumerated() {
            rest -= try json(element).count + 1
            if rest < 0 { return Array(elements[..<index]) }
        }
        return elements
    }

    /// Returns the JSON text of a value, with the characters escaped that mean something to HTML.
    static func json(_ value: some Encodable) throws(MediaError) -> [UInt8] {
        let json: [UInt8]
        do {
            json = try OrderedJSONEncoder().encode(value)
        } catch {
            throw MediaError(.unsupported, "the data of a page cannot be written", cause: "\(error)")
        }
        var result: [UInt8] = []
        result.reserveCapacity(json.count)
        for byte in json {
            switch byte {
            case UInt8(ascii: "<"): result += #"\u003c"#.utf8
            case UInt8(ascii: ">"): result += #"\u003e"#.utf8
            case UInt8(ascii: "&"): result += #"\u0026"#.utf8
            default: result.append(byte)
            }
        }
        return result
    }
}
