import Bitstreams
import MediaBase
import Testing

@Suite struct BitReaderTests {
    @Test func bitsComeMostSignificantFirst() throws {
        // 1010 0101 1111 0000 0000 0001
        var reader = BitReader([0xA5, 0xF0, 0x01])
        #expect(try reader.bits(3) == 0b101)
        #expect(try reader.flag() == false)
        #expect(try reader.bits(9) == 0b0_1011_1110)
        #expect(reader.remaining == 11)
        try reader.skip(10)
        #expect(try reader.bits(1) == 1)
        #expect(try reader.bits(0) == 0)
        #expect(throws: MediaError.self) { try reader.flag() }
        #expect(throws: MediaError.self) { try reader.bits(33) }
        #expect(throws: MediaError.self) { try reader.skip(-1) }
    }

    @Test func expGolombCodesAreThoseOfTheStandardsTable() throws {
        // ITU-T H.264, table 9-2: 1, 010, 011, 00100, 00101; and table 9-3: 0, 1, -1, 2, -2.
        let bytes: [UInt8] = [0b1010_0110, 0b0100_0010, 0b1000_0000]
        var unsigned = BitReader(bytes)
        #expect(try (0..<5).map { _ in try unsigned.unsigned() } == [0, 1, 2, 3, 4])
        var signed = BitReader(bytes)
        #expect(try (0..<5).map { _ in try signed.signed() } == [0, 1, -1, 2, -2])
        var limited = BitReader(bytes)
        try limited.skip(4)
        #expect(throws: MediaError.self) { try limited.unsigned(atMost: 1) }
    }

    @Test func endlessZerosAreRefused() {
        var reader = BitReader([UInt8](repeating: 0, count: 100))
        #expect(throws: MediaError.self) { try reader.unsigned() }
        // 31 zeros, a one and 31 ones: the largest code that fits.
        var largest = BitReader([0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE])
        #expect((try? largest.unsigned()) == .max - 1)
    }
}
