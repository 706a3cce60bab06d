import Foundation
import QualityControl
import TestSupport
import Testing

@testable import mediatool

/// Every row of the table in `docs/qc.md`: one file passes, and one fails by that rule alone.
@Suite struct QCTableTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let check, rule, passes, fails: String
        var testDescription: String { check }
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    static let rows: [Row] = {
        let text = (try? String(contentsOfFile: Repository.path("docs/qc.md"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").filter { $0.hasPrefix("| `") }.compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) }
            guard cells.count == 8 else { return nil }
            return Row(check: cells[1], rule: cells[4], passes: cells[5], fails: cells[6])
        }
    }()

    @Test func allChecksAreInTheTable() { #expect(Self.rows.map(\.check) == CheckRegistry.all.map(\.id)) }

    @Test(arguments: rows) func rowsHold(row: Row) throws {
        let rule = row.rule.isEmpty ? "" : ", \(row.rule)"
        let policy = try folder.write("p.yml", Array("rules:\n  - {id: x, check: \(row.check)\(rule)}\n".utf8))
        func status(_ file: String) throws -> (Int32, String?) {
            var arguments = ["qc", "--json", "--quiet", "--policy", policy, try Fixtures.path(file)]
            if row.check.hasPrefix("reference.") { arguments += ["--reference", try Fixtures.path("av.mp4")] }
            let result = try Program.run(Program.mediatool, arguments)
            let report = try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any]
            let rules = report?["rules"] as? [[String: Any]]
            return (result.status, rules?.first?["status"] as? String)
        }
        #expect(try status(row.passes) == (0, "pass"))
        #expect(try status(row.fails) == (1, "fail"))
    }
}
