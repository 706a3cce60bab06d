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
    /// The duration of the file; not part of the JSON.
    package var duration: MediaTime?
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

/// Formats the findings of a run as comma-separated values (RFC 4180), with one line per finding.
package enum CSVReport {
    /// The columns after the path and the status, each with its text.
    private static let columns: [(name: String, text: @Sendable (Finding) -> String?)] = [
        ("rule", { $0.rule }), ("severity", { $0.severity.rawValue }), ("track", { $0.trackIndex?.description }),
        ("channel", { $0.channel?.description }), ("start", { $0.start?.description }),
        ("end", { $0.end?.description }), ("startSeconds", { $0.start?.seconds.description }),
        ("endSeconds", { $0.end?.seconds.description }), ("timecode", { $0.startTimecode }),
        ("endTimecode", { $0.endTimecode }), ("measured", { $0.measured }), ("wanted", { $0.wanted }),
        ("message", { $0.message }),
    ]

    /// The column names, with a line break.
    package static let header = line(["path", "status"] + columns.map(\.name))

    /// Returns the lines of a file: its findings, or one line that states that it passed or why it was not processed.
    package static func lines(of result: Result<QCReport, MediaError>, path: String) -> String {
        let empty = columns.map { _ in "" }
        switch result {
        case .failure(let error): return line([path, "error"] + empty.dropLast() + [error.message])
        case .success(let report):
            let rows = report.listedFindings.map { finding in columns.map { $0.text(finding) ?? "" } }
            return (report.findings.isEmpty ? [empty] : rows).map { line([path, report.verdict.rawValue] + $0) }
                .joined()
        }
    }

    /// The column names of ``frames(_:path:)``, with a line break.
    package static let frameHeader =
        "path,frame,time,seconds,psnrLuma,psnrCb,psnrCr,psnr,ssimLuma,ssimCb,ssimCr,ssim\r\n"

    /// Returns a line for each compared frame.
    ///
    /// The PSNR of frames that do not differ is `inf`; columns that greyscale frames lack are empty.
    package static func frames(_ frames: [ReferenceMeasurements.Frame], path: String) -> String {
        var text = ""
        for (number, frame) in frames.enumerated() {
            let psnr = frame.psnr.map { $0.isFinite ? $0.text(decimals: 4) : "inf" }
            let ssim = frame.similarities.map { Double($0).text(decimals: 6) }
            func columns(_ values: [String]) -> [String] {
                values.count >= 4 ? values : [values.first ?? "", "", "", values.last ?? ""]
            }
            text += line(
                [path, "\(number)", frame.time.description, "\(frame.time.seconds)"] + columns(psnr) + columns(ssim))
        }
        return text
    }

    private static func line(_ cells: [String]) -> String {
        cells.map(VisibleText.cell).joined(separator: ",") + "\r\n"
    }
}

/// The results of a run as JUnit XML, with a suite per file and a test case per rule.
///
/// A warning is system output of a test case that passes. A rule that is not applicable is skipped. A file that could
/// not be processed is an error.
package struct JUnitReport {
    private var suites = ""
    private var counts = (tests: 0, failures: 0, errors: 0)

    /// Makes a result without files.
    package init() {}

    /// The suite of one file.
    package struct Suite: Sendable {
        /// The XML element.
        package var text: String
        /// The numbers of tests, failures and errors.
        package var counts: [Int]

        /// Creates a suite from its parts.
        package init(text: String, counts: [Int]) {
            self.text = text
            self.counts = counts
        }
    }

    /// Adds the suite of a file.
    package mutating func add(_ suite: Suite) {
        guard suite.counts.count == 3 else { return }
        suites += suite.text
        counts.tests += suite.counts[0]
        counts.failures += suite.counts[1]
        counts.errors += suite.counts[2]
    }

    /// Returns the suite of a file.
    package static func suite(of result: Result<QCReport, MediaError>, path: String) -> Suite {
        var cases = ""
        var (tests, failures, errors, skipped) = (0, 0, 0, 0)
        let name = VisibleText.markup(path)
        func testCase(_ rule: String, _ inner: String) {
            tests += 1
            cases += "    <testcase name=\"\(VisibleText.markup(rule))\" classname=\"\(name)\" time=\"0\""
            cases += inner.isEmpty ? "/>\n" : ">\n\(inner)    </testcase>\n"
        }
        switch result {
        case .failure(let error):
            errors += 1
            testCase(
                "file",
                "      <error type=\"\(VisibleText.markup(error.code.rawValue))\" message=\""
                    + "\(VisibleText.markup(error.message))\"/>\n")
        case .success(let report):
            let findingsOfRules = Dictionary(grouping: report.listedFindings, by: \.rule)
            for rule in report.rules {
                let findings = findingsOfRules[rule.id] ?? []
                let lines = findings.map { VisibleText.markup($0.message) }.joined(separator: "\n")
                switch rule.status {
                case .pass: testCase(rule.id, "")
                case .notApplicable:
                    skipped += 1
                    testCase(rule.id, "      <skipped message=\"\(VisibleText.markup(rule.reason ?? ""))\"/>\n")
                case .warn: testCase(rule.id, "      <system-out>\(lines)</system-out>\n")
                case .fail:
                    failures += 1
                    let first = VisibleText.markup(findings.first?.message ?? "does not hold")
                    testCase(rule.id, "      <failure type=\"qc\" message=\"\(first)\">\(lines)</failure>\n")
                }
            }
        }
        return Suite(
            text: "  <testsuite name=\"\(name)\" tests=\"\(tests)\" failures=\"\(failures)\" errors=\"\(errors)\" "
                + "skipped=\"\(skipped)\" time=\"0\">\n\(cases)  </testsuite>\n",
            counts: [tests, failures, errors])
    }

    /// The XML text.
    package var text: String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="mediatool qc" tests="\(counts.tests)" failures="\(counts.failures)" \
        errors="\(counts.errors)" time="0">
        \(suites)</testsuites>

        """
    }
}
