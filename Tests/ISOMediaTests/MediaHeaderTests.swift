import ISOMedia
import Testing

struct MediaHeaderTests {
    private func media(_ mdhd: Bytes) throws -> MediaHeader? {
        try Movie.header(box("trak", Movie.tkhd(), box("mdia", mdhd))).tracks.first?.media
    }

    @Test func shortAndLongHeader() throws {
        let short = try #require(try media(Movie.mdhd(timescale: 48000, duration: .max, language: 2)))
        #expect(short.timescale == 48000)
        #expect(short.duration == nil)
        #expect(short.language.iso639 == "deu")
        let long = try #require(
            try media(fullBox("mdhd", version: 1, u64(0, 0), u32(90000), u64(1 << 35), u16(0x55C4, 0))))
        #expect(long.timescale == 90000)
        #expect(long.duration == 1 << 35)
        #expect(long.language.iso639 == "und")
    }

    /// Seconds since 1904 by `date -u -d '2020-01-02 03:04:05' +%s` and 2,082,844,800 more, as 66 years have 17 leap days.
    @Test(
        arguments: [
            (0, nil), (1, "1970-01-01T00:00:01.000000Z"), (2_082_844_800, "1970-01-01T00:00:00.000000Z"),
            (3_660_779_045, "2020-01-02T03:04:05.000000Z"), (3_034_713_599, "2000-02-29T23:59:59.000000Z"),
            (3_034_713_600, "2000-03-01T00:00:00.000000Z"), (4_294_967_295, "2040-02-06T06:28:15.000000Z"),
            (.max, nil),
        ] as [(UInt64, String?)]) func datesOfHeaders(seconds: UInt64, text: String?) throws
    {
        #expect(CreationTime.text(seconds) == text)
        let mdhd = fullBox("mdhd", version: 1, u64(seconds, 0), u32(1), u64(1), u16(0x55C4, 0))
        #expect(try media(mdhd)?.creationTime == text)
    }

    @Test func timescaleZeroIsNil() throws {
        let header = try Movie.header(box("trak", Movie.tkhd(), box("mdia", Movie.mdhd(timescale: 0))))
        #expect(header.tracks.first?.media?.timescale == nil)
        #expect(header.tracks.first?.media?.duration == 60060)
        #expect(header.warnings.first?.hasSuffix("has the timescale 0") == true)
    }

    /// ISO names end with a zero; QuickTime names begin with their length, also in some ISO files.
    @Test(
        arguments: [
            (0, ascii("VideoHandler\0"), "VideoHandler"), (0, ascii("no end"), "no end"), (0, [], ""), (0, [0], ""),
            (0x6D68_6C72, [3] + ascii("abcdef"), "abc"), (0, [4] + ascii("GoPr"), "GoPr"),
            (0, ascii("#" + String(repeating: "m", count: 35) + "\0"), String(repeating: "m", count: 35)),
            (0, ascii("#" + String(repeating: "m", count: 36)), "#" + String(repeating: "m", count: 36)),
            (0x6D68_6C72, ascii("Zebra\0"), "Zebra"),
            (0x6D68_6C72, [65] + Bytes(repeating: 97, count: 65), String(repeating: "a", count: 65)),
            (0, [0xC3, 0xBC, 0xFF, 0], "ü\u{FFFD}"),
        ] as [(UInt32, Bytes, String)])
    func handlerName(componentType: UInt32, bytes: Bytes, name: String) throws {
        let hdlr = fullBox("hdlr", u32(componentType), code("soun"), zeros(12), bytes)
        let header = try Movie.header(box("trak", Movie.tkhd(), box("mdia", Movie.mdhd(), hdlr)))
        #expect(header.tracks.first?.handler?.type == "soun")
        #expect(header.tracks.first?.handler?.name == name)
        #expect(header.warnings.isEmpty)
    }
}
