import ISOMedia
import MediaBase
import Testing

struct BigEndianReaderTests {
    @Test func numbersAreBigEndian() throws {
        var reader = BigEndianReader([0x81, 0x01, 0x02, 0xFF, 0xFE, 0xFF, 0xFF, 0xFF, 0xFD] + [0x80] + zeros(6) + [7])
        #expect(try reader.uint8() == 0x81)
        #expect(try reader.uint16() == 0x0102)
        #expect(try reader.int16() == -2)
        #expect(try reader.int32() == -3)
        #expect(reader.next == 0x80)
        #expect(try reader.int64() == Int64.min + 7)
        #expect(reader.next == nil)
    }

    @Test func readingPastTheEndThrowsAndConsumesNothing() throws {
        var reader = BigEndianReader([1, 2, 3])
        let error = #expect(throws: MediaError.self) { try reader.uint32() }
        #expect(error?.code == .damaged)
        #expect(throws: MediaError.self) { try reader.skip(-1) }
        #expect(reader.remaining == 3)
        #expect(try reader.uint16() == 0x0102)
        #expect(Array(reader.takeRest()) == [3])
    }

    @Test func allOnesIsNoDuration() throws {
        var reader = BigEndianReader(u32(.max) + u32(5) + u64(.max) + u64(UInt64(UInt32.max)))
        #expect(try reader.duration(version: 0) == nil)
        #expect(try reader.duration(version: 0) == 5)
        #expect(try reader.duration(version: 1) == nil)
        #expect(try reader.duration(version: 1) == 0xFFFF_FFFF)
    }

    @Test func fullBoxOpensWithVersionAndFlags() throws {
        var reader = BigEndianReader([1, 0xAB, 0xCD, 0xEF])
        let (version, flags) = try reader.versionAndFlags()
        #expect(version == 1)
        #expect(flags == 0xABCDEF)
        #expect(throws: MediaError.self) { try reader.expect(version: version, atMost: 0) }
    }
}
