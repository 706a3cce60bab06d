import Foundation
import TestSupport
import Testing

/// Photos are shown upright, as the camera says in their Exif data; ffmpeg turns them by itself.
@Suite struct ThumbsOrientationTests {
    /// An Exif segment whose directory has one entry: the orientation.
    private func exif(_ orientation: UInt8, isLittle: Bool) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return isLittle ? bytes : bytes.reversed()
        }
        let tiff =
            Array((isLittle ? "II" : "MM").utf8) + number(42, 2) + number(8, 4) + number(1, 2) + number(274, 2)
            + number(3, 2) + number(1, 4) + number(Int(orientation), 2) + [0, 0] + number(0, 4)
        let body = Array("Exif\0\0".utf8) + tiff
        return [0xFF, 0xE1, 0, UInt8(body.count + 2)] + body
    }

    private func pixels(_ path: String) throws -> [UInt8] {
        try FFmpeg.run(["-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"])
    }

    @Test(arguments: 1...8) func photosAreUpright(orientation: Int) throws {
        let folder = try TemporaryFolder()
        let plain = folder.path("plain.jpg")
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "testsrc2=s=96x64", "-frames:v", "1", "-pix_fmt", "yuvj444p", plain])
        let bytes = try folder.bytes("plain.jpg")
        for isLittle in [true, false] {
            let photo = try folder.write(
                "photo.jpg", bytes.prefix(2) + exif(UInt8(orientation), isLittle: isLittle) + bytes.dropFirst(2))
            let made = try Program.run(
                Program.mediatool, ["thumbs", photo, "--at", "0", "-o", folder.path("a.png"), "--force", "--quiet"])
            try #require(made.status == 0, "\(made.error)")
            let size = try FFmpeg.probe(
                ["-show_entries", "stream=width,height", "-of", "csv=p=0", folder.path("a.png")])
            #expect(size == [orientation > 4 ? "64,96" : "96,64"])
            let differences = try zip(pixels(folder.path("a.png")), pixels(photo)).map { abs(Int($0) - Int($1)) }
            #expect(differences.count == 96 * 64 * 3 && differences.allSatisfy { $0 <= 2 })
        }
    }

    /// The orientation is at the start of the file, which a pipe gives only once.
    @Test func photosFromAPipeAreUpright() throws {
        let folder = try TemporaryFolder()
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "testsrc2=s=96x64", "-frames:v", "1", folder.path("plain.jpg")])
        let bytes = try folder.bytes("plain.jpg")
        let photo = try folder.write("photo.jpg", bytes.prefix(2) + exif(6, isLittle: true) + bytes.dropFirst(2))
        let made = try Program.run(
            "sh", ["-c", "cat \(photo) | \(Program.mediatool) thumbs - --at 0 -o \(folder.path("a.png")) --quiet"])
        try #require(made.status == 0, "\(made.error)")
        let size = try FFmpeg.probe(["-show_entries", "stream=width,height", "-of", "csv=p=0", folder.path("a.png")])
        #expect(size == ["64,96"])
    }
}
