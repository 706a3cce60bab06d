import Foundation
import TestSupport
import Testing

/// WAV files whose header says what no recorder writes, and samples that are no numbers.
@Suite struct WaveformHeadersTests {
    /// A WAV file of 16-bit samples or floats, 48,000 frames a second unless said otherwise.
    private func wave(
        _ path: String, channels: UInt16, rate: UInt32 = 48_000, floats: Bool = false, bytes: [UInt8]
    ) throws {
        var file = Array("RIFF".utf8)
        func put(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { file += Array($0) }
        }
        let size: UInt16 = floats ? 4 : 2
        put(UInt32(36 + bytes.count))
        file += Array("WAVEfmt ".utf8)
        put(UInt32(16))
        put(UInt16(floats ? 3 : 1))
        put(channels)
        put(rate)
        put(rate &* UInt32(channels &* size))
        put(channels &* size)
        put(size * 8)
        file += Array("data".utf8)
        put(UInt32(bytes.count))
        try Data(file + bytes).write(to: URL(fileURLWithPath: path))
    }

    private func run(_ options: [String]) throws -> (status: Int32, output: String, error: String) {
        let result = try Program.run(Program.mediatool, ["waveform"] + options)
        return (result.status, result.output, result.error)
    }

    /// Refused in one line that says why, and nothing is written.
    @Test(arguments: [
        (0, 48_000, "the header says that there are 0 channels"), (600, 48_000, "over the limit channels=512"),
        (2, 0, "damaged"), (2, 4_000_000_000, "damaged"), (2, 2_147_483_647, "a sample rate of 2147483647 is outside"),
    ])
    func impossibleFormats(_ channels: UInt16, _ rate: UInt32, _ message: String) throws {
        let folder = try TemporaryFolder()
        try wave(
            folder.path("a.wav"), channels: channels, rate: rate, bytes: [UInt8](repeating: 7, count: 120_000))
        for options in [[], ["--strict"], ["--serial"]] {
            let result = try run([folder.path("a.wav"), "-o", folder.path("a.dat")] + options)
            #expect(result.status == 2)
            #expect(result.error.contains(message), "\(result.error)")
            #expect(result.error.split(separator: "\n").count == 1)
            #expect(!FileManager.default.fileExists(atPath: folder.path("a.dat")))
        }
    }

    /// Channel k holds nothing but k.
    ///
    /// A peaks file has room for 24 of them, so one is chosen.
    @Test func twoHundredChannels() throws {
        let folder = try TemporaryFolder()
        let frame: [UInt8] = (0..<200).flatMap { [UInt8($0), 0] as [UInt8] }
        try wave(folder.path("a.wav"), channels: 200, bytes: Array(repeatElement(frame, count: 600).joined()))
        let all = try run([folder.path("a.wav"), "-o", folder.path("a.json"), "--split-channels"])
        #expect(all.status == 2 && all.error.contains("at most 24 channels, not 200"))
        let options = ["--channel", "123", "--samples-per-pixel", "600", "--json"]
        let result = try run([folder.path("a.wav"), "-o", folder.path("a.json")] + options)
        try #require(result.status == 0, "\(result.error)")
        let data = try Data(contentsOf: URL(fileURLWithPath: folder.path("a.json")))
        let peaks = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(peaks["data"] as? [Int] == [123, 123])
        let report = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        #expect((report["channels"] as? [Any])?.count == 200)
    }

    /// More samples than are worth a direct reading, with numbers that are none in the middle: NaN is 0, infinities are
    /// full scale and clipped.
    @Test(arguments: [1, 2]) func nonfiniteSamples(_ threads: Int) throws {
        let folder = try TemporaryFolder()
        var samples = [Float](repeating: 0.25, count: 700_000)
        samples[1000] = .nan
        samples[300_000] = .infinity
        samples[400_001] = -.infinity
        samples[500_002] = 1e30
        let bytes = samples.flatMap { sample in (0..<4).map { UInt8(truncatingIfNeeded: sample.bitPattern >> ($0 * 8)) }
        }
        try wave(folder.path("a.wav"), channels: 1, floats: true, bytes: bytes)
        let result = try run([
            folder.path("a.wav"), "-o", folder.path("a.json"), "--samples-per-pixel", "1000", "--json", "--threads",
            "\(threads)",
        ])
        try #require(result.status == 0, "\(result.error)")
        let data = try Data(contentsOf: URL(fileURLWithPath: folder.path("a.json")))
        let peaks = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        var wanted = (0..<700).map { _ in [8192, 8192] }
        wanted[1] = [0, 8192]
        wanted[300] = [8192, 32767]
        wanted[400] = [-32768, 8192]
        wanted[500] = [8192, 32767]
        #expect(peaks["data"] as? [Int] == wanted.flatMap { $0 })
        #expect(result.output.contains("\"clippedSamples\": 3"))
    }

    /// Sound that goes on at another rate and with other channels is brought to what it began with.
    @Test func theFormatChanges() throws {
        let folder = try TemporaryFolder()
        let form = ["-c:a", "libmp3lame", "-write_xing", "0", "-id3v2_version", "0"]
        for (name, rate, channels) in [("a", "44100", "2"), ("b", "48000", "1")] {
            _ = try FFmpeg.run(
                ["-f", "lavfi", "-i", "sine=440:d=3:r=\(rate)", "-ac", channels] + form + [folder.path("\(name).mp3")])
        }
        let both =
            try Data(contentsOf: URL(fileURLWithPath: folder.path("a.mp3")))
            + Data(contentsOf: URL(fileURLWithPath: folder.path("b.mp3")))
        try both.write(to: URL(fileURLWithPath: folder.path("c.mp3")))
        var seen: [Data] = []
        for options in [["--threads", "1"], ["--threads", "2"], ["--serial"]] {
            let file = folder.path("c.dat")
            let result = try run([folder.path("c.mp3"), "-o", file, "--force", "--json"] + options)
            try #require(result.status == 0, "\(result.error)")
            #expect(result.output.contains("\"sampleRate\": 44100"))
            seen.append(try Data(contentsOf: URL(fileURLWithPath: file)))
        }
        #expect(Set(seen).count == 1)
        // Six seconds and what the encoder adds, at 256 samples and four bytes a point.
        let points = (seen[0].count - 20) / 4
        let least = 6 * 44_100 / 256
        #expect(points >= least && points <= least + 24)
    }
}
