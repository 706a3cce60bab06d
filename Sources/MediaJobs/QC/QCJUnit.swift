package import MediaBase

/// The results of a run as JUnit's XML: a suite a file, a test case a rule.
///
/// Warnings are system output of their test case, which passes; not applicable is skipped; a file that could not be
/// processed is an error.
package struct QCJUnit {
    private var suites = ""
    private var counts = (tests: 0, failures: 0, errors: 0)

    /// Begins without files.
    package init() {}

    /// Adds what came of a file.
    package mutating func add(_ result: Result<QCReport, MediaError>, path: String) {
        var cases = ""
        var (tests, failures, errors, skipped) = (0, 0, 0, 0)
        let name = QCMarkup.escaped(path)
        func testCase(_ rule: String, _ inner: String) {
            tests += 1
            cases += "    <testcase name=\"\(QCMarkup.escaped(rule))\" classname=\"\(name)\" time=\"0\""
            cases += inner.isEmpty ? "/>\n" : ">\n\(inner)    </testcase>\n"
        }
        switch result {
        case .failure(let error):
            errors += 1
            testCase(
                "file",
                "      <error type=\"\(QCMarkup.escaped(error.code.rawValue))\" message=\""
                    + "\(QCMarkup.escaped(error.message))\"/>\n")
        case .success(let report):
            let findingsOfRules = Dictionary(grouping: report.listedFindings, by: \.rule)
            for rule in report.rules {
                let findings = findingsOfRules[rule.id] ?? []
                let lines = findings.map { QCMarkup.escaped($0.message) }.joined(separator: "\n")
                switch rule.status {
                case .pass: testCase(rule.id, "")
                case .notApplicable:
                    skipped += 1
                    testCase(rule.id, "      <skipped message=\"\(QCMarkup.escaped(rule.reason ?? ""))\"/>\n")
                case .warn: testCase(rule.id, "      <system-out>\(lines)</system-out>\n")
                case .fail:
                    failures += 1
                    let first = QCMarkup.escaped(findings.first?.message ?? "does not hold")
                    testCase(rule.id, "      <failure type=\"qc\" message=\"\(first)\">\(lines)</failure>\n")
                }
            }
        }
        suites += "  <testsuite name=\"\(name)\" tests=\"\(tests)\" failures=\"\(failures)\" errors=\"\(errors)\" "
        suites += "skipped=\"\(skipped)\" time=\"0\">\n\(cases)  </testsuite>\n"
        counts = (counts.tests + tests, counts.failures + failures, counts.errors + errors)
    }

    /// The whole file.
    package var text: String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="mediatool qc" tests="\(counts.tests)" failures="\(counts.failures)" \
        errors="\(counts.errors)" time="0">
        \(suites)</testsuites>

        """
    }
}
