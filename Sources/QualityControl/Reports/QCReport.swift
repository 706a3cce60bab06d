internal import Inspection
package import MediaBase

/// The result of checking one file against a policy.
package struct QCReport: Encodable, Sendable {
    /// The overall result.
    package var verdict: Verdict
    /// The policy's name.
    package var policy: String
    /// The result of each rule, in the policy's order.
    package var rules: [RuleResult]
    /// The violations, rule by rule; at most 10,000 per rule and 100,000 in all.
    package var findings: [Finding]
    /// The measurements.
    package var measurements: Measurements
    /// Warnings about the file's structure.
    package var warnings: [String]
    /// Still pictures of findings for an HTML page; not part of the JSON.
    package var illustrations: Illustrations?
    /// The maximum number of findings of one rule, and of ranges of one check, that are listed in JSON and other
    /// tables.
    package var maximumListed = QCReport.usualListed

    /// The default of ``maximumListed``.
    package static let usualListed = 200

    private enum CodingKeys: String, CodingKey {
        case verdict, policy, rules, findings, measurements, warnings
    }

    /// The first findings of each rule, at most ``maximumListed``.
    package var listedFindings: [Finding] {
        var counts: [String: Int] = [:]
        return findings.filter { finding in
            counts[finding.rule, default: 0] += 1
            return counts[finding.rule, default: 0] <= maximumListed
        }
    }

    /// Encodes the report with at most ``maximumListed`` findings per rule and ranges per check.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(verdict, forKey: .verdict)
        try container.encode(policy, forKey: .policy)
        try container.encode(rules, forKey: .rules)
        try container.encode(listedFindings, forKey: .findings)
        var listed = measurements
        listed.cutRanges(to: maximumListed)
        try container.encode(listed, forKey: .measurements)
        try container.encode(warnings, forKey: .warnings)
    }

    /// The result of a file.
    package enum Verdict: String, Encodable, Sendable {
        /// All rules hold.
        case pass
        /// Only rules with the severity `warn` are violated.
        case warn
        /// At least one rule with the severity `fail` is violated.
        case fail
    }

    /// The result of one rule.
    package struct RuleResult: Encodable, Sendable {
        /// The rule's id.
        package var id: String
        /// The status of the rule.
        package var status: Status
        /// The reason why the rule is not applicable.
        package var reason: String?
        /// The number of findings, including those not listed; `nil` if the rule holds.
        package var findingCount: Int64?

        /// The status of a rule.
        package enum Status: String, Encodable, Sendable {
            case pass, warn, fail
            /// The file has nothing to which the rule applies; neither pass nor fail.
            case notApplicable
        }
    }
}

/// A violation of a rule.
package struct Finding: Encodable, Sendable {
    /// An identifier that is stable for the same file and policy, made of the rule, the track, the channel and the
    /// start time.
    package var id: String
    /// The rule's id.
    package var rule: String
    /// The severity of the violation.
    package var severity: Severity
    /// The index of the track; `nil` for the file as a whole.
    package var trackIndex: Int?
    /// The channel, from 0; `nil` for all channels.
    package var channel: Int?
    /// The start time; `nil` for the whole track or file.
    package var start: MediaTime?
    /// The end time, which is not part of the finding.
    package var end: MediaTime?
    /// The timecode of the frame at the start; `nil` without video.
    ///
    /// It counts from the file's start timecode, or else from 00:00:00:00.
    package var startTimecode: String?
    /// The timecode of the frame at the end, the first one after the finding.
    package var endTimecode: String?
    /// The measured value.
    package var measured: String
    /// The wanted value.
    package var wanted: String
    /// The finding as a sentence.
    package var message: String
}

/// Collects the results and findings of rules.
struct FindingsBuilder {
    let timecodes: Timecodes
    private(set) var rules: [QCReport.RuleResult] = []
    private(set) var findings: [Finding] = []

