import Foundation
import TestSupport
import Testing

/// Linear PCM that is read straight from the file gives what its packets give, which is what comes through a pipe.
@Suite struct WaveformPlainTests {
    /// Noise of some 40 seconds, in a codec and a container of ffmpeg's.
    private func noise(_ codec: String, _ path: String, _ options: [String] = []) throws {
        _ = try FFmpeg.run(
            ["-f", "lavfi", "-i", "anoisesrc=seed=3:r=8000:d=41.3,volume=1.2", "-c:a", codec] + options + [path])
    }

    /// The peaks, and the report without the lines that name files, and the one by which a file says that it breaks off:
    /// nobody knows how long a pipe should be.
    private func results(_ script: String, _ path: String, in folder: TemporaryFolder, threads: Int) throws -> [String]
    {
        let peaks = folder.path("peaks.json")
        let options = "--force --split-channels --json --samples-per-pixel 100 -o \(peaks) --threads \(threads)"
        let result = try Program.run("/bin/sh", ["-c", script + " " + options, Program.mediatool, path])
        try #require(result.status == 0, "\(result.error)")
        let lines = result.output.split(separator: "\n").filter { line in
            !["\"path\"", "\"file\"", "\"truncated\""].contains { line.contains($0) }
        }
        return lines.map(String.init) + [try String(contentsOfFile: peaks, encoding: .utf8)]
    }

    private func isWhatComesThroughAPipe(_ path: String, in folder: TemporaryFolder) throws {
        let wanted = try results("cat \"$1\" | \"$0\" waveform -", path, in: folder, threads: 1)
        for threads in [1, 3] {
            #expect(try results("\"$0\" waveform \"$1\"", path, in: folder, threads: threads) == wanted)
        }
    }

    @Test(arguments: [
        ("pcm_u8", "a.wav"), ("pcm_s16le", "a.wav"), ("pcm_s24le", "a.wav"), ("pcm_s32le", "a.wav"),
        ("pcm_f32le", "a.wav"), ("pcm_f64le", "a.wav"), ("pcm_s16be", "a.aiff"), ("pcm_s24be", "a.aiff"),
        ("pcm_s32be", "a.aiff"), ("pcm_f32be", "a.caf"), ("pcm_s16le", "a.caf"), ("pcm_s16le", "a.w64"),
        ("pcm_alaw", "a.wav"),
    ])
    func everyEncoding(_ codec: String, _ name: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path(name)
        try noise(codec, path, codec == "pcm_s24le" ? ["-ac", "3"] : codec == "pcm_s16le" ? ["-ac", "2"] : [])
        try isWhatComesThroughAPipe(path, in: folder)
    }

    /// Headers that lie, files that break off, and chunks behind the samples.
    @Test(arguments: ["zero", "unknown", "long", "short", "cut", "torn", "tail", "rf64"])
    func headersThatLie(_ lie: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.wav")
        try noise("pcm_s16le", path, ["-ac", "2", "-bitexact"] + (lie == "rf64" ? ["-rf64", "always"] : []))
        var bytes = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
        let header = try #require((0..<200).first { Array(bytes[$0..<$0 + 4]) == Array("data".utf8) })
        func setSize(_ size: UInt32) {
            for place in 0..<4 { bytes[header + 4 + place] = UInt8(truncatingIfNeeded: size >> (8 * UInt32(place))) }
        }
        let real = UInt32(bytes.count - header - 8)
        switch lie {
        case "zero": setSize(0)
        case "unknown": setSize(.max)
        case "long": setSize(real * 3)
        case "short": setSize(real - 40_004)
        case "cut": bytes.removeLast(100_000)
        case "torn": bytes.removeLast(100_003)
        case "tail": bytes += Array("LIST".utf8) + [6, 0, 0, 0, 1, 2, 3, 4, 5, 6]
        default: break
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        try isWhatComesThroughAPipe(path, in: folder)
        let options = ["waveform", path, "--json", "-o", folder.path("peaks.dat")]
        let report = try Program.run(Program.mediatool, options).output
        #expect(report.contains("\"truncated\": true") == ["long", "cut", "torn"].contains(lie))
    }

    @Test func aRangeIsExact() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.wav")
        try noise("pcm_s16le", path)
        for range in ["--start 1.2345 --end 35.6789", "--start 3 --end 41.2", "--start 39", "--start 12345/8000"] {
            let wanted = try results("cat \"$1\" | \"$0\" waveform - \(range)", path, in: folder, threads: 1)
            #expect(try results("\"$0\" waveform \"$1\" \(range)", path, in: folder, threads: 2) == wanted)
        }
    }
}
