internal import EmbeddedFiles
package import MediaBase
internal import YAMLText

/// The outputs that `ingest` makes of a file, with their options: a list in YAML.
///
/// ```yaml
/// outputs:
///   peaks: {samples-per-pixel: [256, 4096], bits: 8}
///   proxy: {preset: web, height: 360}
/// fixity: true
/// ```
package struct IngestRecipe: Sendable {
    /// An option of the command that makes an output, by its name there without dashes.
    package struct Option: Encodable, Sendable, Hashable {
        /// The name.
        package let name: String
        /// The value; `nil` for a flag.
        package let value: String?

        /// Creates an option.
        package init(_ name: String, _ value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// An output, or several that belong together.
    package struct Entry: Sendable {
        /// The name of the part.
        package let part: IngestPart.Name
        /// The options, in the order in which they were written.
        package let options: [Option]
        /// The line on which the entry stands.
        package let line: Int
    }

    /// The recipes that come with the program.
    package enum BuiltIn: String, CaseIterable, Sendable {
        case web, edit, archive, analyse

        /// The recipe's text.
        package var yaml: String {
            switch self {
            case .web: EmbeddedFile.webRecipe.text
            case .edit: EmbeddedFile.editRecipe.text
            case .archive: EmbeddedFile.archiveRecipe.text
            case .analyse: EmbeddedFile.analyseRecipe.text
            }
        }
    }

    /// The name: that of a built-in recipe, or of its file without the extension.
    package let name: String
    /// The outputs, in the order in which they are listed.
    package private(set) var entries: [Entry] = []
    /// True if the SHA-256 of the input belongs to the manifest.
    package var hasFixity = false

    /// The largest size of a recipe in bytes.
    package static let maximumBytes = 1 << 20

    /// Reads a recipe.
    ///
    /// - Throws: `invalidArgument`, with the line, for what a recipe cannot have.
    package init(yaml: String, named name: String) throws(MediaError) {
        self.name = name
        guard let root = try YAMLParser.parse(yaml) else { throw Self.error(1, "the recipe is empty") }
        guard let members = root.mapping else { throw Self.error(root.line, "a recipe has 'outputs'") }
        for (key, value) in members {
            switch key.scalar {
            case "outputs": entries = try Self.entries(value)
            case "fixity": hasFixity = try Self.flag(value)
            default: throw Self.error(key.line, "a recipe has 'outputs' and 'fixity', not '\(key.scalar ?? "this")'")
            }
        }
        guard !entries.isEmpty else { throw Self.error(root.line, "'outputs' names no output") }
    }

    /// Leaves outputs out.
    package mutating func remove(_ parts: Set<IngestPart.Name>) { entries.removeAll { parts.contains($0.part) } }

    private static func entries(_ node: YAMLNode) throws(MediaError) -> [Entry] {
        guard let members = node.mapping else { throw error(node.line, "'outputs' lists outputs by their names") }
        var entries: [Entry] = []
        for (key, value) in members {
            guard let name = key.scalar.flatMap(IngestPart.Name.init) else {
                let known = IngestPart.Name.allCases.map(\.rawValue).joined(separator: ", ")
                throw error(key.line, "there is no output '\(key.scalar ?? "")'; there are \(known)")
            }
            entries.append(Entry(part: name, options: try options(value), line: key.line))
        }
        return entries
    }

    private static func options(_ node: YAMLNode) throws(MediaError) -> [Option] {
        if let text = node.scalar, text.isEmpty || text == "~" { return [] }
        guard let members = node.mapping else { throw error(node.line, "options are written 'name: value'") }
        var options: [Option] = []
        for (key, value) in members {
            guard let name = key.scalar, !name.isEmpty, !name.hasPrefix("-") else {
                throw error(key.line, "the name of an option is written without dashes")
            }
            switch value.content {
            case .scalar("true", isText: false): options.append(Option(name, nil))
            case .scalar("false", isText: false): continue
            case .scalar(let text, _): options.append(Option(name, text))
            case .sequence(let values):
                let texts = values.compactMap(\.scalar)
                guard texts.count == values.count else { throw error(value.line, "'\(name)' lists plain values") }
                options.append(Option(name, texts.joined(separator: ",")))
            case .mapping: throw error(value.line, "'\(name)' has a value or a list of them")
            }
        }
        return options
    }

    private static func flag(_ node: YAMLNode) throws(MediaError) -> Bool {
        guard let text = node.scalar, let flag = Bool(text) else { throw error(node.line, "'fixity' is true or false") }
        return flag
    }

    /// Returns the error for a line of a recipe.
    package static func error(_ line: Int, _ message: String) -> MediaError {
        MediaError(.invalidArgument, "line \(line): \(message)")
    }
}
