import Foundation
import Peaks
import TestSupport
import Testing

@testable import mediatool

@Suite struct WaveformCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ arguments: String...) throws -> Program.Result {
        try Program.run(Program.mediatool, ["waveform"] + arguments, folder: folder.path)
    }

    @Test func writesAllOutputsOfOneRead() throws {
        let result = try run(
            Repository.sampleMovie, "-o", "w-{spp}.dat", "-o", "w-{spp}.json", "-o", "w.png", "--samples-per-pixel",
            "256,1024", "--bits", "8", "--json")
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(try folder.names() == ["w-1024.dat", "w-1024.json", "w-256.dat", "w-256.json", "w.png"])
        let json = try #require(try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any])
        #expect(json["schemaVersion"] as? Int == 1)
        // ffprobe: 552000 samples at 48 kHz, 11.5 s, two channels.
        #expect(json["samples"] as? Int == 552_000)
        #expect((json["duration"] as? [String: Any])?["seconds"] as? Double == 11.5)
        #expect((json["channels"] as? [[String: Any]])?.count == 2)
        let outputs = try #require(json["outputs"] as? [[String: Any]])
        #expect(
            outputs.compactMap { $0["file"] as? String } == [
                "w-256.dat", "w-1024.dat", "w-256.json", "w-1024.json", "w.png",
            ])
        let binary = try PeakFile.decode(folder.bytes("w-256.dat"))
        #expect(binary.bits == 8 && binary.length == 2157)
        #expect(try PeakFile.decode(folder.bytes("w-256.json")) == binary)
        #expect(try folder.bytes("w.png").prefix(4) == [0x89, 0x50, 0x4E, 0x47])
    }

    @Test func standardOutputCarriesTheFile() throws {
        let result = try run(Repository.sampleMovie, "-o", "-", "--format", "peaksjs", "--samples-per-pixel", "48000")
        #expect(result.status == 0)
        // By hand: version 1, 8 bits, 48000 Hz, 48000 samples per pixel, 12 points (11.5 s).
        let header: [UInt8] = [1, 0, 0, 0, 1, 0, 0, 0, 0x80, 0xBB, 0, 0, 0x80, 0xBB, 0, 0, 12, 0, 0, 0]
        #expect(Array(result.bytes.prefix(20)) == header && result.bytes.count == 20 + 24)
    }

    @Test func severalFilesGiveAnArrayAndFailuresAreInIt() throws {
        let result = try run(
            Repository.sampleMovie, "missing.wav", "-o", "{stem}.dat", "--json", "--jobs", "2")
        #expect(result.status == 2)
        #expect(result.errorLines.count == 1 && result.error.contains("missing.wav"))
        let json = try #require(try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [[String: Any]])
        #expect(json.count == 2)
        #expect((json.last?["error"] as? [String: Any])?["code"] as? String == "notFound")
        #expect(try folder.names() == ["sample.dat"])
    }

    @Test func filesWhoseOutputsWouldBeTheSameAreRefused() throws {
        let result = try run("one/a.wav", "two/a.mp3", "-o", "{stem}.dat")
        #expect(result.status == 64 && result.error.contains("two/a.mp3"))
        #expect(try folder.names().isEmpty)
    }

    @Test func anExistingFileIsKeptUnlessForced() throws {
        try folder.write("w.dat", [7])
        let refused = try run(Repository.sampleMovie, "-o", "w.dat")
        #expect(refused.status == 2 && refused.error.contains("--force"))
        #expect(try folder.bytes("w.dat") == [7])
        #expect(try run(Repository.sampleMovie, "-o", "w.dat", "--force").status == 0)
        #expect(try folder.bytes("w.dat").count > 1000)
    }

    @Test func anInputIsNeverAnOutput() throws {
        let copy = try folder.copy(fixture: "pcm-s16-mono.wav", as: "a.dat")
        let before = try folder.bytes("a.dat")
        #expect(try run(copy, "-o", "a.dat", "--force").status == 2)
        #expect(try folder.bytes("a.dat") == before)
    }

    @Test(arguments: [
        [], ["-o", "w.xyz"], ["-o", "w"], ["-o", "-"], ["-o", "-", "--format", "dat", "--json"],
        ["-o", "w.dat", "--samples-per-pixel", "1"], ["-o", "w.dat", "--samples-per-pixel", "64,"],
        ["-o", "w.dat", "--samples-per-pixel", "64,128"], ["-o", "w.dat", "--width", "10"],
        ["-o", "w.dat", "--bits", "12"],
        ["-o", "w.dat", "--format", "peaksjs", "--bits", "16"], ["-o", "w.dat", "--start", "soon"],
        ["-o", "w.dat", "--start", "2", "--end", "1"], ["-o", "w.dat", "--track", "x"],
        ["-o", "w.dat", "--split-channels", "--channel", "0"], ["-o", "w.png", "--width", "0"],
        ["-o", "w/", "--format", "dat"], ["-o", "w.dat", "--start", "-1"], ["-o", "w.dat", "--end", "-1"],
        ["-o", "w.csv", "--samples-per-pixel", "0"], ["-o", "w.csv", "--pixels-per-second", "0"],
        ["-o", "w.csv", "--pixels-per-second", "1.2.3"], ["-o", "w-{spp}.csv", "--pixels-per-second", "10"],
        ["-o", "w-{spp}.csv", "--width", "10"],
        ["-o", "w.csv", "--pixels-per-second", "10", "--samples-per-pixel", "10"], ["-o", "w.csv", "--raw", "s16le"],
        ["-o", "w.png", "--bar-gap", "1"], ["-o", "w.png", "--no-rms", "--rms-color", "red"],
        ["-o", "w.png", "--amplitude", "cubic"], ["-o", "w.png", "--amplitude", "db", "--db-range", "0"],
        ["-o", "{name}.dat"], ["-o", "w.dat", "--color", "red"], ["-o", "w.csv", "--no-axis"],
        ["-o", "w.dat", "-o", "w.dat"], ["-o", "w.dat", "-o", "./w.dat"], ["-o", "w.png", "-o", "w.png", "--force"],
        ["-o", "w.png", "--color", "redish"], ["-o", "w.png", "--amplitude-scale", "loud"],
    ])
    func usageErrors(arguments: [String]) throws {
        let result = try Program.run(
            Program.mediatool, ["waveform", Repository.sampleMovie] + arguments, folder: folder.path)
        #expect(result.status == 64, "\(arguments)")
        #expect(result.bytes.isEmpty && result.error.hasPrefix("mediatool: "))
        #expect(try folder.names().isEmpty)
    }

    @Test func severalFilesNeedNamesOfTheirOwn() throws {
        #expect(try run(Repository.sampleMovie, "b.wav", "-o", "w.dat").status == 64)
        #expect(try run("-o", "w.dat").status == 64)
    }

    @Test func damageIsAWarning() throws {
        let path = try Fixtures.path("damaged.mp4")
        let result = try run(path, "-o", "w.dat")
        #expect(result.status == 0 && result.error.contains("warning") && result.errorLines.count == 1)
        #expect(try run(path, "-o", "x.dat", "--quiet").error.isEmpty)
        #expect(try run(path, "-o", "y.dat", "--strict").status == 2)
        #expect(try folder.names() == ["w.dat", "x.dat"])
    }

    @Test func readsStandardInput() throws {
        let input = try Fixtures.bytes("pcm-s16-mono.wav")
        let result = try Program.run(
            Program.mediatool, ["waveform", "-", "-o", "{stem}.dat"], input: input, folder: folder.path)
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(try folder.names() == ["stdin.dat"])
    }

    @Test func everyFormatFromOneRead() throws {
        let result = try run(
            Repository.sampleMovie, "-o", "w.csv", "-o", "w.txt", "-o", "w-{spp}.png", "-o", "w.svg", "-o",
            "w-{spp}.dat",
            "--samples-per-pixel", "48000", "--json", "--split-channels", "--bar-width", "3", "--bar-style", "rounded")
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(try folder.names() == ["w-48000.dat", "w-48000.png", "w.csv", "w.svg", "w.txt"])
        // 11.5 s: 12 points, which is the width of the pictures.
        #expect(try folder.bytes("w-48000.png").dropFirst(16).prefix(4) == [0, 0, 0, 12])
        let svg = String(decoding: try folder.bytes("w.svg"), as: UTF8.self)
        #expect(svg.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"12\" height=\"200\""))
        let lines = String(decoding: try folder.bytes("w.csv"), as: UTF8.self).split(separator: "\n")
        #expect(try folder.bytes("w.txt") == folder.bytes("w.csv"))
        let values = lines.flatMap { $0.split(separator: ",").compactMap { Int16($0) } }
        #expect(lines.count == 12)
        #expect(try values == PeakFile.decode(folder.bytes("w-48000.dat")).data)
    }

    /// A picture follows the one number of samples a point, unless it is told how wide to be; 552000 samples.
    @Test(arguments: [
        (["--samples-per-pixel", "1000"], 552), (["--samples-per-pixel", "1000", "--width", "300"], 300), ([], 1000),
    ])
    func picturesFollowSamplesPerPixel(arguments: [String], width: Int) throws {
        let result = try Program.run(
            Program.mediatool, ["waveform", Repository.sampleMovie, "-o", "p.png"] + arguments, folder: folder.path)
        #expect(result.status == 0, "\(result.error)")
        // IHDR: the width is a big-endian number of 32 bits.
        let stored = try folder.bytes("p.png").dropFirst(16).prefix(4).reduce(0) { $0 << 8 | Int($1) }
        #expect(stored == width)
    }

    @Test func aPictureTooWideIsRefused() throws {
        // 552000 columns of 500 rows are more than 2^28 pixels.
        let result = try run(Repository.sampleMovie, "-o", "p.png", "--samples-per-pixel", "1", "--height", "500")
        #expect(result.status == 2 && result.error.contains("too many"), "\(result.error)")
        #expect(try folder.names().isEmpty)
    }

    @Test func wavesurfer() throws {
        let result = try run(
            Repository.sampleMovie, "-o", "-", "--format", "wavesurfer", "--width", "100", "--split-channels")
        #expect(result.status == 0)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any])
        #expect(json["duration"] as? Double == 11.5 && Set(json.keys) == ["peaks", "duration"])
        let peaks = try #require(json["peaks"] as? [[Double]])
        #expect(peaks.map(\.count) == [200, 200])
        #expect(peaks.joined().allSatisfy { (-1...1).contains($0) && $0 * 32768 == ($0 * 32768).rounded() })
    }

    @Test func peaksFilesAreInputsByFileAndPipe() throws {
        #expect(try run(Repository.sampleMovie, "-o", "w.dat", "--split-channels", "--bits", "8").status == 0)
        let result = try run("w.dat", "-o", "{stem}-{spp}.json", "-o", "w.png", "--json")
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(try folder.names() == ["w-256.json", "w.dat", "w.png"])
        #expect(try PeakFile.decode(folder.bytes("w-256.json")) == PeakFile.decode(folder.bytes("w.dat")))
        let json = try #require(try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any])
        #expect((json["peaksFile"] as? [String: Any])?["format"] as? String == "peaksjs")
        let piped = try Program.run(
            "sh",
            ["-c", #"cat w-256.json | "$0" waveform - -o '{stem}.dat' --samples-per-pixel 512"#, Program.mediatool],
            folder: folder.path)
        #expect(piped.status == 0 && piped.error.isEmpty)
        #expect(try PeakFile.decode(folder.bytes("stdin.dat")).samplesPerPixel == 512)
        let refused = try run("w.dat", "-o", "x.dat", "--samples-per-pixel", "300")
        #expect(refused.status == 2 && refused.error.contains("300 samples per pixel is no multiple of 256"))
    }

    @Test func rawSound() throws {
        let pcm = try FFmpeg.pcm(Fixtures.path("pcm-s16-stereo.wav"), format: "s24be")
        try folder.write("a.raw", pcm)
        let fixture = try Fixtures.path("pcm-s16-stereo.wav")
        #expect(try run(fixture, "-o", "a.dat", "--split-channels").status == 0)
        #expect(try run("a.raw", "-o", "b.dat", "--split-channels", "--raw", "s24be:48000:2").status == 0)
        let piped = try Program.run(
            "sh",
            ["-c", #"cat a.raw | "$0" waveform - -o c.dat --split-channels --raw s24be:48000:2"#, Program.mediatool],
            folder: folder.path)
        #expect(piped.status == 0 && piped.error.isEmpty)
        #expect(try folder.bytes("b.dat") == folder.bytes("a.dat"))
        #expect(try folder.bytes("c.dat") == folder.bytes("a.dat"))
    }

    @Test func anEndPastTheSoundIsAWarning() throws {
        let result = try run(Repository.sampleMovie, "-o", "w.csv", "--end", "12")
        #expect(result.status == 0 && result.error.contains("the sound ends at 11.5 s") && result.errorLines.count == 1)
        #expect(try run(Repository.sampleMovie, "-o", "x.csv", "--end", "100%").error.isEmpty)
    }
}
