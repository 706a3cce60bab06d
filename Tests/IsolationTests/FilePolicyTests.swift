import Foundation
import MediaBase
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import Isolation

/// Tests what a worker may have its supervisor open, and that messages of a hostile one do no harm.
@Suite struct FilePolicyTests {
    @Test(arguments: [
        ("out/a.dat", "out/a.dat", true), ("out/a.dat", "out/{stem}.dat", true), ("out/.dat", "out/{stem}.dat", true),
        ("a-001-x.png", "{stem}-{index}-{ext}.png", true), ("out/a.dat", "out/b.dat", false),
        ("out/b/a.dat", "out/{stem}.dat", false), ("a.dat.x", "{stem}.dat", false), ("x/a.dat", "{stem}.dat", false),
        ("out/../a.png", "out/{stem}/a.png", false), ("../a.png", "../{stem}.png", true), ("a{b", "a{b", true),
        ("aaaaaaaaaaaaaaaaaaaaaaaab", "{a}{b}{c}{d}{e}{f}{g}{h}a", false),
    ])
    func namesMatchPatterns(_ name: String, _ pattern: String, _ matches: Bool) {
        #expect(FilePath(name).matches(FilePath(pattern)) == matches)
    }

    /// The answers are those of the policy, and what was unfinished when a worker died is gone.
    @Test func aWorkerGetsWhatItsPolicyAllows() throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("input", [1])
        _ = try folder.write("secret", [2])
        let result = try Program.run(Program.besideTests("isolationcheck"), ["asks", folder.path])
        #expect(result.status == 0, "\(result.error)")
        #expect(
            result.output == """
                the input: allowed
                another file: Permission denied
                another way to it: Permission denied
                a folder: Permission denied
                a file below it: Permission denied
                a descriptor of its supervisor: Permission denied
                a temporary file: allowed
                an output: allowed
                the output again: alreadyExists
                another output: permissionDenied
                an output elsewhere: permissionDenied
                crashed

                """)
        #expect(try folder.names() == ["a.dat", "input", "secret"])
    }

    @Test func partsOfMessagesComeBack() throws {
        var writer = MessageWriter()
        writer.write(Int.min)
        writer.write("ä\n")
        writer.write(["a", ""]) { $0.write($1) }
        writer.write(MediaError(.damaged, "m", path: "p"))
        var reader = MessageReader(writer.bytes)
        #expect(try reader.number() == .min)
        #expect(try reader.text() == "ä\n")
        #expect(try reader.list { reader throws(MessageReader.Invalid) in try reader.text() } == ["a", ""])
        #expect(try reader.error() == MediaError(.damaged, "m", path: "p"))
        #expect(throws: MessageReader.Invalid.self) { try reader.number() }
    }

    /// Whatever the bytes, reading ends with a value or the error, and takes no memory for counts that cannot be.
    @Test func hostileMessagesAreRefused() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...6, using: &generator) {
                let small = Bool.random(using: &generator)
                let number =
                    small
                    ? Int64.random(in: -2...9, using: &generator) : Int64.random(in: .min ... .max, using: &generator)
                withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
            }
            var job = 0
            _ = try? FileCall(bytes, job: &job)
            _ = try? FileAnswer(bytes)
        }
    }
}
