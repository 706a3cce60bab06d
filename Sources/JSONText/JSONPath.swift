package import MediaBase

/// A path to one value in a result, such as `tracks[0].video.cleanAperture`.
///
/// Member names are separated by dots. Array indices, from 0, stand in square brackets; a negative index counts from
/// the end.
package struct JSONPath: Sendable, Hashable {
    /// The path as written.
    package let text: String
    private let steps: [Step]

    /// One step of a path.
    package enum Step: Sendable, Hashable {
        /// The member of an object: `.name`.
        case member(String)
        /// The element of an array: `[0]`, `[-1]`.
        case element(Int)
        /// All elements of an array: `[*]`.
        case every
        /// The elements of an array that have a member with a value: `[type=video]`.
        case having(String, String)
    }

    /// The maximum number of steps.
    private static let maximumSteps = 128

    /// Reads a path to one value, which has no `[*]` and no `[name=value]`.
    ///
    /// - Throws: `invalidArgument` if the text is not such a path.
    package init(_ text: String) throws(MediaError) {
        guard let steps = Self.steps(of: text), !steps.contains(where: \.selectsSeveral) else { throw Self.error(text) }
        self.text = text
        self.steps = steps
    }

    /// Returns the steps of a path, or `nil` if the text is not a path.
    package static func steps(of text: String) -> [Step]? {
        var steps: [Step] = []
        var rest = text[...]
        // Users of jq write a dot at the beginning.
        if rest.first == "." { rest.removeFirst() }
        var expectsName = true
        while let first = rest.first, steps.count <= maximumSteps {
            if first == "[", !(expectsName && !steps.isEmpty) {
                guard let end = rest.firstIndex(of: "]"), let step = Step(inBrackets: rest[..<end].dropFirst()) else {
                    return nil
                }
                steps.append(step)
                rest = rest[rest.index(after: end)...]
            } else {
                let name = rest.prefix { $0 != "." && $0 != "[" }
                guard expectsName, !name.isEmpty else { return nil }
                steps.append(.member(String(name)))
                rest = rest.dropFirst(name.count)
            }
            expectsName = rest.first == "."
            if expectsName { rest.removeFirst() }
        }
        return steps.isEmpty || expectsName || steps.count > maximumSteps ? nil : steps
    }

    private static func error(_ text: String) -> MediaError {
        MediaError(
            .invalidArgument,
            "'\(text)' is not a path to one value; write it like tracks[0].video.encodedSize.width or tracks[-1].codec, "
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
        var found = try JSONValue(encoding: value).settled
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

extension JSONPath.Step {
    fileprivate init?(inBrackets text: Substring) {
        let sides = text.split(separator: "=", maxSplits: 1)
        if text == "*" {
            self = .every
        } else if let index = Int(text) {
            self = .element(index)
        } else if sides.count == 2 {
            self = .having(String(sides[0]), String(sides[1]))
        } else {
            return nil
        }
    }

    fileprivate var selectsSeveral: Bool {
        switch self {
        case .member, .element: false
        case .every, .having: true
        }
    }
}
