import ISOMedia
import MediaBase
import Testing

struct BoxTreeTests {
    private func tree(_ bytes: Bytes) throws -> (tree: BoxTree, reader: BoxReader) {
        var reader = BoxReader(ArrayByteSource(bytes))
        let root = try #require(try reader.box(at: 0, end: UInt64(bytes.count)))
        return (try BoxTree(root, reader: &reader), reader)
    }

    @Test func boxesAreFoundByTheirPath() throws {
        let first = box("trak", box("tkhd"), box("mdia", box("mdhd", zeros(1)), box("mdhd", zeros(2))))
        let (tree, reader) = try tree(box("moov", box("mvhd"), first, box("free"), box("trak", box("tkhd"))))
        #expect(
            tree.nodes.map(\.box.type) == [
                "moov", "mvhd", "trak", "free", "trak", "tkhd", "mdia", "tkhd", "mdhd", "mdhd",
            ])
        #expect(tree.nodes.map(\.depth) == [0, 1, 1, 1, 1, 2, 2, 2, 3, 3])
        #expect(tree.children("trak", of: 0) == [2, 4])
        #expect(tree.box("trak", "mdia", "mdhd")?.payloadSize == 1)
        #expect(tree.descendant(["mdia", "mdhd"], of: 4) == nil)
        #expect(tree.boxes(in: tree.child("mdia", of: 2)).count == 2)
        #expect(tree.boxes(in: nil).isEmpty)
        #expect(tree.child("trak", of: 99) == nil)
        #expect(tree.children("trak", of: -1).isEmpty)
        #expect(reader.warnings.isEmpty)
    }

    @Test func leavesAreNotEntered() throws {
        let (tree, _) = try tree(box("moov", box("free", box("trak"))))
        #expect(tree.nodes.count == 2)
    }

    @Test func depthIsLimited() throws {
        var nested = box("trak")
        for _ in 0..<10_000 { nested = u32(UInt32(nested.count + 8)) + code("moov") + nested }
        let (tree, reader) = try tree(nested)
        #expect(tree.nodes.count == 17)
        #expect(tree.nodes.last?.depth == 16)
        #expect(reader.warnings == ["boxes more than 16 deep were not read"])
    }
}
