internal import Glibc
package import Inspection
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
    package var findings: [QCFinding]
    /// The measurements.
    package var measurements: QCMeasurements
    /// Warnings about the file's structure.
    package var warnings: [String]
    /// Still pictures of findings for an HTML page; not part of the JSON.
    package var illustrations: QCIllustrations?
    /// The maximum number of findings of one rule, and of ranges of one check, that are listed in JSON and other
    /// tables.
    package var maximumListed = QCReport.usualListed

    /// The default of ``maximumListed``.
    package static let usualListed = 200

    private enum CodingKeys: String, CodingKey {
        case verdict, policy, rules, findings, measurements, warnings
    }

    /// The first findings of each rule, at most ``maximumListed``.
    package var listedFindings: [QCFinding] {
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
package struct QCFinding: Encodable, Sendable {
    /// An identifier that is stable for the same file and policy, made of the rule, the track, the channel and the
    /// start time.
    package var id: String
    /// The rule's id.
    package var rule: String
    /// The severity of the violation.
    package var severity: QCSeverity
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

/// The measurements to take: the checks, and each set of parameters of those that find runs.
package struct QCRequest: Sendable, Hashable {
    /// The checks that find runs, with their parameters, unique and in the order of the requests.
    package private(set) var runs: [Run] = []
    /// True if audio must be decoded.
    package private(set) var needsSound = false
    /// True if video must be decoded.
    package private(set) var needsPictures = false
    /// True if all packets must be read, for the `scan` part of the probe report.
    package var needsScan = false
    /// The requested checks.
    package private(set) var checks: Set<Check> = []
    /// Pairs of mono tracks that are measured as one stereo track.
    package var pairs: [QCTrackPair] = []
    /// True if an outline of the audio is collected, for a drawing.
    package var drawsSound = false
    private var known: Set<Run> = []

    /// A check that finds runs, with its parameters.
    package struct Run: Sendable, Hashable {
        /// The check.
        package let check: Check
        /// The parameters of the check.
        package let parameters: QCRunParameters
    }

    /// Makes an empty request.
    package init() {}

    /// A request for all checks, with their default parameters.
    package static var standard: QCRequest {
        var request = QCRequest()
        for check in CheckRegistry.all { request.add(check) }
        return request
    }

    /// Adds a check.
    ///
    /// - Parameter parameters: The parameters of a check that finds runs; `nil` for its defaults.
    package mutating func add(_ check: Check, _ parameters: QCRunParameters? = nil) {
        checks.insert(check)
        switch check.subject {
        case .referenceAudio, .referenceVideo: break
        case .audio: needsSound = true
        case .video: needsPictures = true
        case .file: (needsSound, needsPictures) = (true, true)
        }
        guard let standard = check.run else { return }
        let run = Run(check: check, parameters: parameters ?? standard)
        if known.insert(run).inserted { runs.append(run) }
    }

    func parameters(of check: Check) -> [QCRunParameters] {
        runs.filter { $0.check == check }.map(\.parameters)
    }
}

/// Two mono tracks that hold the first and the second channel of one stereo signal.
package struct QCTrackPair: Sendable, Hashable {
    /// The selectors of the tracks.
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
