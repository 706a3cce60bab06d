internal import CYAML
internal import MediaBase

/// What libyaml finds next in a text.
struct YAMLEvent {
    enum Kind {
        case scalar(String, isText: Bool)
        case sequenceStart, sequenceEnd
        case mappingStart, mappingEnd
        case documentStart, documentEnd
        case streamStart, streamEnd
    }

    let kind: Kind
    /// The line on which it begins, from 1.
    let line: Int
}

/// Takes a YAML 1.1 text apart into events, one call at a time; the owner of libyaml's `yaml_parser_t`.
///
/// Anchors and aliases are refused: with them a short text can stand for one of any length.
struct YAMLEventReader: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    /// libyaml reads from it until it is deleted.
    private let text: UnsafeMutableBufferPointer<UInt8>

    /// - Throws: `outOfResources` where there is no memory.
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

    /// The next event; not to be asked for after `streamEnd`, or after an error.
    ///
    /// - Throws: `invalidArgument` with the line, for what is not YAML, and for anchors and aliases.
    ///
    /// `yaml_parser_parse`.
    mutating func next() throws(MediaError) -> YAMLEvent {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else {
            let problem = parser.pointee.problem.map { String(cString: $0) } ?? "it cannot be read"
            var line = parser.pointee.problem_mark.line
            if parser.pointee.error == YAML_READER_ERROR {
                // What is not text at all has an offset and no mark.
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
