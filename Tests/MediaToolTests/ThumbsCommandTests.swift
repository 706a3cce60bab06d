import Foundation
import TestSupport
import Testing

@testable import mediatool

/// Expected times and sizes are ffprobe's words about the files, pixels are ffmpeg's.
@Suite struct ThumbsCommandTests {
    private struct Manifest: Decodable {
        struct Time: Decodable, Equatable {
            var value: Int64
            var timescale: Int32
            var seconds: Double?
        }
        struct Failure: Decodable {
            var code: String
            var message: String
        }
        struct Image: Decodable {
            var requested: Time
            var actual: Time?
            var duration: Time?
            var file: String?
            var width: Int?
            var height: Int?
            var keyframe: Bool?
            var error: Failure?
        }
        var schemaVersion: Int
        var path: String
        var trackIndex: Int?
        var trackID: Int?
        var images: [Image]?
        var error: Failure?
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func thumbs(_ arguments: [String], input: [UInt8] = []) throws -> Program.Result {
        try Program.run(Program.mediatool, ["thumbs"] + arguments, input: input, folder: folder.path)
    }

    private func manifest(_ arguments: [String], status: Int32 = 0) throws -> Manifest {
        let result = try thumbs(["--json"] + arguments)
        #expect(result.status == status, "\(result.error)")
        return try JSONDecoder().decode(Manifest.self, from: Data(result.bytes))
    }