    /// The maximum number of findings kept for one file.
    private static let maximumFindings = 100_000

    init(timecodes: Timecodes) { self.timecodes = timecodes }

    mutating func add(_ rule: Rule, _ outcome: Outcome) {
        switch outcome {
        case .passed: rules.append(.init(id: rule.id, status: .pass))
        case .notApplicable(let reason):
            rules.append(.init(id: rule.id, status: .notApplicable, reason: reason))
        case .failed(let facts, let more):
            rules.append(
                .init(
                    id: rule.id, status: rule.severity == .warn ? .warn : .fail,
                    findingCount: Int64(facts.count) + more))
            for fact in facts.prefix(max(0, Self.maximumFindings - findings.count)) {
                findings.append(finding(rule, fact))
            }
        }
    }

    private func finding(_ rule: Rule, _ fact: Violation) -> Finding {
        var id = rule.id
        if let track = fact.trackIndex { id += "@\(track)" }
        if let channel = fact.channel { id += ".\(channel)" }
        if let range = fact.range { id += ":\(range.start)" }
        let place = fact.trackIndex.map { "track \($0): " } ?? ""
        let channel = fact.channel.map { " in channel \($0 + 1)" } ?? ""
        let time =
            fact.range.map {
                $0.start == $0.end
                    ? " at \($0.start.clockText())" : " from \($0.start.clockText()) to \($0.end.clockText())"
            } ?? ""
        var message = "\(place)\(fact.subject)\(channel) is \(fact.measured)\(time), wanted \(fact.wanted)"
        if let template = rule.message {
            message = template
            for (key, value) in [
                ("{measured}", fact.measured), ("{wanted}", fact.wanted),
                ("{track}", fact.trackIndex.map { "\($0)" } ?? "-"),
                ("{start}", fact.range?.start.clockText() ?? "-"), ("{end}", fact.range?.end.clockText() ?? "-"),
            ] {
                message = message.split(separator: key, omittingEmptySubsequences: false).joined(separator: value)
            }
        }
        return Finding(
            id: id, rule: rule.id, severity: rule.severity, trackIndex: fact.trackIndex, channel: fact.channel,
            start: fact.range?.start, end: fact.range?.end,
            startTimecode: fact.range.flatMap { timecodes.text(at: $0.start) },
            endTimecode: fact.range.flatMap { timecodes.text(at: $0.end) }, measured: fact.measured,
            wanted: fact.wanted, message: message)
    }
}

/// Converts times to timecodes at the frame rate of the first video track.
///
/// Timecodes count from the file's start timecode, which belongs to the first frame, or else from 00:00:00:00 at time
/// zero.
struct Timecodes {
    /// The offset added to a time; `nil` if there is no video or the timecode is not valid.
    private var offset: MediaTime?
    private var rate: Timecode.Rate?

    init(_ report: ProbeReport) {
        let pictures = report.tracks.first { $0.video?.frameRate?.nominal != nil }
        guard let pictures, let frameRate = pictures.video?.frameRate?.nominal else { return }
        // A frame's time may have been rounded down to a tick; half a tick later is still the same frame.
        let slack = pictures.timeScale.map { MediaTime(value: 1, timescale: $0).multiplied(by: 1, dividedBy: 2) }
        if let text = report.container.startTimecode {
            guard let kind = try? Timecode.Rate(frameRate: frameRate, isDropFrame: text.contains(";")),
                let start = try? Timecode(text, rate: kind)
            else { return }
            rate = kind
            offset = start.time - (pictures.timeRange.start ?? .zero) + (slack ?? .zero)
        } else {
            rate = try? Timecode.Rate(frameRate: frameRate)
            offset = slack ?? .zero
        }
    }

    func text(at time: MediaTime) -> String? {
        guard let offset, let rate else { return nil }
        return (try? Timecode(elapsed: time + offset, rate: rate))?.wrappedAt24Hours.description
    }
}
