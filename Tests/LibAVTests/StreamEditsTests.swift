import MediaBase
import Testing

@testable import LibAV

/// Times by hand: ticks of the media, ticks of the presentation.
struct StreamEditsTests {
    private func part(
        _ start: Int64, _ end: Int64, from media: Int64, picture: Int64? = nil, rate: Rational = .one
    ) -> StreamEdits.Part {
        StreamEdits.Part(start: start, end: end, mediaStart: media, firstPicture: picture ?? media, rate: rate)
    }

    @Test func partsThatContinueEachOtherAreOne() {
        let edits = StreamEdits([part(0, 10, from: 5), part(10, 30, from: 15), part(30, .max, from: 35)])
        #expect(edits.parts == [part(0, .max, from: 5)])
        #expect(edits.simple == part(0, .max, from: 5))
        let apart = StreamEdits([part(0, 10, from: 5), part(10, 30, from: 16)])
        #expect(apart.parts.count == 2 && apart.simple == nil)
        let empty = StreamEdits([part(0, 10, from: 5), part(11, 30, from: 15)])
        #expect(empty.parts.count == 2)
        let fast = StreamEdits([part(0, 10, from: 5, rate: Rational(2)), part(10, 30, from: 25)])
        #expect(fast.parts.count == 2)
        #expect(StreamEdits([part(0, 10, from: 5, rate: Rational(2))]).simple == nil)
    }

    @Test func partsAreFoundByTime() {
        let edits = StreamEdits([part(10, 20, from: 100), part(30, 40, from: 0), part(40, 50, from: 200)])
        #expect([0, 10, 19, 20, 29, 30, 39, 40, 60].map { edits.part(at: $0) } == [0, 0, 0, 0, 0, 1, 1, 2, 2])
        #expect(edits.trims)
        #expect(!StreamEdits([part(0, 20, from: 100)]).trims)
        #expect(StreamEdits([part(1, 20, from: 100)]).trims)
        #expect(!StreamEdits([part(1, 20, from: 0)]).trims)
    }

    @Test func mediaIsPlacedAtAnySpeed() {
        let plain = part(1000, 2000, from: 300)
        #expect(plain.time(ofMedia: 300) == 1000)
        #expect(plain.time(ofMedia: 250) == 950)
        #expect(plain.mediaTime(at: 1500) == 800)
        #expect(plain.mediaEnd == 1300)
        let fast = part(1000, 2000, from: 300, rate: Rational(5, 2))
        #expect(fast.time(ofMedia: 800) == 1200)
        #expect(fast.time(ofMedia: 250) == 950)
        #expect(fast.mediaTime(at: 1200) == 800)
        #expect(fast.mediaEnd == 300 + 2500)
        #expect(fast.duration(ofMedia: 100) == 40)
        let still = part(1000, 2000, from: 300, picture: 280, rate: Rational(0))
        #expect(still.mediaEnd == 301)
        #expect(still.time(ofMedia: 300) == 1000)
        #expect(still.mediaTime(at: 1999) == 300)
    }

    @Test func numbersOfAFileDoNotOverflow() {
        let wide = part(.max - 1, .max, from: .min, rate: Rational(32767, 1))
        _ = (wide.mediaEnd, wide.time(ofMedia: .max), wide.mediaTime(at: .min), wide.duration(ofMedia: .max))
        let open = part(0, .max, from: .max)
        #expect(open.mediaEnd == .max)
        #expect(open.time(ofMedia: .min) == .min)
    }
}
