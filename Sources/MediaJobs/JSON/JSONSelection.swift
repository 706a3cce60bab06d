package import MediaBase
internal import SystemCalls
package import SystemPackage

/// A path to one value in a result, such as `tracks[0].video.cleanAperture`.
///
/// Member names are separated by dots. Array indices, from 0, stand in square brackets; a negative index counts from
/// the end.
package struct JSONSelection: Sendable, Hashable {
    /// The path as written.
    package let text: String
    private let steps: [Step]

    private enum Step: Sendable, Hashable {
        case member(String)
        case element(Int)
    }

    /// Reads a path.
    ///
    /// - Throws: `invalidArgument` if the text is not a path.
    package init(_ text: String) throws(MediaError) {
        var steps: [Step] = []
        var rest = text[...]
        // Users of jq write a dot at the beginning.
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

    /// Returns the value at the path, as text without a line break at the end.
    ///
    /// - Parameters:
    ///   - value: The whole result.
    ///   - layout: The layout of JSON.
    ///   - depth: The indentation level of the pretty lines after the first.
    ///   - quotesStrings: True to write a string as JSON, false to write its plain text.
    /// - Returns: The text, or `nil` if there is no such value.
    /// - Throws: The errors of encoding.
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
    /// The value itself, even if it was supplied later.
    var settled: JSONValue {
        var value = self
        while case .later(let encoder) = value { value = encoder.value }
        return value
    }
}

extension FilePath {
    /// The path's bytes in base64 if they are not UTF-8, so that programs can read them from JSON; otherwise `nil`.
    package var pathBytes: String? {
        String(validating: self) == nil ? base64(bytes) : nil
    }
}

/// Returns bytes in base64 with padding (RFC 4648, section 4).
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
