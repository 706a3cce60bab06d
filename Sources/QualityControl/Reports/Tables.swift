internal import Inspection
package import MediaBase

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

    /// Adds the result of a file.
    package mutating func add(_ result: Result<QCReport, MediaError>, path: String) {
        var cases = ""
        var (tests, failures, errors, skipped) = (0, 0, 0, 0)
        let name = Markup.escaped(path)
        func testCase(_ rule: String, _ inner: String) {
            tests += 1
            cases += "    <testcase name=\"\(Markup.escaped(rule))\" classname=\"\(name)\" time=\"0\""
            cases += inner.isEmpty ? "/>\n" : ">\n\(inner)    </testcase>\n"
        }
        switch result {
        case .failure(let error):
            errors += 1
            testCase(
                "file",
                "      <error type=\"\(Markup.escaped(error.code.rawValue))\" message=\""
                    + "\(Markup.escaped(error.message))\"/>\n")
        case .success(let report):
            let findingsOfRules = Dictionary(grouping: report.listedFindings, by: \.rule)
            for rule in report.rules {
                let findings = findingsOfRules[rule.id] ?? []
                let lines = findings.map { Markup.escaped($0.message) }.joined(separator: "\n")
                switch rule.status {
                case .pass: testCase(rule.id, "")
                case .notApplicable:
                    skipped += 1
                    testCase(rule.id, "      <skipped message=\"\(Markup.escaped(rule.reason ?? ""))\"/>\n")
                case .warn: testCase(rule.id, "      <system-out>\(lines)</system-out>\n")
                case .fail:
                    failures += 1
                    let first = Markup.escaped(findings.first?.message ?? "does not hold")
                    testCase(rule.id, "      <failure type=\"qc\" message=\"\(first)\">\(lines)</failure>\n")
                }
            }
        }
        suites += "  <testsuite name=\"\(name)\" tests=\"\(tests)\" failures=\"\(failures)\" errors=\"\(errors)\" "
        suites += "skipped=\"\(skipped)\" time=\"0\">\n\(cases)  </testsuite>\n"
        counts = (counts.tests + tests, counts.failures + failures, counts.errors + errors)
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

/// Escapes text for XML and HTML.
enum Markup {
    /// Replaces characters that are special in markup, including quotation marks, with references.
    ///
    /// Control characters, most of which XML 1.0 does not allow, and those that change the text direction are escaped
    /// as in C.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in VisibleText.line(text).unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
