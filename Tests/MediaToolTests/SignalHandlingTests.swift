import Foundation
import TestSupport
import Testing

/// A program that is asked to end leaves nothing behind.
@Suite struct SignalHandlingTests {
    // An output without a name, and one that replaces a file and has a hidden name. No program sees SIGKILL.
    @Test(arguments: [(SIGINT, false), (SIGINT, true), (SIGTERM, false), (SIGTERM, true), (SIGKILL, false)])
    func endingInTheMiddleLeavesNothing(signal: Int32, replaces: Bool) throws {
        let folder = try TemporaryFolder()
        if replaces { _ = try folder.write("out.dat", [1, 2, 3]) }
        let before = try folder.names()
        // A header that promises far more than there is: 16-bit stereo at 48 kHz.
        var header = Array("RIFF".utf8) + [0xFF, 0xFF, 0xFF, 0x7F] + Array("WAVEfmt ".utf8)
        header += [16, 0, 0, 0, 1, 0, 2, 0, 0x80, 0xBB, 0, 0, 0, 0xEE, 2, 0, 4, 0, 16, 0]
        header += Array("data".utf8) + [0xDB, 0xFF, 0xFF, 0x7F]
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Program.mediatool)
        process.arguments = ["waveform", "-", "--quiet", "--force", "-o", folder.path("out.dat")]
        let input = Pipe()
        process.standardInput = input
        process.standardError = FileHandle.nullDevice
        try process.run()
        // Some of it, and then nothing: the command waits with its output begun.
        try input.fileHandleForWriting.write(contentsOf: Data(header + [UInt8](repeating: 0, count: 8 << 20)))
        let limit = ContinuousClock.now + .seconds(20)
        while !hasOpen(process, in: folder), ContinuousClock.now < limit { usleep(20_000) }
        #expect(hasOpen(process, in: folder), "no output was begun")
        try #expect(folder.names().count == (replaces ? 2 : 0))

        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        #expect(process.terminationReason == (signal == SIGKILL ? .uncaughtSignal : .exit))
        #expect(process.terminationStatus == (signal == SIGKILL ? signal : 128 + signal))
        try #expect(folder.names() == before)
        if replaces { try #expect(Data(contentsOf: URL(fileURLWithPath: folder.path("out.dat"))) == Data([1, 2, 3])) }
    }

    /// Returns true if a process has a file in a folder open, with a name or without.
    private func hasOpen(_ process: Process, in folder: TemporaryFolder) -> Bool {
        let descriptors = "/proc/\(process.processIdentifier)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: descriptors)) ?? []
        return names.contains { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(descriptors)/\(name)")
            return target?.hasPrefix(folder.path + "/") == true
        }
    }
}
