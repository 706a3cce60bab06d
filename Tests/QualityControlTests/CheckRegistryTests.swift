import Foundation
import TestSupport
import Testing

@testable import QualityControl

/// The list of all checks.
@Suite struct CheckRegistryTests {
    @Test(arguments: CheckRegistry.ids) func namesAreThoseOfTheChecks(id: String) {
        #expect(CheckRegistry.check(id)?.id == id)
    }

    @Test func noTwoChecksHaveOneName() {
        #expect(Set(CheckRegistry.ids).count == CheckRegistry.ids.count)
    }

    @Test func everyFileOfACheckIsListed() throws {
        let folder = Repository.path("Sources/QualityControl/Checks")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
            $0.contains("/") && $0.hasSuffix(".swift")
        }
        #expect(files.count > 30 && CheckRegistry.ids.count == files.count)
    }

    /// Both letterbox checks share one measurement, as do those that judge by time stamps; no others do.
    @Test func measurementsAreShared() {
        let shared = Dictionary(grouping: CheckRegistry.all) { $0.measurement?.sharedName }
            .mapValues { $0.map(\.id) }.filter { $0.key != nil }
        #expect(
            shared == [
                "bars": ["letterboxRows", "letterboxColumns"],
                "frameTiming": ["missingFrames", "variableFrameRate", "headerMismatches"],
            ])
    }

    @Test func unknownNamesHaveNoCheck() { #expect(CheckRegistry.check("loudness") == nil) }
}
