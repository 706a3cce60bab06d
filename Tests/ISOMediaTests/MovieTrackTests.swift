import ISOMedia
import MediaBase
import Testing

struct MovieTrackTests {
    @Test func referencesLanguageAndName() throws {
        let tref = box("tref", box("chap", u32(2, 3)), box("tmcd", u32(4), u16(1)))
        let track = try #require(
            try Movie.header(
                Movie.trak(parts: tref + box("udta", box("name", ascii("Left\0\0"))))
            ).tracks.first)
        #expect(track.references == ["chap": [2, 3], "tmcd": [4]])
        #expect(track.name == "Left")
        #expect(track.media?.language.iso639 == "eng")
    }

    /// The counter lies in `mdat`, whose payload begins at 32 in the file below: `ftyp` has 24 bytes, two headers 8.
    private func timecodeFile(offset: UInt32, dref: Bytes = []) throws -> MovieHeader {
        let tables = Movie.stsd(Movie.timecodeEntry()) + fullBox("stco", u32(1, offset))
        let file =
            box("ftyp", code("qt  "), u32(0), code("qt  "), code("qt  ")) + box("mdat", u32(0xFFFF_FFF6))
            + box("moov", Movie.mvhd(), Movie.trak(id: 5, handler: "tmcd", dref: dref, tables: tables))
        return try MovieHeader(reading: ArrayByteSource(file))
    }

    @Test func timecodeCounterIsReadFromItsSample() throws {
        let header = try timecodeFile(offset: 32)
        #expect(header.track(id: 5)?.timecodeCounter == 0xFFFF_FFF6)
        #expect(header.track(id: 1) == nil)
        #expect(header.isMovieBeforeMedia == false)
        #expect(header.warnings.isEmpty)
    }

    @Test func timecodeOutsideTheFileIsAWarning() throws {
        let header = try timecodeFile(offset: 0xFFFF_FFF0)
        #expect(header.tracks.first?.timecodeCounter == nil)
        #expect(header.warnings == ["the timecode at offset 4294967280 lies outside the file"])
    }

    @Test func timecodeInAnotherFileIsNotRead() throws {
        let other = box("dinf", fullBox("dref", u32(1), fullBox("alis", flags: 0)))
        let header = try timecodeFile(offset: 32, dref: other)
        #expect(header.tracks.first?.isSelfContained == false)
        #expect(header.tracks.first?.timecodeCounter == nil)
        let same = box("dinf", fullBox("dref", u32(1), fullBox("alis", flags: 1)))
        #expect(try timecodeFile(offset: 32, dref: same).tracks.first?.timecodeCounter == 0xFFFF_FFF6)
    }

    @Test func trackWithoutMediaIsKept() throws {
        let header = try Movie.header(box("trak", Movie.tkhd(id: 3)))
        #expect(header.tracks.first?.trackID == 3)
        #expect(header.tracks.first?.tables == nil)
        #expect(header.warnings.count == 1)
    }
}
