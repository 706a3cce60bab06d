import MediaBase
import Pictures
import Testing

@Suite struct PNGFileTests {
    private func noise(_ width: Int, _ height: Int, isOpaque: Bool) throws -> Bitmap {
        var state: UInt32 = 12345
        let bytes = (0..<width * height * 4).map { index -> UInt8 in
            state = state &* 1_664_525 &+ 1_013_904_223
            return isOpaque && index % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: state >> 24)
        }
        return try Bitmap(width: width, height: height, bytes: bytes)
    }

    private func code(_ bytes: [UInt8]) -> MediaError.Code? {
        do throws(MediaError) {
            _ = try PNGFile.decode(bytes)
            return nil
        } catch { return error.code }
    }

    /// The chunks of a PNG file, by the specification's layout: length, type, data, CRC.
    private func chunks(_ bytes: [UInt8]) -> [(type: String, data: [UInt8])] {
        var chunks: [(type: String, data: [UInt8])] = []
        var offset = 8
        while offset + 12 <= bytes.count {
            let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            let type = String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self)
            chunks.append((type, Array(bytes[offset + 8..<offset + 8 + length])))
            offset += 12 + length
        }
        return chunks
    }

    @Test(arguments: [true, false], [0, 1, 2, 6, 9])
    func everyPixelSurvives(isOpaque: Bool, level: Int) throws {
        let bitmap = try noise(37, 11, isOpaque: isOpaque)
        let file = try PNGFile.encode(bitmap, level: level)
        #expect(try PNGFile.decode(file) == bitmap)
    }

    @Test func headerAndColourSpace() throws {
        let opaque = chunks(try PNGFile.encode(noise(5, 300, isOpaque: true)))
        #expect(opaque.first?.type == "IHDR" && opaque.last?.type == "IEND")
        // Width, height, 8 bits, RGB, deflate, adaptive filters, not interlaced.
        #expect(opaque.first?.data == [0, 0, 0, 5, 0, 0, 1, 44, 8, 2, 0, 0, 0])
        #expect(opaque.contains { $0.type == "sRGB" && $0.data == [0] })
        let translucent = chunks(try PNGFile.encode(noise(5, 3, isOpaque: false)))
        #expect(translucent.first?.data[9] == 6)
    }

    @Test func levelsAreChecked() throws {
        for level in [-1, 10, Int.max] {
            #expect(throws: MediaError.self) { try PNGFile.encode(noise(1, 1, isOpaque: true), level: level) }
        }
    }

    @Test func tooWideForPNG() throws {
        let wide = try Bitmap(width: 1_000_001, height: 1)
        #expect(throws: MediaError.self) { try PNGFile.encode(wide) }
    }

    @Test func everyTruncationIsRefused() throws {
        let file = try PNGFile.encode(noise(4, 4, isOpaque: true))
        // libpng does not insist on the 12 bytes of IEND.
        for count in 0..<file.count - 16 { #expect(code(Array(file.prefix(count))) != nil, "\(count)") }
        #expect(code([]) == .unknownFormat && code([UInt8]("GIF89a..".utf8)) == .unknownFormat)
        #expect(code(Array(file.prefix(8))) == .damaged)
    }

    @Test func damageIsReported() throws {
        let file = try PNGFile.encode(noise(40, 40, isOpaque: false), level: 6)
        var wrongSum = file
        wrongSum[29] ^= 1
        #expect(code(wrongSum) == .damaged)
        var state: UInt32 = 7
        for _ in 0..<500 {
            var bytes = file
            state = state &* 1_664_525 &+ 1_013_904_223
            bytes[8 + Int(state >> 8) % (bytes.count - 8)] ^= UInt8(truncatingIfNeeded: state >> 4)
            _ = code(bytes)
        }
    }

    // A header by hand (CRCs from zlib's crc32): 16384x16384 RGBA with no data to speak of.
    @Test func hugeClaimTakesNoMemory() {
        let head: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
        let size: [UInt8] = [0, 0, 0x40, 0, 0, 0, 0x40, 0, 8, 6, 0, 0, 0]
        let data: [UInt8] = [0, 0, 0, 0, 0x49, 0x44, 0x41, 0x54, 0x35, 0xAF, 0x06, 0x1E]
        let file = head + size + checksum(head.suffix(4) + size) + data
        #expect(code(file) == .damaged)
        #expect(throws: MediaError.self) { try PNGFile.decode(file, maximumPixelCount: 1000) }
    }

    /// CRC-32 as the PNG specification defines it.
    private func checksum(_ bytes: [UInt8]) -> [UInt8] {
        var crc: UInt32 = .max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? 0xEDB8_8320 ^ crc >> 1 : crc >> 1 }
        }
        crc = ~crc
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: crc >> $0) }
    }
}
