internal import CYAML
package import MediaBase

/// A value of a YAML text, with the line on which it starts.
package struct YAMLNode: Sendable {
    /// The kind and content of a value.
    package enum Content: Sendable {
        /// The interpreted text: without quotes, and with escapes resolved.
        ///
        /// `isText` is true for a value in quotes, in a block or with the tag `!!str`, which is text whatever its
        /// form. The reader decides the type of all other scalars.
        case scalar(String, isText: Bool)
        case sequence([YAMLNode])
        /// The keys and values in their order in the text, without duplicate keys.
        case mapping([(key: YAMLNode, value: YAMLNode)])
    }

    package let content: Content
    /// The line number, from 1.
    package let line: Int

    /// The text of a scalar; `nil` for other kinds.
    package var scalar: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }

    /// The values of a sequence; `nil` for other kinds.
    package var sequence: [YAMLNode]? {
        if case .sequence(let values) = content { values } else { nil }
    }

    /// The keys and values of a mapping; `nil` for other kinds.
    package var mapping: [(key: YAMLNode, value: YAMLNode)]? {
        if case .mapping(let entries) = content { entries } else { nil }
    }
}

/// A parser that reads YAML into a tree, within limits.
///
/// ```swift
/// let root = try YAMLParser.parse("rules: [a, b]")
/// root?.mapping?.first?.key.scalar  // "rules"
/// ```
///
/// libyaml parses the text; the reader of the tree decides the meaning of scalars without quotes.
package struct YAMLParser: ~Copyable {
    /// The maximum nesting depth of sequences and mappings.
    package static let maximumLevels = 64
    /// The maximum number of values in a text, as each needs many times its size in memory.
    package static let maximumValues = 200_000

    private var events: YAMLEventReader
    private var depth = 0
    private var valuesLeft = maximumValues

    private init(_ text: String) throws(MediaError) {
        events = try YAMLEventReader(text)
    }

    /// Returns the root value of a text, or `nil` for a text without one.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` with the line for invalid YAML, anchors, aliases, duplicate keys in
    ///   a mapping and more than one document; `limitExceeded` for values that are nested too deeply or too many
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

    /// Returns the value that starts with an event.
    private mutating func node(_ event: YAMLEvent) throws(MediaError) -> YAMLNode {
        valuesLeft -= 1
        guard valuesLeft >= 0 else {
            throw MediaError(.limitExceeded, "has too many values; at most \(Self.maximumValues) are read")
        }
        if case .scalar(let text, let isText) = event.kind {
            return YAMLNode(content: .scalar(text, isText: isText), line: event.line)
        }
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumLevels else {
            throw MediaError(.limitExceeded, "line \(event.line): lists nest deeper than \(Self.maximumLevels) levels")
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

/// An event that libyaml finds in a text.
struct YAMLEvent {
    enum Kind {
        case scalar(String, isText: Bool)
        case sequenceStart, sequenceEnd
        case mappingStart, mappingEnd
        case documentStart, documentEnd
        case streamStart, streamEnd
    }

    let kind: Kind
    /// The line on which the event starts, from 1.
    let line: Int
}

/// A reader that splits a YAML 1.1 text into events, one per call; it owns libyaml's `yaml_parser_t`.
///
/// Anchors and aliases are refused, because they let a short text represent one of any length.
struct YAMLEventReader: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    /// The input buffer, which libyaml reads until the parser is deleted.
    private let text: UnsafeMutableBufferPointer<UInt8>

    /// - Throws: `outOfResources` if no memory is available.
    init(_ string: String) throws(MediaError) {
        let bytes = Array(string.utf8)
        text = .allocate(capacity: bytes.count)
        _ = text.initialize(from: bytes)
        parser = .allocate(capacity: 1)
        guard yaml_parser_initialize(parser) == 1 else {
            text.deallocate()
            parser.deallocate()
            throw MediaError(.outOfResources, "there is no memory for reading YAML")
        }
        yaml_parser_set_input_string(parser, text.baseAddress, text.count)
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        text.deallocate()
    }

    /// Returns the next event: `yaml_parser_parse`.
    ///
    /// Do not call it after `streamEnd` or after an error.
    ///
    /// - Throws: `invalidArgument` with the line, for invalid YAML, and for anchors and aliases.
    mutating func next() throws(MediaError) -> YAMLEvent {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else {
            let problem = parser.pointee.problem.map { String(cString: $0) } ?? "it cannot be read"
            var line = parser.pointee.problem_mark.line
            if parser.pointee.error == YAML_READER_ERROR {
                // Input that is not valid text has an offset and no mark.
                let offset = min(parser.pointee.problem_offset, text.count)
                line = text[..<offset].count { $0 == UInt8(ascii: "\n") }
            }
            throw Self.error(line: line, "this is not YAML: \(problem)")
        }
        defer { yaml_event_delete(&event) }
        return YAMLEvent(kind: try Self.kind(of: event), line: Int(clamping: event.start_mark.line) + 1)
    }

    private static func kind(of event: yaml_event_t) throws(MediaError) -> YAMLEvent.Kind {
        switch event.type {
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            try refuse(anchor: scalar.anchor, event)
            let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            let isPlain = scalar.style == YAML_PLAIN_SCALAR_STYLE
            let hasTextTag = scalar.tag.map { String(cString: $0) == YAML_STR_TAG } ?? false
            return .scalar(String(decoding: bytes, as: UTF8.self), isText: !isPlain || hasTextTag)
        case YAML_SEQUENCE_START_EVENT:
            try refuse(anchor: event.data.sequence_start.anchor, event)
            return .sequenceStart
        case YAML_MAPPING_START_EVENT:
            try refuse(anchor: event.data.mapping_start.anchor, event)
            return .mappingStart
        case YAML_ALIAS_EVENT: throw aliasError(event)
        case YAML_SEQUENCE_END_EVENT: return .sequenceEnd
        case YAML_MAPPING_END_EVENT: return .mappingEnd
        case YAML_DOCUMENT_START_EVENT: return .documentStart
        case YAML_DOCUMENT_END_EVENT: return .documentEnd
        case YAML_STREAM_START_EVENT: return .streamStart
        default: return .streamEnd
        }
    }

    private static func refuse(anchor: UnsafeMutablePointer<UInt8>?, _ event: yaml_event_t) throws(MediaError) {
        if anchor != nil { throw aliasError(event) }
    }

    private static func aliasError(_ event: yaml_event_t) -> MediaError {
        error(
            line: event.start_mark.line,
            "anchors (&) and aliases (*) are not read; put quotes around a text that begins like one")
    }

    private static func error(line: Int, _ text: String) -> MediaError {
        MediaError(.invalidArgument, "line \(line + 1): \(text)")
    }
}