    /// libavformat tells no byte of pictures that do not begin a packet of an MPEG program stream.
    @Test func keyframesWithoutAPositionAreToldApart() throws {
        let path = folder.path("gop.mpg")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc=s=64x48:r=25:d=10", "-c:v", "mpeg2video", "-g", "6", "-bf", "2", "-q:v", "20",
            path,
        ])
        let asked = ["1", "3", "5", "7", "9"]
        let images =
            try manifest(
                [path, "--tolerance", "keyframe", "--at", asked.joined(separator: ","), "-o", "{index}.png"]
            ).images ?? []
        let times = images.compactMap(\.actual?.seconds)
        #expect(images.allSatisfy { $0.keyframe == true }, "\(times)")
        #expect(times == times.sorted() && Set(times).count > 1, "\(times)")
        #expect(images.count == 5)
    }

    @Test func timecodesOfAContainerCount() throws {
        let path = folder.path("t.mxf")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc=s=64x48:r=25:d=3", "-c:v", "mpeg2video", "-timecode", "01:00:00:00", path,
        ])
        let images = try manifest([path, "--at", "01:00:01:05", "-o", "t.png"]).images
        #expect(images?.first?.actual?.seconds == 1.2)
    }

    /// The sample movie has 25 frames a second and lasts 11.52 s: ffprobe -show_streams.
    @Test func answersInTheOrderAskedTwiceTheSameTimeToo() throws {
        let manifest = try manifest(["--at", "2.01,0", "--at", "end,2.01", "-o", "out", Repository.sampleMovie])
        let images = try #require(manifest.images)
        #expect(images.map(\.requested.seconds) == [2.01, 0, 11.52, 2.01])
        #expect(images.map(\.actual?.seconds) == [2, 0, 11.48, 2])
        #expect(images.map(\.duration?.seconds) == [0.04, 0.04, 0.04, 0.04])
        #expect(images.map(\.file) == (1...4).map { "out/sample-00\($0).png" })
        // Stored 320x180, and turned by 90 degrees.
        #expect(images.allSatisfy { $0.width == 180 && $0.height == 320 })
        #expect(images[1].keyframe == true)
        #expect((manifest.schemaVersion, manifest.path, manifest.trackIndex) == (1, Repository.sampleMovie, 0))
        #expect(try TemporaryFolder.names(in: folder.path("out")) == (1...4).map { "sample-00\($0).png" })
    }

    @Test func oneImageThatFailsDoesNotStopTheOthers() throws {
        let manifest = try manifest(["--at", "-1,1,99,9999f", "-o", "x/", Repository.sampleMovie], status: 2)
        let images = try #require(manifest.images)
        #expect(images.map(\.error?.code) == ["outOfRange", nil, "outOfRange", "outOfRange"])
        #expect(try TemporaryFolder.names(in: folder.path("x")) == ["sample-002.png"])
    }

    /// Grey alone: ffmpeg's scaler puts chroma elsewhere, and colours have tests of their own.
    @Test func pixelsAreThoseOfTheFrame() throws {
        let movie = try Fixtures.path("h264-bframes.mp4")
        #expect(try thumbs(["--at", "17f", "-o", "f.png", movie]).status == 0)
        let written = try FFmpeg.run(["-i", folder.path("f.png"), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"])
        // Chroma lies to the left, which ffmpeg has to be told.
        let scale = "scale=flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp:in_h_chr_pos=0,format=rgb24"
        let wanted = try FFmpeg.run(
            ["-i", movie, "-vf", "select=eq(n\\,17),\(scale)", "-frames:v", "1", "-f", "rawvideo", "-"])
        try #require(written.count == wanted.count && !wanted.isEmpty)
        let worst = zip(written, wanted).map { abs(Int($0) - Int($1)) }.max()
        // libswscale's own way to RGB is off by up to two steps from the equations.
        #expect(worst ?? 255 <= 3)
    }

    @Test func countAndEvery() throws {
        let count = try manifest(["--count", "2", "--tolerance", "exact", "-o", "c/", Repository.sampleMovie])
        // The centres of two halves of 11.52 s, and the frames on screen there.
        #expect(count.images?.map(\.requested.seconds) == [2.88, 8.64])
        #expect(count.images?.map(\.actual?.seconds) == [2.88, 8.64])
        let every = try manifest(
            [
                "--every", "1/2", "--start", "1", "--end", "2.5", "--tolerance", "exact", "-o", "e/",
                Repository.sampleMovie,
            ])
        #expect(every.images?.map(\.requested.seconds) == [1, 1.5, 2])
    }

    /// Keyframes at 1 and 2 s are near enough to the first times, but outside of what is asked for.
    @Test(arguments: [
        (["--start", "1.2", "--end", "3.4", "--every", "1"], [1.2, 2, 3]),
        (["--start", "0.5", "--end", "1", "--count", "1"], [0.7]),
        (["--start", "1.2", "--end", "1.8", "--every", "1", "--tolerance", "keyframe"], [1.2]),
    ])
    func noPictureIsFromOutsideTheRange(arguments: [String], expected: [Double]) throws {
        let path = folder.path("k.mkv")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc=s=64x48:r=10:d=4", "-c:v", "libx264", "-g", "10", "-sc_threshold", "0", "-bf",
            "0", path,
        ])
        let images = try manifest(arguments + ["-o", "r/", path]).images
        #expect(images?.compactMap(\.actual?.seconds) == expected)
    }

    @Test func timecodesOfMatroskaCount() throws {
        let path = folder.path("t.mkv")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc=s=64x48:r=25:d=3", "-c:v", "libx264", "-timecode", "01:00:00:00", path,
        ])
        let images = try manifest([path, "--at", "01:00:01:05", "-o", "{timecode}.png"]).images
        #expect(images?.first?.actual?.seconds == 1.2)
        #expect(images?.first?.file == "01-00-01-05.png")
    }

    @Test func templatesNameFiles() throws {
        let result = try thumbs([
            "--at", "1.5,00:00:02:10", "--max-size", "90x90", "-o",
            "{stem}/{index}_{seconds}_{timecode}_{width}x{height}.{ext}",
            Repository.sampleMovie,
        ])
        #expect(result.status == 0)
        // 180x320 into 90x90 is 51x90 by rounding 50.625.
        #expect(
            try TemporaryFolder.names(in: folder.path("sample"))
                == ["001_1.500_00-00-01-12_51x90.png", "002_2.400_00-00-02-10_51x90.png"])
    }

    @Test func standardOutputTakesOneImage() throws {
        let result = try thumbs(
            ["--at", "1", "-o", "-", "-"], input: [UInt8](Data(contentsOf: URL(filePath: Repository.sampleMovie))))
        #expect(result.status == 0 && result.bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        #expect(try thumbs(["--at", "1", "-o", "-", "--json", Repository.sampleMovie]).status == 64)
        #expect(try thumbs(["--at", "1,2", "-o", "-", Repository.sampleMovie]).status == 64)
    }

    @Test(arguments: [
        [], ["--at", "nan"], ["--at", "1e300"], ["--at", ""], ["--count", "0"], ["--every", "0"], ["--every", "5f"],
        ["--at", "1", "--count", "2"], ["--at", "1", "--start", "1"], ["--at", "1", "--tolerance", "-1"],
        ["--at", "1", "--max-size", "0x10"], ["--at", "1", "-o", "{no}.png"], ["--at", "1", "-o", "a.gif"],
        ["--at", "1,2", "-o", "a.png"], ["--at", "1", "--track", "zero"],
    ])
    func usageErrors(arguments: [String]) throws {
        let result = try thumbs(arguments + [Repository.sampleMovie])
        #expect(result.status == 64)
        #expect(try folder.names().isEmpty)
    }

    @Test func namesThatWouldCollideAreRefusedBeforeAnythingIsWritten() throws {
        #expect(try thumbs(["--at", "1", "-o", "x/", "a/b.mov", "c/b.mp4"]).status == 64)
        #expect(try thumbs(["--at", "1", "-o", "{index}.png", "a.mov", "b.mov"]).status == 64)
        let result = try thumbs(["--every", "1", "-o", "{width}.png", Repository.sampleMovie])
        #expect(result.status == 2 && result.errorLines.count == 1 && result.error.contains("{index}"))
        #expect(try folder.names().isEmpty)
    }

    @Test func whatHasNoPicturesIsOneLine() throws {
        try folder.write("text.mp4", "no movie".utf8)
        for path in [try Fixtures.path("pcm-s16-mono.wav"), folder.path("text.mp4"), folder.path, "missing.mov"] {
            let result = try thumbs(["--at", "1", "-o", "x/", path])
            #expect(result.status == 2 && result.errorLines.count == 1, "\(result.error)")
        }
        #expect(try folder.names() == ["text.mp4"])
    }

    @Test func existingFilesStayWithoutForce() throws {
        try folder.write("sample-001.png", "mine".utf8)
        let kept = try thumbs(["--at", "1,2", Repository.sampleMovie])
        #expect(kept.status == 2 && kept.errorLines.count == 1)
        #expect(try folder.bytes("sample-001.png") == Array("mine".utf8))
        #expect(try folder.names() == ["sample-001.png", "sample-002.png"])
        #expect(try thumbs(["--at", "1,2", "--force", Repository.sampleMovie]).status == 0)
        #expect(try folder.bytes("sample-001.png").count > 100)
    }

    @Test func aNameThatIsNotUTF8ComesThrough() throws {
        let script = #"cp "$1" "$(printf 'a\377.mov')"; exec "$0" thumbs --at 1 --jsonl "$(printf 'a\377.mov')""#
        let result = try Program.run(
            "sh", ["-c", script, Program.mediatool, Repository.sampleMovie], folder: folder.path)
        #expect(result.status == 0)
        // printf 'a\377-001.png' | base64
        #expect(result.output.contains(#""file":"a\#u{FFFD}-001.png","fileBytes":"Yf8tMDAxLnBuZw==""#))
    }

}

extension TemporaryFolder {
    /// The names of all there is in a folder, in order.
    static func names(in path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }
}
