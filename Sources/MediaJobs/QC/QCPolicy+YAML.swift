package import MediaBase
internal import YAMLText

extension QCPolicy {
    /// Bytes of a policy at most.
    package static let mostBytes = 4 << 20
    /// How deep lists, and conditions in each other, may nest.
    static let greatestDepth = 32
    /// Different thresholds and lengths that one check can be asked for with: each is measured for itself.
    static let mostParameters = 16
    /// Pairs of tracks at most.
    static let mostPairs = 64
    /// What a policy looks like, for errors.
    private static let form = "write 'rules:' and a line with '- id: …' for each rule"

    /// Reads a policy from a file's bytes.
    ///
    /// - Throws: as ``init(yaml:named:fields:)``, and `invalidArgument` with the line for what is not UTF-8.
    package init(bytes: [UInt8], named name: String, fields: QCFieldNames?) throws(MediaError) {
        let isWide = bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
        guard !isWide, !bytes.prefix(2).contains(0) else {
            throw MediaError(.invalidArgument, "line 1: the text is UTF-16, or not a text; save it as UTF-8")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            // A line's end is never a part of a longer character.
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
            throw MediaError(.invalidArgument, "line \(line + 1): the text is not UTF-8; save it as UTF-8")
        }
        try self.init(yaml: text, named: name, fields: fields)
    }

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
        let root = try YAMLParser.parse(yaml)
        let reader = QCPolicyReader(fields: fields)
        guard let root else {
            throw MediaError(.invalidArgument, "line 1: the policy is empty; \(Self.form)")
        }
        guard root.mapping != nil else { throw reader.error(root, "this is not a policy; \(Self.form)") }
        let entries = try reader.entries(root, "the policy", allowed: ["name", "description", "pairs", "rules"])
        guard let list = entries["rules"] else { throw reader.error(root, "the policy has no rules; \(Self.form)") }
        guard let rules = list.sequence else {
            throw reader.error(list, "'rules' is not a list of rules; \(Self.form)")
        }
        guard !rules.isEmpty else { throw reader.error(list, "the list of rules is empty; \(Self.form)") }
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
}
