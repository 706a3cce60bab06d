package import MediaBase
internal import SystemCalls
package import SystemPackage

/// A path to one value in a result, such as `tracks[0].video.cleanAperture`.
///
/// Names of members stand between dots, places in arrays, from 0, in square brackets; a negative place counts from the
/// end.
package struct JSONSelection: Sendable, Hashable {
    /// The path as it was written.
    package let text: String
    private let steps: [Step]

    private enum Step: Sendable, Hashable {
        case member(String)
        case element(Int)
    }

    /// Reads a path.
    ///
    /// - Throws: `invalidArgument` where it is none.
    package init(_ text: String) throws(MediaError) {
        var steps: [Step] = []
        var rest = text[...]
        // A dot at the beginning is what users of jq write.
        if rest.first == "." { rest.removeFirst() }
        var expectsName = true
        while let first = rest.first {
            if first == "[", !(expectsName && !steps.isEmpty) {
                guard let end = rest.firstIndex(of: "]"),
                    let place = Int(rest[rest.index(after: rest.startIndex)..<end])
                else { throw Self.error(text) }
                steps.append(.element(place))
                rest = rest[rest.index(after: end)...]
            } else {
                let name = rest.prefix { $0 != "." && $0 != "[" }
                guard expectsName, !name.isEmpty else { throw Self.error(text) }
                steps.append(.member(String(name)))
                rest = rest.dropFirst(name.count)
            }
            expectsName = rest.first == "."
            if expectsName { rest.removeFirst() }
        }
        guard !steps.isEmpty, !expectsName else { throw Self.error(text) }
        self.text = text
        self.steps = steps
    }

    private static func error(_ text: String) -> MediaError {
        MediaError(
            .invalidArgument,
            "'\(text)' is no path to one value; write it like tracks[0].video.encodedSize.width or tracks[-1].codec, "
                + "with a number in the brackets")
    }

    /// The value that the path leads to, as text without a line break at the end.
    ///
    /// - Parameters:
    ///   - value: The whole result.
    ///   - layout: How JSON is laid out.
    ///   - depth: How many levels the pretty lines after the first stand indented.
    ///   - quotesStrings: Whether a string is written as JSON; else as it is.
    /// - Returns: The text, or `nil` where nothing is there.
    /// - Throws: What encoding throws.
    package func text(
        in value: some Encodable, layout: OrderedJSONEncoder.Layout, depth: Int = 0, quotesStrings: Bool
    ) throws -> String? {
        var found = try OrderedJSONTreeEncoder.tree(of: value, at: []).settled
        for step in steps {
            switch (step, found) {
            case (.member(let name), .object(let object)):
                guard let member = object.value(for: name) else { return nil }
                found = member.settled
            case (.element(let place), .array(let array)):
                let place = place < 0 ? place + array.elements.count : place
                guard array.elements.indices.contains(place) else { return nil }
                found = array.elements[place].settled
            default: return nil
            }
        }
        if case .string(let string) = found, !quotesStrings { return string }
        var writer = JSONWriter(layout: layout, depth: depth)
        writer.write(found)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension JSONValue {
    /// The value itself where it was given later.
    var settled: JSONValue {
        var value = self
        while case .later(let encoder) = value { value = encoder.value }
        return value
    }
}

extension FilePath {
    /// The path's bytes in base64 where it is not UTF-8, so that a program gets them from JSON; else `nil`.
    package var pathBytes: String? {
        String(validating: self) == nil ? base64(bytes) : nil
    }
}

/// Bytes as text in base64 with padding (RFC 4648, section 4).
package func base64(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    var bits = 0
    var pending = 0
    for byte in bytes {
        pending = pending << 8 | Int(byte)
        bits += 8
        while bits >= 6 {
            bits -= 6
            text.append(digits[pending >> bits & 63])
        }
        pending &= 63
    }
    if bits > 0 { text.append(digits[pending << (6 - bits) & 63]) }
    while !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
    return String(decoding: text, as: UTF8.self)
}
