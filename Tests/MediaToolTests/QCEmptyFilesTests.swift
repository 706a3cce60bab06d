import Foundation
import TestSupport
import Testing

/// Files that hold nothing, or not all of what they should, do not pass.
@Suite struct QCEmptyFilesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func report(_ path: String) throws -> [String: Any] {
        let result = try Program.run(Program.mediatool, ["qc", "--json", "--quiet", path], folder: folder.path)
        return try #require(try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any])
    }

    private func rules(_ report: [String: Any]) throws -> [String: String] {
        let rules = try #require(report["rules"] as? [[String: Any]])
        return Dictionary(
            rules.compactMap { rule in
                (rule["id"] as? String).map { ($0, rule["status"] as? String ?? "") }
            }
        ) { $1 }
    }

    private func measurements(_ report: [String: Any]) throws -> [String: Any] {
        try #require(report["measurements"] as? [String: Any])
    }

    /// The index of av.mp4 is 3617 bytes from byte 32 on.
    @Test(arguments: [100, 2000]) func anIndexThatIsCutIsATruncation(length: Int) throws {
        let path = try folder.write("cut.mp4", Fixtures.bytes("av.mp4").prefix(length))
        let report = try report(path)
        #expect(report["verdict"] as? String == "fail")
        #expect(try rules(report)["damage"] == "fail")
        let damage = try #require(try measurements(report)["damage"] as? [String: Any])
        #expect(damage["truncated"] as? Bool == true)
        let scan = try Program.run(Program.mediatool, ["probe", "--scan", path])
        #expect(scan.error.contains("the file breaks off"), "\(scan.error)")
    }

    /// The first fragment begins at byte 1239.
    @Test func aMovieWithoutItsFragmentsIsDamaged() throws {
        let path = try folder.write("init.mp4", Fixtures.bytes("fragmented.mp4").prefix(1239))
        let report = try report(path)
        #expect(report["verdict"] as? String == "fail")
        #expect(try measurements(report)["emptyTracks"] as? [Int] == [0, 1])
        #expect(try measurements(self.report(Fixtures.path("fragmented.mp4")))["emptyTracks"] == nil)
        let strict = try Program.run(Program.mediatool, ["qc", "--strict", path])
        #expect(strict.status == 2 && strict.error.contains("nothing of track 0 can be decoded"), "\(strict.error)")
        // A policy that does not ask for damage is told of it all the same.
        let policy = try folder.write("p.yml", "rules:\n  - {id: i, check: loudness.integrated, min: -70}\n".utf8)
        let sound = try Program.run(Program.mediatool, ["qc", "--json", "--policy", policy, path])
        #expect(sound.status == 0)
        let content = try JSONSerialization.jsonObject(with: Data(sound.bytes)) as? [String: Any]
        #expect(try measurements(#require(content))["emptyTracks"] as? [Int] == [1])
        #expect(sound.error.contains("warning: not one sample of track 1 (audio) could be read"), "\(sound.error)")
        let strictSound = try Program.run(Program.mediatool, ["qc", "--strict", "--policy", policy, path])
        #expect(strictSound.status == 2)
    }

    /// A policy about sound is not met by a file that has none, or of whose sound nothing can be decoded.
    @Test func aPolicyAboutSoundAsksForSound() throws {
        func states(_ path: String) throws -> [String: String] {
            let result = try Program.run(
                Program.mediatool, ["qc", "--json", "--quiet", "--policy", "ebu-r128", path], folder: folder.path)
            #expect(result.status == 1)
            return try rules(
                try #require(try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any]))
        }
        let silent = try states(Fixtures.path("h264-bframes.mp4"))
        #expect(silent["audio"] == "fail" && silent["programme-loudness"] == "notApplicable")
        let path = try folder.write("init.mp4", Fixtures.bytes("fragmented.mp4").prefix(1239))
        let empty = try states(path)
        #expect(empty["audio"] == "fail" && empty["programme-loudness"] == "notApplicable")
    }

    /// The pictures, or the second track of sound, have every byte of their packets changed by chance.
    @Test(arguments: [(track: "v", index: 0), (track: "a:1", index: 2)])
    func aTrackThatCannotBeDecodedDoesNotKeepTheOthersFromBeingMeasured(track: String, index: Int) throws {
        let whole = folder.path("whole.mkv")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=s=128x96:d=1:r=25", "-f", "lavfi", "-i", "sine=d=1:r=48000", "-map", "0",
            "-map", "1", "-map", "1", "-c:v", "png", "-c:a", "ac3", whole,
        ])
        let path = folder.path("in.mkv")
        _ = try FFmpeg.run(["-i", whole, "-map", "0", "-c", "copy", "-bsf:\(track)", "noise=amount=1", path])
        let policy = try folder.write(
            "p.yml",
            "rules:\n  - {id: i, check: loudness.integrated, min: -70}\n  - {id: f, check: freeze}\n".utf8)
        for options in [["--policy", policy], []] {
            let result = try Program.run(Program.mediatool, ["qc", path, "--json"] + options)
            #expect(result.status == (options.isEmpty ? 1 : 0), "\(result.error)")
            let report = try #require(
                try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any])
            let measured = try measurements(report)
            let tracks = try #require(measured["tracks"] as? [[String: Any]]).compactMap { $0["trackIndex"] as? Int }
            #expect(tracks == [0, 1, 2].filter { $0 != index })
            #expect(measured["emptyTracks"] as? [Int] == [index])
            let warnings = try #require(report["warnings"] as? [String])
            #expect(warnings.contains { $0.hasPrefix("track \(index) ") && $0.contains("can be decoded") })
            let strict = try Program.run(Program.mediatool, ["qc", path, "--strict"] + options)
            #expect(strict.status == 2, "\(strict.error)")
        }
        guard index == 2 else { return }
        let alone = folder.path("alone.mkv")
        _ = try FFmpeg.run(["-i", path, "-map", "0:\(index)", "-c", "copy", alone])
        let nothing = try Program.run(Program.mediatool, ["qc", alone, "--policy", policy])
        #expect(nothing.status == 2)
        #expect(nothing.error.contains("nothing in the track can be decoded"), "\(nothing.error)")
    }

    @Test func noPicturesAreNeitherBlackNorNot() throws {
        // The header and its palette; of half a picture newer decoders give that half.
        let path = try folder.write("head.gif", Fixtures.bytes("gif.gif").prefix(800))
        let states = try rules(report(path))
        #expect(states["damage"] == "fail")
        for (rule, state) in states where rule != "damage" { #expect(state == "notApplicable", "\(rule)") }
        #expect(try rules(report(Fixtures.path("gif.gif")))["damage"] == "pass")
    }
}
