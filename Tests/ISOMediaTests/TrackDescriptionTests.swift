import ISOMedia
import MediaBase
import Testing

/// Movies of one track of timed metadata, built by hand from ISO/IEC 14496-12 and the QuickTime File Format.
struct TrackDescriptionTests {
    /// A sample entry: six zeros, the number of the data reference, and the fields of its kind.
    private func entry(_ type: FourCC = "mebx", reference: UInt16 = 1) -> Bytes {
        box(type, zeros(6), u16(reference), box("keys", box("mdta", ascii("com.example"))))
    }

    private let mediaHeader = box("gmhd", fullBox("gmin", zeros(12)))

    private func movie(
        handler: FourCC = "meta", entries: [Bytes]? = nil, chunks: Bytes = u32(1, 1, 2, 1), sizes: Bytes = u32(4, 9),
        extra: Bytes = [], references: Bytes = []
    ) -> Bytes {
        let entries = entries ?? [entry()]
        let table = box(
            "stbl", fullBox("stsd", u32(UInt32(entries.count)), entries.flatMap { $0 }),
            fullBox("stts", u32(1, 2, 300)), fullBox("stsc", chunks), fullBox("stsz", u32(0, 2), sizes),
            fullBox("stco", u32(1, 48)), extra)
        let name = ascii("Data\0")
        let media = box(
            "mdia", Movie.mdhd(), Movie.hdlr(handler, name: name), box("minf", mediaHeader, box("dinf"), table))
        return box("moov", Movie.mvhd(), box("trak", Movie.tkhd(id: 7), references, media))
    }

    private func track(_ movie: Bytes) throws -> MovieTrack {
        let header = try MovieHeader(reading: ArrayByteSource(box("ftyp", ascii("qt  "), u32(0)) + movie))
        return try #require(header.tracks.first)
    }

    @Test func theDescriptionIsReadByteForByte() throws {
        let description = try #require(try track(movie()).carriage?.description)
        #expect(description.sampleEntry == entry())
        #expect(description.mediaHeader == mediaHeader)
        #expect(description.handler == "meta" && description.handlerName == "Data")
        #expect(description.format == "mebx" && description.formatFields == Array(entry().dropFirst(16)))
    }

    @Test func theEntryInUseIsTaken() throws {
        let movie = movie(entries: [entry("abcd"), entry(reference: 1)], chunks: u32(1, 1, 2, 2))
        #expect(try track(movie).carriage?.description?.sampleEntry == entry())
    }

    @Test func whatCannotBeStoredAgainIsTold() throws {
        let cases: [(Bytes, String)] = [
            (movie(handler: "hint"), "its samples describe the packets of its own file"),
            (movie(handler: "clcp"), "libavformat passes on only a part of its closed captions"),
            (movie(sizes: u32(4, 0)), "it has empty samples, which libavformat does not store"),
            (movie(entries: [entry("enct")]), "it is encrypted"),
            (movie(extra: fullBox("subs", u32(0))), "its samples have properties (subs) that cannot be copied"),
            (
                movie(entries: [entry(), entry()], chunks: u32(2, 1, 1, 1, 2, 1, 2)),
                "its samples have several descriptions"
            ),
        ]
        for (movie, reason) in cases { #expect(try track(movie).carriage == .impossible(reason)) }
        #expect(try track(movie(handler: "vide")).carriage == nil)
    }

    @Test(arguments: [true, false])
    func theDescriptionReplacesThatOfAnotherMovie(isQuickTime: Bool) throws {
        let description = try #require(try track(movie()).carriage?.description)
        var editor = try MovieEditor(movie(handler: "tmcd", entries: [entry("gpmd")]))
        try editor.setDescription(description, track: 0, isQuickTime: isQuickTime)
        let made = try track(editor.bytes)
        #expect(made.carriage?.description == description)
        // The rest of the track is as it was.
        #expect(made.tables?.sampleCount == 2 && made.trackID == 7)
    }

    @Test func referencesAreAddedToThoseThereAre() throws {
        var editor = try MovieEditor(movie(references: box("tref", box("chap", u32(3)))))
        #expect(editor.trackID(ofTrack: 0) == 7 && editor.trackID(ofTrack: 1) == nil)
        try editor.addReferences([("cdsc", [1]), ("chap", [4])], track: 0)
        try editor.addReferences([("cdsc", [2])], track: 0)
        #expect(try track(editor.bytes).references == ["chap": [3, 4], "cdsc": [1, 2]])
    }

    /// A new timecode track has QuickTime's media header: `gmin`, and `tcmi` with how the timecode is drawn.
    @Test func aNewDescriptionHasTheBoxesOfItsKind() {
        let timecode = TrackDescription(format: "tmcd", fields: u32(0, 0, 25, 1))
        #expect(timecode.handler == "tmcd")
        let tcmi = fullBox("tcmi", u16(0, 0, 12, 0, 0, 0, 0, 0xFFFF, 0xFFFF, 0xFFFF), u8(0))
        let gmin = fullBox("gmin", u16(0x40, 0x8000, 0x8000, 0x8000, 0, 0))
        #expect(timecode.mediaHeader == box("gmhd", gmin, box("tmcd", tcmi)))
        let data = TrackDescription(format: "mebx", fields: [1, 2])
        #expect(data.handler == "meta" && data.mediaHeader == box("gmhd", gmin))
        #expect(data.sampleEntry == box("mebx", zeros(6), u16(1), [1, 2]))
    }
}
