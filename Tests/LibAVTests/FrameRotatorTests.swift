import LibAV
import MediaBase
import SystemPackage
import TestSupport
import Testing

/// What ffmpeg's own filters make of the same picture is wanted.
@Suite struct PictureTurnerTests {
    /// The numbers of a display matrix, and the filters that do the same.
    private static let turns: [([Int32], String)] = [
        ([1, 0, 0, 1], "null"), ([0, 1, -1, 0], "transpose=clock"), ([-1, 0, 0, -1], "hflip,vflip"),
        ([0, -1, 1, 0], "transpose=cclock"), ([-1, 0, 0, 1], "hflip"), ([0, 1, 1, 0], "transpose=cclock_flip"),
        ([1, 0, 0, -1], "vflip"), ([0, -1, -1, 0], "transpose=clock_flip"),
    ]

    private func transform(_ numbers: [Int32]) -> PictureTransform {
        let unit: Int32 = 0x10000
        return PictureTransform(matrix: [
            numbers[0] * unit, numbers[1] * unit, 0, numbers[2] * unit, numbers[3] * unit, 0, 0, 0, 0x4000_0000,
        ])
    }

    @Test(arguments: turns, ["yuv444p", "yuv444p10le"])
    func everyQuarterTurnIsFFmpegs(turn: ([Int32], String), format: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.mkv")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=s=66x34:d=0.1:r=10", "-frames:v", "1", "-pix_fmt", format, "-c:v", "ffv1",
            path,
        ])
        let wanted = try FFmpeg.run(["-i", path, "-vf", turn.1, "-f", "rawvideo", "-"])
        let transform = transform(turn.0)
        let size = transform.apply(to: Dimensions(width: 66, height: 34))
        var turner = try FrameRotator.open(transform, to: PixelFormat(rawValue: format), dimensions: size)
        var found: [UInt8] = []
        try Media.frames(InputFile(opening: .path(.init(path)))) { frame in
            let result = try turner.convert(frame)
            #expect(result.dimensions == size)
            for plane in 0..<result.planeCount { found += result.packedPlane(plane) }
        }
        let isSame = found == wanted
        #expect(isSame)
    }
}
