import TestSupport
import Testing

/// Files whose first picture comes later than their video track starts.
@Suite struct LateFirstPictureTests {
    private func pixels(_ arguments: [String]) throws -> [UInt8] {
        try FFmpeg.run(arguments + ["-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"])
    }

    /// AVI has decode times alone, so reordered pictures are late by the decoder's delay.
    @Test(arguments: ["mpeg4", "libx264"]) func theStartOfAVIIsItsFirstPicture(encoder: String) throws {
        let folder = try TemporaryFolder()
        let film = folder.path("a.avi")
        _ = try FFmpeg.run(
            [
                "-f", "lavfi", "-i", "testsrc2=s=128x96:r=25:d=2,format=gray", "-pix_fmt", "yuv420p", "-c:v", encoder,
                "-bf", "2",
                film,
            ])
        for arguments in [["--at", "0%"], ["--every", "5", "--tolerance", "exact"], ["--scenes"]] {
            let made = try Program.run(
                Program.mediatool,
                ["thumbs", film] + arguments + ["-o", folder.path("{index}.png"), "--force"])
            try #require(made.status == 0, "\(arguments): \(made.error)")
            let image = try pixels(["-i", folder.path("001.png")])
            let wanted = try pixels(["-i", film])
            let differences = zip(image, wanted).map { abs(Int($0) - Int($1)) }
            #expect(image.count == wanted.count && differences.reduce(0, +) < 2 * wanted.count, "\(arguments)")
        }
    }
}
