import Foundation
import TestSupport
import Testing

/// How many bytes may be written of one input.
@Suite struct OutputLimitTests {
    private struct Result: Decodable {
        struct Failure: Decodable {
            var code, message: String
        }
        struct Output: Decodable {
            var error: Failure?
        }
        struct Image: Decodable {
            var file: String?
            var error: Failure?
        }
        var error: Failure?
        var outputs: [Output]?
        var images: [Image]?
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ arguments: [String]) throws -> Program.Result {
        try Program.run(Program.mediatool, arguments, folder: folder.path, seconds: 60)
    }

    private func decoded(_ result: Program.Result) throws -> Result {
        try JSONDecoder().decode(Result.self, from: Data(result.bytes))
    }

    @Test(arguments: [
        ["waveform", "-o", "out.dat", "--samples-per-pixel", "16"], ["waveform", "-o", "out.png"],
        ["waveform", "-o", "out.json", "--samples-per-pixel", "16"], ["proxy", "-o", "out.mov"],
        ["export", "-o", "out.mkv"], ["export", "--copy", "-o", "out.mov"], ["export", "-o", "out.wav"],
        ["thumbs", "--at", "0", "--strict", "-o", "out.png"], ["thumbs", "--sprite", "--count", "4", "-o", "out.png"],
    ])
    func nothingIsLeftOfWhatIsTooLarge(command: [String]) throws {
        let refused = try run(command + [Fixtures.path("av.mp4"), "--json", "--limit", "output-bytes=500"])
        #expect(refused.status == 2, "\(refused.error)")
        let result = try decoded(refused)
        let errors = [result.error] + (result.outputs ?? []).map(\.error) + (result.images ?? []).map(\.error)
        #expect(errors.contains { $0?.code == "outputLimit" }, "\(refused.output)")
        #expect(refused.error.contains("output-bytes=500"), "\(refused.error)")
        #expect(try folder.names() == [])
        let taken = try run(command + [Fixtures.path("av.mp4"), "--json", "--limit", "output-bytes=50M"])
        #expect(taken.status == 0, "\(taken.error)")
    }

    @Test func reportsCountTogether() throws {
        let command = ["qc", try Fixtures.path("av.mp4"), "--html", "a.html", "--csv", "a.csv", "--junit", "a.xml"]
        let refused = try run(command + ["--limit", "output-bytes=10"])
        #expect(refused.status == 2 && refused.error.contains("output-bytes=10"), "\(refused.error)")
        #expect(try folder.names() == [])
        #expect(try run(command).status < 2)
        #expect(try folder.names() == ["a.csv", "a.html", "a.xml"])
    }

    /// Each image is within the limit, and only some of them together.
    @Test func imagesCountTogether() throws {
        let command = ["thumbs", "--at", "0,0.1,0.2,0.3", "--format", "png", try Fixtures.path("av.mp4"), "--json"]
        #expect(try run(command + ["-o", "all/{index}.png"]).status == 0)
        let sizes = try (1...4).map { try Data(contentsOf: URL(filePath: folder.path("all/00\($0).png"))).count }
        let limit = sizes[0] + sizes[1] + sizes[2] / 2
        let some = try run(command + ["-o", "some/{index}.png", "--limit", "output-bytes=\(limit)"])
        #expect(some.status == 2)
        let images = try #require(try decoded(some).images)
        #expect(images.map { $0.file != nil } == [true, true, false, false])
        #expect(images.compactMap(\.error?.code) == ["outputLimit", "outputLimit"])
        #expect(try TemporaryNames.all(in: folder.path("some")) == ["001.png", "002.png"])
    }

    /// A movie that claims a million pictures of one size has as many as lie in the file, here 25 by ffmpeg's count.
    @Test(arguments: ["mov", "mkv"]) func samplesOutsideTheFileAreNotWritten(type: String) throws {
        let movie = folder.path("v.mov")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc=size=64x48:duration=1", "-c:v", "rawvideo", "-pix_fmt", "uyvy422", movie,
        ])
        var bytes = try folder.bytes("v.mov")
        // The count in `stsz` and `stts`, and the samples of a chunk in `stsc`: all 12 bytes after the name, or 16.
        for (name, offset) in [("stsz", 12), ("stts", 12), ("stsc", 16)] {
            let place = try #require(bytes.firstRange(of: Array(name.utf8))).lowerBound + offset
            #expect(bytes[place..<place + 4].elementsEqual([0, 0, 0, 25]))
            bytes.replaceSubrange(place..<place + 4, with: [0, 0x0F, 0x42, 0x40])
        }
        try folder.write("v.mov", bytes)
        _ = try run(["export", "--copy", movie, "-o", "out.\(type)"])
        let count = ["-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0"]
        #expect(try FFmpeg.probe(count + [folder.path("out.\(type)")]) == ["25"])
        #expect(try folder.bytes("out.\(type)").count < 200_000)
    }

    /// Ten seconds of sound, and a hole of ten minutes between them, which is 57.6 MB of silence in a file of 1 MB.
    @Test func copiesAreLimitedByTheirInput() throws {
        let gap = folder.path("gap.mkv")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "sine=1000:sample_rate=48000:duration=10", "-af",
            #"asetpts=if(gt(N\,20480)\,PTS+900/TB\,PTS)"#, "-c:a", "pcm_s16le", gap,
        ])
        let refused = try run(["export", "--copy", gap, "-o", "out.mov", "--json"])
        #expect(try decoded(refused).error?.code == "outputLimit", "\(refused.error)")
        #expect(try folder.names() == ["gap.mkv"])
        let taken = try run(["export", "--copy", gap, "-o", "out.mov", "--json", "--limit", "output-bytes=100M"])
        #expect(taken.status == 0, "\(taken.error)")
        // By hand: 910 s of 48000 samples of 2 bytes.
        let size = try folder.bytes("out.mov").count
        #expect((87_360_000..<87_500_000).contains(size))
    }

    /// Of a pipe, what has come counts: a copy of any length is as long as its input.
    @Test func whatComesThroughAPipeCounts() throws {
        let input = folder.path("in.mkv")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "anoisesrc=sample_rate=96000:duration=360", "-c:a", "pcm_s24le", "-ac", "1", input,
        ])
        // More than a copy of nothing may have.
        #expect(try folder.bytes("in.mkv").count > 80 << 20)
        let result = try Program.run(
            "sh", ["-c", #"cat in.mkv | "$0" export --copy - -o out.mkv"#, Program.mediatool], folder: folder.path)
        #expect(result.status == 0, "\(result.error)")
        #expect(try folder.bytes("out.mkv").count > 80 << 20)
    }

    @Test(arguments: [
        "output-bytes=1T", "output-bytes=0", "output-bytes=-1", "duration=1x", "duration=0h", "duration=1M",
        "pixels=4G",
        "output-bytes=99999999999G", "duration=h", "pixels=K",
    ])
    func whatMakesNoSenseIsAUsageError(limit: String) throws {
        #expect(try run(["probe", "a.mov", "--limit", limit]).status == 64)
    }

    @Test func lettersStandForPowersOf1024() throws {
        let command = ["thumbs", "--at", "0", "-o", "a.png", try Fixtures.path("av.mp4")]
        let refused = try run(command + ["--limit", "pixels=1K"])
        #expect(refused.status == 2 && refused.error.contains("pixels=1024"), "\(refused.error)")
        #expect(try run(command + ["--limit", "pixels=1M"]).status == 0)
    }
}

private enum TemporaryNames {
    static func all(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }
}
