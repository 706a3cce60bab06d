import Foundation
import TestSupport
import Testing

/// A program that is asked to end leaves nothing behind.
@Suite struct SignalHandlingTests {
    @Test(arguments: [SIGINT, SIGTERM])
    func endingInTheMiddleLeavesNothing(signal: Int32) throws {
        let folder = try TemporaryFolder()
        // A header that promises far more than there is: 16-bit stereo at 48 kHz.
        var header = Array("RIFF".utf8) + [0xFF, 0xFF, 0xFF, 0x7F] + Array("WAVEfmt ".utf8)
        header += [16, 0, 0, 0, 1, 0, 2, 0, 0x80, 0xBB, 0, 0, 0, 0xEE, 2, 0, 4, 0, 16, 0]
        header += Array("data".utf8) + [0xDB, 0xFF, 0xFF, 0x7F]
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Program.mediatool)
        process.arguments = ["waveform", "-", "--quiet", "-o", folder.path("out.dat")]
        let input = Pipe()
        process.standardInput = input
        process.standardError = FileHandle.nullDevice
        try process.run()
        // Some of it, and then nothing: the command waits with its output begun.
        try input.fileHandleForWriting.write(contentsOf: Data(header + [UInt8](repeating: 0, count: 8 << 20)))
        let limit = ContinuousClock.now + .seconds(20)
        while try folder.names().isEmpty, ContinuousClock.now < limit { usleep(20_000) }
        try #expect(folder.names().count == 1, "no output was begun")

        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == 128 + signal)
        try #expect(folder.names().isEmpty)
    }
}
