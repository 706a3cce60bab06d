import Bitstreams
import MediaBase
import Testing

/// A frame's header written out by the table of SMPTE RDD 36, 5.1.
@Suite struct ProResFrameHeaderTests {
    private func frame(format: UInt8, codes: [UInt8], alpha: UInt8) -> [UInt8] {
        let size: [UInt8] = [0, 0, 16, 0]
        let head: [UInt8] = [0, 148, 0, 1] + Array("test".utf8) + [0x07, 0x80, 0x04, 0x38]
        return size + Array("icpf".utf8) + head + [format, 0x33] + codes + [alpha] + [UInt8](repeating: 4, count: 130)
    }

    @Test func sizeColorsAndAlphaAreRead() throws {
        // 10 00 01 00: 4:2:2, the upper field first.
        let header = try ProResFrameHeader(frame(format: 0b1000_0100, codes: [9, 16, 9], alpha: 2))
        #expect(header.size == Dimensions(width: 1920, height: 1080) && header.chroma == .half)
        #expect(header.scan == .topFieldFirst && header.alphaBits == 16)
        #expect(header.color == .init(primaries: 9, transfer: 16, matrix: 9, isFullRange: false))
        // 11 00 00 00: 4:4:4, progressive; 0 in place of a code says nothing.
        let other = try ProResFrameHeader(frame(format: 0b1100_0000, codes: [0, 0, 0], alpha: 0))
        #expect(other.chroma == .full && other.scan == .progressive && other.alphaBits == nil)
        #expect(other.color == .init(isFullRange: false))
    }

    @Test func whatIsNoFrameIsRefused() {
        let whole = frame(format: 0b1000_0000, codes: [1, 1, 1], alpha: 0)
        #expect(throws: MediaError.self) { try ProResFrameHeader(Array(whole.prefix(20))) }
        #expect(throws: MediaError.self) { try ProResFrameHeader([0] + whole) }
        #expect(throws: MediaError.self) { try ProResFrameHeader(frame(format: 0, codes: [1, 1, 1], alpha: 0)) }
    }
}
