internal import MediaBase
internal import Yams

/// Which fields a probe report can have, from its JSON Schema, so that a rule about another one is an error.
package struct QCFieldNames {
    private let report: Node
    private let definitions: Node

    /// Reads the schema of `probe`; `nil` where it is not as expected.
    ///
    /// - Parameter schema: JSON, which is YAML too.
    package init?(schema: String) {
        guard let root = try? Yams.compose(yaml: schema), let definitions = root["$defs"],
            let report = definitions["report"]
        else { return nil }
        self.report = report
        self.definitions = definitions
    }

    /// Checks that each name on a path exists.
    ///
    /// - Throws: `invalidArgument` that says which one does not, and what may have been meant.
    func check(_ path: QCFieldPath) throws(MediaError) {
        var place = report
        for step in path.steps {
            place = resolved(place)
            switch step {
            case .element, .every, .having:
                guard let items = place["items"] else { throw error(path, "what is before the brackets is no list") }
                place = resolved(items)
                if case .having(let name, _) = step { _ = try member(name, of: place, path) }
            case .member(let name): place = try member(name, of: place, path)
            }
        }
    }

    private func member(_ name: String, of place: Node, _ path: QCFieldPath) throws(MediaError) -> Node {
        guard let properties = place["properties"]?.mapping else {
            throw error(path, "there is nothing below it that is called '\(name)'")
        }
        guard let found = properties[Node(name)] else {
            let names = properties.keys.compactMap(\.string)
            throw error(path, "there is no '\(name)'" + NearestName.hint(name, among: names))
        }
        return found
    }

    private func resolved(_ node: Node) -> Node {
        var node = node
        for _ in 0..<8 {
            if let target = node["$ref"]?.string?.split(separator: "/").last, let found = definitions[String(target)] {
                node = found
            } else if let choices = node["anyOf"]?.sequence ?? node["oneOf"]?.sequence, let first = choices.first {
                node = first
            } else {
                break
            }
        }
        return node
    }

    private func error(_ path: QCFieldPath, _ text: String) -> MediaError {
        MediaError(.invalidArgument, "field '\(path.text)': \(text)")
    }
}
