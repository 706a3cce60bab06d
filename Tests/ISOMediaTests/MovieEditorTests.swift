import ISOMedia
import MediaBase
import Testing

struct MovieEditorTests {
    /// A movie of one track of pictures, 720 by 576 with pixels of 16:15, whose chunks lie at these offsets.
    private func movie(chunks: [UInt32] = [48, 1000], clap: Bytes = []) -> Bytes {
        let entry = box(
            "avc1", zeros(6), u16(1), zeros(16), u16(720, 576), zeros(50), box("avcC", u8(1, 2, 3)),
            box("pasp", u32(16, 15)), clap)
        let table = box(
            "stbl", fullBox("stsd", u32(1), entry), fullBox("stts", u32(2, 3, 40, 2, 7)),
            fullBox("stco", u32(UInt32(chunks.count)), chunks.flatMap { u32($0) }))
        return box(
            "moov", fullBox("mvhd", u32(1, 2, 1000, 77), zeros(80)),
            box(
                "trak", fullBox("tkhd", flags: 2, u32(1, 2, 1, 0, 77), zeros(8), zeros(8), zeros(36), u32(0, 0)),
                box(
                    "mdia", fullBox("mdhd", u32(1, 2, 25, 5), u16(0, 0)),
                    fullBox("hdlr", u32(0), ascii("vide"), zeros(12)), box("minf", table))),
            box("udta", u8(1, 2, 3, 4)))
    }

    private func header(_ bytes: Bytes) throws -> MovieHeader {
        try MovieHeader(reading: ArrayByteSource(box("ftyp", ascii("qt  "), u32(0)) + bytes))
    }

    @Test func whatIsNotChangedStaysByteForByte() throws {
        let editor = try MovieEditor(movie())
        #expect(editor.bytes == movie())
        #expect(editor.timescale == 1000)
        #expect(editor.trackCount == 1)
        #expect(try editor.mediaTimescale(ofTrack: 0) == 25)
    }

    @Test func anEditListSetsTheDurations() throws {
        var editor = try MovieEditor(movie())
        let edits = [
            EditListEntry(segmentDuration: 40, mediaTime: -1), EditListEntry(segmentDuration: 200, mediaTime: 3),
        ]
        try editor.setEdits(edits, track: 0)
        try editor.setEdits(edits, track: 0)
        let header = try header(editor.bytes)
        #expect(header.tracks.first?.edits == edits)
        #expect(header.tracks.first?.header?.duration == 240)
        #expect(editor.bytes.count == movie().count + 8 + 16 + 24)
        // mvhd: version and flags, two dates, timescale, duration.
        #expect(Array(editor.bytes[32..<36]) == u32(240))
    }

    /// One frame of 1001/30000 s more than the media has.
    @Test func timecodesEndWithTheirMedia() throws {
        func movie(edit: UInt32, handler: FourCC) -> Bytes {
            box(
                "moov", fullBox("mvhd", u32(0, 0, 60000, edit), zeros(80)),
                box(
                    "trak", fullBox("tkhd", u32(0, 0, 1, 0, edit), zeros(60)),
                    box("edts", fullBox("elst", u32(1, edit), i32(0), u16(1, 0))),
                    box("mdia", Movie.mdhd(timescale: 30000, duration: 30030), Movie.hdlr(handler), box("minf"))))
        }
        var editor = try MovieEditor(movie(edit: 62062, handler: "tmcd"))
        try editor.endTimecodesWithTheirMedia()
        let header = try header(editor.bytes)
        #expect(header.tracks.first?.edits == [EditListEntry(segmentDuration: 60060, mediaTime: 0)])
        #expect(header.tracks.first?.header?.duration == 60060)
        #expect(header.duration == 60060)
        // What is no longer than its media, and what is no timecode, stays as it is.
        for (edit, handler) in [(60060, "tmcd"), (50000, "tmcd"), (62062, "vide")] as [(UInt32, FourCC)] {
            var editor = try MovieEditor(movie(edit: edit, handler: handler))
            try editor.endTimecodesWithTheirMedia()
            #expect(editor.bytes == movie(edit: edit, handler: handler))
        }
    }

    @Test func longEditsTakeSixtyFourBits() throws {
        var editor = try MovieEditor(movie())
        let edit = EditListEntry(segmentDuration: 1 << 40, mediaTime: 1 << 35)
        try editor.setEdits([edit], track: 0)
        #expect(try header(editor.bytes).tracks.first?.edits == [edit])
    }

