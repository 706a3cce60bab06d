package import MediaBase
internal import Yams

extension QCPolicy {
    /// Bytes of a policy at most.
    package static let mostBytes = 4 << 20
    /// How deep lists, and conditions in each other, may nest.
    static let greatestDepth = 32
    /// Different thresholds and lengths that one check can be asked for with: each is measured for itself.
    static let mostParameters = 16
    /// Pairs of tracks at most.
    static let mostPairs = 64

    /// Reads a policy; `docs/schema/qc-policy.json` describes its form.
    ///
    /// - Parameters:
    ///   - yaml: The text.
    ///   - name: What it is called where it does not say so itself.
    ///   - fields: Which fields there are; `nil` for not checking them.
    /// - Throws: `invalidArgument` with the line where it is not as it must be, `limitExceeded` where it is too large.
    package init(yaml: String, named name: String, fields: QCFieldNames?) throws(MediaError) {
        guard yaml.utf8.count <= Self.mostBytes else {
            throw MediaError(.limitExceeded, "a policy has at most 4 MB")
        }
        try YAMLGuard.check(yaml, greatestDepth: 2 * Self.greatestDepth)
        let root: Node?
        do {
            root = try Yams.compose(yaml: yaml)
        } catch {
            throw MediaError(.invalidArgument, "is no YAML: \(Self.line(of: error))")
        }
        let reader = QCPolicyReader(fields: fields)
        guard let root, root.mapping != nil else {
            throw MediaError(.invalidArgument, "is no policy: it must have 'rules:' with a list of rules")
        }
        let entries = try reader.entries(root, "the policy", allowed: ["name", "description", "pairs", "rules"])
        guard let rules = entries["rules"]?.sequence else {
            throw MediaError(
                .invalidArgument, "has no list of rules: write 'rules:' and a line with '- id: …' for each")
        }
        self.name = try entries["name"].map { node throws(MediaError) in try reader.string(node, "name") } ?? name
        summary = try entries["description"].map { node throws(MediaError) in
            try reader.string(node, "description")
        }
        self.rules = []
        var ids: Set<String> = []
        for node in rules {
            let rule = try reader.rule(node)
            guard ids.insert(rule.id).inserted else {
                throw reader.error(node, "two rules have the id '\(rule.id)'; give each its own")
            }
            self.rules.append(rule)
        }
        let request = request
        for check in QCCheck.allCases where request.parameters(of: check).count > Self.mostParameters {
            throw MediaError(
                .limitExceeded,
                "asks for '\(check.rawValue)' with more than \(Self.mostParameters) different thresholds and lengths")
        }
        pairs = try entries["pairs"].map { node throws(MediaError) in try reader.pairs(node) } ?? []
    }

    private static func line(of error: any Error) -> String {
        // One line is enough: Yams shows the place in the text below it.
        String("\(error)".split(separator: "\n").prefix(2).joined(separator: " ").prefix(300))
    }
}

/// Refuses YAML that could take more memory, or a deeper stack, than it has text.
enum YAMLGuard {
    /// Throws `invalidArgument` for aliases, which can stand for any amount of text, and `limitExceeded` for deep nesting.
    static func check(_ yaml: String, greatestDepth: Int) throws(MediaError) {
        var depth = 0
        for (number, line) in yaml.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated()
        {
            var quote: UInt8?
            var isStart = true
            var dashes = 0
            var indent = 0
            var before = UInt8(ascii: " ")
            for byte in line {
                defer { before = byte }
                if let open = quote {
                    if byte == open { quote = nil }
                    continue
                }
                let isAfterBlank = before == UInt8(ascii: " ") || before == UInt8(ascii: "\t")
                let begins = isAfterBlank || [UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: ",")].contains(before)
                switch byte {
                case UInt8(ascii: "#") where isAfterBlank: quote = 0
                case UInt8(ascii: "\""), UInt8(ascii: "'"): if begins { quote = byte }
                case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "]"), UInt8(ascii: "}"): depth = max(0, depth - 1)
                case UInt8(ascii: "*") where begins, UInt8(ascii: "&") where begins:
                    throw MediaError(
                        .invalidArgument,
                        "line \(number + 1): a policy has no anchors (&) and aliases (*); put quotes around a text that "
                            + "begins like one")
                case UInt8(ascii: "-") where isStart, UInt8(ascii: "?") where isStart: dashes += 1
                case UInt8(ascii: " ") where isStart: indent += 1
                default: break
                }
                if ![UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "?")].contains(byte) { isStart = false }
            }
            guard depth <= greatestDepth, dashes <= greatestDepth, indent <= 8 * greatestDepth else {
                throw MediaError(.limitExceeded, "line \(number + 1): lists nest deeper than \(greatestDepth) levels")
            }
        }
    }
}
