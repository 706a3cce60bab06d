/// One value of a YAML text, with the line on which it begins.
package struct YAMLNode: Sendable {
    /// What kind of value it is, and what is in it.
    package enum Content: Sendable {
        /// A text as it is meant: without quotes, escapes resolved. A value in quotes, in a block or with the tag `!!str` is
        /// a text whatever it looks like; of others the reader says what they are.
        case scalar(String, isText: Bool)
        case sequence([YAMLNode])
        /// Keys and values as they stand in the text. No two keys are the same text.
        case mapping([(key: YAMLNode, value: YAMLNode)])
    }

    package let content: Content
    /// The line, from 1.
    package let line: Int

    /// The text of a scalar; `nil` for the other kinds.
    package var scalar: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }

    /// The values of a sequence; `nil` for the other kinds.
    package var sequence: [YAMLNode]? {
        if case .sequence(let values) = content { values } else { nil }
    }

    /// The keys and values of a mapping; `nil` for the other kinds.
    package var mapping: [(key: YAMLNode, value: YAMLNode)]? {
        if case .mapping(let entries) = content { entries } else { nil }
    }
}
