internal import EmbeddedFiles
package import MediaBase
internal import YAMLText

/// A set of rules about a file's declared properties and its measurements.
///
/// ``init(yaml:named:)`` reads a policy; ``QCBuiltInPolicy`` lists the built-in ones.
package struct QCPolicy: Sendable {
    /// The policy's name, for reports.
    package var name: String
    /// The policy's purpose, in a sentence.
    package var summary: String?
    /// The rules, each with a unique id.
    package var rules: [QCRule]
    /// Pairs of mono tracks that are measured as one stereo track.
    package var pairs: [QCTrackPair] = []

    /// Makes a policy from rules.
    package init(name: String, rules: [QCRule]) {
        self.name = name
        self.rules = rules
    }

    /// The measurements that the rules require.
    package var request: QCRequest {
        var request = QCRequest()
        for rule in rules { rule.condition.ask(&request) }
        request.pairs = pairs
        return request
    }
}

/// A rule of a policy.
package struct QCRule: Sendable {
    /// The name that identifies the rule in reports.
    package var id: String
    /// The severity of a violation.
    package var severity: QCSeverity
    /// The message for a violation; may contain `{measured}`, `{wanted}`, `{track}`, `{start}` and `{end}`.
    package var message: String?
    /// The condition that must hold.
    package var condition: QCCondition
}

/// The severity of a violated rule.
package enum QCSeverity: String, Sendable, CaseIterable, Encodable {
    /// The violation is reported, and the file passes.
    case warn
    /// The file fails.
    case fail
}

/// A condition that a file must meet.
package indirect enum QCCondition: Sendable {
    /// A test of a property that the file declares.
    case field(QCFieldPath, QCTest)
    /// A test of a measurement; the stretch applies to checks that find runs.
    case check(Check, QCRunParameters?, QCStretch, QCTest)
    /// All conditions must hold.
    case all([QCCondition])
    /// At least one condition must hold.
    case any([QCCondition])
    /// The condition must not hold.
    case not(QCCondition)

    fileprivate func ask(_ request: inout QCRequest) {
        switch self {
        case .field(let path, _): if path.isAboutScan { request.needsScan = true }
        case .check(let check, let parameters, _, _): request.add(check, parameters)
        case .all(let parts), .any(let parts): for part in parts { part.ask(&request) }
        case .not(let part): part.ask(&request)
        }
    }
}

/// The part of a track to which a check applies.
package struct QCStretch: Sendable, Hashable {
    /// Limits the check to this many seconds at the start.
    package var head: Double?
    /// Limits the check to this many seconds at the end.
    package var tail: Double?

    /// Makes a stretch; by default, the whole track.
    package init(head: Double? = nil, tail: Double? = nil) {
        self.head = head
        self.tail = tail
    }
}

/// The criteria for a value; all that are set must be met.
package struct QCTest: Sendable {
    /// The required value.
    package var equals: QCValue?
    /// The smallest allowed value.
    package var minimum: Double?
    /// The largest allowed value.
    package var maximum: Double?
    /// The allowed values.
    package var oneOf: [QCValue]?
    /// A regular expression that must match somewhere in the value's text.
    package var matches: String?
    /// True to require a value, false to require that there is none; an empty list is no value.
    package var exists: Bool?
    /// True if values are frame rates: 29.97 then equals 30000/1001, as in `export`.
    package var isAboutRate = false

    /// Makes a test; by default, one without criteria.
    package init(equals: QCValue? = nil, minimum: Double? = nil, maximum: Double? = nil) {
        self.equals = equals
        self.minimum = minimum
        self.maximum = maximum
    }

    /// True if the test has no criteria.
    package var isEmpty: Bool { !comparesValue && exists == nil }

    /// Returns whether a place found by a path meets the test; a missing value meets no comparison.
    func holds(for found: QCFieldPath.Found) -> Bool {
        if let exists, exists != found.isThere { return false }
        if exists == false { return true }
        guard let value = found.value else { return !comparesValue }
        return holds(for: value)
    }

    /// True if the test has criteria for the value itself.
    private var comparesValue: Bool {
        equals != nil || minimum != nil || maximum != nil || oneOf != nil || matches != nil
    }

    /// Returns whether a value meets the test.
    func holds(for value: QCValue) -> Bool {
        if exists == false { return false }
        if let equals, !isSame(value, equals) { return false }
        if let oneOf, !oneOf.contains(where: { isSame(value, $0) }) { return false }
        if let minimum, !(value.number.map { $0 >= minimum } ?? false), !isSame(value, .number(minimum)) {
            return false
        }
        if let maximum, !(value.number.map { $0 <= maximum } ?? false), !isSame(value, .number(maximum)) {
            return false
        }
        // The expression was validated when the policy was read.
        if let matches, (try? Regex(matches).firstMatch(in: value.text)) == nil { return false }
        return true
    }

    private func isSame(_ one: QCValue, _ other: QCValue) -> Bool {
        if one == other { return true }
        guard isAboutRate, let rate = one.number.flatMap({ Rational(rate: $0) }) else { return false }
        return rate == other.number.flatMap { Rational(rate: $0) }
    }

    /// The criteria, in words.
    var text: String {
        var parts: [String] = []
        if let equals { parts.append(equals.text) }
        if let oneOf { parts.append("one of " + oneOf.map(\.text).joined(separator: ", ")) }
        if let minimum { parts.append("at least \(QCValue.number(minimum).text)") }
        if let maximum { parts.append("at most \(QCValue.number(maximum).text)") }
        if let matches { parts.append("/\(matches)/") }
        if let exists { parts.append(exists ? "any value" : "no value") }
        return parts.joined(separator: " and ")
    }
}

