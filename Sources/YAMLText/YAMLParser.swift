package import MediaBase

/// Reads YAML into a tree, within limits.
///
/// ```swift
/// let root = try YAMLParser.parse("rules: [a, b]")
/// root?.mapping?.first?.key.scalar  // "rules"
/// ```
///
/// libyaml takes the text apart; what a scalar without quotes means is left to who reads the tree.
package struct YAMLParser: ~Copyable {
    /// How deep sequences and mappings may lie in each other.
    package static let mostLevels = 64
    /// How many values a text may have: each takes many times as much memory as it has bytes.
    package static let mostValues = 200_000

    private var events: YAMLEventReader
    private var depth = 0
    private var valuesLeft = mostValues

    private init(_ text: String) throws(MediaError) {
        events = try YAMLEventReader(text)
    }

    /// The value that a text is, or `nil` for a text without one.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` with the line, for what is not YAML, anchors, aliases, two keys of one
    ///   mapping that are the same, and more than one document; `limitExceeded` for what lies too deep, or has too many
    ///   values.
    package static func parse(_ text: String) throws(MediaError) -> YAMLNode? {
        var parser = try YAMLParser(text)
        var root: YAMLNode?
        while true {
            let event = try parser.events.next()
            switch event.kind {
            case .streamEnd: return root
            case .streamStart, .documentStart, .documentEnd: continue
            default:
                guard root == nil else { throw parser.error(event, "a second document begins; one is read") }
                root = try parser.node(event)
            }
        }
    }

    /// The value that begins with an event.
    private mutating func node(_ event: YAMLEvent) throws(MediaError) -> YAMLNode {
        valuesLeft -= 1
        guard valuesLeft >= 0 else {
            throw MediaError(.limitExceeded, "has too many values; at most \(Self.mostValues) are read")
        }
        if case .scalar(let text, let isText) = event.kind {
            return YAMLNode(content: .scalar(text, isText: isText), line: event.line)
        }
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.mostLevels else {
            throw MediaError(.limitExceeded, "line \(event.line): lists nest deeper than \(Self.mostLevels) levels")
        }
        let content: YAMLNode.Content =
            if case .mappingStart = event.kind { .mapping(try entries()) } else { .sequence(try elements()) }
        return YAMLNode(content: content, line: event.line)
    }

    private mutating func elements() throws(MediaError) -> [YAMLNode] {
        var elements: [YAMLNode] = []
        while true {
            let event = try events.next()
            if case .sequenceEnd = event.kind { return elements }
            elements.append(try node(event))
        }
    }

    private mutating func entries() throws(MediaError) -> [(key: YAMLNode, value: YAMLNode)] {
        var entries: [(key: YAMLNode, value: YAMLNode)] = []
        var names: Set<String> = []
        while true {
            let event = try events.next()
            if case .mappingEnd = event.kind { return entries }
            let key = try node(event)
            if let name = key.scalar, !names.insert(name).inserted {
                throw error(event, "the key '\(name)' stands here a second time")
            }
            entries.append((key, try node(try events.next())))
        }
    }

    private func error(_ event: YAMLEvent, _ text: String) -> MediaError {
        MediaError(.invalidArgument, "line \(event.line): \(text)")
    }
}
