import MediaBase
import SystemPackage
import Testing

@testable import Timelines

@Suite struct TimelineFileTests {
    /// Who writes stays silent after the beginning, or from the beginning on.
    @Test func aSilentPipeIsWaitedForUntilTheDeadline() throws {
        let pipe = try FileDescriptor.pipe()
        defer {
            try? pipe.readEnd.close()
            try? pipe.writeEnd.close()
        }
        func file() throws -> TimelineFile? {
            try TimelineFile(standardInput: pipe.readEnd, until: .now + .milliseconds(300))
        }
        let begun = ContinuousClock.now
        #expect(try file() == nil)
        try pipe.writeEnd.writeAll(Array(#"{"OTIO_SCHEMA":"Timeline.1","#.utf8))
        #expect { try file() } throws: { ($0 as? MediaError)?.code == .timedOut }
        #expect(ContinuousClock.now - begun < .seconds(20))
    }
}
