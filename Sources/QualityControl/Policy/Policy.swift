internal import EmbeddedFiles
internal import Inspection
internal import JSONText
package import MediaBase
internal import YAMLText

/// A set of rules about a file's declared properties and its measurements.
///
/// ``init(yaml:named:)`` reads a policy; ``BuiltInPolicy`` lists the built-in ones.
package struct Policy: Sendable {
    /// The policy's name, for reports.
    package var name: String
    /// The policy's purpose, in a sentence.
    package var summary: String?
    /// The rules, each with a unique id.
    package var rules: [Rule]
    /// Pairs of mono tracks that are measured as one stereo track.
    package var pairs: [TrackPair] = []

    /// Makes a policy from rules.
    package init(name: String, rules: [Rule]) {
        self.name = name
        self.rules = rules
    }

    /// The measurements that the rules require.
    package var request: MeasurementRequest {
        var request = MeasurementRequest()
        for rule in rules { rule.condition.ask(&request) }
        request.pairs = pairs
        return request
    }
}

/// A rule of a policy.
package struct Rule: Sendable {
    /// The name that identifies the rule in reports.
    package var id: String
    /// The severity of a violation.
    package var severity: Severity
    /// The message for a violation; may contain `{measured}`, `{wanted}`, `{track}`, `{start}` and `{end}`.
    package var message: String?
    /// The condition that must hold.
    package var condition: Condition
}

/// The severity of a violated rule.
package enum Severity: String, Sendable, CaseIterable, Encodable {
    /// The violation is reported, and the file passes.
    case warn
    /// The file fails.
    case fail
}

/// A condition that a file must meet.
package indirect enum Condition: Sendable {
    /// A test of a property that the file declares.
    case field(FieldPath, ValueTest)
    /// A test of a measurement; the stretch applies to checks that find runs.
    case check(Check, RunParameters?, Stretch, ValueTest)
    /// All conditions must hold.
    case all([Condition])
    /// At least one condition must hold.
    case any([Condition])
    /// The condition must not hold.
    case not(Condition)

    fileprivate func ask(_ request: inout MeasurementRequest) {
        switch self {
        case .field(let path, _): if path.isAboutScan { request.needsScan = true }
        case .check(let check, let parameters, _, _): request.add(check, parameters)
        case .all(let parts), .any(let parts): for part in parts { part.ask(&request) }
        case .not(let part): part.ask(&request)
        }
    }
}

/// The part of a track to which a check applies.
package struct Stretch: Sendable, Hashable {
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

extension Policy {
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
        let reader = PolicyReader()
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
        self.name = try reader.value("name", of: entries, as: reader.string) ?? name
        summary = try reader.value("description", of: entries, as: reader.string)
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
        for check in request.orderedChecks where request.parameters(of: check).count > Self.maximumParameters {
            throw MediaError(
                .limitExceeded,
                "asks for '\(check.id)' with more than \(Self.maximumParameters) different thresholds and lengths"
            )
        }
        pairs = try reader.value("pairs", of: entries, as: reader.pairs) ?? []
    }
}

