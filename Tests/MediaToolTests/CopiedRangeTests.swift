import TestSupport
import Testing

/// Copies of the end of a file are as long as what they hold.
@Suite struct CopiedRangeTests {
    @Test(arguments: ["o.mkv", "o.mp4", "o.mov"]) func theLastSampleIsNotLonger(output: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path(output)
        let made = try Program.run(
            Program.mediatool,
            ["export", Fixtures.path("av.mp4"), "-o", path, "--copy", "--start", "2", "--quiet"])
        try #require(made.status == 0, "\(made.error)")
        // av.mp4 lasts 3 s.
        let lines = try FFmpeg.probe(["-show_entries", "format=duration", "-of", "csv=p=0", path])
        let seconds = try #require(lines.first.flatMap(Double.init))
        #expect(abs(seconds - 1) < 0.05)
        let lengths = try FFmpeg.probe(
            ["-select_streams", "v", "-show_entries", "packet=duration_time", "-of", "csv=p=0", path])
        #expect(try #require(lengths.last.flatMap(Double.init)) < 0.05)
    }

    /// A picture is shown until the next one, whatever its packet says: here for 0.2 s, of which 0.04 s are stated.
    @Test(arguments: ["o.mp4", "o.mov"]) func aPictureThatStandsLastsToTheEnd(output: String) throws {
        let folder = try TemporaryFolder()
        let (source, path) = (folder.path("a.mkv"), folder.path(output))
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=3", "-vf", "select='not(mod(n,5))'", "-fps_mode", "vfr",
            "-c:v",
            "libx264", "-x264-params", "bframes=2:b-adapt=0:scenecut=0", source,
        ])
        let made = try Program.run(
            Program.mediatool, ["export", source, "-o", path, "--copy", "--end", "1.1", "--quiet"])
        try #require(made.status == 0, "\(made.error)")
        let lines = try FFmpeg.probe(["-show_entries", "format=duration", "-of", "csv=p=0", path])
        #expect(try abs(#require(lines.first.flatMap(Double.init)) - 1.1) < 0.002)
    }

    @Test func cafHoldsNoFLAC() throws {
        let folder = try TemporaryFolder()
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "sine=d=1", folder.path("a.flac")])
        let made = try Program.run(
            Program.mediatool, ["export", folder.path("a.flac"), "-o", folder.path("a.caf"), "--copy"])
        #expect(made.status == 2 && made.error.contains("caf files cannot hold flac"), "\(made.error)")
    }
}
