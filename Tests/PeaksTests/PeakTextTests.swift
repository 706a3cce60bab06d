import Peaks
import Testing

@Suite struct PeakTextTests {
    private func peaks(_ data: [Int16], channels: Int, bits: Int = 16) throws -> Peaks {
        try Peaks(
            sampleRate: 8000, spacing: Peaks.Spacing(samples: 4), channels: channels, bits: bits, data: data)
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func aLineHasAllChannelsOfAPoint() throws {
        #expect(text(PeakText.lines(try peaks([-32768, 32767, -1, 0], channels: 1))) == "-32768,32767\n-1,0\n")
        #expect(
            text(PeakText.lines(try peaks([-1, 10, -100, 99, -9, 9, -8, 8], channels: 2, bits: 8)))
                == "-1,10,-100,99\n-9,9,-8,8\n")
        #expect(PeakText.lines(try peaks([], channels: 2)).isEmpty)
    }

    // By hand: value / 32768.
    @Test func wavesurferHasOneArrayAChannel() throws {
        let two = try peaks([-32768, 16384, 0, 1, -8192, 0, -4096, 32767], channels: 2)
        #expect(
            text(PeakText.wavesurfer(two, seconds: 1.5))
                == "{\"peaks\":[[-1.0,0.5,-0.25,0],[0,3.0517578125e-05,-0.125,0.999969482421875]],\"duration\":1.5}\n")
        #expect(
            text(PeakText.wavesurfer(try peaks([], channels: 1), seconds: 0)) == "{\"peaks\":[[]],\"duration\":0.0}\n")
    }
}
