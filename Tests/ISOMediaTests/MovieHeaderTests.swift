import ISOMedia
import MediaBase
import Testing

struct MovieHeaderTests {
    @Test func everythingInASmallMovie() throws {
        let header = try MovieHeader(reading: ArrayByteSource(Movie.everything()))
        #expect(header.warnings.isEmpty)
        #expect(header.fileType?.majorBrand == "qt  ")
        #expect(header.timescale == 600)
        #expect(header.duration == 1200)
        #expect(header.matrix?.last == 1 << 30)
        #expect(header.isMovieBeforeMedia == false)
        #expect(header.name == "Film")
        #expect(header.fragmentedDuration == 2400)
        #expect(header.tracks.map(\.trackID) == [1, 2])
        let video = try #require(header.track(id: 1))
        #expect(video.edits?.count == 2)
        #expect(video.apertures?.production?.width == 655 << 16)
        #expect(video.sampleEntries.first?.visual?.cleanAperture?.width == Rational(704))
        #expect(video.tables?.timeToSample?.duration == 60060)
        #expect(video.isSelfContained)
        // 107892 frames are 01:00:00;00 in drop-frame timecode; the counter lies at 20 + 8 + 8.
        #expect(header.track(id: 2)?.timecodeCounter == 107_892)
        #expect(header.track(id: 2)?.sampleEntries.first?.timecode?.sourceName == "R001")
        #expect(header.fragments.map(\.duration) == [2003])
        #expect(header.fragments.map(\.endDecodeTime) == [62063])
    }

    @Test func brands() throws {
        let type = try #require(try Movie.header().fileType)
        #expect(type.majorBrand == "isom")
        #expect(type.minorVersion == 512)
        #expect(type.compatibleBrands == ["isom", "mp42"])
        let filled = box("ftyp", code("qt  "), u32(0x2005_0300), code("qt  "), u32(0, 0, 0)) + box("moov")
        #expect(try MovieHeader(reading: ArrayByteSource(filled)).fileType?.compatibleBrands == ["qt  "])
    }

    @Test func longMovieHeader() throws {
        let mvhd = fullBox(
            "mvhd", version: 1, u64(0, 0), u32(1_000_000), u64(1 << 41), zeros(16), Movie.identity, zeros(28))
        let header = try MovieHeader(reading: ArrayByteSource(box("moov", mvhd)))
        #expect(header.timescale == 1_000_000)
        #expect(header.duration == 1 << 41)
        #expect(header.matrix?.count == 9)
        #expect(header.isMovieBeforeMedia == nil)
        #expect(header.fileType == nil)
    }

    @Test func contentsOfLargeBoxesArePassedOver() throws {
        // The size of mdat is honoured, so what looks like a movie inside it is not found.
        let mdat = box("mdat", box("moov", Movie.mvhd(timescale: 1)))
        let header = try MovieHeader(reading: ArrayByteSource(mdat + box("moov", Movie.mvhd(timescale: 2))))
        #expect(header.timescale == 2)
        #expect(header.isMovieBeforeMedia == false)
    }

    @Test func secondMovieIsLeftOut() throws {
        let header = try Movie.header(after: box("moov", Movie.mvhd(timescale: 1)))
        #expect(header.timescale == 600)
        #expect(header.warnings.count == 1)
    }

    @Test func compressedMovieIsToldApart() throws {
        let header = try MovieHeader(reading: ArrayByteSource(box("moov", box("cmov", zeros(8)))))
        #expect(header.warnings == ["the movie box is compressed (cmov) and was not read"])
    }

    @Test func aMovieBehindTheLimitIsAnErrorThatNamesIt() throws {
        let file = box("ftyp", code("isom"), u32(0)) + box("mdat", zeros(10)) + box("moov", Movie.mvhd())
        func read(_ boxes: Int) throws -> MovieHeader {
            var limits = MediaLimits()
            limits.boxes = boxes
            return try MovieHeader(reading: ArrayByteSource(file), limits: BoxLimits(limits))
        }
        // A tenth of the limit may lie on the top level.
        let error = #expect(throws: MediaError.self) { try read(20) }
        #expect(error?.code == .limitExceeded && error?.message.contains("boxes=20") == true)
        #expect(try read(30).timescale == 600)
    }

    @Test(arguments: [
        (box("ftyp", code("isom"), u32(0)) + box("mdat", zeros(10)), MediaError.Code.damaged),
        (ascii("Once upon a time, there was no movie"), .unknownFormat), ([], .unknownFormat), ([0], .unknownFormat),
        (zeros(100), .unknownFormat),
    ])
    func withoutAMovieItThrows(bytes: Bytes, code: MediaError.Code) {
        let error = #expect(throws: MediaError.self) { try MovieHeader(reading: ArrayByteSource(bytes)) }
        #expect(error?.code == code)
    }
}
