package import MediaBase

/// What came of one file under a policy.
package struct QCReport: Encodable, Sendable {
    /// Whether the file passes.
    package var verdict: Verdict
    /// The policy's name.
    package var policy: String
    /// What came of each rule, in the policy's order.
    package var rules: [RuleResult]
    /// What does not hold, rule by rule; at most 10,000 of a rule and 100,000 in all.
    package var findings: [QCFinding]
    /// What was measured.
    package var measurements: QCMeasurements
    /// What was odd in the file's structure.
    package var warnings: [String]
    /// Pictures of findings, for a page; not part of the JSON.
    package var illustrations: QCIllustrations?
    /// How many findings of one rule, and ranges of one check, are listed in JSON and other tables.
    package var mostListed = QCReport.usualListed

    /// How many are listed where nobody says how many.
    package static let usualListed = 200

    private enum CodingKeys: String, CodingKey {
        case verdict, policy, rules, findings, measurements, warnings
    }

    /// The first findings of each rule, as many as are listed.
    package var listedFindings: [QCFinding] {
        var counts: [String: Int] = [:]
        return findings.filter { finding in
            counts[finding.rule, default: 0] += 1
            return counts[finding.rule, default: 0] <= mostListed
        }
    }

    /// Writes the report, with as many findings and ranges as are listed.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(verdict, forKey: .verdict)
        try container.encode(policy, forKey: .policy)
        try container.encode(rules, forKey: .rules)
        try container.encode(listedFindings, forKey: .findings)
        var listed = measurements
        listed.cutRanges(to: mostListed)
        try container.encode(listed, forKey: .measurements)
        try container.encode(warnings, forKey: .warnings)
    }

    /// How a file or a rule did.
    package enum Verdict: String, Encodable, Sendable {
        /// All holds.
        case pass
        /// Something does not hold that only has to be said.
        case warn
        /// Something does not hold.
        case fail
    }

    /// What came of one rule.
    package struct RuleResult: Encodable, Sendable {
        /// The rule's id.
        package var id: String
        /// What came of it.
        package var status: Status
        /// Why it is not applicable.
        package var reason: String?
        /// How many findings there are, with those that are not listed; nothing where the rule holds.
        package var findingCount: Int64?

        /// What came of a rule.
        package enum Status: String, Encodable, Sendable {
            case pass, warn, fail
            /// The file has nothing that the rule is about: neither pass nor fail.
            case notApplicable
        }
    }
}

/// Something that does not hold.
package struct QCFinding: Encodable, Sendable {
    /// The same for the same file and policy: the rule, the track and channel, and when it begins.
    package var id: String
    /// The rule's id.
    package var rule: String
    /// How bad it is.
    package var severity: QCSeverity
    /// The track; nothing for the file as a whole.
    package var trackIndex: Int?
    /// The channel, from 0; nothing for all.
    package var channel: Int?
    /// When it begins; nothing for the whole track or file.
    package var start: MediaTime?
    /// The first moment after it.
    package var end: MediaTime?
    /// The timecode of the picture at its start, from the file's start timecode on, else from 00:00:00:00; nothing
    /// without pictures.
    package var startTimecode: String?
    /// The timecode of the picture at its end, the first one after it.
    package var endTimecode: String?
    /// What was measured.
    package var measured: String
    /// What was wanted.
    package var wanted: String
    /// It in a sentence.
    package var message: String
}