/// A value in a policy or a report.
package enum QCValue: Sendable, Equatable {
    case number(Double)
    /// An exact fraction, with its text.
    case fraction(Double, String)
    case text(String)
    case bool(Bool)

    /// The numeric value, or `nil` if it is not a number.
    package var number: Double? {
        switch self {
        case .number(let number), .fraction(let number, _): number
        case .text, .bool: nil
        }
    }

    /// The value as readable text.
    package var text: String {
        switch self {
        case .number(let number):
            number.magnitude < 1e15 && number == number.rounded() ? "\(Int64(number))" : "\(number)"
        case .fraction(_, let text), .text(let text): text
        case .bool(let bool): bool ? "true" : "false"
        }
    }

    /// Compares two values; numbers and fractions are equal if they agree within a billionth.
    package static func == (left: QCValue, right: QCValue) -> Bool {
        if let one = left.number, let other = right.number {
            // The loudness of silence is -∞, to which no distance is small.
            guard one.isFinite, other.isFinite else { return one == other }
            return abs(one - other) <= 1e-9 * max(1, one.magnitude)
        }
        switch (left, right) {
        case (.text(let one), .text(let other)): return one == other
        case (.bool(let one), .bool(let other)): return one == other
        default: return false
        }
    }
}

extension QCPolicy {
    /// The maximum size of a policy in bytes.
    package static let maximumBytes = 4 << 20
    /// The maximum nesting depth of lists and conditions.
    static let maximumDepth = 32
    /// The maximum number of parameter sets that a policy may use for one check; each set is measured separately.
    static let maximumParameters = 16
    /// The maximum number of track pairs.
    static let maximumPairs = 64
    /// A hint at the form of a policy, for error messages.
    private static let form = "write 'rules:' and a line with '- id: …' for each rule"

    /// Reads a policy from the bytes of a file.
    ///
    /// - Throws: The errors of ``init(yaml:named:)``, and `invalidArgument` with the line number if the text is
    ///   not UTF-8.
    package init(bytes: [UInt8], named name: String) throws(MediaError) {
        let isWide = bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
        guard !isWide, !bytes.prefix(2).contains(0) else {
            throw MediaError(.invalidArgument, "line 1: the text is UTF-16, or not a text; save it as UTF-8")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            // In UTF-8, the byte of a line feed is never part of a longer character.
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
            throw MediaError(.invalidArgument, "line \(line + 1): the text is not UTF-8; save it as UTF-8")
        }
        try self.init(yaml: text, named: name)
    }

    /// Reads a policy in the form described by `docs/schema/qc-policy.json`.
    ///
    /// - Parameters:
    ///   - yaml: The text.
    ///   - name: The name to use if the policy does not state its own.
    /// - Throws: `invalidArgument` with the line number if the policy is not valid, `limitExceeded` if it is too large.
    package init(yaml: String, named name: String) throws(MediaError) {
        guard yaml.utf8.count <= Self.maximumBytes else {
            throw MediaError(.limitExceeded, "a policy has at most 4 MB")
        }
        let root = try YAMLParser.parse(yaml)
        let reader = QCPolicyReader()
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
        for check in CheckRegistry.all where request.parameters(of: check).count > Self.maximumParameters {
            throw MediaError(
                .limitExceeded,
                "asks for '\(check.id)' with more than \(Self.maximumParameters) different thresholds and lengths"
            )
        }
        pairs = try entries["pairs"].map { node throws(MediaError) in try reader.pairs(node) } ?? []
    }
}

/// The built-in policies, which are read like any other.
package enum QCBuiltInPolicy: String, CaseIterable, Sendable {
    /// Checks that browsers play the file well.
    case web
    /// Checks loudness for broadcasting in Europe.
    case ebuR128 = "ebu-r128"
    /// Checks for faults that are never wanted in a programme.
    case content
    /// Checks that the file looks and sounds like a given reference.
    case reference

    /// The policy's YAML text.
    package var yaml: String {
        switch self {
        case .web: EmbeddedFile.webPolicy.text
        case .ebuR128: EmbeddedFile.ebuR128Policy.text
        case .content: EmbeddedFile.contentPolicy.text
        case .reference: EmbeddedFile.referencePolicy.text
        }
    }
}
