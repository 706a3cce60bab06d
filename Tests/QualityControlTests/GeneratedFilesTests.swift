import Foundation
import TestSupport
import Testing

@testable import QualityControl

/// The parts of documentation and schemas that list the checks are written from the registry.
///
/// With `MEDIATOOL_GENERATE` set, as in `scripts/generate-qc`, the files are written; otherwise they must be current.
@Suite struct GeneratedFilesTests {
    @Test func theTableOfChecksIsCurrent() throws {
        try expectCurrent("docs/qc.md") { text in
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let first = try #require(lines.firstIndex { $0.hasPrefix("| `") })
            let last = try #require(lines.lastIndex { $0.hasPrefix("| `") })
            return (lines[..<first] + CheckRegistry.all.map { Self.row($0)[...] } + lines[(last + 1)...])
                .joined(separator: "\n")
        }
    }

    @Test func theSchemaOfPoliciesIsCurrent() throws {
        let (runs, values) = (CheckRegistry.all.filter { $0.run != nil }, CheckRegistry.all.filter { $0.run == nil })
        try expectCurrent("docs/schema/qc-policy.json") { text in
            Self.replacing("\"What is measured", with: values, in: Self.replacing("\"Finds runs", with: runs, in: text))
        }
    }

    @Test func theSchemaOfReportsIsCurrent() throws {
        try expectCurrent("docs/schema/qc.json") { text in
            Self.replacing("\"The check's name", with: CheckRegistry.all.filter { $0.run != nil }, in: text)
        }
    }

    private func expectCurrent(_ path: String, _ generated: (String) throws -> String) throws {
        let path = Repository.path(path)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let wanted = try generated(text)
        if ProcessInfo.processInfo.environment["MEDIATOOL_GENERATE"] != nil {
            try Data(wanted.utf8).write(to: URL(fileURLWithPath: path))
        } else {
            #expect(text == wanted, "run scripts/generate-qc")
        }
    }

    private static func row(_ check: Check) -> String {
        var standard = ""
        if let run = check.run {
            let threshold = number(run.threshold) + (check.thresholdUnit.isEmpty ? "" : " " + check.thresholdUnit)
            standard = threshold + (run.minimumSeconds > 0 ? ", \(number(run.minimumSeconds)) s" : "")
        } else if let test = check.standardTest {
            if let equals = test.equals { standard = "`equals: \(equals.text)`" }
            if let maximum = test.maximum { standard = "`max: \(number(maximum))`" }
        }
        let rule = check.example.rule.isEmpty ? "" : "`\(check.example.rule)`"
        return "| `\(check.id)` | \(check.definition) | \(standard) | \(rule) | \(check.example.passes) | "
            + "\(check.example.fails) |"
    }

    private static func number(_ number: Double) -> String {
        (number < 0 ? "−" : "") + PolicyValue.number(number.magnitude).text
    }

    /// Replaces the list of names on the line with a description.
    private static func replacing(_ description: String, with checks: [Check], in text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard line.contains("\"check\": {"), line.contains(description) else { return String(line) }
            let names = checks.map { "\"\($0.id)\"" }.joined(separator: ", ")
            return String(line).replacing(/"enum": \[[^\]]*\]/, with: "\"enum\": [\(names)]")
        }.joined(separator: "\n")
    }
}
