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

    @Test func cafHoldsNoFLAC() throws {
        let folder = try TemporaryFolder()
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "sine=d=1", folder.path("a.flac")])
        let made = try Program.run(
            Program.mediatool, ["export", folder.path("a.flac"), "-o", folder.path("a.caf"), "--copy"])
        #expect(made.status == 2 && made.error.contains("caf files cannot hold flac"), "\(made.error)")
    }
}
