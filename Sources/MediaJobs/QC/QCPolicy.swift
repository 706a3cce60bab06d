internal import EmbeddedFiles
package import MediaBase
internal import YAMLText

/// What a file has to be like: rules over what it says of itself and over what was measured.
///
/// ``init(yaml:named:fields:)`` reads one; ``QCBuiltInPolicy`` has some.
package struct QCPolicy: Sendable {
    /// Its name, for reports.
    package var name: String
    /// What it is for, in a sentence.
    package var summary: String?
    /// The rules, each with an id of its own.
    package var rules: [QCRule]
    /// Tracks of one channel each that are measured as one sound of two.
    package var pairs: [QCTrackPair] = []

    /// Makes a policy of rules.
    package init(name: String, rules: [QCRule]) {
        self.name = name
        self.rules = rules
    }

    /// What has to be measured for it.
    package var request: QCRequest {
        var request = QCRequest()
        for rule in rules { rule.condition.ask(&request) }
        request.pairs = pairs
        return request
    }
}

/// One rule.
package struct QCRule: Sendable {
    /// The name by which reports speak of it.
    package var id: String
    /// What it means when it does not hold.
    package var severity: QCSeverity
    /// What is said when it does not hold, with `{measured}`, `{wanted}`, `{track}`, `{start}` and `{end}` in it.
    package var message: String?
    /// What must hold.
    package var condition: QCCondition
}

/// How bad it is that a rule does not hold.
package enum QCSeverity: String, Sendable, CaseIterable, Encodable {
    /// It is said, and the file passes.
    case warn
    /// The file fails.
    case fail
}

/// What must hold.
package indirect enum QCCondition: Sendable {
    /// What the file says of itself.
    case field(QCFieldPath, QCTest)
    /// What was measured; the stretch is for checks that find runs.
    case check(QCCheck, QCRunParameters?, QCStretch, QCTest)
    /// All of them.
    case all([QCCondition])
    /// At least one of them.
    case any([QCCondition])
    /// The opposite.
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

/// Which part of a track counts.
package struct QCStretch: Sendable, Hashable {
    /// Only the first so many seconds.
    package var head: Double?
    /// Only the last so many seconds.
    package var tail: Double?

    /// All of it, unless given.
    package init(head: Double? = nil, tail: Double? = nil) {
        self.head = head
        self.tail = tail
    }
}

/// What a value must be; everything that is given must hold.
package struct QCTest: Sendable {
    /// This value.
    package var equals: QCValue?
    /// This or more.
    package var minimum: Double?
    /// This or less.
    package var maximum: Double?
    /// One of these.
    package var oneOf: [QCValue]?
    /// A regular expression that is met somewhere in its text.
    package var matches: String?
    /// Whether there is anything at all; an empty list is nothing.
    package var exists: Bool?
    /// Whether values are rates of frames: 29.97 then is 30000/1001, as it is for `export`.
    package var isAboutRate = false

    /// Nothing, unless given.
    package init(equals: QCValue? = nil, minimum: Double? = nil, maximum: Double? = nil) {
        self.equals = equals
        self.minimum = minimum
        self.maximum = maximum
    }

    /// Whether anything at all is wanted.
    package var isEmpty: Bool { !comparesValue && exists == nil }

    /// Whether what a path led to is as wanted: what is not there is as no comparison wants it.
    func holds(for found: QCFieldPath.Found) -> Bool {
        if let exists, exists != found.isThere { return false }
        if exists == false { return true }
        guard let value = found.value else { return !comparesValue }
        return holds(for: value)
    }

    /// Whether anything is wanted of the value itself.
    private var comparesValue: Bool {
        equals != nil || minimum != nil || maximum != nil || oneOf != nil || matches != nil
    }

    /// Whether a value is as wanted.
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
        // The expression was tried when the policy was read.
        if let matches, (try? Regex(matches).firstMatch(in: value.text)) == nil { return false }
        return true
    }

    private func isSame(_ one: QCValue, _ other: QCValue) -> Bool {
        if one == other { return true }
        guard isAboutRate, let rate = one.number.flatMap({ Rational(rate: $0) }) else { return false }
        return rate == other.number.flatMap { Rational(rate: $0) }
    }

    /// What is wanted, in words.
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

/// A value of a policy or of a report.
package enum QCValue: Sendable, Equatable {
    case number(Double)
    /// An exact fraction, with its text.
    case fraction(Double, String)
    case text(String)
    case bool(Bool)

    /// It as a number, where it is one.
    package var number: Double? {
        switch self {
        case .number(let number), .fraction(let number, _): number
        case .text, .bool: nil
        }
    }

    /// It as a person reads it.
    package var text: String {
        switch self {
        case .number(let number):
            number.magnitude < 1e15 && number == number.rounded() ? "\(Int64(number))" : "\(number)"
        case .fraction(_, let text), .text(let text): text
        case .bool(let bool): bool ? "true" : "false"
        }
    }

    /// Numbers are the same within a billionth; a fraction is the same as a number or another one of its value.
    package static func == (left: QCValue, right: QCValue) -> Bool {
        if let one = left.number, let other = right.number {
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
    /// Bytes of a policy at most.
    package static let maximumBytes = 4 << 20
    /// How deep lists, and conditions in each other, may nest.
    static let maximumDepth = 32
    /// Different thresholds and lengths that one check can be asked for with: each is measured for itself.
    static let maximumParameters = 16
    /// Pairs of tracks at most.
    static let maximumPairs = 64
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
        guard yaml.utf8.count <= Self.maximumBytes else {
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
        for check in QCCheck.allCases where request.parameters(of: check).count > Self.maximumParameters {
            throw MediaError(
                .limitExceeded,
                "asks for '\(check.rawValue)' with more than \(Self.maximumParameters) different thresholds and lengths"
            )
        }
        pairs = try entries["pairs"].map { node throws(MediaError) in try reader.pairs(node) } ?? []
    }
}

/// The policies that come with the program; they are read like any other.
package enum QCBuiltInPolicy: String, CaseIterable, Sendable {
    /// Whether browsers play a file well.
    case web
    /// Loudness for broadcasting in Europe.
    case ebuR128 = "ebu-r128"
    /// Whether anything is wrong that no programme wants.
    case content
    /// Whether it looks and sounds like a reference that is given.
    case reference

    /// Its text.
    package var yaml: String {
        switch self {
        case .web: EmbeddedFile.webPolicy.text
        case .ebuR128: EmbeddedFile.ebuR128Policy.text
        case .content: EmbeddedFile.contentPolicy.text
        case .reference: EmbeddedFile.referencePolicy.text
        }
    }
}
