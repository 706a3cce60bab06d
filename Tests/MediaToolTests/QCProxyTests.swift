import Foundation
import TestSupport
import Testing

/// `--proxy-of` and `mediatool proxy`: what one makes, the other lets pass, and nothing else.
@Suite struct QCProxyTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A source with a timecode, B-frames and two audio tracks, and its proxy.
    private func source() throws -> (source: String, proxy: String) {
        let (source, proxy) = (folder.path + "/source.mov", folder.path + "/proxy.mov")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=s=160x90:r=30000/1001:d=2", "-f", "lavfi", "-i", "sine=r=48000:d=2", "-map",
            "0",
            "-map", "1", "-map", "1", "-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-c:a",
            "pcm_s16le",
            "-ac:a:1", "2", "-timecode", "01:00:00;00", "-y", source,
        ])
        let made = try Program.run(
            Program.mediatool, ["proxy", "--quiet", "--preset", "h264-540p", source, "-o", proxy])
        guard made.status == 0 else { throw TestSupportError(made.error) }
        return (source, proxy)
    }

    /// The rules that do not hold, and the exit code.
    private func failures(_ file: String, _ source: String) throws -> (Int32, [String]) {
        let result = try Program.run(Program.mediatool, ["qc", "--json", "--quiet", "--proxy-of", source, file])
        let report = try #require(try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any])
        let rules = report["rules"] as? [[String: Any]] ?? []
        #expect(rules.count == 7)
        return (result.status, rules.filter { $0["status"] as? String != "pass" }.compactMap { $0["id"] as? String })
    }

    @Test func aProxyPassesAndOneThatLostSomethingDoesNot() throws {
        let (source, proxy) = try source()
        #expect(try failures(proxy, source) == (0, []))
        func changed(_ arguments: [String]) throws -> [String] {
            let path = folder.path + "/changed.mov"
            _ = try FFmpeg.run(["-i", proxy] + arguments + ["-y", path])
            let (status, rules) = try failures(path, source)
            #expect(status == 1)
            return rules
        }
        let copies = ["-map", "0:v", "-map", "0:a", "-c", "copy"]
        // A lost track, one channel in place of two, a timecode one frame later.
        #expect(
            try changed(["-map", "0:v", "-map", "0:a:0", "-c", "copy"]) == ["proxy-audio-tracks", "proxy-channels"])
        #expect(try changed(copies + ["-c:a:1", "aac", "-ac:a:1", "1"]) == ["proxy-channels"])
        #expect(try changed(copies + ["-timecode", "01:00:00;01"]) == ["proxy-timecode"])
        // A frame dropped in the middle, the others as they are and closed up; and one at the end.
        let encoded = ["-map", "0:v", "-map", "0:a", "-c:a", "copy", "-c:v", "mpeg4"]
        let hole = try changed(encoded + ["-vf", "select='not(eq(n,20))'", "-fps_mode", "passthrough"])
        #expect(hole.contains("proxy-frame-count") && hole.contains("proxy-frame-times"))
        let closed = try changed(
            encoded + [
                "-vf", "select='not(eq(n,20))',setpts=N*1001/30000/TB,fps=30000/1001", "-fps_mode", "passthrough",
            ])
        #expect(closed == ["proxy-frame-count"])
        #expect(try changed(encoded + ["-frames:v", "59"]) == ["proxy-frame-count"])
    }
}
