import ISOMedia
import Testing

/// `chpl` boxes as programs write them, by hand.
@Suite struct ChapterMarkTests {
    private func read(_ chpl: Bytes) throws -> (marks: [ChapterMark], warnings: [String]) {
        let header = try Movie.header(box("udta", chpl))
        return (header.chapters, header.warnings)
    }

    private func mark(_ start: UInt64, _ title: String) -> Bytes {
        u64(start) + u8(UInt8(title.utf8.count)) + ascii(title)
    }

    @Test func timesAndTitles() throws {
        let marks = mark(0, "One") + mark(15_000_000, "Zwei ä") + mark(20_000_000, "")
        for chpl in [fullBox("chpl", version: 1, u32(0), u8(3), marks), fullBox("chpl", u8(3), marks)] {
            let (found, warnings) = try read(chpl)
            #expect(found.map(\.start) == [0, 15_000_000, 20_000_000])
            #expect(found.map(\.title) == ["One", "Zwei ä", ""] && warnings.isEmpty)
        }
    }

    @Test func damageEndsTheList() throws {
        // More marks than there are; a title that is cut off; nothing at all.
        let more = try read(fullBox("chpl", version: 1, u32(0), u8(255), mark(5, "A")))
        #expect(more.marks.map(\.start) == [5] && more.marks.map(\.title) == ["A"])
        let cut = try read(fullBox("chpl", version: 1, u32(0), u8(1), u64(.max), u8(200), ascii("AB")))
        #expect(cut.marks.isEmpty && cut.warnings.isEmpty)
        let empty = try read(fullBox("chpl", version: 1))
        #expect(empty.marks.isEmpty && empty.warnings.count == 1)
    }
}
