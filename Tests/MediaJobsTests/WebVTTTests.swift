import MediaBase
import Testing

@testable import MediaJobs

/// Expected cues are worked out by hand.
@Suite struct WebVTTTests {
    private func cues(_ times: [MediaTime], from start: MediaTime, to end: MediaTime) -> [String] {
        let pictures = times.enumerated().map { (time: $1, reference: "\($0)") }
        return WebVTT(pictures, range: MediaTimeRange(start: start, end: end)).cues.map {
            "\($0.start)-\($0.end) \($0.text)"
        }
    }

    private func ms(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1000) }

    @Test func cuesReachFromPictureToPictureAndFillTheRange() {
        #expect(
            cues([ms(900), ms(2000), ms(2500)], from: ms(1000), to: ms(4000)) == [
                "1000-2000 0", "2000-2500 1", "2500-4000 2",
            ])
        #expect(cues([ms(1200)], from: ms(1000), to: ms(4000)) == ["1000-4000 0"])
        #expect(cues([], from: ms(1000), to: ms(4000)) == [])
    }

    @Test func equalPicturesAreOneAndOrderDoesNotMatter() {
        #expect(
            cues([ms(2000), ms(0), ms(2000), ms(1000)], from: ms(0), to: ms(3000)) == [
                "0-1000 1", "1000-2000 3", "2000-3000 0",
            ])
    }

    @Test func noCueIsEmptyAndNoneOverlap() {
        // 30000/1001 frames a second: 0, 33.37, 66.73 ms; 1200 a second: several in one thousandth.
        let ntsc = (0..<3).map { MediaTime(value: $0 * 1001, timescale: 30000) }
        #expect(cues(ntsc, from: .zero, to: ms(100)) == ["0-33 0", "33-67 1", "67-100 2"])
        let fast = (0..<6).map { MediaTime(value: $0, timescale: 2400) }
        // 0, 0.42, 0.83, 1.25, 1.67, 2.08 ms.
        #expect(cues(fast, from: .zero, to: ms(3)) == ["0-1 1", "1-2 3", "2-3 5"])
        #expect(cues([ms(0), ms(5)], from: .zero, to: ms(3)) == ["0-3 0"])
        #expect(cues([ms(0)], from: .zero, to: .zero) == ["0-1 0"])
    }

    @Test func timesThatNoFileHasAreLeftOutOrHeldBack() {
        #expect(cues([.invalid, ms(1), .indefinite], from: .zero, to: ms(3)) == ["0-3 1"])
        let ages = [MediaTime(value: .max, timescale: 1), MediaTime(value: .max, timescale: 1200)]
        #expect(cues([ms(0)] + ages, from: .zero, to: ages[0]) == ["0-\(Int64.max / 2) 0"])
    }

    @Test func textIsAsTheSpecificationHasIt() {
        let hours = MediaTime(value: 100 * 3600 + 61, timescale: 1)
        let index = WebVTT([(time: .zero, reference: "a.jpg#xywh=0,0,1,1")], range: .init(start: .zero, end: hours))
        #expect(index.text == "WEBVTT\n\n00:00:00.000 --> 100:01:01.000\na.jpg#xywh=0,0,1,1\n")
        #expect(WebVTT([], range: .init(start: .zero, end: hours)).text == "WEBVTT\n")
    }
}
