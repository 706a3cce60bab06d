internal import MediaBase

/// Which fields a probe report can have, from its JSON Schema, so that a rule about another one is an error.
package struct QCFieldNames {
    private let report: JSONObject
    private let definitions: JSONObject

    /// Reads the schema of `probe`; `nil` where it is not as expected.
    ///
    /// - Parameter schema: JSON.
    package init?(schema: String) {
        guard case .object(let root)? = try? JSONParser.parse(Array(schema.utf8)),
            let definitions = root.object(for: "$defs"), let report = definitions.object(for: "report")
        else { return nil }
        self.report = report
        self.definitions = definitions
    }

    /// Checks that each name on a path exists.
    ///
    /// - Returns: Whether it leads to true or false.
    /// - Throws: `invalidArgument` that says which one does not, and what may have been meant.
    func check(_ path: QCFieldPath) throws(MediaError) -> Bool {
        var place = report
        if case .member(let name)? = path.steps.first, ["schemaVersion", "path", "pathBytes"].contains(name) {
            throw error(path, "rules are about what a file says, not about what it is called")
        }
        for step in path.steps {
            place = resolved(place)
            switch step {
            case .element, .every, .having:
                guard let items = place.object(for: "items") else {
                    throw error(path, "what is before the brackets is not a list")
                }
                place = resolved(items)
                if case .having(let name, _) = step { _ = try member(name, of: place, path) }
            case .member(let name): place = try member(name, of: place, path)
            }
        }
        return resolved(place).value(for: "type")?.isText("boolean") ?? false
    }

    private func member(_ name: String, of place: JSONObject, _ path: QCFieldPath) throws(MediaError) -> JSONObject {
        guard let properties = place.object(for: "properties") else {
            throw error(path, "there is nothing below it that is called '\(name)'")
        }
        guard let found = properties.object(for: name) else {
            let names = properties.members.map(\.key)
            throw error(path, "there is no '\(name)'" + NearestName.hint(name, among: names))
        }
        return found
    }

    private func resolved(_ place: JSONObject) -> JSONObject {
        var place = place
        for _ in 0..<8 {
            if case .string(let target)? = place.value(for: "$ref"), let name = target.split(separator: "/").last,
                let found = definitions.object(for: String(name))
            {
                place = found
            } else if case .array(let choices)? = place.value(for: "anyOf") ?? place.value(for: "oneOf"),
                case .object(let first)? = choices.elements.first
            {
                place = first
            } else {
                break
            }
        }
        return place
    }

    private func error(_ path: QCFieldPath, _ text: String) -> MediaError {
        MediaError(.invalidArgument, "field '\(path.text)': \(text)")
    }
}

extension JSONValue {
    /// Whether it is a certain text.
    fileprivate func isText(_ text: String) -> Bool { if case .string(text) = self { true } else { false } }
}

extension JSONObject {
    /// The object that is the value of a key, or `nil`.
    fileprivate func object(for key: String) -> JSONObject? {
        if case .object(let object)? = value(for: key) { object } else { nil }
    }
}
