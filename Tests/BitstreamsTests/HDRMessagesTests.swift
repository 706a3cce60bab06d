import Bitstreams
import MediaBase
import Testing

/// Messages written by the syntax of ITU-T H.265, D.2, and of AV1, 5.8.
@Suite struct HDRMessagesTests {
    private func u16(_ values: UInt16...) -> [UInt8] { values.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } }
    private func u32(_ values: UInt32...) -> [UInt8] {
        values.flatMap { u16(UInt16($0 >> 16), UInt16($0 & 0xFFFF)) }
    }

    @Test func staticMetadataOfHEVC() throws {
        // BT.2020 primaries in 1/50000, green, blue, red, white; 1000 and 0.005 cd/m².
        let display = u16(8500, 39850, 6550, 2300, 35400, 14600, 15635, 16450) + u32(10_000_000, 50)
        let unit: [UInt8] = [78, 1, 137, 24] + display + [144, 4] + u16(1000, 400) + [0x80]
        var messages = HDRMessages()
        messages.read([unit[...]], isHEVC: true)
        let mastering = try #require(messages.masteringDisplay)
        #expect(mastering.red == [Rational(354, 500), Rational(146, 500)])
        #expect(mastering.green == [Rational(17, 100), Rational(797, 1000)])
        #expect(mastering.whitePoint == [Rational(3127, 10_000), Rational(329, 1000)])
        #expect(mastering.maximumLuminance == Rational(1000) && mastering.minimumLuminance == Rational(1, 200))
        #expect(messages.contentLightLevel == .init(maximum: 1000, maximumFrameAverage: 400))
        #expect(!messages.hasHDR10Plus && messages.preferredTransfer == nil)
    }

    @Test func dynamicMetadataIsFound() {
        let head: [UInt8] = [0xB5, 0x00, 0x3C, 0x00, 0x01, 0x04, 0x01]
        var hevc = HDRMessages()
        hevc.read([([78, 1, 4, 7] + head + [0x80])[...]], isHEVC: true)
        #expect(hevc.hasHDR10Plus)
        var other = HDRMessages()
        // Captions (ATSC A/53) are registered likewise.
        other.read([([78, 1, 4, 7, 0xB5, 0x00, 0x31] + Array("GA94".utf8) + [0x80])[...]], isHEVC: true)
        #expect(other.isEmpty)
        var av1 = HDRMessages()
        av1.read(AV1Unit.list(in: ([0x2A, 8, 4] + head)[...]))
        #expect(av1.hasHDR10Plus)
    }

    @Test func aTransferForNewerDisplaysIsFound() {
        var messages = HDRMessages()
        messages.read([[78, 1, 147, 1, 18, 0x80]], isHEVC: true)
        #expect(messages.preferredTransfer == 18)
    }

    @Test func staticMetadataOfAV1() throws {
        let display = u16(0xB5A2, 0x4AC1, 0x2B85, 0xCC08, 0x2189, 0x0BC7, 0x500D, 0x5439) + u32(1000 << 8, 82)
        var messages = HDRMessages()
        messages.read(AV1Unit.list(in: ([0x2A, 25, 2] + display + [0x2A, 5, 1] + u16(1100, 180))[...]))
        let mastering = try #require(messages.masteringDisplay)
        #expect(mastering.red == [Rational(0xB5A2, 65536), Rational(0x4AC1, 65536)])
        #expect(mastering.maximumLuminance == Rational(1000) && mastering.minimumLuminance == Rational(82, 16384))
        #expect(messages.contentLightLevel == .init(maximum: 1100, maximumFrameAverage: 180))
    }
}
