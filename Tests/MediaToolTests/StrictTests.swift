import Foundation
import TestSupport
import Testing

/// What `--strict` refuses, and what is told without it.
@Suite struct StrictTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ arguments: [String]) throws -> Program.Result {
        try Program.run(Program.mediatool, arguments, folder: folder.path)
    }

    private func warnings(_ arguments: [String]) throws -> [String] {
        let report = try JSONSerialization.jsonObject(with: Data(run(arguments + ["--json"]).bytes)) as? [String: Any]
        return try #require(report?["warnings"] as? [String])
    }

    @Test(arguments: [["proxy", "-o", "out.mov"], ["export", "-o", "out.mov"], ["qc"]])
    func damagedPacketsAreRefusedInTheNameOfTheInput(command: [String]) throws {
        let damaged = try Fixtures.path("damaged.ts")
        let refused = try run(command + ["--strict", damaged])
        #expect(refused.status == 2 && refused.errorLines.count == 1, "\(refused.error)")
        #expect(refused.error.contains("\(damaged): ") && refused.error.contains("--strict"), "\(refused.error)")
        #expect(try folder.names() == [])
        let whole = try run(command + ["--strict", Fixtures.path("mpegts-10s.ts")])
        #expect(whole.status < 2, "\(whole.error)")
    }

    @Test func soundThatOggLostIsRefused() throws {
        var bytes = try Fixtures.bytes("opus.opus")
        let middle = bytes.count / 2
        bytes.replaceSubrange(middle..<middle + 3000, with: repeatElement(0, count: 3000))
        let path = try folder.write("damaged.opus", bytes)
        let refused = try run(["waveform", "--json", "--strict", path])
        #expect(refused.status == 2 && refused.error.contains("--strict"), "\(refused.error)")
        #expect(try run(["waveform", "--json", "--strict", Fixtures.path("opus.opus")]).status == 0)
    }

    @Test func scanningWarnsOfDamagedPackets() throws {
        let damaged = try Fixtures.path("damaged.ts")
        // ffmpeg: "corrupt input packet in stream 0", once.
        #expect(try warnings(["probe", "--scan", damaged]) == ["1 packet of track 0 is damaged"])
        let refused = try run(["probe", "--scan", "--strict", damaged])
        #expect(refused.status == 2 && refused.error.contains("1 packet of track 0 is damaged"), "\(refused.error)")
        #expect(try run(["probe", "--scan", "--strict", Fixtures.path("mpegts-10s.ts")]).status == 0)
    }

    @Test func scanningWarnsOfMatroskaThatBreaksOff() throws {
        let path = try folder.write("cut.mkv", Fixtures.bytes("h264-aac.mkv").prefix(60_000))
        #expect(try warnings(["probe", "--scan", path]) == ["the file breaks off before its end"])
        let refused = try run(["probe", "--scan", "--strict", path])
        #expect(refused.status == 2 && refused.error.contains("breaks off"), "\(refused.error)")
        #expect(try run(["probe", "--scan", "--strict", Fixtures.path("h264-aac.mkv")]).status == 0)
    }

    /// The tag in the first frame says how many bytes there are.
    @Test func scanningWarnsOfAnMP3ThatBreaksOff() throws {
        let whole = try Fixtures.bytes("mp3-lame.mp3")
        let path = try folder.write("cut.mp3", whole.prefix(20_000))
        #expect(try warnings(["probe", "--scan", path]).count { $0.contains("breaks off") } == 1)
        let refused = try run(["waveform", "--json", "--strict", path])
        #expect(refused.status == 2 && refused.error.contains("breaks off"), "\(refused.error)")
        // What comes behind the sound is no matter, nor is a file without the tag.
        let tagged = try folder.write("tagged.mp3", whole + [UInt8]("TAG".utf8) + [UInt8](repeating: 0, count: 125))
        for path in [tagged, try Fixtures.path("mp3-no-tag.mp3"), try Fixtures.path("artwork.mp3")] {
            #expect(try run(["waveform", "--json", "--strict", path]).status == 0)
        }
    }
}