/// The built-in policies, which are read like any other.
package enum BuiltInPolicy: String, CaseIterable, Sendable {
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

/// Evaluates conditions against a file's probe report and measurements.
package struct Evaluation {
    private let report: JSONValue
    let measurements: Measurements

    /// - Throws: The errors of encoding the report.
    init(report: ProbeReport, measurements: Measurements) throws {
        self.report = try JSONValue(encoding: report)
        self.measurements = measurements
    }

    func outcome(of condition: Condition) -> Outcome {
        switch condition {
        case .field(let path, let test): return field(path, test)
        case .check(let check, let parameters, let stretch, let test):
            guard let standard = check.run else { return check.outcome(measurements, test) }
            return runs(of: check, parameters ?? standard, stretch)
        case .all(let parts):
            let outcomes = parts.map { outcome(of: $0) }
            let facts = outcomes.flatMap(\.facts)
            if !facts.isEmpty { return Self.failed(facts, outcomes) }
            return outcomes.first { !$0.isApplicable }.map { first in
                outcomes.contains(where: \.isApplicable) ? .passed : first
            } ?? .passed
        case .any(let parts):
            let outcomes = parts.map { outcome(of: $0) }
            if outcomes.contains(where: \.isPassed) { return .passed }
            let facts = outcomes.flatMap(\.facts)
            return facts.isEmpty ? outcomes.first ?? .passed : Self.failed(facts, outcomes)
        case .not(let part):
            switch outcome(of: part) {
            case .passed:
                return .failed([Violation(subject: "the condition", measured: "met", wanted: "not met")])
            case .failed: return .passed
            case .notApplicable(let reason): return .notApplicable(reason)
            }
        }
    }

    /// Returns a failure that lists the maximum number of violations and counts the rest.
    private static func failed(_ facts: [Violation], _ outcomes: [Outcome] = [], more: Int64 = 0) -> Outcome {
        let unlisted = outcomes.reduce(more + Int64(max(0, facts.count - Outcome.maximumViolations))) { $0 + $1.more }
        return .failed(Array(facts.prefix(Outcome.maximumViolations)), more: unlisted)
    }

    // MARK: Declared properties

    private func field(_ path: FieldPath, _ test: ValueTest) -> Outcome {
        let found = path.values(in: report)
        guard !found.isEmpty else {
            guard let exists = test.exists else { return .notApplicable("the file has nothing at \(path.text)") }
            // A test for existence applies even if nothing is found.
            guard exists else { return .passed }
            return .failed([Violation(subject: path.text, measured: "not there", wanted: test.text)])
        }
        let facts = found.filter { !test.holds(for: $0) }.map {
            Violation(subject: path.text, measured: $0.text, wanted: test.text, trackIndex: $0.track)
        }
        return facts.isEmpty ? .passed : Self.failed(facts)
    }

    // MARK: Runs

    func runs(of check: Check, _ parameters: RunParameters, _ stretch: Stretch) -> Outcome {
        var isApplicable = false
        var facts: [Violation] = []
        var more: Int64 = 0
        for track in measurements.tracks {
            for runs in track.runs
            where runs.check == check.id && runs.threshold == parameters.threshold
                && runs.minimumDuration == parameters.minimumSeconds
            {
                isApplicable = true
                // Runs that are not listed cannot be assigned to a part of the track.
                if stretch == Stretch() { more += runs.count - Int64(runs.ranges.count) }
                for range in runs.ranges {
                    guard let kept = clipped(range, to: stretch, of: track, parameters) else { continue }
                    guard facts.count < Outcome.maximumViolations else {
                        more += 1
                        continue
                    }
                    let length = kept.end - kept.start
                    // Clipping lasts a few samples, so its duration in seconds would round to almost nothing.
                    let measured =
                        check.thresholdUnit == "samples"
                        ? "\(length.value) samples" : length.seconds.text(decimals: 3) + " s"
                    facts.append(
                        Violation(
                            subject: check.id, measured: measured,
                            wanted: parameters.minimumSeconds > 0
                                ? "less than \(PolicyValue.number(parameters.minimumSeconds).text) s" : "none",
                            trackIndex: track.trackIndex, channel: runs.channel, range: kept))
                }
            }
        }
        guard isApplicable else { return .notApplicable(check.missing) }
        return facts.isEmpty ? .passed : .failed(facts, more: more)
    }

    /// Returns the part of a run that lies in a stretch, or `nil` if there is none or it is too short.
    private func clipped(
        _ range: Measurements.Range, to stretch: Stretch, of track: Measurements.Track,
        _ parameters: RunParameters
    ) -> Measurements.Range? {
        var range = range
        let start = track.pictures?.start ?? .zero
        let end = track.sound?.duration ?? track.pictures?.end ?? range.end
        if let head = stretch.head {
            range.end = min(range.end, start + MediaTime(seconds: head, preferredTimescale: 1_000_000))
        }
        if let tail = stretch.tail {
            range.start = max(range.start, end - MediaTime(seconds: tail, preferredTimescale: 1_000_000))
        }
        guard range.start < range.end else { return nil }
        let isCut = stretch.head != nil || stretch.tail != nil
        let least = MediaTime(seconds: parameters.minimumSeconds, preferredTimescale: 1_000_000)
        return isCut && range.end - range.start < least ? nil : range
    }
}

extension Outcome {
    fileprivate var facts: [Violation] { if case .failed(let facts, _) = self { facts } else { [] } }
    fileprivate var more: Int64 { if case .failed(_, let more) = self { more } else { 0 } }
    fileprivate var isPassed: Bool { if case .passed = self { true } else { false } }
    fileprivate var isApplicable: Bool { if case .notApplicable = self { false } else { true } }
}
