import ISOMedia
import Testing

/// Which pictures are on screen where edits begin, by tables written by hand.
struct SampleTimesTests {
    private func times(_ moments: [Int32], _ tables: Bytes, handler: FourCC = "vide") throws -> [Int64: Int64] {
        let entries = moments.flatMap { i32(600, $0) + u16(1, 0) }
        let edits = box("edts", fullBox("elst", u32(UInt32(moments.count)), entries))
        let header = try Movie.header(Movie.trak(handler: handler, parts: edits, tables: tables))
        #expect(header.warnings.isEmpty)
        return try #require(header.tracks.first).pictureTimes
    }

    /// Ten samples of 100 ticks, as decoded.
    private let even = fullBox("stts", u32(1, 10, 100))

    @Test func withoutOffsetsPicturesBeginWhenTheyAreDecoded() throws {
        #expect(try times([250, 300, 399, 5000], even) == [250: 200, 300: 300, 399: 300, 5000: 900])
    }

    @Test func offsetsReorderPictures() throws {
        // Decoded at 0, 100, 200, 300; shown at 100, 400, 200, 300.
        let offsets = fullBox("ctts", u32(4, 1, 100, 1, 300, 1, 0, 1, 0))
        let durations = fullBox("stts", u32(1, 4, 100))
        #expect(try times([150, 250, 350, 450], durations + offsets) == [150: 100, 250: 200, 350: 300, 450: 400])
        // Nothing lies before the first picture.
        #expect(try times([100, 50], durations + offsets).isEmpty)
    }

    @Test func offsetsMayBeNegativeAndRunsOfAnyLength() throws {
        // Decoded at 0 to 300 in steps of 100, then at 400 and 450; shown 50 earlier from the third on.
        let durations = fullBox("stts", u32(2, 4, 100, 2, 50))
        let offsets = fullBox("ctts", version: 1, u32(2, 2), i32(0), u32(4), i32(-50))
        #expect(try times([149, 260, 400, 999], durations + offsets) == [149: 100, 260: 250, 400: 400, 999: 400])
    }

    @Test func numbersThatCannotBeDoNoHarm() throws {
        let durations = fullBox("stts", u32(3, .max, .max, .max, .max, 7, 0))
        let offsets = fullBox("ctts", u32(2, .max, .max, .max, 1))
        #expect(try times([.max], durations + offsets).count == 1)
        #expect(try times([12], fullBox("stts", u32(0))).isEmpty)
        #expect(try times([12], []).isEmpty)
    }

    @Test func soundNeedsNone() throws {
        #expect(try times([250], even, handler: "soun").isEmpty)
    }

    @Test func theEarliestSampleIsFound() throws {
        func earliest(_ tables: Bytes) throws -> Int64? {
            try Movie.header(Movie.trak(tables: tables)).tracks.first?.tables?.earliestTime
        }
        #expect(try earliest(even) == 0)
        #expect(try earliest(even + fullBox("ctts", u32(1, 10, 200))) == 200)
        // The first one is shown after the two that follow it, as in an open group of pictures.
        #expect(try earliest(even + fullBox("ctts", u32(2, 1, 200, 9, 0))) == 100)
        #expect(try earliest(even + fullBox("ctts", version: 1, u32(2, 1, 200, 9), i32(-100))) == 0)
        #expect(try earliest(fullBox("stts", u32(0))) == nil)
        #expect(try earliest([]) == nil)
    }

    @Test func theLatestSampleEndsWithTheTrack() throws {
        func last(_ tables: Bytes, stated: UInt32 = 0) throws -> [Int64?] {
            let track = try Movie.header(Movie.trak(duration: stated, tables: tables)).tracks.first
            return [track?.tables?.latestTime, track?.endTime]
        }
        #expect(try last(even) == [900, 1000])
        #expect(try last(even + fullBox("ctts", u32(1, 10, 200))) == [1100, 1200])
        // The last but one is shown last: 200 to 1200 in all, and its own duration does not say that.
        #expect(try last(even + fullBox("ctts", u32(3, 8, 200, 1, 300, 1, 100))) == [1100, 1200])
        // Durations of 100, 100, 50 and 400, decoded at 0, 100, 200 and 250; the third is shown last.
        let uneven = fullBox("stts", u32(3, 2, 100, 1, 50, 1, 400))
        #expect(try last(uneven + fullBox("ctts", u32(2, 2, 100, 2, 400))) == [650, 750])
        #expect(try last(uneven + fullBox("ctts", u32(3, 2, 100, 1, 400, 1, 0))) == [600, 750])
        // Decoded too early for durations to tell when the last one ends; without offsets they do.
        #expect(try last(uneven + fullBox("ctts", u32(2, 2, 100, 2, 600)), stated: 800) == [850, 900])
        #expect(try last(uneven, stated: 800) == [250, 650])
        #expect(try last(fullBox("stts", u32(0))) == [nil, nil])
        #expect(try last([]) == [nil, nil])
    }
}
