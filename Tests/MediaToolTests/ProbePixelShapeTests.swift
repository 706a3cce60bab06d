import Foundation
import TestSupport
import Testing

/// Who is believed on the shape of pixels, and what is told of doubts.
///
/// The files are fixtures with some bytes changed; expected values are the numbers that were written.
@Suite struct ProbePixelShapeTests {
    private func size(ofPNG path: String) throws -> [Int] {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        return [16, 20].map { bytes[$0..<$0 + 4].reduce(0) { $0 << 8 | Int($1) } }
    }

    @Test func theContainersShapeOfPixelsWins() throws {
        let folder = try TemporaryFolder()
        var bytes = try Fixtures.bytes("anamorphic.mp4")
        let box = try Probed.place(of: Array("pasp".utf8), in: bytes)
        bytes.replaceSubrange(box + 4..<box + 12, with: [0, 0, 0, 2, 0, 0, 0, 1])
        let path = try folder.write("wide.mp4", bytes)
        let wanted = ["num": 2, "den": 1]
        let video = try Probed.video(path)
        #expect(video["sampleAspectRatio"] as? [String: Int] == wanted)
        let stored = try #require(video["encodedSize"] as? [String: Int])
        let (width, height) = (try #require(stored["width"]), try #require(stored["height"]))
        #expect(video["displaySize"] as? [String: Int] == ["width": 2 * width, "height": height])
        // The parameter set says 64:45.
        let warnings = try #require(try Probed.object([path])["warnings"] as? [String])
        #expect(warnings.contains { $0.contains("2:1 by its container") && $0.contains("64:45 by its coded pictures") })
        // Where both agree there is nothing to tell.
        #expect((try Probed.object([try Fixtures.path("anamorphic.mp4")])["warnings"] as? [String] ?? []).isEmpty)

        let image = folder.path("image.png")
        let thumbs = try Program.run(Program.mediatool, ["thumbs", path, "--at", "0", "-o", image, "--quiet"])
        #expect(thumbs.status == 0, "\(thumbs.error)")
        #expect(try size(ofPNG: image) == [2 * width, height])
        for (command, name) in [(["export", "--copy"], "copy.mp4"), (["proxy"], "proxy.mov")] {
            let written = folder.path(name)
            let result = try Program.run(Program.mediatool, command + [path, "-o", written, "--quiet"])
            #expect(result.status == 0, "\(result.error)")
            let shape = try FFmpeg.probe([
                "-select_streams", "v", "-show_entries", "stream=width,height,sample_aspect_ratio", "-of", "csv=p=0",
                written,
            ])
            let fields = try #require(shape.first).split(separator: ",").map(String.init)
            let (across, down) = (try #require(Double(fields[0])), try #require(Double(fields[1])))
            let ratio = fields[2].split(separator: ":").compactMap { Double($0) }
            let shown = across / down * (ratio.count == 2 && ratio[1] > 0 ? ratio[0] / ratio[1] : 1)
            #expect(abs(shown / (2 * Double(width) / Double(height)) - 1) < 0.02, "\(name): \(fields)")
        }
    }

    /// ffprobe puts the scales across the wrong sides of a picture that is turned.
    @Test func unequalScalesOfATurnShapeThePixels() throws {
        let folder = try TemporaryFolder()
        var bytes = try Fixtures.bytes("rotated-90.mov")
        // Without a shape of its own; and a point (p, q) lands at (-q, 2p) in place of (-q, p).
        let box = try Probed.place(of: Array("pasp".utf8), in: bytes)
        bytes.replaceSubrange(box..<box + 4, with: Array("free".utf8))
        let matrix = try Probed.place(of: Array("tkhd".utf8), in: bytes) + 4 + 40
        try #require(Array(bytes[matrix + 4..<matrix + 8]) == [0, 1, 0, 0])
        bytes[matrix + 5] = 2
        let path = try folder.write("stretched.mov", bytes)
        let video = try Probed.video(path)
        let stored = try #require(video["encodedSize"] as? [String: Int])
        let (width, height) = (try #require(stored["width"]), try #require(stored["height"]))
        #expect(video["sampleAspectRatio"] as? [String: Int] == ["num": 2, "den": 1])
        #expect(video["displaySize"] as? [String: Int] == ["width": height, "height": 2 * width])
        let image = folder.path("image.png")
        let thumbs = try Program.run(Program.mediatool, ["thumbs", path, "--at", "0", "-o", image, "--quiet"])
        #expect(thumbs.status == 0, "\(thumbs.error)")
        #expect(try size(ofPNG: image) == [height, 2 * width])
        // A copy says it with `pasp`, and does not say it again with the matrix.
        let copy = folder.path("copy.mov")
        let result = try Program.run(Program.mediatool, ["export", "--copy", path, "-o", copy, "--quiet"])
        #expect(result.status == 0, "\(result.error)")
        let written = [UInt8](try Data(contentsOf: URL(fileURLWithPath: copy)))
        let shape = try Probed.place(of: Array("pasp".utf8), in: written) + 4
        #expect(Array(written[shape..<shape + 8]) == [0, 0, 0, 2, 0, 0, 0, 1])
        let turn = try Probed.place(of: Array("tkhd".utf8), in: written) + 4 + 40
        #expect(Array(written[turn + 4..<turn + 8]) == [0, 1, 0, 0])
    }
}
