import Foundation
import MediaBase
import SystemPackage
import TestSupport
import Testing

@testable import MediaJobs

@Suite struct PeaksFileInputTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func golden(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: Repository.path("golden/waveform/" + name))))
    }

    @Test func peaksFilesAreKnownByTheirContent() throws {
        #expect(try PeaksFileInput(path: FilePath(Fixtures.path("pcm-s16-mono.wav"))) == nil)
        #expect(try PeaksFileInput(path: "/nonexistent") == nil)
        #expect(try PeaksFileInput(path: FilePath(folder.path)) == nil)
        let bytes = try golden("1ch-mixed-64-16bit.json")
        let path = FilePath(try folder.write("named.wav", bytes))
        #expect(try PeaksFileInput(path: path)?.format == .json)
        // Each cut is an error or no peaks file, never a crash.
        let binary = try golden("6ch-split-64-8bit.dat")
        for length in [0, 3, 16, 19, 20, 24, 30, binary.count - 1] {
            let cut = FilePath(try folder.write("cut.dat", binary.prefix(length)))
            do {
                let input = try PeaksFileInput(path: cut)
                #expect(input == nil && length < 16)
            } catch { #expect(error.code == .damaged && error.path == cut.string) }
        }
    }

    @Test func peaksInAPipeThatDoesNotEndAreLeftAtTheDeadline() throws {
        let pipe = try FileDescriptor.pipe()
        defer {
            try? pipe.readEnd.close()
            try? pipe.writeEnd.close()
        }
        try pipe.writeEnd.writeAll(try golden("6ch-split-64-8bit.dat").prefix(2000))
        let start = ContinuousClock.now
        do {
            _ = try PeaksFileInput(standardInput: pipe.readEnd, until: start + .milliseconds(300))
            Issue.record("the pipe has not ended")
        } catch { #expect(error.code == .timedOut) }
        #expect(ContinuousClock.now - start < .seconds(5))
    }
}
