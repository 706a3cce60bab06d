import Bitstreams
import MediaBase
import Testing

/// Parameter sets written by the syntax tables of ITU-T H.264, 7.3.2.1.1, and H.265, 7.3.2.2.
@Suite struct ParameterSetTests {
    /// 1920 by 1080 in 1088 lines, fields, BT.709 in full range, pixels of 4:3 as numbers.
    private func interlacedHigh() -> [UInt8] {
        var writer = BitWriter()
        writer.u(8, 0x67)
        writer.u(8, 100)
        writer.u(8, 0)
        writer.u(8, 41)
        writer.ue(0, 1, 0, 0)
        writer.u(1, 0)
        // A scaling matrix with one list of sixteen equal numbers: se(8), then zeros of difference.
        writer.u(1, 1)
        writer.u(1, 1)
        for _ in 0..<16 { writer.ue(0) }
        writer.u(7, 0)
        writer.ue(0, 2, 4)
        writer.u(1, 0)
        // 1440 luma samples across, 34 pairs of macroblock rows.
        writer.ue(89, 33)
        writer.u(3, 0b011)
        writer.u(1, 1)
        writer.ue(0, 0, 0, 2)
        writer.u(1, 1)
        writer.u(1, 1)
        writer.u(8, 255)
        writer.u(16, 4)
        writer.u(16, 3)
        writer.u(1, 0)
        writer.u(1, 1)
        writer.u(3, 5)
        writer.u(1, 1)
        writer.u(1, 1)
        writer.u(24, 0x010101)
        writer.u(1, 1)
        writer.ue(2, 2)
        return writer.bytes
    }

    @Test func h264SaysWhatWasWritten() throws {
        let info = try SequenceInfo(h264ParameterSet: interlacedHigh()[...])
        #expect(info.profile == 100 && info.level == 41)
        // 34 rows of pairs are 1088 lines; 2 are cut in units of 4 (two fields, half chroma).
        #expect(info.size == Dimensions(width: 1440, height: 1080))
        #expect(info.sampleAspectRatio == Rational(4, 3))
        #expect(info.chroma == .quarter && info.bitDepth == 8 && info.scan == .interlaced)
        #expect(info.color == SequenceInfo.CodePoints(primaries: 1, transfer: 1, matrix: 1, isFullRange: true))
        #expect(info.chromaLocation == 2)
    }

    @Test func aParameterSetCutShortIsRefused() {
        let whole = interlacedHigh()
        for length in 0..<whole.count - 2 {
            #expect(throws: MediaError.self) { try SequenceInfo(h264ParameterSet: whole[..<length]) }
        }
        #expect(throws: MediaError.self) {
            try SequenceInfo(h264ParameterSet: [UInt8](repeating: 0, count: 400)[...])
        }
    }

    /// HEVC Main 10 with one sub-layer, HLG.
    private func main10() -> [UInt8] {
        var writer = BitWriter()
        writer.u(16, 0x4201)
        writer.u(4, 0)
        writer.u(3, 1)
        writer.u(1, 1)
        writer.u(8, 2)
        writer.u(32, 0x2000_0000)
        writer.u(4, 0b1001)
        writer.u(44, 0)
        writer.u(8, 120)
        // One sub-layer with a profile and a level of its own.
        writer.u(2, 0b11)
        writer.u(14, 0)
        writer.u(44, 0)
        writer.u(44, 0)
        writer.u(8, 120)
        writer.ue(0, 1, 1920, 1088)
        writer.u(1, 1)
        writer.ue(0, 0, 0, 4)
        writer.ue(2, 2, 4)
        writer.u(1, 0)
        writer.ue(4, 2, 0)
        writer.ue(0, 3, 0, 3, 1, 1)
        writer.u(1, 0)
        writer.u(2, 0)
        writer.u(1, 0)
        // Two sets of reference pictures: one of its own, one by difference.
        writer.ue(2)
        writer.ue(1, 0)
        writer.ue(0)
        writer.u(1, 1)
        writer.u(1, 1)
        writer.u(1, 0)
        writer.ue(0)
        writer.u(1, 1)
        writer.u(2, 0b01)
        writer.u(1, 0)
        writer.u(2, 0)
        writer.u(1, 1)
        writer.u(1, 1)
        writer.u(8, 1)
        writer.u(1, 0)
        writer.u(1, 1)
        writer.u(3, 5)
        writer.u(1, 0)
        writer.u(1, 1)
        writer.u(24, 0x091209)
        writer.u(1, 0)
        writer.u(3, 0)
        return writer.bytes
    }

    @Test func hevcSaysWhatWasWritten() throws {
        // What keeps start codes out is put in as the standard wants, so that it has to be taken out.
        var escaped: [UInt8] = []
        var zeros = 0
        for byte in main10() {
            if zeros >= 2, byte <= 3 {
                escaped.append(3)
                zeros = 0
            }
            escaped.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        let info = try SequenceInfo(hevcParameterSet: escaped[...])
        #expect(info.profile == 2 && info.level == 120)
        #expect(info.size == Dimensions(width: 1920, height: 1080))
        #expect(info.chroma == .quarter && info.bitDepth == 10 && info.scan == .progressive)
        #expect(info.sampleAspectRatio == .one)
        #expect(info.color == SequenceInfo.CodePoints(primaries: 9, transfer: 18, matrix: 9, isFullRange: false))
        #expect(info.chromaLocation == 0)
    }
}
