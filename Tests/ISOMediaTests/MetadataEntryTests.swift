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
        #expect(try value("tmpo", 21, u8(0x01, 0x2C)) == .number(300))
        #expect(try value("test", 21, u8(0xFF)) == .number(-1))
        #expect(try value("test", 22, u8(0xFF)) == .number(255))
        #expect(try value("test", 21, u8(0xFF, 0xFF, 0xFE)) == .number(-2))
        // IEEE 754: 2.5 is 1.25 times 2.
        #expect(try value("test", 23, u8(0x40, 0x20, 0, 0)) == .number(2.5))
        #expect(try value("test", 24, u8(0x40, 0x04, 0, 0, 0, 0, 0, 0)) == .number(2.5))
        #expect(try value("test", 2, u8(0x00, 0x41, 0x4E, 0x16)) == .text("A世"))
        #expect(try value("covr", 13, u8(0xFF, 0xD8, 0xFF)) == .data([0xFF, 0xD8, 0xFF]))
        #expect(try value("trkn", 0, u8(0, 0, 0, 3, 0, 12, 0, 0)) == .text("3/12"))
        #expect(try value("disk", 0, u8(0, 0, 0, 2, 0, 0)) == .number(2))
        #expect(try value("cpil", 0, u8(1)) == .number(1))
    }

    /// 2 to the power of 53 and one more, which `Double` has not.
    @Test func noDigitIsLost() throws {
        #expect(try value("test", 21, u8(0, 0x20, 0, 0, 0, 0, 0, 1)) == .text("9007199254740993"))
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
        #expect(coded(.iTunes("tmpo"), .number(3)) == u32(21) + u8(0, 3))
        #expect(coded(.iTunes("cpil"), .text("1")) == u32(21) + u8(1))
        #expect(coded(.iTunes("tmpo"), .number(70_000)) == u32(21) + u8(0, 1, 0x11, 0x70))
        #expect(coded(.iTunes("tmpo"), .number(2.5)) == nil)
        #expect(coded(.iTunes("trkn"), .text("3/12")) == u32(0) + u8(0, 0, 0, 3, 0, 12, 0, 0))
        #expect(coded(.iTunes("disk"), .number(2)) == u32(0) + u8(0, 0, 0, 2, 0, 0))
        #expect(coded(.iTunes("trkn"), .text("seven")) == nil)
        #expect(coded(.iTunes("©nam"), .number(3)) == u32(1) + ascii("3"))
        #expect(coded(.iTunes("©nam"), .data([1])) == nil)
        #expect(coded(.userText("©nam"), .number(3)) == nil)
        #expect(coded(.named("a"), .number(-129)) == u32(21) + u8(0xFF, 0x7F))
        #expect(coded(.named("a"), .number(0.1)) == u32(24) + u8(0x3F, 0xB9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9A))
        #expect(coded(.named("a"), .data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))?.prefix(4) == u32(14)[...])
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
