import ISOMedia
import MediaBase

/// Big-endian numbers and boxes, written by hand for the tests.
typealias Bytes = [UInt8]

func u8(_ values: UInt8...) -> Bytes { values }

func u16(_ values: UInt16...) -> Bytes { values.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } }

func u32(_ values: UInt32...) -> Bytes { values.flatMap { bigEndian(UInt64($0)).suffix(4) } }

func u64(_ values: UInt64...) -> Bytes { values.flatMap(bigEndian) }

func i32(_ values: Int32...) -> Bytes { values.flatMap { bigEndian(UInt64(UInt32(bitPattern: $0))).suffix(4) } }

func zeros(_ count: Int) -> Bytes { Bytes(repeating: 0, count: count) }

func ascii(_ text: String) -> Bytes { Bytes(text.utf8) }

func code(_ code: FourCC) -> Bytes { u32(code.rawValue) }

func box(_ type: FourCC, _ parts: Bytes...) -> Bytes {
    let payload = parts.flatMap { $0 }
    return u32(UInt32(payload.count + 8)) + code(type) + payload
}

func fullBox(_ type: FourCC, version: UInt8 = 0, flags: UInt32 = 0, _ parts: Bytes...) -> Bytes {
    box(type, u32(UInt32(version) << 24 | flags), parts.flatMap { $0 })
}

private func bigEndian(_ value: UInt64) -> Bytes {
    (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
}

/// The parts of a small movie, in the layouts of ISO/IEC 14496-12 and the QuickTime File Format.
enum Movie {
    static let identity = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000)

    static func mvhd(timescale: UInt32 = 600, duration: UInt32 = 1200) -> Bytes {
        fullBox(
            "mvhd", u32(0, 0, timescale, duration, 0x10000), u16(0x100), zeros(10), identity, zeros(24), u32(2))
    }

    static func tkhd(id: UInt32 = 1, flags: UInt32 = 7, duration: UInt32 = 1200) -> Bytes {
        fullBox(
            "tkhd", flags: flags, u32(0, 0, id, 0, duration, 0, 0), u16(0xFFFF, 2, 0x100, 0), identity,
            u32(640 << 16, 480 << 16))
    }

    static func mdhd(timescale: UInt32 = 30000, duration: UInt32 = 60060, language: UInt16 = 0x15C7) -> Bytes {
        fullBox("mdhd", u32(0, 0, timescale, duration), u16(language, 0))
    }

    static func hdlr(_ type: FourCC, name: Bytes = ascii("Handler\0")) -> Bytes {
        fullBox("hdlr", u32(0), code(type), zeros(12), name)
    }

    /// A visual sample entry of 720 by 480 pixels.
    static func visualEntry(_ format: FourCC = "avc1", _ children: Bytes...) -> Bytes {
        box(
            format, zeros(6), u16(1), zeros(16), u16(720, 480), u32(0x48_0000, 0x48_0000, 0), u16(1), zeros(32),
            u16(24, 0xFFFF), children.flatMap { $0 })
    }

    static func timecodeEntry(_ children: Bytes...) -> Bytes {
        box("tmcd", zeros(6), u16(1), u32(0, 1, 30000, 1001), u8(30, 0), children.flatMap { $0 })
    }

    static func stsd(_ entries: Bytes...) -> Bytes {
        fullBox("stsd", u32(UInt32(entries.count)), entries.flatMap { $0 })
    }

    static func trak(
        id: UInt32 = 1, handler: FourCC = "vide", duration: UInt32 = 60060, parts: Bytes = [], dref: Bytes = [],
        tables: Bytes = []
    ) -> Bytes {
        box(
            "trak", tkhd(id: id), parts,
            box("mdia", mdhd(duration: duration), hdlr(handler), box("minf", dref, box("stbl", tables))))
    }

    static func file(_ moovParts: Bytes..., after: Bytes = []) -> Bytes {
        box("ftyp", code("isom"), u32(512), code("isom"), code("mp42"))
            + box("moov", mvhd(), moovParts.flatMap { $0 }) + after
    }

    static func header(_ moovParts: Bytes..., after: Bytes = []) throws -> MovieHeader {
        try MovieHeader(reading: ArrayByteSource(file(moovParts.flatMap { $0 }, after: after)))
    }

    /// A movie in which every kind of box that is read occurs: a video track, a timecode track and a fragment.
    static func everything() -> Bytes {
        let video = trak(
            parts: box(
                "tapt", fullBox("clef", u32(640 << 16, 480 << 16)), fullBox("prof", u32(655 << 16, 480 << 16)),
                fullBox("enof", u32(720 << 16, 480 << 16)))
                + box("edts", fullBox("elst", u32(2), u32(600), i32(-1), u16(1, 0), u32(1200), i32(1001), u16(1, 0)))
                + box("tref", box("tmcd", u32(2))) + box("udta", box("name", ascii("Main")), u32(0)),
            dref: box("dinf", fullBox("dref", u32(1), fullBox("url ", flags: 1))),
            tables: stsd(
                visualEntry(
                    "avc1", box("pasp", u32(10, 11)), box("clap", u32(704, 1, 480, 1, 0, 1, 0, 1)),
                    box("colr", ascii("nclx"), u16(1, 1, 1), u8(0x80)), box("fiel", u8(2, 14))))
                + fullBox("stts", u32(1, 60, 1001)) + fullBox("stsz", u32(0, 2, 10, 20)) + fullBox("stss", u32(1, 1))
                + fullBox("stco", u32(1, 8)))
        let timecode = trak(
            id: 2, handler: "tmcd",
            tables: stsd(timecodeEntry(box("name", u16(4, 0), ascii("R001"))))
                + fullBox("stts", u32(1, 1, 60060)) + fullBox("stsz", u32(4, 1)) + fullBox("co64", u32(1), u64(36)))
        let extends = box("mvex", fullBox("mehd", u32(2400)), fullBox("trex", u32(1, 1, 1001, 0, 0)))
        let fragment = box(
            "moof",
            box(
                "traf", fullBox("tfhd", flags: 0x8, u32(1, 1000)), fullBox("tfdt", version: 1, u64(60060)),
                fullBox("trun", flags: 0x300, u32(2, 1001, 5, 1002, 6))))
        return box("ftyp", code("qt  "), u32(0), code("qt  ")) + box("wide") + box("mdat", u32(107_892))
            + box("moov", mvhd(), video, timecode, extends, box("udta", box("©nam", u16(4, 0x15C7), ascii("Film"))))
            + fragment
    }
}
