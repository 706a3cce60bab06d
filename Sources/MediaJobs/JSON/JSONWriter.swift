/// Turns a tree of JSON values into text (RFC 8259, UTF-8).
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private let layout: OrderedJSONEncoder.Layout
    private var depth: Int

    /// - Parameter depth: How many levels the text stands indented, of which the first line is left to the caller.
    init(layout: OrderedJSONEncoder.Layout, depth: Int = 0) {
        self.layout = layout
        self.depth = depth
    }

    mutating func write(_ value: JSONValue) {
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
    /// Those below U+0020 because JSON demands it, U+007F to U+009F because a terminal may obey them.
    private mutating func write(_ string: String) {
        bytes.append(UInt8(ascii: "\""))
        var afterC2 = false
        for byte in string.utf8 {
            if afterC2 {
                // U+0080 to U+00BF are C2 80 to C2 BF.
                afterC2 = false
                if byte < 0xA0 { writeEscape(byte) } else { bytes += [0xC2, byte] }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x08: bytes += #"\b"#.utf8
            case 0x09: bytes += #"\t"#.utf8
            case 0x0A: bytes += #"\n"#.utf8
            case 0x0C: bytes += #"\f"#.utf8
            case 0x0D: bytes += #"\r"#.utf8
            case ..<0x20, 0x7F: writeEscape(byte)
            case 0xC2: afterC2 = true
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func writeEscape(_ character: UInt8) {
        let digits = Array("0123456789abcdef".utf8)
        bytes += #"\u00"#.utf8
        bytes.append(digits[Int(character >> 4)])
        bytes.append(digits[Int(character & 15)])
    }
}
