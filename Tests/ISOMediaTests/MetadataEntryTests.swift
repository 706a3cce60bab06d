import ISOMedia
import MediaBase
import Testing

/// Values of metadata with their types, by QuickTime's table of well-known types.
struct MetadataEntryTests {
    private func entries(_ list: Bytes) throws -> [MetadataEntry] {
        let meta = box("meta", u32(0), box("hdlr", u32(0, 0), ascii("mdirappl"), zeros(9)), box("ilst", list))
        let file = box("ftyp", ascii("M4A "), u32(0)) + box("moov", box("udta", meta))
        return try MovieHeader(reading: ArrayByteSource(file)).metadataKeys.entries
    }

    private func value(_ key: FourCC, _ type: UInt32, _ bytes: Bytes) throws -> MetadataItem.Value? {
        try entries(box(key, box("data", u32(type, 0), bytes))).first?.value
    }

    @Test func valuesAreReadByTheirTypes() throws {
        #expect(try value("tmpo", 21, u8(0x01, 0x2C)) == .integer(300))
        #expect(try value("test", 21, u8(0xFF)) == .integer(-1))
        #expect(try value("test", 22, u8(0xFF)) == .integer(255))
        #expect(try value("test", 21, u8(0xFF, 0xFF, 0xFE)) == .integer(-2))
        // IEEE 754: 2.5 is 1.25 times 2.
        #expect(try value("test", 23, u8(0x40, 0x20, 0, 0)) == .float(2.5))
        #expect(try value("test", 24, u8(0x40, 0x04, 0, 0, 0, 0, 0, 0)) == .float(2.5))
        #expect(try value("test", 2, u8(0x00, 0x41, 0x4E, 0x16)) == .text("A世"))
        #expect(try value("covr", 13, u8(0xFF, 0xD8, 0xFF)) == .data([0xFF, 0xD8, 0xFF]))
        #expect(try value("trkn", 0, u8(0, 0, 0, 3, 0, 12, 0, 0)) == .text("3/12"))
        #expect(try value("disk", 0, u8(0, 0, 0, 2, 0, 0)) == .integer(2))
        #expect(try value("cpil", 0, u8(1)) == .integer(1))
    }

    /// 2 to the power of 53 and one more, which `Double` has not, and 2 to the power of 63, which `Int64` has not.
    @Test func noDigitIsLost() throws {
        #expect(try value("test", 21, u8(0, 0x20, 0, 0, 0, 0, 0, 1)) == .integer(9_007_199_254_740_993))
        #expect(try value("test", 78, u8(0x80, 0, 0, 0, 0, 0, 0, 0)) == .text("9223372036854775808"))
    }

    @Test(arguments: [0, 1, 2, 5, 9]) func shortValuesAreNoTrap(count: Int) throws {
        for type in [0, 1, 2, 13, 21, 22, 23, 24, 65, 78, 99] as [UInt32] {
            for key in ["trkn", "disk", "tmpo", "gnre", "covr", "----"] as [FourCC] {
                _ = try value(key, type, zeros(count))
            }
        }
    }

    @Test func valuesAreWrittenInTheLengthOfTheirKey() throws {
        func coded(_ key: MetadataEntry.Key, _ value: MetadataItem.Value) -> Bytes? {
            MetadataEntry(key: key, value: value).coded.map { u32($0.type) + $0.bytes }
        }
        #expect(coded(.iTunes("tmpo"), .integer(3)) == u32(21) + u8(0, 3))
        #expect(coded(.iTunes("cpil"), .text("1")) == u32(21) + u8(1))
        #expect(coded(.iTunes("tmpo"), .integer(70_000)) == u32(21) + u8(0, 1, 0x11, 0x70))
        #expect(coded(.iTunes("tmpo"), .float(2.5)) == nil)
        #expect(coded(.iTunes("trkn"), .text("3/12")) == u32(0) + u8(0, 0, 0, 3, 0, 12, 0, 0))
        #expect(coded(.iTunes("disk"), .integer(2)) == u32(0) + u8(0, 0, 0, 2, 0, 0))
        #expect(coded(.iTunes("trkn"), .text("seven")) == nil)
        #expect(coded(.iTunes("©nam"), .integer(3)) == u32(1) + ascii("3"))
        #expect(coded(.iTunes("©nam"), .data([1])) == nil)
        #expect(coded(.userText("©nam"), .integer(3)) == nil)
        #expect(coded(.named("a"), .integer(-129)) == u32(21) + u8(0xFF, 0x7F))
        #expect(coded(.named("a"), .float(0.1)) == u32(24) + u8(0x3F, 0xB9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9A))
        #expect(coded(.named("a"), .data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))?.prefix(4) == u32(14)[...])
    }

    /// 3GPP TS 26.244, 8: version and flags, a language, and a text up to a zero; UTF-16 begins with its mark.
    @Test func userDataOf3GPP() throws {
        let german: UInt16 = 4 << 10 | 5 << 5 | 21
        let head = u32(0) + u8(UInt8(german >> 8), UInt8(german & 0xFF))
        let file =
            box("ftyp", ascii("3gp6"), u32(0))
            + box(
                "moov",
                box(
                    "udta", box("titl", head, ascii("Name"), u8(0)),
                    box("dscp", head, u8(0xFE, 0xFF, 0, 0x41, 0x4E, 0x16, 0, 0)), box("auth", u32(0))))
        let read = try MovieHeader(reading: ArrayByteSource(file)).metadataKeys.entries
        let language = MediaLanguage(rawValue: german)
        #expect(
            read == [
                MetadataEntry(key: .isoText("titl"), value: .text("Name"), language: language),
                MetadataEntry(key: .isoText("dscp"), value: .text("A世"), language: language),
            ])
        #expect(read.first?.language?.iso639 == "deu")
        var editor = try MovieEditor(box("moov", box("mvhd", u32(0, 0, 0, 1000, 0), zeros(80))))
        try editor.setMetadata(Array(read.prefix(1)), track: nil, isQuickTime: false)
        let wanted = box("udta", box("titl", head, ascii("Name"), u8(0)))
        #expect(Array(editor.bytes.suffix(wanted.count)) == wanted)
    }

    @Test func longKeysKeepTheirMeaning() throws {
        let parts = box("mean", u32(0), ascii("org.example")) + box("name", u32(0), ascii("MOOD"))
        let read = try entries(box("----", parts, box("data", u32(1, 0), ascii("calm"))))
        #expect(read.map(\.key) == [.iTunesName("org.example.MOOD")])
        var editor = try MovieEditor(box("moov", box("mvhd", u32(0, 0, 0, 1000, 0), zeros(80))))
        try editor.setMetadata(read, track: nil, isQuickTime: false)
        let wanted = box("----", parts, box("data", u32(1, 0), ascii("calm")))
        #expect(Array(editor.bytes.suffix(wanted.count)) == wanted)
    }

    @Test func theListIsLaidOutAsTheFormatWants() throws {
        let movie = box("moov", box("mvhd", u32(0, 0, 0, 1000, 0), zeros(80)))
        var editor = try MovieEditor(movie)
        let entry = MetadataEntry(key: .named("a.b"), value: .text("x"))
        try editor.setMetadata([entry], track: nil, isQuickTime: true)
        let meta = box(
            "meta", box("hdlr", u32(0, 0), ascii("mdta"), zeros(13)),
            box("keys", u32(0, 1), box("mdta", ascii("a.b"))),
            box("ilst", u32(25), u32(1), u32(17), ascii("data"), u32(1, 0), ascii("x")))
        #expect(Array(editor.bytes.suffix(meta.count)) == meta)
    }
}
