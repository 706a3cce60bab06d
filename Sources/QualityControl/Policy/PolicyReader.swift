internal import Inspection
internal import MediaBase
internal import YAMLText

/// Reads the parts of a policy from YAML nodes; an unknown key is an error that suggests the nearest known key.
struct PolicyReader {
    /// The id of the rule being read, for error messages.
    private var ruleID: String?

    init() {}

    private static let ruleKeys: Set = ["id", "severity", "message"]
    private static let tests: Set = ["equals", "min", "max", "oneOf", "matches", "exists"]
    private static let kinds: Set = ["field", "check", "all", "any", "not"]
    private static let runKeys: Set = ["threshold", "minDuration", "head", "tail"]

    func rule(_ node: YAMLNode) throws(MediaError) -> Rule {
        let all = Self.ruleKeys.union(Self.tests).union(Self.kinds).union(Self.runKeys)
        let entries = try self.entries(node, "a rule", allowed: all)
        guard let id = entries["id"] else { throw error(node, "a rule has no id; write '- id: a-name-of-its-own'") }
        let name = try string(id, "id")
        guard !name.isEmpty, name.count <= 200 else { throw error(id, "an id has 1 to 200 letters") }
        let severity = try value("severity", of: entries, as: self.severity)
        let message = try value("message", of: entries, as: string)
        var reader = self
        reader.ruleID = name
        return Rule(
            id: name, severity: severity ?? .fail, message: message,
            condition: try reader.condition(node, entries.filter { !Self.ruleKeys.contains($0.key) }, depth: 0))
    }

    private func condition(_ node: YAMLNode, depth: Int) throws(MediaError) -> Condition {
        let allowed = Self.tests.union(Self.kinds).union(Self.runKeys)
        return try condition(node, try entries(node, "a condition", allowed: allowed), depth: depth)
    }

    private func condition(_ node: YAMLNode, _ entries: [String: YAMLNode], depth: Int) throws(MediaError)
        -> Condition
    {
        guard depth < Policy.maximumDepth else { throw error(node, "conditions nest too deep") }
        let kinds = entries.keys.filter(Self.kinds.contains).sorted()
        guard let kind = kinds.first, kinds.count == 1, let inner = entries[kind] else {
            throw error(node, "a rule has one of 'field', 'check', 'all', 'any' and 'not'")
        }
        switch kind {
        case "field":
            try only(entries, Self.tests.union(["field"]), node, "a rule about a field")
            let text = try string(inner, "field")
            let path: FieldPath
            let isBoolean: Bool
            do {
                path = try FieldPath(text)
                isBoolean = try path.check()
            } catch {
                throw self.error(inner, error.message)
            }
            var test = try test(entries, node, isBoolean: isBoolean)
            test.isAboutRate = path.isAboutRate
            guard !test.isEmpty else {
                throw error(node, "does not say what '\(path.text)' must be: \(Self.testNames)")
            }
            return .field(path, test)
        case "check": return try check(inner, node, entries)
        case "not":
            try only(entries, ["not"], node, "a rule with 'not'")
            return .not(try condition(inner, depth: depth + 1))
        default:
            try only(entries, [kind], node, "a rule with '\(kind)'")
            guard let parts = inner.sequence, !parts.isEmpty else {
                throw error(inner, "'\(kind)' has a list of conditions")
            }
            let conditions = try parts.map { part throws(MediaError) in try condition(part, depth: depth + 1) }
            return kind == "all" ? .all(conditions) : .any(conditions)
        }
    }

