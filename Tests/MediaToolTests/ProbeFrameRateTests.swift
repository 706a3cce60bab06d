import Foundation
import TestSupport
import Testing

/// Who is believed on frame rates, and what is told of doubts.
///
/// The files are fixtures with some bytes changed; expected values are the numbers that were written.
@Suite struct ProbeFrameRateTests {
    private func rate(_ video: [String: Any]) throws -> [String: Any] {
        try #require(video["frameRate"] as? [String: Any])
    }

    /// A Matroska file without DefaultDuration: an element of the same length that says nothing (EBML's Void) in its place.
    private func unstated(_ bytes: [UInt8], in folder: TemporaryFolder) throws -> String {
        var bytes = bytes
        let element = try Probed.place(of: [0x23, 0xE3, 0x83, 0x84], in: bytes)
        bytes.replaceSubrange(element..<element + 2, with: [0xEC, 0x86])
        return try folder.write("unstated.mkv", bytes)
    }

    @Test func ratesThatNobodyStatesAreEstimates() throws {
        let folder = try TemporaryFolder()
        let stated = try rate(try Probed.video(try Fixtures.path("h264-aac.mkv")))
        #expect(stated["isEstimate"] == nil && stated["nominal"] as? [String: Int] == ["num": 25, "den": 1])
        let path = try unstated(try Fixtures.bytes("h264-aac.mkv"), in: folder)
        #expect(try rate(try Probed.video(path))["isEstimate"] as? Bool == true)
        // 40 ms from each of the 75 frames to the next.
        let measured = try rate(try Probed.video("--scan", path))
        #expect(measured["isEstimate"] == nil && measured["mode"] as? String == "constant")
        #expect(measured["nominal"] as? [String: Int] == ["num": 25, "den": 1])
        #expect(measured["average"] as? [String: Int] == ["num": 25, "den": 1])
    }

    @Test func theCodecsRateIsBelievedWhereItIsFixed() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("fixed.mkv")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=s=160x90:d=0.4:r=25", "-c:v", "libx264", "-x264-params", "force-cfr=1",
            path,
        ])
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let found = try rate(try Probed.video(try unstated(bytes, in: folder)))
        #expect(found["isEstimate"] == nil && found["nominal"] as? [String: Int] == ["num": 25, "den": 1])
        // Sequence headers of MPEG-2, and the header of AVI, always state one.
        for name in ["mpegps.mpg", "mjpeg.avi"] {
            let found = try rate(try Probed.video(try Fixtures.path(name)))
            #expect(found["isEstimate"] == nil, "\(name)")
            #expect(found["nominal"] as? [String: Int] == ["num": 25, "den": 1], "\(name)")
        }
    }

    @Test func aVariableRatesClockIsAnEstimate() throws {
        let found = try rate(try Probed.video(try Fixtures.path("vfr.mp4")))
        #expect(found["isEstimate"] as? Bool == true && found["mode"] as? String == "variable")
        // 65 frames in 2.9 s.
        #expect(found["average"] as? [String: Int] == ["num": 650, "den": 29])
    }
}
