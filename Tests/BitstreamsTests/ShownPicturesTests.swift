import Bitstreams
import Testing

/// Headers put together by hand from the specifications.
@Suite struct ShownPicturesTests {
    private func holds(_ codec: String, _ bytes: [UInt8]) -> Bool {
        ShownPictures.holdsOne(codec: codec, size: bytes.count) { bytes.indices.contains($0) ? bytes[$0] : nil }
    }

    /// RFC 6386, 9.1: the fifth bit of the first byte is show_frame.
    @Test func vp8() {
        #expect(holds("vp8", [0x11, 0, 0]) && !holds("vp8", [0x01, 0, 0]))
        // A sample without bytes repeats the picture before.
        #expect(holds("vp8", []))
    }

    /// VP9, 6.2: 10, two bits of profile, show_existing_frame, frame_type, show_frame, error_resilient_mode.
    @Test func vp9() {
        #expect(holds("vp9", [0b1000_0110, 1]) && !holds("vp9", [0b1000_0100, 1]))
        #expect(holds("vp9", [0b1000_1000]))
        // Profile 3 has a reserved zero behind it.
        #expect(holds("vp9", [0b1011_0011, 1]) && !holds("vp9", [0b1011_0010, 1]) && holds("vp9", [0b1011_0100]))
    }

    /// VP9, Annex B: an index of sizes at the end, between two equal markers.
    @Test func vp9Superframes() {
        let hidden: [UInt8] = [0b1000_0100, 9, 9]
        let shown: [UInt8] = [0b1000_0110, 9]
        #expect(holds("vp9", hidden + shown + [0xC1, 3, 2, 0xC1]))
        #expect(!holds("vp9", hidden + hidden + [0xC1, 3, 3, 0xC1]))
        // Two bytes for each size.
        #expect(holds("vp9", hidden + shown + [0xC9, 3, 0, 2, 0, 0xC9]))
    }

    /// AV1, 5.9.2: show_existing_frame, two bits of frame_type, show_frame; 5.3.2: type and size of each unit.
    @Test func av1() {
        let delimiter: [UInt8] = [0x12, 0]
        func unit(_ type: UInt8, _ payload: [UInt8]) -> [UInt8] { [type << 3 | 2, UInt8(payload.count)] + payload }
        #expect(holds("av1", delimiter + unit(6, [0b0011_0000, 1])))
        #expect(!holds("av1", delimiter + unit(6, [0b0010_0000, 1])))
        #expect(holds("av1", delimiter + unit(6, [0b0010_0000, 1]) + unit(3, [0b1000_0000])))
        // Without any frame nothing is told, nor by units that are cut off.
        #expect(holds("av1", delimiter) && holds("av1", delimiter + [6 << 3 | 2, 200, 0]))
    }
}