    private func check(_ inner: YAMLNode, _ node: YAMLNode, _ entries: [String: YAMLNode]) throws(MediaError)
        -> Condition
    {
        let name = try string(inner, "check")
        guard let check = CheckRegistry.check(name) else {
            throw error(
                inner,
                "there is no check '\(name)'" + NearestName.hint(name, among: CheckRegistry.ids)
                    + " (--list-checks shows all)")
        }
        guard var parameters = check.run else {
            try only(entries, Self.tests.union(["check"]), node, "a rule about '\(name)'")
            let test = try test(entries, node, isBoolean: check.isBoolean)
            if let standard = check.standardTest, test.isEmpty { return .check(check, nil, Stretch(), standard) }
            guard !test.isEmpty else { throw error(node, "does not say what '\(name)' must be: \(Self.testNames)") }
            return .check(check, nil, Stretch(), test)
        }
        try only(entries, Self.runKeys.union(["check"]), node, "a rule about '\(name)'")
        parameters.threshold = try value("threshold", of: entries, as: number) ?? parameters.threshold
        parameters.minimumSeconds = try value("minDuration", of: entries, as: seconds) ?? parameters.minimumSeconds
        let stretch = Stretch(
            head: try value("head", of: entries, as: seconds), tail: try value("tail", of: entries, as: seconds))
        for (key, length) in [("head", stretch.head), ("tail", stretch.tail)] {
            guard let length, length <= 0 || length < parameters.minimumSeconds else { continue }
            throw error(
                entries[key] ?? node,
                "'\(key)' is \(PolicyValue.number(length).text) s, in which nothing of 'minDuration' "
                    + "\(PolicyValue.number(parameters.minimumSeconds).text) s can be found; write a longer '\(key)' or a shorter 'minDuration'"
            )
        }
        return .check(check, parameters, stretch, ValueTest(maximum: 0))
    }

    private static let testNames = "write one of 'equals', 'min', 'max', 'oneOf', 'matches', 'exists'"

    /// - Parameter isBoolean: True if the tested value is a Boolean.
    private func test(
        _ entries: [String: YAMLNode], _ node: YAMLNode, isBoolean: Bool
    ) throws(MediaError) -> ValueTest {
        if isBoolean {
            let numeric = entries.filter { ["min", "max"].contains($0.key) }
            try only(numeric, [], node, "a rule about what is true or false")
        }
        func comparable(_ node: YAMLNode, _ key: String) throws(MediaError) -> PolicyValue {
            isBoolean ? .bool(try boolean(node, key)) : try scalar(node, key)
        }
        var test = ValueTest()
        test.equals = try value("equals", of: entries, as: comparable)
        test.minimum = try value("min", of: entries, as: number)
        test.maximum = try value("max", of: entries, as: number)
        test.oneOf = try value("oneOf", of: entries) { node, key throws(MediaError) in
            guard let list = node.sequence, !list.isEmpty else { throw error(node, "'oneOf' has a list of values") }
            return try list.map { item throws(MediaError) in try comparable(item, key) }
        }
        test.matches = try value("matches", of: entries, as: pattern)
        test.exists = try value("exists", of: entries, as: boolean)
        if let least = test.minimum, let most = test.maximum, least > most {
            throw error(
                entries["min"] ?? node,
                "'min' is \(PolicyValue.number(least).text) and 'max' \(PolicyValue.number(most).text), so no value can be as wanted"
            )
        }
        if test.exists == false, entries.keys.contains(where: { Self.tests.contains($0) && $0 != "exists" }) {
            throw error(
                entries["exists"] ?? node,
                "'exists: false' goes with no other test; of a value that may be missing write "
                    + "any: [{…, exists: false}, {…}]")
        }
        return test
    }

    /// Reads pairs of tracks from a list of two-element lists.
    func pairs(_ node: YAMLNode, _ key: String) throws(MediaError) -> [TrackPair] {
        let form = "'pairs' is a list of two tracks each, like [[a:0, a:1], [a:2, a:3]]"
        guard let list = node.sequence else { throw error(node, form) }
        guard list.count <= Policy.maximumPairs else {
            throw MediaError(.limitExceeded, "names more than \(Policy.maximumPairs) pairs")
        }
        return try list.map { item throws(MediaError) in
            guard let two = item.sequence, two.count == 2, let first = two.first, let second = two.last else {
                throw error(item, form)
            }
            do throws(MediaError) {
                return TrackPair(
                    first: try TrackSelector(parsing: try string(first, key)),
                    second: try TrackSelector(parsing: try string(second, key)))
            } catch {
                throw self.error(item, error.message)
            }
        }
    }

