internal import Glibc
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
    package var maximumListed = QCReport.usualListed

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
            return counts[finding.rule, default: 0] <= maximumListed
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
        listed.cutRanges(to: maximumListed)
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

/// What of a file is to be measured: each check that finds runs, with each set of parameters that is asked for.
package struct QCRequest: Sendable, Hashable {
    /// The checks and their parameters, without repetition, in the order in which they were asked for.
    package private(set) var runs: [Run] = []
    /// Whether sound has to be decoded.
    package private(set) var needsSound = false
    /// Whether pictures have to be decoded.
    package private(set) var needsPictures = false
    /// Whether all packets have to be read, for what `scan` tells of them.
    package var needsScan = false
    /// The checks that are asked for.
    package private(set) var checks: Set<QCCheck> = []
    /// Tracks of one channel each that are measured as the two channels of one sound.
    package var pairs: [QCTrackPair] = []
    /// Whether an outline of the sound is gathered, for a drawing.
    package var drawsSound = false
    private var known: Set<Run> = []

    /// A check that finds runs, with its parameters.
    package struct Run: Sendable, Hashable {
        /// The check.
        package let check: QCCheck
        /// Its parameters.
        package let parameters: QCRunParameters
    }

    /// Asks for nothing.
    package init() {}

    /// Everything, with the checks' own thresholds.
    package static var standard: QCRequest {
        var request = QCRequest()
        for check in QCCheck.allCases { request.add(check) }
        return request
    }

    /// Asks for a check.
    ///
    /// - Parameter parameters: For a check that finds runs; its own where there are none.
    package mutating func add(_ check: QCCheck, _ parameters: QCRunParameters? = nil) {
        let facts = check.facts
        checks.insert(check)
        switch facts.subject {
        case .reference: break
        case .sound: needsSound = true
        case .pictures: needsPictures = true
        case .file: (needsSound, needsPictures) = (true, true)
        }
        guard let standard = facts.run else { return }
        let run = Run(check: check, parameters: parameters ?? standard)
        if known.insert(run).inserted { runs.append(run) }
    }

    func parameters(of check: QCCheck) -> [QCRunParameters] {
        runs.filter { $0.check == check }.map(\.parameters)
    }
}

/// Two tracks of one channel each, the first and the second channel of one sound.
package struct QCTrackPair: Sendable, Hashable {
    /// Which tracks are meant.
    package let first, second: TrackSelector

    /// Makes a pair.
    package init(_ first: TrackSelector, _ second: TrackSelector) {
        self.first = first
        self.second = second
    }
}

extension QCRunParameters {
    static func amplitude(ofDecibels decibels: Double) -> Double { pow(10, decibels / 20) }
}
