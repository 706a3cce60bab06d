import ISOMedia
import Testing

/// `chan` boxes as the QuickTime File Format and Core Audio Format lay them out, by hand.
@Suite struct SpeakerLayoutTests {
    private func layout(_ chan: Bytes) throws -> (layout: SpeakerLayout?, warnings: [String]) {
        let entry = box(
            "lpcm", zeros(6), u16(1, 0, 0), zeros(4), u16(6, 16, 0, 0), u32(48000 << 16), box("chan", chan))
        let header = try Movie.header(Movie.trak(handler: "soun", tables: Movie.stsd(entry)))
        return (header.tracks.first?.sampleEntries.first?.sound?.speakers, header.warnings)
    }

    @Test(
        arguments: [
            // MPEG_5_1_D, the order of AAC; MPEG_5_1_A, the order of libavutil's mask.
            (124 << 16 | 6, ["FC", "FL", "FR", "BL", "BR", "LFE"], false),
            (121 << 16 | 6, ["FL", "FR", "FC", "LFE", "BL", "BR"], true),
            // MPEG_7_1_C has rear and side ones.
            (128 << 16 | 8, ["FL", "FR", "FC", "LFE", "SL", "SR", "BL", "BR"], false),
            // Discrete channels; a tag that counts otherwise than its layout.
            (147 << 16 | 6, [], true), (121 << 16 | 5, [], true),
        ] as [(UInt32, [String], Bool)])
    func tags(tag: UInt32, speakers: [String], isInMaskOrder: Bool) throws {
        let (layout, warnings) = try layout(u32(0, tag, 0, 0))
        #expect(layout?.speakers == speakers && layout?.isInMaskOrder == isInMaskOrder && warnings.isEmpty)
    }

    @Test func bitsStandInTheirOrder() throws {
        // Left, right, centre, LFE, left and right surround direct: bits 0 to 3, 9 and 10.
        let (layout, warnings) = try layout(u32(0, 1 << 16, 0x60F, 0))
        #expect(layout?.speakers == ["FL", "FR", "FC", "LFE", "SL", "SR"])
        #expect(layout?.isInMaskOrder == true && warnings.isEmpty)
    }

    @Test func descriptionsStandInStoredOrder() throws {
        let labels: [UInt32] = [1, 3, 2, 5, 6, 4, 0, 0xFFFF_FFFF]
        let (layout, warnings) = try layout(u32(0, 0, 0, 8) + labels.flatMap { u32($0, 0, 0, 0, 0) })
        #expect(layout?.speakers == ["FL", "FC", "FR", "BL", "BR", "LFE", "", ""])
        #expect(layout?.isInMaskOrder == false && warnings.isEmpty)
    }

    @Test func damageIsSkipped() throws {
        let cut = try layout(u32(0, 0, 0, .max) + u32(1, 0, 0, 0, 0))
        #expect(cut.layout == nil && cut.warnings.count == 1)
        let short = try layout(u32(0, 124 << 16 | 6))
        #expect(short.layout == nil && short.warnings.count == 1)
        // More descriptions than are read.
        let many = try layout(u32(0, 0, 0, .max) + (0..<100).flatMap { _ in u32(1, 0, 0, 0, 0) })
        #expect(many.layout?.speakers.count == 64 && many.warnings.isEmpty)
    }
}