    // MARK: YAML nodes

    /// Returns the entries of a mapping by key.
    ///
    /// - Throws: `invalidArgument` if the node is not a mapping or has a key that is not allowed.
    func entries(_ node: YAMLNode, _ what: String, allowed: Set<String>) throws(MediaError) -> [String: YAMLNode] {
        guard let mapping = node.mapping else { throw error(node, "\(what) has keys and values, like 'id: a-name'") }
        var entries: [String: YAMLNode] = [:]
        for (key, value) in mapping {
            guard let name = key.scalar else { throw error(key, "a key of \(what) is a name") }
            guard allowed.contains(name) else {
                throw error(key, "\(what) has no key '\(name)'" + NearestName.hint(name, among: allowed.sorted()))
            }
            entries[name] = value
        }
        return entries
    }

    private func only(
        _ entries: [String: YAMLNode], _ allowed: Set<String>, _ node: YAMLNode, _ what: String
    ) throws(MediaError) {
        for key in entries.keys.sorted() where !allowed.contains(key) {
            throw error(entries[key] ?? node, "'\(key)' says nothing in \(what)")
        }
    }

    /// Reads the value of a key; `nil` if the key is missing.
    func value<Value>(
        _ key: String, of entries: [String: YAMLNode], as read: (YAMLNode, String) throws(MediaError) -> Value
    ) throws(MediaError) -> Value? {
        guard let node = entries[key] else { return nil }
        return try read(node, key)
    }

    func string(_ node: YAMLNode, _ key: String) throws(MediaError) -> String {
        guard let text = node.scalar else { throw error(node, "'\(key)' is a text") }
        return text
    }

    private func number(_ node: YAMLNode, _ key: String) throws(MediaError) -> Double {
        guard let text = node.scalar, let number = PolicyValue(scalar: text).number, number.isFinite else {
            throw error(node, "'\(key)' is a number")
        }
        return number
    }

    private func seconds(_ node: YAMLNode, _ key: String) throws(MediaError) -> Double {
        let seconds = try number(node, key)
        guard (0...1e9).contains(seconds) else { throw error(node, "'\(key)' is a number of seconds, 0 or more") }
        return seconds
    }

    private func severity(_ node: YAMLNode, _ key: String) throws(MediaError) -> Severity {
        let text = try string(node, key)
        guard let severity = Severity(rawValue: text) else {
            throw error(
                node,
                "severity is 'fail' or 'warn', not '\(text)'"
                    + NearestName.hint(text, among: Severity.allCases.map(\.rawValue)))
        }
        return severity
    }

    private func pattern(_ node: YAMLNode, _ key: String) throws(MediaError) -> String {
        let pattern = try string(node, key)
        guard (try? Regex(pattern)) != nil else { throw error(node, "'\(pattern)' is not a regular expression") }
        return pattern
    }

    private func scalar(_ node: YAMLNode, _ key: String) throws(MediaError) -> PolicyValue {
        guard case .scalar(let text, let isText) = node.content else { throw error(node, "'\(key)' is one value") }
        return isText ? .text(text) : PolicyValue(scalar: text)
    }

    /// Reads a Boolean as written in the core schema of YAML 1.2.
    private func boolean(_ node: YAMLNode, _ key: String) throws(MediaError) -> Bool {
        switch node.content {
        case .scalar("true", false), .scalar("True", false), .scalar("TRUE", false): return true
        case .scalar("false", false), .scalar("False", false), .scalar("FALSE", false): return false
        case .scalar(let text, let isText):
            throw error(node, "'\(key)' is true or false here, not " + (isText ? "the text '\(text)'" : "'\(text)'"))
        default: throw error(node, "'\(key)' is true or false here")
        }
    }

    /// Makes an error that states the line and the rule in the policy.
    func error(_ node: YAMLNode, _ text: String) -> MediaError {
        let rule = ruleID.map { "rule '\($0)': " } ?? ""
        return MediaError(.invalidArgument, "line \(node.line): \(rule)\(text)")
    }
}
