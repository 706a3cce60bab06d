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
}
