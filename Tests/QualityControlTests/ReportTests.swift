import AssetKit
import Inspection
import MediaBase
import SystemPackage
import TestSupport
import Testing

@testable import QualityControl

/// Reports on results that are written by hand.
@Suite struct ReportTests {
    private static func time(_ value: Int64, _ timescale: Int32 = 1) -> MediaTime {
        MediaTime(value: value, timescale: timescale)
    }

    private static let report: QCReport = {
        let finding = Finding(
            id: "b@0:1/2", rule: "b", severity: .fail, trackIndex: 0, channel: 1, start: time(1, 2), end: time(3, 2),
            startTimecode: "00:00:00:12", endTimecode: "00:00:01:12", measured: "1.000 s", wanted: "none",
            message: "a, \"b\"")
        let whole = Finding(
            id: "w", rule: "w", severity: .warn, measured: "5", wanted: "at most 4", message: "<w>")
        let measurements = Measurements(tracks: [], damage: DamageSummary(DamageReport()))
        var report = QCReport(
            verdict: .fail, policy: "p&q",
            rules: [
                .init(id: "b", status: .fail, findingCount: 2), .init(id: "w", status: .warn, findingCount: 1),
                .init(id: "n", status: .notApplicable, reason: "no <audio>"), .init(id: "g", status: .pass),
            ], findings: [finding, finding, whole], measurements: measurements, warnings: [])
        report.maximumListed = 1
        return report
    }()

    private static let passed = QCReport(
        verdict: .pass, policy: "p", rules: [], findings: [],
        measurements: Measurements(tracks: [], damage: DamageSummary(DamageReport())), warnings: [])

    @Test func markupIsEscaped() {
        #expect(
            VisibleText.markup("<a&\"b\">\n\u{202E}\u{1B}\u{FFFE}")
                == "&lt;a&amp;&quot;b&quot;&gt;\\n\\u202e\\x1b\u{FFFD}")
    }

    /// Every line has the fifteen columns of the header.
    @Test func aLineOfCSVForEachListedFinding() {
        #expect(
            CSVReport.header
                == "path,status,rule,severity,track,channel,start,end,startSeconds,endSeconds,timecode,endTimecode,"
                + "measured,wanted,message\r\n")
        #expect(
            CSVReport.lines(of: .success(Self.report), path: "f,1")
                == "\"f,1\",fail,b,fail,0,1,1/2,3/2,0.5,1.5,00:00:00:12,00:00:01:12,1.000 s,none,\"a, \"\"b\"\"\"\r\n"
                + "\"f,1\",fail,w,warn,,,,,,,,,5,at most 4,<w>\r\n")
        #expect(CSVReport.lines(of: .success(Self.passed), path: "f") == "f,pass,,,,,,,,,,,,,\r\n")
        #expect(
            CSVReport.lines(of: .failure(MediaError(.notFound, "no such file")), path: "f")
                == "f,error,,,,,,,,,,,,,no such file\r\n")
    }

    @Test func framesThatDoNotDifferHaveAnInfinitePSNR() {
        let frames: [ReferenceMeasurements.Frame] = [
            .init(time: Self.time(1, 2), psnr: [.infinity, 40, 30, 35], similarities: [1, 0.5, 0.25, 0.75]),
            .init(time: Self.time(1), psnr: [20, 20], similarities: [0.5, 0.5]),
        ]
        #expect(
            CSVReport.frames(frames, path: "f")
                == "f,0,1/2,0.5,inf,40.0000,30.0000,35.0000,1.000000,0.500000,0.250000,0.750000\r\n"
                + "f,1,1/1,1.0,20.0000,,,20.0000,0.500000,,,0.500000\r\n")
    }

    @Test func eachRuleIsATestCase() {
        var junit = JUnitReport()
        junit.add(JUnitReport.suite(of: .success(Self.report), path: "f&g"))
        junit.add(JUnitReport.suite(of: .failure(MediaError(.notFound, "no such file")), path: "h"))
        let wanted = [
            "<testsuites name=\"mediatool qc\" tests=\"5\" failures=\"1\" errors=\"1\" time=\"0\">",
            "<testsuite name=\"f&amp;g\" tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"1\" time=\"0\">",
            "<failure type=\"qc\" message=\"a, &quot;b&quot;\">a, &quot;b&quot;</failure>",
            "<system-out>&lt;w&gt;</system-out>", "<skipped message=\"no &lt;audio&gt;\"/>",
            "<testcase name=\"g\" classname=\"f&amp;g\" time=\"0\"/>",
            "<error type=\"notFound\" message=\"no such file\"/>",
        ]
        for line in wanted { #expect(junit.text.contains(line), "\(line)") }
    }

    @Test func thePageCountsFilesAndShowsTables() {
        var page = HTMLReport()
        page.add(HTMLReport.section(of: .success(Self.report), path: "f"))
        page.add(HTMLReport.section(of: .success(Self.passed), path: "g"))
        page.add(HTMLReport.section(of: .failure(MediaError(.notFound, "no such file")), path: "h"))
        let wanted = [
            "3 files: 1 failed, 0 with warnings, 1 not processed.", "<p>Policy: p&amp;q</p>",
            "<thead><tr><th></th><th>Rule</th><th>Track</th><th>Start</th><th>End</th><th>Timecode</th>"
                + "<th>End timecode</th><th>What</th></tr></thead>",
            "<td><span class=\"warn\">warn</span></td><td>w</td><td></td><td></td><td></td><td></td><td></td>"
                + "<td>&lt;w&gt;</td>",
            "<td><span class=\"notApplicable\">not applicable</span></td><td>n</td><td>no &lt;audio&gt;</td>",
            "<p>Nothing was found.</p>", "<p>no such file</p>",
        ]
        for text in wanted { #expect(page.text.contains(text), "\(text)") }
    }

    /// A rule, a violation, and the finding's id and message.
    private static let findings: [(String?, Violation, String, String)] = [
        (nil, Violation(subject: "x", measured: "1", wanted: "2"), "r", "x is 1, wanted 2"),
        (
            nil,
            Violation(
                subject: "x", measured: "1", wanted: "2", trackIndex: 3, channel: 0,
                range: .init(start: time(1), end: time(1))), "r@3.0:1/1",
            "track 3: x in channel 1 is 1 at 00:00:01.000, wanted 2"
        ),
        (
            nil,
            Violation(subject: "x", measured: "1", wanted: "2", range: .init(start: time(1), end: time(5, 2))), "r:1/1",
            "x is 1 from 00:00:01.000 to 00:00:02.500, wanted 2"
        ),
        (
            "{measured}{wanted}{track}{start}{end}{x}", Violation(subject: "x", measured: "1", wanted: "2"), "r",
            "12---{x}"
        ),
    ]

    @Test(arguments: findings)
    func findingsAreNamedAndTold(message: String?, violation: Violation, id: String, wanted: String) throws {
        let probe = try ProbeJob(asset: Asset(path: FilePath(Repository.sampleMovie))).run()
        var builder = FindingsBuilder(timecodes: Timecodes(probe))
        let rule = Rule(id: "r", severity: .warn, message: message, condition: .all([]))
        builder.add(rule, .failed([violation], more: 2))
        builder.add(rule, .passed)
        builder.add(rule, .notApplicable("why"))
        #expect(builder.findings.map(\.id) == [id] && builder.findings.map(\.message) == [wanted])
        #expect(builder.rules.map(\.status) == [.warn, .pass, .notApplicable])
        #expect(builder.rules.map(\.findingCount) == [3, nil, nil] && builder.rules[2].reason == "why")
    }
}