    @Test func chunksMove() throws {
        var editor = try MovieEditor(movie())
        try editor.moveMedia(by: 4096)
        let expected = movie(chunks: [48 + 4096, 1000 + 4096])
        #expect(editor.bytes == expected)
    }

    @Test func chunksBeyondFourGigabytesTakeSixtyFourBits() throws {
        var editor = try MovieEditor(movie(chunks: [48, .max - 100]))
        try editor.moveMedia(by: 4096)
        let table = fullBox("co64", u32(2), u64(48 + 4096, UInt64(UInt32.max) - 100 + 4096))
        #expect(editor.bytes.firstRange(of: table) != nil)
        #expect(editor.bytes.firstRange(of: ascii("stco")) == nil)
        // A reserve asks for them earlier.
        var early = try MovieEditor(movie(chunks: [48, .max - 10_000]))
        try early.moveMedia(by: 0, reserve: 20_000)
        #expect(early.bytes.firstRange(of: ascii("co64")) != nil)
    }

    @Test func anApertureIsPutInPlaceOfTheOneThereIs() throws {
        let old = box("clap", u32(720, 1, 576, 1, 0, 1, 0, 1))
        let size = Dimensions(width: 720, height: 576)
        let aperture = try CleanAperture(
            width: Rational(704), height: Rational(1151, 2), horizontalOffset: Rational(-3, 2), in: size)
        for clap in [[], old] {
            var editor = try MovieEditor(movie(clap: clap))
            try editor.setAperture(aperture, track: 0, writesTrackAperture: true)
            let track = try #require(try header(editor.bytes).tracks.first)
            let fields = try #require(track.sampleEntries.first?.visual?.cleanAperture)
            #expect(try fields.aperture(in: size) == aperture)
            // 704 · 16/15 = 750.93…, in 1/65536.
            let clean = FixedPointSize(width: 49_213_167, height: 37_715_968)
            #expect(track.apertures?.clean == clean)
            #expect(track.apertures?.production == FixedPointSize(width: 768 << 16, height: 576 << 16))
            #expect(track.apertures?.encoded == FixedPointSize(width: 720 << 16, height: 576 << 16))
            #expect(track.header?.size == clean)
            #expect(editor.bytes.firstRange(of: box("avcC", u8(1, 2, 3))) != nil)
        }
    }

    @Test func withoutApertureTheSizeFollowsFromThePixelAspect() throws {
        var editor = try MovieEditor(movie())
        try editor.setAperture(nil, track: 0, writesTrackAperture: false)
        let track = try #require(try header(editor.bytes).tracks.first)
        #expect(track.apertures == nil)
        #expect(track.header?.size == FixedPointSize(width: 768 << 16, height: 576 << 16))
    }

    @Test func theMediaLastsAsLongAsItsSamples() throws {
        var editor = try MovieEditor(movie())
        try editor.setMediaDuration(track: 0)
        #expect(try header(editor.bytes).tracks.first?.media?.duration == 3 * 40 + 2 * 7)
    }

    @Test func languageAndUse() throws {
        var editor = try MovieEditor(movie())
        try editor.setLanguage("deu", track: 0)
        try editor.setLanguage("German", track: 0)
        try editor.setEnabled(true, track: 0)
        let track = try #require(try header(editor.bytes).tracks.first)
        #expect(track.media?.language.iso639 == "deu")
        #expect(track.header?.flags == 3)
    }

    @Test func damageIsAnErrorAndNeverATrap() throws {
        let whole = movie()
        #expect(throws: MediaError.self) { try MovieEditor([]) }
        #expect(throws: MediaError.self) { try MovieEditor(box("free", zeros(9))) }
        for place in whole.indices {
            for value in [0, 0xFF] as [UInt8] {
                var bytes = whole
                bytes[place] = value
                guard var editor = try? MovieEditor(bytes) else { continue }
                try? editor.setEdits([EditListEntry(segmentDuration: 1, mediaTime: 0)], track: 0)
                try? editor.setAperture(nil, track: 0, writesTrackAperture: true)
                try? editor.moveMedia(by: 5)
                #expect(editor.bytes.count < 2 * whole.count + 200)
            }
        }
    }
}
