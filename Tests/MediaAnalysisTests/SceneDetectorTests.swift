import MediaAnalysis
import TestSupport
import Testing

/// Scores are those of ffmpeg's `scdet` over the same luma.
@Suite struct SceneDetectorTests {
    @Test(arguments: ["shots.mp4", "vfr.mp4"])
    func scoresAreThoseOfScdet(fixture: String) throws {
        let path = try Fixtures.path(fixture)
        let luma = try FFmpeg.run([
            "-i", path, "-vf", "extractplanes=y", "-fps_mode", "passthrough", "-f", "rawvideo", "-",
        ])
        let text = try FFmpeg.run([
            "-i", path, "-vf", "scdet,metadata=print:key=lavfi.scd.score:file=-", "-fps_mode", "passthrough", "-f",
            "null", "-",
        ])
        let wanted = String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap {
            $0.split(separator: "lavfi.scd.score=").last.flatMap { Double($0) }
        }
        let frame = 160 * 90
        try #require(luma.count == wanted.count * frame && wanted.count > 10)
        var detector = SceneDetector()
        for (index, score) in wanted.enumerated() {
            let own = detector.score(of: luma.span.extracting(index * frame..<(index + 1) * frame))
            #expect(abs(own - score) < 0.001, "frame \(index)")
        }
    }

    private func scores(_ frames: [[UInt8]]) -> [Double] {
        var detector = SceneDetector()
        return frames.map { detector.score(of: $0.span) }
    }

    private func gray(_ value: UInt8) -> [UInt8] { [UInt8](repeating: value, count: 64) }

    @Test func whatStaysTheSameOrMovesSteadilyIsNoCut() {
        #expect(scores([gray(100), gray(100), gray(100)]) == [0, 0, 0])
        // A difference of 10 in 256 counts when it begins, and not as long as it goes on.
        #expect(scores([100, 110, 120, 248].map(gray)) == [0, 3.90625, 0, 46.09375])
    }

    @Test func anotherSizeBeginsAnew() {
        #expect(scores([[0, 0], [255, 255, 255], [], [0, 0, 0]]) == [0, 0, 0, 0])
    }
}
