/// Writes a tree of JSON values as text (RFC 8259, UTF-8).
package struct JSONWriter {
    /// The text so far.
    package private(set) var bytes: [UInt8] = []
    private let layout: OrderedJSONEncoder.Layout
    private var depth: Int

    /// Creates a writer without text.
    ///
    /// - Parameter depth: The indentation level of the text; the caller indents the first line.
    package init(layout: OrderedJSONEncoder.Layout, depth: Int = 0) {
        self.layout = layout
        self.depth = depth
    }

    /// Writes a value.
    package mutating func write(_ value: JSONValue) {
        switch value {
        case .null: bytes += "null".utf8
        case .bool(let bool): bytes += (bool ? "true" : "false").utf8
        case .number(let text): bytes += text.utf8
        case .string(let string): write(string)
        case .array(let array):
            write(array.elements, between: UInt8(ascii: "["), and: UInt8(ascii: "]")) { $0.write($1) }
        case .object(let object):
            write(object.members, between: UInt8(ascii: "{"), and: UInt8(ascii: "}")) { writer, member in
                writer.write(member.key)
                writer.bytes += (writer.layout == .pretty ? ": " : ":").utf8
                writer.write(member.value)
            }
        case .later(let encoder): write(encoder.value)
        }
    }

    private mutating func write<Element>(
        _ elements: [Element], between opening: UInt8, and closing: UInt8,
        _ writeElement: (inout JSONWriter, Element) -> Void
    ) {
        bytes.append(opening)
        depth += 1
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            breakLine()
            writeElement(&self, element)
        }
        depth -= 1
        if !elements.isEmpty { breakLine() }
        bytes.append(closing)
    }

    private mutating func breakLine() {
        guard layout == .pretty else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    }

    /// Writes a string with its control characters escaped.
    ///
    /// JSON requires this below U+0020. Other control characters are escaped because a terminal or an editor may
    /// interpret them (``VisibleText``).
    private mutating func write(_ string: String) {
        bytes.append(UInt8(ascii: "\""))
        // The bytes so far of a character that may need escaping.
        var (character, wanted) = (UInt32(0), 0)
        for byte in string.utf8 {
            if wanted > 0 {
                character = character << 8 | UInt32(byte)
                wanted -= 1
                if wanted == 0 { write(character: character) }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x08: bytes += #"\b"#.utf8
            case 0x09: bytes += #"\t"#.utf8
            case 0x0A: bytes += #"\n"#.utf8
            case 0x0C: bytes += #"\f"#.utf8
            case 0x0D: bytes += #"\r"#.utf8
            case ..<0x20, 0x7F: writeEscape(UInt32(byte))
            // U+0080 to U+00BF, U+0600 to U+063F; U+2000 to U+2FFF.
            case 0xC2, 0xD8: (character, wanted) = (UInt32(byte), 1)
            case 0xE2: (character, wanted) = (UInt32(byte), 2)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a character of two or three bytes, escaped if it is a control character or changes the text direction.
    private mutating func write(character: UInt32) {
        let low = character & 0x3F | (character >> 8 & 0x3F) << 6
        let scalar = character > 0xFFFF ? low | (character >> 16 & 0x0F) << 12 : low & 0x7FF
        switch scalar {
        case 0x80..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: writeEscape(scalar)
        default:
            if character > 0xFFFF { bytes.append(UInt8(truncatingIfNeeded: character >> 16)) }
            bytes += [UInt8(truncatingIfNeeded: character >> 8), UInt8(truncatingIfNeeded: character)]
        }
    }

    private mutating func writeEscape(_ character: UInt32) {
        let digits = Array("0123456789abcdef".utf8)
        bytes += #"\u"#.utf8
        for shift: UInt32 in [12, 8, 4, 0] { bytes.append(digits[Int(character >> shift & 15)]) }
    }
}
